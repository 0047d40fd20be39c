"""Whatever bytes a file of an author holds, the one who reads it says what is wrong and names the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from art_compliance.auditing.keeping import Keeper
from art_compliance.auditing.prices import load_prices
from art_compliance.checks.properties.kept import kept_for
from art_compliance.commands.cassettes import replayed_by
from art_compliance.findings import HarnessError
from art_compliance.judging.exam import load_grades, load_recordings
from art_compliance.publishing.board.history import read_history
from art_compliance.publishing.board.reading import read_subjects
from art_compliance.publishing.certificate import read_certificates
from art_compliance.run.baseline import read_baseline
from art_compliance.run.reading import read_every_report
from art_compliance.run.selection import Selection
from art_compliance.run.settings import read_settings
from art_compliance.scenarios import load_scenarios

NOT_UTF_8 = b'"\xed\xa0\x80"'
DEEP = b"[" * 100_000
BYTES: Mapping[str, bytes] = {
    "not UTF-8": b"\xff\xfe{}",
    "a half surrogate": NOT_UTF_8,
    "nested deep": DEEP,
    "a number": b"1",
}
INSIDE = {"not UTF-8 inside": NOT_UTF_8, "nested deep inside": DEEP}


def read_kept(file: Path) -> None:
    """An audit's state, which is put aside instead of refused."""
    kept = Keeper(file.parent, "1").load()
    if isinstance(kept, str):
        raise HarnessError(kept)


REPORT = b'{"report_version": 3, "reports": [{"adapter": {"name": @}}]}'

READERS: Mapping[str, tuple[str, bytes, Callable[[Path], Any]]] = {
    "report": ("report.json", REPORT, read_every_report),
    "board": ("report.json", REPORT, lambda file: read_subjects([file])),
    "replayed": ("report.json", REPORT, replayed_by),
    "certificate": (
        "certificate.json",
        b'{"certificate_version": 2, "certificates": [{"suite_version": @}]}',
        read_certificates,
    ),
    "history": ("history.jsonl", b'{"history_version": 1, "subjects": {@: 1}}', read_history),
    "state": ("audit.state", b"@", read_kept),
    "prices": ("prices.json", b'{"models": @}', load_prices),
    "prices in TOML": ("prices.toml", b"models = @", load_prices),
    "grades": ("grades.json", b'{"grades": @}', load_grades),
    "recording": ("openai/a.json", b'{"provider": @}', lambda file: list(load_recordings(file.parents[1]))),
    "kept prompt": ("law-1.json", b'{"family": @}', lambda file: list(kept_for(file.parent, "law", "family"))),
    "baseline": ("baseline.toml", b"failures = @", partial(read_baseline, selection=Selection())),
    "settings": ("pyproject.toml", b"a = @", lambda file: read_settings(file.parent)),
    "scenario": ("group/a.json", b'{"purpose": @}', lambda file: load_scenarios(file.parents[1])),
}

"""A file's name, what it holds with @ in place of the odd bytes, and who reads it."""


@pytest.mark.parametrize("content", [*BYTES, *INSIDE])
@pytest.mark.parametrize("reader", READERS)
def test_a_file_of_odd_bytes_is_refused_by_name(reader: str, content: str, tmp_path: Path):
    name, inside, read = READERS[reader]
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(BYTES[content] if content in BYTES else inside.replace(b"@", INSIDE[content]))
    with pytest.raises(HarnessError, match=file.name) as caught:
        read(file)
    assert len(str(caught.value)) < 400 + len(str(tmp_path))
