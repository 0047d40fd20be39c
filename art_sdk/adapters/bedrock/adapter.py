"""Amazon Bedrock, by its Converse API: the models of several makers in one format.

At the provider's limits: the system prompt is its own field, one block per message, so a late system message is
refused unless the call says `late_system="hoist"`; messages of one role in a row are joined, each its own block,
since most models want the roles to alternate; a call id outside [a-zA-Z0-9_.:-]{1,64} is mapped; blank text is left
out if the turn has something else, and refused if it has not; a conversation with calls needs its tools; the tool
choice `none` and `parallel_tool_calls` go to Claude in fields of its own API, and are refused for other models; a
response schema goes as `outputConfig`. What families of models refuse is in `models`. Images go as bytes, or from S3.
Message names and a tool's output schema have no place and are dropped (declared). Reasoning, and every other block
that is neither text nor a call, is kept in the `extensions` of an answer's message and goes back unchanged, at its
place. What Bedrock takes beyond that (documents, `additionalModelRequestFields`, guardrails) goes through
`options.provider`. Source of the fields: bedrock-runtime in botocore 1.44, and recorded requests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, ClassVar, Final

import msgspec

from art_sdk.adapters.answers import Answer, CallInfo
from art_sdk.adapters.base import BaseAdapter
from art_sdk.adapters.bedrock import models
from art_sdk.adapters.bedrock.answers import DIALECT, kind_of, parse_converse
from art_sdk.adapters.bedrock.credentials import DEFAULT_REGION, Signer, find_access, find_region
from art_sdk.adapters.capabilities import CAPABILITIES
from art_sdk.adapters.failures import FailureReader
from art_sdk.adapters.images import standard_base64
from art_sdk.adapters.kept_blocks import put_back
from art_sdk.adapters.payload import Payload
from art_sdk.adapters.reading import AnswerStream
from art_sdk.adapters.refusals import naming_roles
from art_sdk.adapters.rules import CallIdRule, NameRule, RangeRule
from art_sdk.adapters.settings import hides_settings, is_given
from art_sdk.conversation import AssistantTurn, Conversation, SystemTurn, UserTurn
from art_sdk.http.framing import Frames
from art_sdk.http.transport import HttpRequest, ResponseHead
from art_sdk.messages import ArtStandardPrompt, ImagePart, Part, TextPart, ToolResultMessage, ToolSchema
from art_sdk.options import CallOptions


class BedrockConverseAdapter(BaseAdapter):
    """Translates to `POST /model/<model>/converse`, or `/converse-stream`, at Amazon Bedrock.

    `api_key` is a Bedrock API key, or AWS keys as `KEY_ID:SECRET` or `KEY_ID:SECRET:SESSION_TOKEN`, which sign each
    request (extra `bedrock`). Without it, AWS_BEARER_TOKEN_BEDROCK is used, then the keys that AWS's own clients find:
    those of the named `profile`, or of AWS_ACCESS_KEY_ID and the like. `region` is that of `base_url` if not given,
    else AWS_REGION, AWS_DEFAULT_REGION, the profile's, or us-east-1. `model` is the id of a model or of an inference
    profile, or an ARN. All other arguments are those of `BaseAdapter`. Raises InvalidConfig, also for missing keys.
    """

    provider_name = "bedrock"
    dialect = DIALECT
    default_model = "global.anthropic.claude-haiku-4-5-20251001-v1:0"
    default_base_url = f"https://bedrock-runtime.{DEFAULT_REGION}.amazonaws.com"
    request_id_header = "x-amzn-requestid"
    stream_type = "application/vnd.amazon.eventstream"
    capabilities = CAPABILITIES - {"late_system"}
    history_field = "messages"
    tool_names = NameRule(re.compile(r"[a-zA-Z0-9_-]{1,64}"), "bedrock.tool-id-pattern")
    call_ids = CallIdRule(re.compile(r"[a-zA-Z0-9_.:-]{1,64}"), "bedrock.tool-id-pattern")
    ranges: ClassVar[Mapping[str, RangeRule]] = {
        "temperature": RangeRule(0.0, 1.0, "bedrock.inference-ranges"),
        "top_p": RangeRule(0.0, 1.0, "bedrock.inference-ranges"),
    }
    image_types = frozenset(f"image/{kind}" for kind in ("png", "jpeg", "gif", "webp"))
    losses = frozenset({"message_name", "tool_output_schema"})
    repairs = frozenset({"hoists_late_system", "joins_turns", "maps_call_ids", "drops_blank_text", "renames_tools"})

    @hides_settings
    def __init__(
        self,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        region: str | None = None,
        profile: str | None = None,
        **settings: Any,
    ) -> None:
        self.region = find_region(region, base_url, profile)
        access = find_access(api_key, profile, self.region)
        self._signer = access if isinstance(access, Signer) else None
        url = base_url if is_given(base_url) else f"https://bedrock-runtime.{self.region}.amazonaws.com"
        super().__init__(api_key=access.keys.secret if isinstance(access, Signer) else access, base_url=url, **settings)

    def endpoint(self, options: CallOptions) -> str:
        from urllib.parse import quote  # noqa: PLC0415 - kept out of `import art_sdk`

        action = "converse-stream" if options.stream else "converse"
        return f"/model/{quote(options.model or self.model, safe='')}/{action}"

    def auth_headers(self) -> dict[str, str]:
        """The API key. A signature needs the body: `request` adds it."""
        return {} if self._signer else super().auth_headers()

    def request(self, payload: Payload, options: CallOptions) -> HttpRequest:
        request = super().request(payload, options)
        if self._signer is None:
            return request
        signed = self._signer.sign(request.url, request.headers, request.body)
        return msgspec.structs.replace(request, headers={**request.headers, **signed})

    @property
    def _failures(self) -> FailureReader:
        """Bedrock repeats the session token in the text of a wrong signature. The secret is hidden, too."""
        keys = self._signer.keys if self._signer else None
        secrets = [self._api_key] if keys is None else [keys.secret, keys.token or ""]
        return FailureReader(self.provider_name, secrets, self.request_id_header)

    @naming_roles
    def translate(self, prompt: ArtStandardPrompt, options: CallOptions) -> Payload:
        conversation = self.check(prompt, options)
        self._check_model(conversation, options)
        messages = self._messages(conversation)
        if not messages:
            self.refuse_without_messages(prompt)
        payload: Payload = {"messages": messages}
        system = [self._system(turn) for turn in conversation.turns if isinstance(turn, SystemTurn)]
        if system:
            payload["system"] = system
        payload |= self.written_options(options)
        return self.merge_provider_fields(payload, options)

    def parse_answer(self, head: ResponseHead, body: bytes, info: CallInfo) -> Answer:
        return parse_converse(body, info, request_id=head.headers.get(self.request_id_header))

    def stream_frames(self) -> Frames:
        from art_sdk.http.aws_event_stream import AwsEventStream  # noqa: PLC0415 - kept out of `import art_sdk`

        return AwsEventStream(self.size_limits.of_event())

    def answer_stream(self, head: ResponseHead, info: CallInfo) -> AnswerStream:
        from art_sdk.adapters.bedrock.stream import ConverseStream  # noqa: PLC0415 - kept out of `import art_sdk`

        return ConverseStream(info, request_id=head.headers.get(self.request_id_header))

    def check_options(self, options: CallOptions) -> None:
        super().check_options(options)
        if not models.CLAUDE.search(options.model or self.model):
            self._check_choice(options)
        elif options.tool_choice == "none" and options.parallel_tool_calls is not None:
            self.refuse('parallel_tool_calls has no effect with tool_choice="none"; leave it out')
        if options.stop:
            self._check_family(models.STOP, options)
        if options.temperature is not None and options.top_p is not None:
            self._check_family(models.BOTH_SAMPLINGS, options)

    def _check_choice(self, options: CallOptions) -> None:
        """Refuses options that only Claude has a field for."""
        if options.tool_choice == "none":
            reason = 'Bedrock supports tool_choice "none" only for Claude; leave the tools out, or choose otherwise'
            self.refuse(reason, rule="bedrock.no-tool-choice-none")
        if options.parallel_tool_calls is not None:
            reason = "Bedrock supports parallel_tool_calls only for Claude; leave parallel_tool_calls unset"
            self.refuse(reason)

    def _check_family(self, refusal: models.Refusal, options: CallOptions, index: int | None = None) -> None:
        model = options.model or self.model
        if refusal in models.refusals_of(model):
            self.refuse(f"{model} {refusal.reason}", index=index, rule=refusal.rule)

    def _check_model(self, conversation: Conversation, options: CallOptions) -> None:
        """Refuses what the model refuses of a prompt, and a conversation with calls without tools."""
        if models.refusals_of(options.model or self.model):
            self._check_families(conversation, options)
        if conversation.tool_of and not self.has_tools(options):
            name = next(iter(conversation.tool_of.values()))
            reason = "Bedrock accepts tool calls only with tools; pass the tools, or leave the calls out"
            self.refuse(reason, index=conversation.first_call(name), rule="bedrock.toolconfig-with-tool-blocks")

    def _check_families(self, conversation: Conversation, options: CallOptions) -> None:
        turns = conversation.turns
        if turns and isinstance(turns[0], SystemTurn):
            self._check_family(models.SYSTEM, options, turns[0].index)
        first = next((turn for turn in turns if not isinstance(turn, SystemTurn)), None)
        if isinstance(first, AssistantTurn):
            self._check_family(models.START, options, first.index)
        if turns and isinstance(turns[-1], AssistantTurn) and not turns[-1].calls:
            self._check_family(models.PREFILL, options, turns[-1].index)
        if self.has_tools(options):
            self._check_family(models.TOOLS, options)
            if options.stream:
                self._check_family(models.STREAMED_TOOLS, options)
        if conversation.tool_of and models.TEXT_BESIDE_RESULTS in models.refusals_of(options.model or self.model):
            self._check_after_results(conversation, options)

    def _check_after_results(self, conversation: Conversation, options: CallOptions) -> None:
        turns = [turn for turn in conversation.turns if not isinstance(turn, SystemTurn)]
        for turn, after in pairwise(turns):
            if isinstance(turn, AssistantTurn) and turn.calls and isinstance(after, UserTurn):
                self._check_family(models.TEXT_BESIDE_RESULTS, options, after.index)

    def has_tools(self, options: CallOptions) -> bool:
        return bool(options.tools or self.provider_fields(options).get("toolConfig"))

    def _system(self, turn: SystemTurn) -> Payload:
        if not turn.message.content.strip():
            self.refuse(_BLANK, index=turn.index, rule="bedrock.text-not-blank")
        return {"text": turn.message.content}

    def _messages(self, conversation: Conversation) -> list[Payload]:
        ids = self.map_call_ids(conversation.tool_of)
        messages: list[Payload] = []
        for turn in conversation.turns:
            if type(turn) is AssistantTurn:  # `type() is`, not `match`: this is the hot loop
                self._append_assistant(messages, turn, ids)
            elif type(turn) is UserTurn:
                _append(messages, "user", self._user(turn))
        return messages

    def _user(self, turn: UserTurn) -> list[Payload]:
        content = turn.message.content
        if isinstance(content, str):
            blocks: list[Payload] = [{"text": content}] if content and not content.isspace() else []
        else:
            blocks = [self._part(part, turn) for part in content if isinstance(part, ImagePart) or part.text.strip()]
        if not blocks:
            self.refuse(_BLANK, index=turn.index, rule="bedrock.text-not-blank")
        return blocks

    def _part(self, part: Part, turn: UserTurn) -> Payload:
        if isinstance(part, TextPart):
            return {"text": part.text}
        kind = part.mime_type.removeprefix("image/")
        if part.data is None:
            if not (part.url or "").startswith("s3://") or part.mime_type not in self.image_types:
                reason = "Bedrock accepts images as data, or from s3:// URLs with their MIME type; pass the data"
                self.refuse(reason, index=turn.index)
            return {"image": {"format": kind, "source": {"s3Location": {"uri": part.url}}}}
        self.check_image(part, turn)
        return {"image": {"format": kind, "source": {"bytes": standard_base64(part.data)}}}

    def _append_assistant(self, messages: list[Payload], turn: AssistantTurn, ids: Mapping[str, str]) -> None:
        """The assistant's message, then all results of its calls in one message (bedrock.results-expected)."""
        text = turn.message.content
        blocks: list[Payload] = [{"text": text}] if text and not text.isspace() else []
        for call, index in zip(turn.calls, turn.places, strict=True):
            arguments = self.arguments_of(call, index, "bedrock.tool-input-object")
            call_id = ids.get(call.id, call.id)
            blocks.append({"toolUse": {"toolUseId": call_id, "name": call.function.name, "input": arguments}})
        extensions = turn.message.extensions
        if extensions and self.dialect in extensions:
            self._put_back(blocks, turn, extensions[self.dialect])
        if not blocks:
            reason = "it has neither text nor tool calls; leave the message out"
            self.refuse(reason, index=turn.index, rule="bedrock.content-nonempty")
        _append(messages, "assistant", blocks)
        if turn.calls:
            results = [
                self._result(ids.get(call.id, call.id), answer, turn) for call, answer in turn.answers_in_call_order()
            ]
            _append(messages, "user", results)

    def _result(self, call_id: str, answer: ToolResultMessage, turn: AssistantTurn) -> Payload:
        """An empty text is taken: measured in NousResearch/hermes-agent#55092. One that failed must say something."""
        written: Payload = {"toolUseId": call_id, "content": [{"text": answer.content}]}
        if answer.status == "error":
            if not answer.content:
                reason = "the result of a call that failed is empty; say what went wrong"
                self.refuse(reason, index=turn.index, call_id=call_id, rule="bedrock.error-result-nonempty")
            written["status"] = "error"
        return {"toolResult": written}

    def _put_back(self, blocks: list[Payload], turn: AssistantTurn, extension: dict[str, Any]) -> None:
        """Puts the kept blocks back unchanged, each at its place."""
        try:
            put_back(blocks, extension, kind_of=kind_of, written=_WRITTEN)
        except ValueError as error:
            reason = f"its extensions for {self.dialect} are wrong: {error}; do not change the message of an answer"
            self.refuse(reason, index=turn.index)

    def write_options(self, options: CallOptions) -> Payload:
        return _tools(options) | _settings(options)


_BLANK: Final = "its text is blank, which Bedrock answers with 400; leave the message out"
_WRITTEN: Final = frozenset({"text", "toolUse"})
_CHOICES: Final[Mapping[str, Payload]] = {"auto": {"auto": {}}, "required": {"any": {}}}
_CLAUDE_CHOICES: Final = {"auto": "auto", "none": "none", "required": "any"}
_LIMITS: Final = {"max_tokens": "maxTokens", "temperature": "temperature", "top_p": "topP"}


def _append(messages: list[Payload], role: str, blocks: list[Payload]) -> None:
    """Adds blocks to the last message if it is of that role, else a message (bedrock.alternate)."""
    if messages and messages[-1]["role"] == role:
        messages[-1]["content"] += blocks
    else:
        messages.append({"role": role, "content": blocks})


def _tools(options: CallOptions) -> Payload:
    if not options.tools:
        return {}
    config: Payload = {"tools": [_tool(tool) for tool in options.tools]}
    if options.tool_choice == "none" or options.parallel_tool_calls is not None:
        return {"toolConfig": config, "additionalModelRequestFields": {"tool_choice": _claude_choice(options)}}
    if options.tool_choice is not None:
        config["toolChoice"] = _CHOICES.get(options.tool_choice) or {"tool": {"name": options.tool_choice}}
    return {"toolConfig": config}


def _tool(tool: ToolSchema) -> Payload:
    """An empty description is refused, a missing one taken: anomalyco/opencode#48582."""
    described = {"description": tool.description} if tool.description else {}
    return {
        "toolSpec": {"name": tool.name, **described, "inputSchema": {"json": {"type": "object", **tool.input_schema}}}
    }


def _claude_choice(options: CallOptions) -> Payload:
    """What Converse has no place for, as Claude's own API has it, in place of `toolChoice`: next to it, it is refused.

    `disable_parallel_tool_use` is taken: BerriAI/litellm#34347 and #36536. That `none` is taken is inferred.
    """
    kind = _CLAUDE_CHOICES.get(options.tool_choice or "auto")
    written: Payload = {"type": kind} if kind else {"type": "tool", "name": options.tool_choice}
    if options.parallel_tool_calls is not None:
        written["disable_parallel_tool_use"] = not options.parallel_tool_calls
    return written


def _settings(options: CallOptions) -> Payload:
    config: Payload = {
        theirs: value for ours, theirs in _LIMITS.items() if (value := getattr(options, ours)) is not None
    }
    if options.stop:
        config["stopSequences"] = list(options.stop)
    written: Payload = {"inferenceConfig": config} if config else {}
    if options.response_schema is not None:
        schema = json.dumps(options.response_schema, ensure_ascii=False, separators=(",", ":"))
        structure = {"jsonSchema": {"schema": schema}}
        written["outputConfig"] = {"textFormat": {"type": "json_schema", "structure": structure}}
    return written
