"""Gemini's rules about options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from art_compliance.dialects.gemini_generate.contents import Contents, field, snake
from art_compliance.dialects.ruling import Broken, child, outside, rule
from art_sdk.json_data import is_array

_RANGES: Final = {"temperature": (0.0, 2.0), "presencePenalty": (-2.0, 2.0), "frequencyPenalty": (-2.0, 2.0)}
_ALL_RANGES: Final = _RANGES | {snake(name): limits for name, limits in _RANGES.items()}


@rule("gemini.temperature")
def temperature(request: Contents) -> Iterator[Broken]:
    """Also the ranges of the penalties."""
    yield from outside(request.config, _ALL_RANGES)


@rule("gemini.stop-max5")
def stop_max5(request: Contents) -> Iterator[Broken]:
    """Of any length."""
    stops: Any = field(request.config, "stopSequences")
    if is_array(stops) and len(stops) > 5:
        pointer = f"{request.config.pointer}/stopSequences"
        yield Broken(pointer, f"there are {len(stops)} stop sequences; 5 are allowed")


_TYPES_WITH_SCHEMA: Final = ("application/json", "text/x.enum")


@rule("gemini.response-schema-mime")
def response_schema_mime(request: Contents) -> Iterator[Broken]:
    """The type is JSON, or one word of an enum."""
    for name in ("responseSchema", "responseJsonSchema"):
        mime_type = field(request.config, "responseMimeType")
        if field(request.config, name) is not None and mime_type not in _TYPES_WITH_SCHEMA:
            yield Broken(
                f"{request.config.pointer}/{name}", f"a schema is given, but the answer's type is {mime_type!r}"
            )


@rule("gemini.allowed-names-any")
def allowed_names_any(request: Contents) -> Iterator[Broken]:
    """The newer mode `VALIDATED` allows names, too."""
    config = child(request.root, "toolConfig", "tool_config")
    calling = child(config, "functionCallingConfig", "function_calling_config")
    if field(calling, "allowedFunctionNames") and str(calling.value.get("mode")).upper() not in ("ANY", "VALIDATED"):
        message = f"allowed functions need the mode ANY or VALIDATED; the mode is {calling.value.get('mode')!r}"
        yield Broken(f"{calling.pointer}/allowedFunctionNames", message)
