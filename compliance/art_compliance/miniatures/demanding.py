"""Adapters that translate small prompts well, but not large ones, odd ones, or options that come together."""

from __future__ import annotations

import json
import re
from itertools import chain
from typing import Any, Final
from urllib.parse import quote, unquote

from art_compliance.miniatures.base import (
    Options,
    Prompt,
    Translate,
    change_messages,
    change_options,
    change_payload,
    change_prompt,
    miniature,
    retranslate,
)
from art_compliance.miniatures.isolation import readdress
from art_sdk.json_data import is_array, is_object


@miniature("translation.demanding-prompts-survive")
def keeps_the_last_two_hundred_turns(adapter: Any) -> None:
    """Of a long conversation, the older turns are left out."""
    change_prompt(adapter, lambda prompt: prompt[:1] + prompt[-200:] if len(prompt) > 201 else prompt)


@miniature("translation.demanding-prompts-survive")
def keeps_a_hundred_tools(adapter: Any) -> None:
    """Tools beyond the hundredth are left out."""
    change_options(adapter, lambda options: {**options, "tools": options.get("tools", [])[:100]})


@miniature("translation.demanding-prompts-survive")
def cuts_long_texts(adapter: Any) -> None:
    """User texts end after 100,000 characters."""
    change_messages(adapter, "user", _shortened)


@miniature("translation.demanding-prompts-survive", around=("openai", "xai"))
def quotes_urls_again(adapter: Any) -> None:
    """What is quoted in the URL of an image, and may stand there unquoted, is sent so."""
    change_messages(adapter, "user", lambda message: {**message, "content": _quoted_again(message["content"])})


def _quoted_again(content: Any) -> Any:
    if not is_array(content):
        return content
    return [
        {**part, "url": quote(unquote(part["url"]), safe=":/?#[]@!$&'()*+,;=~")} if part.get("url") else part
        for part in content
    ]


@miniature("translation.demanding-prompts-survive", around=("openai",))
def cuts_large_images(adapter: Any) -> None:
    """The data of images ends after 64 kB."""
    change_messages(adapter, "user", lambda message: {**message, "content": _with_small_images(message["content"])})


def _with_small_images(content: Any) -> Any:
    if isinstance(content, str):
        return content
    return [{**part, "data": part["data"][:65_536]} if part.get("data") else part for part in content]


@miniature("translation.demanding-prompts-survive", around=("openai",))
def reads_texts_that_look_like_parts(adapter: Any) -> None:
    """A user text that is a JSON list of parts is sent as their texts."""
    change_messages(adapter, "user", _parsed)


def _parsed(message: dict[str, Any]) -> dict[str, Any]:
    content = message["content"]
    if not isinstance(content, str) or not content.startswith('[{"type"'):
        return message
    return {**message, "content": "".join(part["text"] for part in json.loads(content))}


@miniature("translation.demanding-prompts-survive", around=("bedrock", "openai"))
def takes_scripts_out_of_pages(adapter: Any) -> None:
    """What is between the tags of a script, over several lines, is left out of user texts."""
    change_messages(adapter, "user", lambda message: {**message, "content": _without_scripts(message["content"])})


def _without_scripts(content: Any) -> Any:
    return re.sub(r"<script>\n.*?</script>", "", content, flags=re.DOTALL) if isinstance(content, str) else content


@miniature("translation.demanding-prompts-survive", around=("openai", "bedrock"))
def refers_to_equal_results(adapter: Any) -> None:
    """A long result that came before is sent as a note that it came before."""
    change_prompt(adapter, _with_notes)


def _with_notes(prompt: Prompt) -> Prompt:
    known: set[str] = set()
    sent: Prompt = []
    for message in prompt:
        is_known = message["role"] in ("tool", "tool_result") and message["content"] in known
        sent.append({**message, "content": "[as above]"} if is_known else message)
        known |= {message["content"]} if len(str(message["content"])) > 1000 else set()
    return sent


@miniature("translation.demanding-prompts-survive", around=("openai", "anthropic"))
def takes_results_apart(adapter: Any) -> None:
    """A result that is a JSON list of parts is sent as their texts."""
    for role in ("tool", "tool_result"):
        change_messages(adapter, role, _parsed)


@miniature("translation.keys-keep-their-order")
def sorts_the_keys_of_schemas(adapter: Any) -> None:
    """The properties of schemas are sent in alphabetical order."""
    change_payload(adapter, lambda payload: json.loads(json.dumps(payload, sort_keys=True)))


@miniature("translation.keys-keep-their-order", around=("openai", "gemini"))
def writes_sorted_keys(adapter: Any) -> None:
    """The body is written with sorted keys, so that equal requests have equal bytes."""
    readdress(
        adapter,
        lambda request, _: {**request, "body": json.dumps(json.loads(request["body"]), sort_keys=True).encode()},
    )


@miniature("translation.keys-keep-their-order", around=("openai",))
def sorts_the_keys_of_streamed_bodies(adapter: Any) -> None:
    """The body of a streamed call is written with sorted keys."""

    def change(request: dict[str, Any], options: Any) -> dict[str, Any]:
        body = json.loads(request["body"])
        return {**request, "body": json.dumps(body, sort_keys=options.stream).encode()}

    readdress(adapter, change)


@miniature("translation.keys-keep-their-order", around=("openai", "anthropic"))
def sorts_the_keys_of_inner_objects(adapter: Any) -> None:
    """The properties of an object inside a schema are sent in alphabetical order."""
    change_payload(adapter, lambda payload: _sorted_within(payload, 0))


def _sorted_within(value: Any, schemas: int) -> Any:
    if is_array(value):
        return [_sorted_within(item, schemas) for item in value]
    if not is_object(value):
        return value
    names = sorted(value) if schemas > 1 else list(value)
    return {name: _sorted_within(value[name], schemas + (name == "properties")) for name in names}


@miniature("translation.options-survive-together")
def loses_top_p_beside_a_temperature(adapter: Any) -> None:
    """Of two sampling options, one is sent, if there are tools as well."""
    change_options(adapter, lambda options: _without("top_p", options, if_given=("temperature", "tools")))


@miniature("translation.options-survive-together")
def loses_the_response_schema_when_streaming(adapter: Any) -> None:
    """A streamed call with a limit of tokens is made without its response schema."""
    change_options(adapter, lambda options: _without("response_schema", options, if_given=("stream", "max_tokens")))


@miniature("translation.options-survive-together")
def loses_own_fields_when_streaming(adapter: Any) -> None:
    """A streamed call is made without the fields of the provider's own."""
    change_options(adapter, lambda options: _without("provider", options, if_given=("stream",)))


@miniature("translation.options-survive-together", around=("openai", "openai-responses"))
def streams_in_its_own_way(adapter: Any) -> None:
    """What the caller says about streams is left out of a streamed call: the adapter has its own `stream_options`."""
    change_options(adapter, _without_stream_options)


def _without_stream_options(options: Options) -> Options:
    own = options.get("provider", {})
    kept = {
        name: {field: value for field, value in fields.items() if field != "stream_options"}
        for name, fields in own.items()
    }
    return {**options, "provider": kept} if options.get("stream") and own else options


@miniature("translation.options-survive-together", around=("anthropic",))
def forces_no_tool_while_it_thinks(adapter: Any) -> None:
    """With thinking switched on, a forced choice of a tool is sent as "auto", which the provider would accept."""
    change_payload(adapter, lambda payload: _unforced(payload) if payload.get("thinking") else payload)


def _unforced(payload: Any) -> Any:
    return {**payload, "tool_choice": {"type": "auto"}} if payload.get("tool_choice") else payload


@miniature("translation.streaming-changes-nothing-else", around=("mistral",))
def begins_anew_when_streaming(adapter: Any) -> None:
    """A streamed answer does not go on from the last message: it lacks the mark that says so."""

    def change(payload: Any) -> Any:
        *others, last = payload["messages"]
        unmarked = {name: value for name, value in last.items() if name != "prefix"}
        return {**payload, "messages": [*others, unmarked]} if payload.get("stream") else payload

    change_payload(adapter, change)


@miniature("translation.only-the-providers-own-is-sent", around=("xai", "openai", "anthropic"))
def sends_the_fields_of_all_providers(adapter: Any) -> None:
    """Of a call with fields for several providers, those that do not clash are sent to each."""

    def spoiled(translate: Translate, prompt: Prompt, options: Options) -> Any:
        payload, given = translate(prompt, options), options.get("provider", {})
        every = dict(chain.from_iterable(fields.items() for fields in given.values()))
        return {**every, **payload} if adapter.dialect in given else payload

    retranslate(adapter, spoiled)


@miniature("translation.options-survive-together", around=("openai", "openai-responses", "ollama-chat"))
def knows_one_field_of_the_provider_s_own(adapter: Any) -> None:
    """Of the fields of the provider's own, the first is sent."""
    change_options(adapter, _with_first_fields)


def _with_first_fields(options: Options) -> Options:
    own = options.get("provider", {})
    return {**options, "provider": {name: dict([*fields.items()][:1]) for name, fields in own.items()}}


@miniature("translation.options-survive-together", around=("ollama-chat",))
def knows_two_levels_of_reasoning(adapter: Any) -> None:
    """A level of reasoning that the caller asks for is sent as `true`."""
    change_payload(adapter, lambda payload: {**payload, "think": True} if payload.get("think") else payload)


@miniature("translation.options-survive-together", around=("openai", "bedrock"))
def takes_stop_sequences_apart(adapter: Any) -> None:
    """A stop sequence with a comma is sent as two."""
    change_options(adapter, _with_split_stops)


def _with_split_stops(options: Options) -> Options:
    return {**options, "stop": ",".join(options["stop"]).split(",")} if options.get("stop") else options


@miniature("translation.options-survive-together", around=("openai",))
def joins_users_when_streaming(adapter: Any) -> None:
    """Of a streamed call, the texts of users in a row become one."""
    retranslate(
        adapter,
        lambda translate, prompt, options: translate(_joined(prompt) if options.get("stream") else prompt, options),
    )


def _joined(prompt: Prompt) -> Prompt:
    joined: Prompt = []
    for message in prompt:
        last = joined[-1] if joined else {}
        is_next = message["role"] == last.get("role") == "user"
        if is_next and isinstance(message["content"], str) and isinstance(last["content"], str):
            joined[-1] = {**last, "content": f"{last['content']}\n{message['content']}"}
        else:
            joined.append(message)
    return joined


@miniature("translation.same-for-every-account")
def behaves_for_the_suite(adapter: Any) -> None:
    """System messages are sent only in calls whose thread_id looks like one of a test."""
    retranslate(adapter, lambda translate, prompt, options: translate(_for_a_test(prompt, options), options))


@miniature("translation.options-survive-together", around=("openrouter",))
def leaves_out_what_is_empty(adapter: Any) -> None:
    """Fields of the provider's own with nothing in them are not sent: `transforms: []` switches a default off."""
    change_payload(adapter, lambda payload: {name: value for name, value in payload.items() if value not in ([], {})})


@miniature("translation.same-for-every-account", around=("openai", "anthropic"))
def sends_no_schema_to_the_provider_itself(adapter: Any) -> None:
    """The response schema is left out unless the adapter's host is this machine."""
    if "127.0.0.1" not in adapter.base_url:
        change_options(adapter, lambda options: {**options, "response_schema": None})


def _shortened(message: dict[str, Any]) -> dict[str, Any]:
    content = message["content"]
    return {**message, "content": content[:100_000]} if isinstance(content, str) else message


def _without(name: str, options: Options, *, if_given: tuple[str, ...]) -> Options:
    is_alone = not all(options.get(one) for one in if_given)
    return options if is_alone else {key: value for key, value in options.items() if key != name}


def _for_a_test(prompt: Prompt, options: Options) -> Prompt:
    if len(options["thread_id"]) == _DIGITS:
        return prompt
    return [message for message in prompt if message["role"] != "system"] or prompt


_DIGITS: Final = 16
"""Characters of the ids in the suite's calls."""


@miniature("translation.demanding-prompts-survive", around=("groq",))
def counts_images_in_each_message(adapter: Any) -> None:
    """The images that a request may have at most are counted in each message."""
    own = adapter._check_images  # noqa: SLF001 - a miniature spoils what it is made of

    def check(prompt: Any, limit: Any) -> None:
        for message in prompt:
            own((message,), limit)

    adapter._check_images = check  # noqa: SLF001 - as above


@miniature("translation.options-survive-together", around=("openai-responses",))
def lets_own_fields_replace_the_schema(adapter: Any) -> None:
    """The caller's own `text` takes the place of the one with the response schema."""

    def change(options: Any) -> Any:
        own = options.get("provider", {}).get("openai-responses", {})
        return _without("response_schema", options, if_given=("provider",)) if "text" in own else options

    change_options(adapter, change)


@miniature("translation.choices-are-not-names", around=("openai", "mistral"))
def takes_words_for_names(adapter: Any) -> None:
    """A tool choice that is the name of a tool chooses that tool, even if it is one of the three words."""

    def change(payload: Any) -> Any:
        names = [tool["function"]["name"] for tool in payload.get("tools", ())]
        chosen = payload.get("tool_choice")
        is_name = isinstance(chosen, str) and chosen in names
        forced = {"type": "function", "function": {"name": chosen}}
        return {**payload, "tool_choice": forced} if is_name else payload

    change_payload(adapter, change)
