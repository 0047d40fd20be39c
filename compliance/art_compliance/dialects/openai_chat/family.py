"""The family of chat completions: a form that OpenAI and each of its relatives fill in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from art_compliance.dialects.base import (
    Access,
    Answers,
    Dialect,
    ErrorForm,
    Models,
    Reasoning,
    Requests,
    Service,
    Streams,
    no_reasoning,
)
from art_compliance.dialects.framing import body_wants_stream
from art_compliance.dialects.openai_chat.access import NOT_JSON, chat_access
from art_compliance.dialects.openai_chat.answers import ESSENTIAL, describe_model
from art_compliance.dialects.openai_chat.chat import Chat
from art_compliance.dialects.openai_chat.decode import Variant, decoder
from art_compliance.dialects.openai_chat.order import ORDER
from art_compliance.dialects.openai_chat.recorded import COUNTS, read_recorded
from art_compliance.dialects.openai_chat.shared_forms import thought_beside
from art_compliance.dialects.openai_chat.streams import UNKNOWN_EVENT, ChatStyle, chat_stream, error_event
from art_compliance.dialects.openai_chat.variations import TWO_CHOICES, VARIATIONS, WITHOUT_END_MARK
from art_compliance.dialects.recorded import TokenCounts
from art_compliance.dialects.ruling import RuleCheck
from art_compliance.dialects.variations import FailureForm, Variation
from art_compliance.scenarios import WrittenAnswer
from art_sdk import Loss

GENERATION: Final[Mapping[str, tuple[Any, ...]]] = {
    "frequency_penalty": (0,),
    "presence_penalty": (0,),
    "repetition_penalty": (1,),
    "n": (1,),
    "seed": (),
    "random_seed": (),
    "logit_bias": (),
    "top_k": (),
    "min_p": (),
    "reasoning_effort": (),
    "reasoning_format": (),
    "verbosity": ("medium",),
    "service_tier": ("auto",),
    "safe_prompt": (False,),
    "models": (),
    "transforms": ([],),  # OpenRouter: openrouter.ai/docs/guides/features/message-transforms
    "plugins": ([],),
    "web_search_options": (),
    "prediction": (),
    "messages/content/image_url/detail": ("auto",),
}
"""Of all services of the family. Defaults as in `openai.types.chat.completion_create_params` of the official client."""


DEFAULTS: Final[Mapping[str, tuple[Any, ...]]] = {
    "temperature": (1,),
    "top_p": (1,),
    "parallel_tool_calls": (True,),
}
"""The defaults of options at OpenAI: platform.openai.com/docs/api-reference/chat/create and its `responses/create`."""


class ChatForm(Struct, frozen=True, kw_only=True):
    """A service of the family. Everything else is the same for all of them."""

    name: str
    """The dialect's name."""
    like: str | None = None
    """As in `Service`."""
    shape: str | None = None
    """As in `Service`."""
    hosts: tuple[str, ...] = ()
    """As in `Service`."""
    kin: tuple[str, ...] = ()
    """As in `Service`."""
    base_path: str
    """As in `Service`."""
    foreign_base_path: str | None = None
    """As in `Service`."""
    access: Access = chat_access()
    """As in `Service`."""
    rules: tuple[RuleCheck, ...]
    """As in `Requests`."""
    marks: tuple[str, ...] = ()
    """As in `Requests`."""
    kept_fields: tuple[str, ...] = ()
    """Fields of an assistant's message that go back as they came, such as its reasoning."""
    kept_parts: frozenset[str] = frozenset()
    """Types of parts of an assistant's content that go back as they came."""
    ignored_fields: Mapping[str, tuple[Any, ...]] = {}
    """Fields of a request that have no effect there, with the values that say what happens anyway: others are lost."""
    defaults: Mapping[str, tuple[Any, ...]] = {}
    """As in `Requests`."""
    has_thinking: bool = False
    """As in `Requests`."""
    has_signature: bool = False
    """As in `Requests`."""
    write: Callable[[WrittenAnswer], bytes]
    """As in `Answers`."""
    write_error: Callable[[int, str], bytes]
    """As in `Answers`."""
    error_forms: tuple[ErrorForm, ...] = ()
    """As in `Answers`."""
    write_stream_error: Callable[[int, str], bytes] | None = None
    """As in `Streams`. None: the body of `write_error` as an event without a type."""
    models: tuple[str, ...]
    """Names of models for the list of them."""
    other_models: tuple[str, ...] = ()
    """As in `Models`."""
    lacks: frozenset[Loss] = frozenset({"tool_output_schema"})
    """As in `Requests`."""
    own_headers: Mapping[str, str] = {}
    """As in `Service`."""
    own_fields: Mapping[str, Any] = {}
    stream_fields: Mapping[str, Any] = {}
    reasoning_fields: tuple[Mapping[str, Any], ...] = ()
    """As in `Requests`, like `own_fields`."""
    describe_model: Callable[[str], dict[str, Any]] = describe_model
    """As in `Models`."""
    reasoning: Callable[[dict[str, Any], str], Reasoning | None] = no_reasoning
    """As in `Answers`."""
    call_id_prefix: str = ""
    """As in `Answers`."""
    counts: TokenCounts = COUNTS
    """As in `Answers`."""
    bad_ends: tuple[str, ...] = ("length", "content_filter")
    """As in `Answers`."""
    variations: tuple[Variation, ...] = ()
    """As in `Answers`, besides those of the whole family."""
    failures: tuple[FailureForm, ...] = ()
    """As in `Answers`."""
    has_choices: bool = False
    """Whether a request may ask for several choices."""
    lacks_end_mark: bool = False
    """Whether its streams may end after the finish, without `[DONE]`."""
    style: ChatStyle
    """How its chunks differ from OpenAI's."""
    interleave_calls: Callable[[tuple[bytes, ...]], tuple[bytes, ...]] | None = None
    """As in `Streams`."""

    def dialect(self) -> Dialect:
        """The dialect that the form describes."""
        return Dialect(
            name=self.name,
            service=self._service(),
            requests=self._requests(),
            answers=self._answers(),
            streams=self._streams(),
        )

    def _service(self) -> Service:
        return Service(
            hosts=self.hosts,
            kin=self.kin,
            path=r"/chat/completions$",
            base_path=self.base_path,
            foreign_base_path=self.foreign_base_path,
            endings=("/chat/completions",),
            access=self.access,
            own_headers=self.own_headers,
            like=self.like,
            shape=self.shape,
        )

    def _requests(self) -> Requests:
        return Requests(
            decode=decoder(self._variant()),
            read=Chat,
            rules=self.rules,
            lacks=self.lacks,
            own_fields=self.own_fields,
            stream_fields=self.stream_fields,
            reasoning_fields=self.reasoning_fields,
            generation=GENERATION,
            not_json=NOT_JSON,
            history="/messages",
            marks=self.marks,
            has_thinking=self.has_thinking,
            kept_names=frozenset(self.kept_fields),
            defaults=self.defaults,
            has_signature=self.has_signature,
        )

    def _variant(self) -> Variant:
        return Variant(name=self.name, fields=self.kept_fields, parts=self.kept_parts, ignored=self.ignored_fields)

    def _answers(self) -> Answers:
        return Answers(
            write=self.write,
            write_error=self.write_error,
            error_forms=self.error_forms,
            models=Models(names=self.models, describe=self.describe_model, gather=_gather, others=self.other_models),
            essential=ESSENTIAL,
            read=read_recorded,
            counts=self.counts,
            reasoning=self.reasoning,
            call_id_prefix=self.call_id_prefix,
            variations=(*VARIATIONS, *self.variations, *self._more_variations()),
            failures=self.failures,
            several=TWO_CHOICES if self.has_choices else None,
            bad_ends=self.bad_ends,
            optional_usage=("usage",),
        )

    def _more_variations(self) -> Iterator[Variation]:
        """Those that follow from the form itself."""
        if self.lacks_end_mark:
            yield WITHOUT_END_MARK
        for field in self.style.texts:
            if field.startswith("reasoning"):
                yield thought_beside(field, some_servers=self.name == "openai-compatible")

    def _streams(self) -> Streams:
        return Streams(
            write=chat_stream(self.write, self.style),
            write_error=self.write_stream_error or error_event(self.write_error),
            is_requested=body_wants_stream,
            order=ORDER,
            unknown_event=UNKNOWN_EVENT,
            text_fields=("content", "refusal"),
            finish_fields=("finish_reason",),
            interleave_calls=self.interleave_calls,
            client_failures=frozenset({"events-without-data"}),  # openai 3.54, which our tests drive through each fault
        )


def _gather(models: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    return {"object": "list", "data": list(models)}
