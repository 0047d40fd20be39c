"""What a run needs at its end, checked at its beginning: adapters that can be made, and a folder to write into."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile

from art_compliance.findings import HarnessError, NotMade
from art_compliance.subject.factories import Named
from art_compliance.subject.opening import open_subject
from art_sdk import BUILT_IN


def require_writable(folder: Path) -> None:
    """Makes the folder if it is missing. Raises HarnessError if no file can be written into it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except FileExistsError:
        raise HarnessError(f"cannot write into {folder}: it is a file, and must be a folder") from None
    except OSError as error:
        raise HarnessError(f"cannot write into the folder {folder}: {error.strerror}") from error


def require_made(names: Iterable[str], dialects: Iterable[str | None]) -> None:
    """Makes each adapter once, in its own process, and closes it again. Raises HarnessError for a wrong one.

    One that hangs or ends its process has failed, which its report says.
    """
    for name, dialect in zip(names, dialects, strict=True):
        if name not in BUILT_IN:
            with suppress(NotMade), open_subject(Named(name), name=name, dialect=dialect, isolated=True):
                pass
