"""Scenarios: one JSON file each, `fixtures/scenarios/<group>/<id>.json`. The stem is the id, everywhere."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args

import msgspec
from msgspec import Meta, Struct, field

from art_compliance.findings import HarnessError
from art_compliance.resources import data_folder
from art_sdk import ARTError, Capability, Repair, ToolCall, parse_options, parse_prompt
from art_sdk.sendable import find_unsendable

Outcome = Annotated[str, Meta(pattern=rf"^(exact|repair:({'|'.join(get_args(Repair))})|refused:[A-Z_]+)$")]
"""A right outcome of a scenario: `exact`, `repair:<kind>` or `refused:<code>`."""

Level = Literal["core", "tools", "streaming", "resilience", "replay", "live", "properties"]
"""The levels of a certificate."""

DEFAULT: Final = "default"


Count = Annotated[int, Meta(ge=0)]


class WrittenAnswer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the provider answers in a scenario, independent of any dialect.

    `signature` is what the provider wants back with its reasoning. `is_refusal`: the content is the model's refusal.
    `without_ids`: the calls come without ids. A `content_filter` without content is a blocked prompt. Counts are
    tokens: `input_tokens` of the whole prompt, of which `cached_tokens` came from a cache and `cache_write_tokens`
    went into one; `output_tokens` of everything generated.
    """

    content: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    thinking: str = ""
    signature: str | None = None
    finish: Literal["stop", "length", "tool_calls", "content_filter"] = "stop"
    is_refusal: bool = False
    without_ids: bool = False
    input_tokens: Count = 11
    output_tokens: Count = 7
    thinking_tokens: Count | None = None
    cached_tokens: Count | None = None
    cache_write_tokens: Count | None = None

    def faults(self) -> Iterator[str]:
        """Why no provider would give this answer."""
        ids = [call.id for call in self.tool_calls]
        if len(ids) != len(set(ids)):
            yield "two calls have the same id"
        if self.finish == "tool_calls" and not self.tool_calls:
            yield "the finish is tool_calls, but there are no calls"
        if self.is_refusal and not (self.content and self.finish == "content_filter"):
            yield "a refusal must have content and the finish content_filter"
        if (self.cached_tokens or 0) + (self.cache_write_tokens or 0) > self.input_tokens:
            yield "cached_tokens and cache_write_tokens together must not exceed input_tokens"
        if (self.thinking_tokens or 0) > self.output_tokens:
            yield "thinking_tokens must not exceed output_tokens"
        if self.signature and not (self.content or self.tool_calls):
            yield "a signature needs content or a call to go with"


class Scenario(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A prompt with its purpose, the capabilities it needs, its right outcomes, and perhaps the provider's answer.

    `prompt` is an `ArtStandardPrompt` as JSON data; `options` are call options without `thread_id`. `outcomes` maps a
    dialect, or `default`, to its right outcomes. `id` and `group` come from the file's path.
    """

    purpose: Annotated[str, Meta(min_length=10, max_length=200)]
    prompt: list[dict[str, Any]]
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    needs: tuple[Capability, ...] = ()
    answer: WrittenAnswer | None = None
    outcomes: Annotated[dict[str, tuple[Outcome, ...]], Meta(min_length=1)]
    id: str = ""
    group: str = ""

    def outcomes_for(self, dialect: str | None) -> tuple[str, ...]:
        """The right outcomes for a dialect: its own, or the default ones."""
        return self.outcomes.get(dialect or DEFAULT, self.outcomes[DEFAULT])

    def call_options(self) -> dict[str, Any]:
        """The complete options of the call, as JSON data."""
        return {"thread_id": f"scenario-{self.id}", **self.options}


def scenario_schema() -> dict[str, Any]:
    """The JSON Schema of a scenario file, made from the type."""
    (schema,), definitions = msgspec.json.schema_components([Scenario], ref_template="#/$defs/{name}")
    name = schema["$ref"].rsplit("/", 1)[-1]
    top = definitions.pop(name)
    for derived in ("id", "group"):
        del top["properties"][derived]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **top, "$defs": definitions}


def load_scenarios(folder: Path | None = None) -> tuple[Scenario, ...]:
    """Every scenario of the folder (by default the suite's own), ordered by group and id.

    Raises HarnessError, naming file and field, for a file that violates the schema, a prompt or options that do not
    parse, a missing default outcome, and an id that is used twice.
    """
    root = folder or data_folder("fixtures") / "scenarios"
    return _load_all(root, None if root.is_absolute() else Path.cwd())


@cache
def _load_all(root: Path, _beside: Path | None) -> tuple[Scenario, ...]:
    """The scenarios of a folder, which may be relative to the working directory."""
    scenarios = tuple(load_scenario(path, root) for path in sorted(root.rglob("*.json")))
    if not scenarios:
        raise HarnessError(f"there are no scenario files in {root}")
    seen: dict[str, str] = {}
    for scenario in scenarios:
        if scenario.id in seen:
            raise HarnessError(
                f"the scenario id {scenario.id!r} is used in the groups {seen[scenario.id]} and {scenario.group}"
            )
        seen[scenario.id] = scenario.group
    return scenarios


def load_scenario(path: Path, root: Path | None = None) -> Scenario:
    """Loads one scenario file and checks everything in it. Raises HarnessError."""
    data = _load_json(path)
    faults = list(_schema_faults(data))
    if faults:
        raise _bad(path, "; ".join(faults))
    group = path.parent.relative_to(root).as_posix() if root else path.parent.name
    scenario: Scenario = msgspec.convert({**data, "id": path.stem, "group": group}, Scenario)
    if not _ID.fullmatch(scenario.id):
        raise _bad(path, f"the file's name is the scenario's id and must match {_ID.pattern}")
    if DEFAULT not in scenario.outcomes:
        raise _bad(path, f"$.outcomes: the key {DEFAULT!r} is missing")
    _parse_whole(path, scenario)
    return scenario


_ID: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def _parse_whole(path: Path, scenario: Scenario) -> None:
    try:
        parse_prompt(scenario.prompt)
    except ARTError as error:
        raise _bad(path, f"$.prompt: {error.message}") from error
    faults = list(_answer_faults(scenario.answer)) if scenario.answer else []
    if faults:
        raise _bad(path, "; ".join(faults))
    try:
        parse_options(scenario.call_options())
    except ARTError as error:
        raise _bad(path, f"$.options: {error.message}") from error


def _answer_faults(answer: WrittenAnswer) -> Iterator[str]:
    unsendable = find_unsendable(answer, "$.answer")
    if unsendable:
        yield f"{unsendable.path}: {unsendable.reason}"
    yield from (f"$.answer: {fault}" for fault in answer.faults())


def _load_json(path: Path) -> Mapping[str, Any]:
    try:
        data: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise _bad(path, f"cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise _bad(path, f"is not JSON: {error}") from error
    return data


def _schema_faults(data: object) -> Iterator[str]:
    for error in _validator().iter_errors(data):
        yield f"{error.json_path}: {error.message}"


@cache
def _validator() -> Any:
    import jsonschema  # noqa: PLC0415 - slow to import, and only needed when scenarios are read

    return jsonschema.Draft202012Validator(scenario_schema())


def _bad(path: Path, what: str) -> HarnessError:
    return HarnessError(f"scenario file {path}: {what}")
