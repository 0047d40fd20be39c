"""Additions to the published types of another provider, for a dialect without types of its own."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Overlaid(Struct, frozen=True):
    """One addition: a property's schema, new or replaced, and the evidence, which the schema's provenance repeats.

    `at` is the name of a definition and of its property (`Choice/finish_reason`), or a property of the root.
    """

    at: str
    schema: dict[str, Any]
    source: str
