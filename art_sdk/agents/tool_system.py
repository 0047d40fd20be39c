"""Runs a model's tool calls concurrently, each one checked and within its limits."""

from __future__ import annotations

import contextvars
import inspect
import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import Any, Final

import anyio
import anyio.from_thread
import anyio.lowlevel
import msgspec

from art_sdk.agents.tools import Tool, ToolContext, ToolRegistry
from art_sdk.json_data import as_plain_data, is_utf8
from art_sdk.messages import ParsedToolCall, ToolResult
from art_sdk.sendable import find_unsendable

_encode: Final = msgspec.json.Encoder(enc_hook=as_plain_data).encode
_MOST_SHOWN: Final = 1_000
"""Characters of an exception's message that the model is sent."""


class ToolSystem:
    """Executes calls of the registry's tools. Exceptions of tools become results; only cancellation is raised."""

    def __init__(self, registry: ToolRegistry) -> None:
        self.registry = registry

    async def execute_tools(
        self,
        calls: Sequence[ParsedToolCall],
        *,
        thread_id: str,
        trace_id: str,
        enabled: Collection[str] | None = None,
        on_result: Callable[[ToolResult], object] | None = None,
    ) -> tuple[ToolResult, ...]:
        """The results, in the order of the calls, which run concurrently.

        `enabled` names the tools that may be called, by default all. `on_result` is called with each result as soon as
        its tool finishes.
        """
        results: dict[int, ToolResult] = {}

        async def run(index: int, call: ParsedToolCall) -> None:
            context = ToolContext(thread_id=thread_id, trace_id=trace_id, call_id=call.call_id)
            results[index] = await self._run(call, context, enabled)
            if on_result is not None:
                on_result(results[index])

        async with anyio.create_task_group() as group:
            for index, call in enumerate(calls):
                group.start_soon(run, index, call)
        return tuple(results[index] for index in range(len(calls)))

    async def _run(self, call: ParsedToolCall, context: ToolContext, enabled: Collection[str] | None) -> ToolResult:
        try:
            output = await self._output(call, context, enabled)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a tool may raise anything
            return failed_call(call.call_id, call.tool_name, error)
        return ToolResult(call.call_id, call.tool_name, "success", output)

    async def _output(self, call: ParsedToolCall, context: ToolContext, enabled: Collection[str] | None) -> Any:
        tool = self._require(call, enabled)
        with anyio.move_on_after(tool.timeout):
            return _checked(tool, await _invoke(tool, call.arguments, context))
        raise ToolFailed(f"the tool timed out after {tool.timeout:g} s")

    def _require(self, call: ParsedToolCall, enabled: Collection[str] | None) -> Tool:
        """The tool, if it may be called with these arguments."""
        tool = self.registry.find(call.tool_name)
        if tool is None or (enabled is not None and call.tool_name not in enabled):
            known = [name for name in self.registry.names if enabled is None or name in enabled]
            raise ToolFailed(f"there is no tool {call.tool_name!r:.100}; tools: {', '.join(known) or 'none'}")
        fault = self.registry.find_fault(tool.name, call.arguments)
        if fault is not None:
            raise ToolFailed(f"the arguments do not match the tool's input schema: {fault}")
        return tool


class ToolFailed(Exception):
    """Why a call failed, in words for the model. Tools may raise it: its message is sent as it is."""


def failed_call(call_id: str, tool_name: str, error: BaseException) -> ToolResult:
    """The result of a call that failed, with the exception's message for the model."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - an exception's own code
        text = "its message cannot be read"
    words = text if isinstance(error, ToolFailed) else f"{type(error).__name__}: {text}"
    if not is_utf8(words):
        words = words.encode(errors="replace").decode()
    return ToolResult(call_id, tool_name, "error", error=_clip(words))


def _clip(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}... ({len(text):,} characters)"


def _checked(tool: Tool, output: object) -> Any:
    """The output as plain JSON data of its own, which nobody changes later. Raises ToolFailed."""
    try:
        encoded = _encode(output)
    except (TypeError, ValueError, RecursionError, NotImplementedError) as error:
        raise ToolFailed(f"the tool's output is not JSON data: {error}") from error
    if len(encoded) > tool.max_output:
        raise ToolFailed(f"the tool's output has {len(encoded):,} bytes; the limit is {tool.max_output:,}")
    found = find_unsendable(output)
    if found is not None:
        raise ToolFailed(f"the tool's output is not JSON data: {found.path}: {found.reason}")
    return msgspec.json.decode(encoded)


async def _invoke(tool: Tool, arguments: dict[str, Any], context: ToolContext) -> Any:
    given = (arguments, context) if tool.takes_context else (arguments,)
    output = tool.run(*given) if tool.is_async else await _run_in_thread(lambda: tool.run(*given), tool.name)
    return await output if inspect.isawaitable(output) else output


async def _run_in_thread(work: Callable[[], Any], name: str) -> Any:
    """What the function returns, in a thread that is left behind if the caller is cancelled.

    It is a daemon, so that a tool that hangs does not keep the program from ending.
    """
    done, token, context = anyio.Event(), anyio.lowlevel.current_token(), contextvars.copy_context()
    outputs: list[Any] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            outputs.append(context.run(work))
        except BaseException as error:  # noqa: BLE001 - it is raised where the tool was called
            errors.append(error)
        with suppress(anyio.RunFinishedError):
            anyio.from_thread.run_sync(done.set, token=token)

    threading.Thread(target=run, name=f"tool {name}", daemon=True).start()
    await done.wait()
    if not errors:
        return outputs[0]
    if isinstance(errors[0], Exception):
        raise errors[0]
    raise ToolFailed(f"{type(errors[0]).__name__}: {errors[0]}")  # of a tool, it must not end the program
