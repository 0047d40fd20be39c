"""What an adapter prints, warns and logs during a run goes into a file: it would bury the report."""

from __future__ import annotations

import io
import sys
from collections.abc import Generator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Final, TextIO, cast

from art_compliance.run.writing import writing

NAME: Final = "output.txt"
"""The file's name in the folder of the report."""


class Kept(io.TextIOBase):
    """Writes to a file that it makes with the first text; one of an earlier run is removed.

    After `end` it writes to standard error: a logger may keep it for longer than the run.
    """

    def __init__(self, path: Path) -> None:
        with suppress(OSError):
            path.unlink()
        self.path = path
        self._file: TextIO | None = None
        self._is_over = False
        self.lines = 0

    def writable(self) -> bool:
        """It is there to be written to."""
        return True

    def write(self, text: str, /) -> int:
        """Writes the text, and counts its lines. Raises HarnessError if the file cannot be made."""
        if self._is_over:
            return sys.stderr.write(text)
        if self._file is None:
            self._file = _opened(self.path)
        self.lines += text.count("\n")
        return self._file.write(text)

    def end(self) -> None:
        """Closes the file."""
        self._is_over = True
        if self._file is not None:
            self._file.close()


def _opened(path: Path) -> TextIO:
    with writing(path):
        return path.open("w", encoding="utf-8", errors="backslashreplace")


@contextmanager
def printing_to(kept: Kept | None) -> Generator[None]:
    """Has everything that is printed meanwhile written there, if it is given."""
    if kept is None:
        yield
        return
    stream = cast("TextIO", kept)
    with redirect_stdout(stream), redirect_stderr(stream):
        yield
