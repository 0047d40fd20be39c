"""What a prompt's metadata says of how it was made: stages, sizes, fallbacks, warnings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from art_sdk.agents.browser.facts import Facts
from art_sdk.agents.browser.models import GeneratedPrompt
from art_sdk.agents.browser.planning import Plan
from art_sdk.agents.browser.trace import Trace
from art_sdk.json_data import is_array, is_object


def metadata_of(
    prompt: GeneratedPrompt, plan: Plan, facts: Facts, trace: Trace, templates: Mapping[str, str]
) -> dict[str, Any]:
    """The metadata. Sizes are in characters, tokens estimated at four characters each.

    `current_bytes` and `previous_bytes` are the memory of a page: its HTML, and what was read of it.
    """
    sizes = {one.name: len(one.text) for one in prompt.sections}
    quality = trace.sizes.get("quality_percent")
    screenshots = facts.gathered.session.metadata.get("screenshots")
    metadata: dict[str, Any] = {
        "fallbacks": [*trace.fallbacks],
        "warnings": [*plan.warnings, *facts.history.warnings, *trace.warnings],
        "stages": [*trace.stages],
        "generationMs": trace.total_ms,
        "sizes": trace.sizes | {f"{name}_chars": size for name, size in sizes.items()},
        "promptChars": sum(sizes.values()),
        "estTokens": {name: math.ceil(size / 4) for name, size in sizes.items()},
        "historyItems": len(prompt.content.context_section.execution_history.previous_steps),
        "templates": dict(templates),
        "redactions": trace.redactions,
        "quality": None if quality is None else quality / 100,
    }
    images = [_image(one) for one in screenshots if is_object(one)] if is_array(screenshots) else []
    return metadata | ({"screenshots": images} if images else {})


def _image(given: Mapping[str, Any]) -> dict[str, Any]:
    mime = given.get("mimeType", given.get("mime_type", "image/png"))
    source = {"data": given["data"]} if given.get("data") else {"url": given.get("url")}
    return {"mime_type": mime, **source}
