"""Gemini's rules about what is asked for: candidates, modalities, images, and how safe they must be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from art_compliance.dialects.gemini_generate.contents import Contents, children, field
from art_compliance.dialects.gemini_generate.protobuf import HARMS, MODALITIES, enum_name
from art_compliance.dialects.ruling import Broken, Place, child, number, rule
from art_compliance.quoting import show
from art_sdk.json_data import is_array


@rule("gemini.candidate-count")
def candidate_count(request: Contents) -> Iterator[Broken]:
    """0 is not a default: the field knows whether it was given."""
    count = number(field(request.config, "candidateCount"))
    if count is not None and not 1 <= count <= 8:
        yield Broken(
            f"{request.config.pointer}/candidateCount", f"candidateCount is {count}; it must be between 1 and 8"
        )


@rule("gemini.one-candidate")
def one_candidate(request: Contents) -> Iterator[Broken]:
    """Vertex AI is not judged."""
    count = number(field(request.config, "candidateCount"))
    if count is not None and 1 < count <= 8 and not request.is_vertex:
        yield Broken(f"{request.config.pointer}/candidateCount", f"{request.model} returns one candidate, not {count}")


_RATIOS: Final = frozenset(
    ["1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9", "1:4", "4:1", "1:8", "8:1"]
)


@rule("gemini.aspect-ratio")
def aspect_ratio(request: Contents) -> Iterator[Broken]:
    """An empty one counts as missing."""
    image = child(request.config, "imageConfig", "image_config")
    ratio = field(image, "aspectRatio")
    if isinstance(ratio, str) and ratio and ratio not in _RATIOS:
        yield Broken(f"{image.pointer}/aspectRatio", f"{show(ratio)} is not a published aspect ratio")


_CATEGORIES: Final = ("HATE_SPEECH", "SEXUALLY_EXPLICIT", "DANGEROUS_CONTENT", "HARASSMENT", "CIVIC_INTEGRITY")


@rule("gemini.safety-category")
def safety_category(request: Contents) -> Iterator[Broken]:
    """Vertex AI is not judged. An unknown name is left to the wire schema."""
    for setting in _settings(request) if not request.is_vertex else ():
        name = (enum_name(setting.value.get("category"), HARMS) or "").removeprefix("HARM_CATEGORY_")
        if f"HARM_CATEGORY_{name}" in HARMS and name not in _CATEGORIES:
            yield Broken(f"{setting.pointer}/category", f"a safety setting cannot have the category {name}")


@rule("gemini.safety-settings-unique")
def safety_settings_unique(request: Contents) -> Iterator[Broken]:
    """Whatever the thresholds. Vertex AI is not judged."""
    categories = Counter(enum_name(setting.value.get("category"), HARMS) for setting in _settings(request))
    for name, count in categories.items() if not request.is_vertex else ():
        if name is not None and count > 1:
            yield Broken("/safetySettings", f"{count} settings have the category {name}")


def _settings(request: Contents) -> tuple[Place, ...]:
    return children(request.root, "safetySettings")


@rule("gemini.answer-modalities")
def answer_modalities(request: Contents) -> Iterator[Broken]:
    """Text is what every model answers with."""
    wanted = field(request.config, "responseModalities")
    for at, one in enumerate(wanted if is_array(wanted) else ()):
        name = enum_name(one, MODALITIES)
        if name in ("IMAGE", "AUDIO", "VIDEO"):
            pointer = f"{request.config.pointer}/responseModalities/{at}"
            yield Broken(pointer, f"{request.model} responds with text, not with {name.lower()}")


@rule("gemini.data-has-type")
def data_has_type(request: Contents) -> Iterator[Broken]:
    """A file's type may be known from its upload; its address is the wire schema's business."""
    for content in request.contents:
        for part in content.parts:
            data = child(part, "inlineData", "inline_data")
            if data.value and not field(data, "mimeType"):
                yield Broken(data.pointer, "the data has no mimeType")
