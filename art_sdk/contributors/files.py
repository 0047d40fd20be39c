"""FileContributor: texts of files below a root. They are read at every build, so that a change shows at once."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

import anyio.to_thread

from art_sdk.contributors.configuration import MOST_BYTES, Stability
from art_sdk.contributors.context import DynamicContributorContext
from art_sdk.contributors.contributor import fill_template
from art_sdk.contributors.tags import wrap

SUFFIXES: Final = (".md", ".txt")

_TRIES: Final = 3
"""How often a file is read that changes meanwhile."""

# A pipe must not keep the reader waiting, and a link that has just taken the place of a file must not be followed.
_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)

_FOLDER: Final = _FLAGS | getattr(os, "O_DIRECTORY", 0)


class UnusableFile(ValueError):
    """A file that a contributor may not or cannot read. The message names it as the configuration does."""


class FileContributor:
    """The texts of files, each in `<file name="...">`.

    `files` are paths below `root`, by default the context's `workspace`; links may not lead out of it. A file must
    have one of the `suffixes`, be UTF-8, and have at most `max_bytes`.
    """

    def __init__(
        self,
        id: str,  # noqa: A002
        priority: int,
        files: Sequence[str],
        *,
        root: Path | None = None,
        suffixes: Sequence[str] = SUFFIXES,
        max_bytes: int = MOST_BYTES,
        stability: Stability = "session",
        is_template: bool = False,
    ) -> None:
        self.id = id
        self.priority = priority
        self.stability: Stability = stability
        self.files = tuple(files)
        self.root = root
        self.suffixes = tuple(suffix.lower() for suffix in suffixes)
        self.max_bytes = max_bytes
        self.is_template = is_template

    @property
    def is_wrapped(self) -> bool:
        """Its text is in tags, so that it cannot be cut."""
        return True

    async def get_content(self, context: DynamicContributorContext) -> str:
        """The texts. Raises UnusableFile for a file that may not or cannot be read."""
        root = self.root or context.workspace
        if root is None:
            raise UnusableFile("files need a root: pass root to load_contributors, or workspace to the context")
        texts = [await self._read(root, name) for name in self.files]
        if self.is_template:
            texts = [fill_template(name, text, context) for name, text in zip(self.files, texts, strict=True)]
        return "\n".join(wrap("file", text, name=name) for name, text in zip(self.files, texts, strict=True))

    async def _read(self, root: Path, name: str) -> str:
        if Path(name).suffix.lower() not in self.suffixes:
            raise UnusableFile(f"the suffix of {name!r} must be one of {', '.join(self.suffixes)}")
        read = partial(read_file, root, name, self.max_bytes)
        return await anyio.to_thread.run_sync(read, abandon_on_cancel=True)

    def __repr__(self) -> str:
        return f"FileContributor({self.id!r}, {self.priority!r}, {', '.join(self.files)})"


def read_file(root: Path, name: str, most: int) -> str:
    """The text of a file below the root. Raises UnusableFile.

    What was opened is what is checked: where it lies, what it is, how large it is, and that it stayed as it was. A
    file that is replaced (`os.replace`) is given as it was or as it is; one that is written in place may be given as
    far as it is written.
    """
    try:
        for _ in range(_TRIES):
            data = _read_once(root, name, most)
            if data is not None:
                return data.decode("utf-8")
    except IsADirectoryError as error:
        raise UnusableFile(f"{name!r} is not a file") from error
    except RuntimeError as error:  # which older Pythons raise for it
        raise UnusableFile(f"{name!r} is a link to itself") from error
    except OSError as error:
        raise UnusableFile(f"{name!r} cannot be read: {error.strerror or type(error).__name__}") from error
    except UnicodeDecodeError as error:
        raise UnusableFile(f"{name!r} is not UTF-8") from error
    except ValueError as error:
        raise error if isinstance(error, UnusableFile) else UnusableFile(f"{name!r} is not a file name") from error
    raise UnusableFile(f"{name!r} changes while it is read")


def _read_once(root: Path, name: str, most: int) -> bytes | None:
    """The bytes; None if the file changed meanwhile."""
    with os.fdopen(_open(root, name), "rb") as opened:
        before = os.fstat(opened.fileno())
        if not stat.S_ISREG(before.st_mode):
            raise UnusableFile(f"{name!r} is not a file")
        data = opened.read(most + 1)
        if len(data) > most:
            raise UnusableFile(f"{name!r} has more than {most:,} bytes")
        is_same = _state(before) == _state(os.fstat(opened.fileno())) and len(data) == before.st_size
        return data if is_same else None


def _open(root: Path, name: str) -> int:
    """A descriptor of the file. Raises UnusableFile if it lies outside the root, links followed.

    It is opened step by step without following links: one that has just taken a folder's place is an error.
    """
    inside = root.resolve()
    place = (inside / name).resolve()
    if not place.is_relative_to(inside):
        raise UnusableFile(f"{name!r} is outside the root")
    if os.open not in os.supports_dir_fd:  # Windows
        return os.open(place, _FLAGS)
    here = os.open(inside, _FOLDER)
    for step in place.relative_to(inside).parts[:-1]:
        here = _enter(here, step, _FOLDER)
    return _enter(here, place.name, _FLAGS)


def _enter(folder: int, step: str, flags: int) -> int:
    """What the folder has under this name. Closes the folder."""
    try:
        return os.open(step, flags, dir_fd=folder)
    finally:
        os.close(folder)


def _state(known: os.stat_result) -> tuple[int, int, int]:
    return known.st_mtime_ns, known.st_ctime_ns, known.st_size
