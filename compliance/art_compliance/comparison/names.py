"""The names under which an adapter sends the tools: their own, or others that it can undo."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from art_compliance.comparison.difference import Difference, Expected
from art_compliance.comparison.normal_form import Entry
from art_compliance.dialects import Decoded
from art_compliance.quoting import show


class ToolNames(NamedTuple):
    """The sent name of each renamed tool, by the name that it was given."""

    renamed: dict[str, str]

    def sent(self, name: str) -> str:
        """The name under which a tool is sent."""
        return self.renamed.get(name, name)

    def clashes(self, expected: Expected) -> Iterator[Difference]:
        """Different tools that are sent under one name."""
        owners: dict[str, str] = {}
        for name in (*(tool.name for tool in expected.tools), *self.renamed):
            owner = owners.setdefault(self.sent(name), name)
            if owner != name:
                text = f"the tools {show(owner)} and {show(name)} are both sent as {show(self.sent(name))}"
                yield Difference(slot="tool", message=text, path="options.tools")

    def after(self, entries: list[Entry]) -> list[Entry]:
        """The entries with the sent names in their calls, which are changed in place."""
        for call in (call for entry in entries for call in entry.calls):
            call.name = self.sent(call.name)
        return entries


def match_names(expected: Expected, decoded: Decoded, wanted: list[Entry], found: list[Entry]) -> ToolNames:
    """Which tools were renamed: pairs tools, and then calls, by their order, where neither name is on both sides."""
    given, sent = [tool.name for tool in expected.tools], [tool.name for tool in decoded.tools]
    renamed = dict(pair_names(given, sent))
    called, named = _called(wanted), _called(found)
    if len(called) == len(named):
        known = {*given, *sent}
        for one, other in zip(called, named, strict=True):
            if one != other and not {one, other} & known and one not in named and other not in called:
                renamed.setdefault(one, other)
    return ToolNames(renamed)


def pair_names(given: Sequence[str], sent: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each renamed tool's name with the one under which it is sent; tools are sent in their order."""
    if len(given) == len(sent):
        for one, other in zip(given, sent, strict=True):
            if one not in sent and (other not in given or sent.count(other) > 1):
                yield one, other


def _called(entries: list[Entry]) -> list[str]:
    return [call.name for entry in entries for call in entry.calls]
