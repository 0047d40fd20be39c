"""Where in the author's own code an exception comes from: the last frames are often a library's."""

from __future__ import annotations

import os
import re
import sysconfig
import traceback
from pathlib import Path
from typing import Final

import art_sdk

_INSTALLED: Final = sysconfig.get_paths()
_FOLDERS: Final[tuple[str, ...]] = (
    *(_INSTALLED[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    str(Path(__file__).parents[1]),
    *art_sdk.__path__,
)
_LIBRARIES: Final = tuple(folder + os.sep for folder in _FOLDERS)
"""Folders whose code is not the author's."""


def describe_error(error: BaseException) -> str:
    """An exception in one line, without addresses in memory: they would differ from process to process."""
    return f"{type(error).__name__}: {without_addresses(' '.join(str(error).splitlines()))}"


def without_addresses(text: str) -> str:
    """The text without what `object.__repr__` says of where an object is."""
    return _ADDRESS.sub("", text)


_ADDRESS: Final = re.compile(r" at 0x[0-9a-fA-F]+")


def place_of(error: BaseException) -> str:
    """File, line and function of the author's code that led to the exception; empty if none of it did."""
    own = [frame for frame in _frames(error) if _is_own(frame.filename)]
    if isinstance(error, SyntaxError) and error.filename and _is_own(error.filename):
        return f"{_shown(error.filename)}:{error.lineno}"
    return _describe(own[-1]) if own else ""


def last_place_of(error: BaseException) -> str:
    """As `place_of`; the last frame of all if none is the author's."""
    return place_of(error) or _describe(_frames(error)[-1])


def is_raised_by_environment(error: BaseException) -> bool:
    """Whether the exception says that an environment variable is not set, as `os.environ[name]` does."""
    frames = _frames(error)
    return isinstance(error, KeyError) and bool(frames) and _stem(frames[-1].filename) in {"os", "frozen os"}


def _frames(error: BaseException) -> traceback.StackSummary:
    return traceback.extract_tb(error.__traceback__)


def _is_own(filename: str) -> bool:
    return not filename.startswith(("<", *_LIBRARIES))


def _describe(frame: traceback.FrameSummary) -> str:
    function = "" if frame.name == "<module>" else f" in {frame.name}"
    return f"{_shown(frame.filename)}:{frame.lineno}{function}"


def _shown(filename: str) -> str:
    """The path from the working directory, or else the file's name."""
    path = Path(filename)
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):  # it is elsewhere, or the working directory is gone
        return path.name


def _stem(filename: str) -> str:
    return Path(filename.strip("<>")).stem
