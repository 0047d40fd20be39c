"""How much a blueprint, its context and its result may be: what keeps a hostile one from filling time or memory."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta, Struct

_MiB: Final = 2**20

Count = Annotated[int, Meta(ge=1)]


class BlueprintLimits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The most that one blueprint may use. Beyond a limit is a PromptAssemblyFailed that names it.

    When it is compiled: `characters` and `tags` of the blueprint, those of a partial counted each time it is included,
    and `partials`, the inclusions. When it is rendered: `values` and `text` (characters) of the context, shared parts
    counted each time they occur; `steps`, one for every tag and text rendered, for every item of a section, and for
    every level that a name is looked up in; and `output`, the characters of the rendered text.
    """

    characters: Count = 1_000_000
    tags: Count = 50_000
    partials: Count = 1_000
    values: Count = 250_000
    text: Count = 16 * _MiB
    steps: Count = 1_000_000
    output: Count = 20 * _MiB


DEFAULT_LIMITS: Final = BlueprintLimits()

PARTIAL_DEPTH: Final = 16
"""How deep partials may include each other."""

SECTION_DEPTH: Final = 64
"""How deep sections may be nested, those of partials included: rendering recurses at each."""
