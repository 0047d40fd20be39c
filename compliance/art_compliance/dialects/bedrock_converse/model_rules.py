"""What families of models at Bedrock refuse. Which, and the sources: `fixtures/rules/bedrock-converse.toml`."""

from __future__ import annotations

from collections.abc import Iterator

from art_compliance.dialects.bedrock_converse.conversation import Conversation
from art_compliance.dialects.bedrock_converse.decode import wants_stream
from art_compliance.dialects.ruling import Broken, child, number, rule
from art_sdk.json_data import is_array


@rule("bedrock.system-of-model")
def system_of_model(request: Conversation) -> Iterator[Broken]:
    """An empty list counts as absent."""
    if request.body.get("system"):
        yield Broken("/system", f"{request.model} does not support system messages")


@rule("bedrock.tools-of-model")
def tools_of_model(request: Conversation) -> Iterator[Broken]:
    """Streamed or not."""
    if request.body.get("toolConfig"):
        yield Broken("/toolConfig", f"{request.model} does not support tools")


@rule("bedrock.streamed-tools-of-model")
def streamed_tools_of_model(request: Conversation) -> Iterator[Broken]:
    """The URL says whether the request streams."""
    if request.body.get("toolConfig") and request.url is not None and wants_stream(None, request.url):
        yield Broken("/toolConfig", f"{request.model} does not support tools while streaming")


@rule("bedrock.stop-of-model")
def stop_of_model(request: Conversation) -> Iterator[Broken]:
    """An empty list counts as absent."""
    stop = child(request.root, "inferenceConfig").value.get("stopSequences")
    if is_array(stop) and stop:
        yield Broken("/inferenceConfig/stopSequences", f"{request.model} does not support stop sequences")


@rule("bedrock.prefill-of-model")
def prefill_of_model(request: Conversation) -> Iterator[Broken]:
    """A message with calls at the end is not a prefill."""
    last = request.turns[-1] if request.turns else None
    if last is not None and last.role == "assistant" and not last.calls:
        yield Broken(last.pointer, f"{request.model} does not accept an assistant message at the end")


@rule("bedrock.sampling-of-model")
def sampling_of_model(request: Conversation) -> Iterator[Broken]:
    """Whatever the values."""
    config = child(request.root, "inferenceConfig").value
    if number(config.get("temperature")) is not None and number(config.get("topP")) is not None:
        yield Broken("/inferenceConfig/topP", f"{request.model} accepts temperature or topP, not both")
