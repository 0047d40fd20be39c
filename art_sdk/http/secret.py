"""Text that is sent, but shown nowhere: API keys, and headers that may carry them."""

from __future__ import annotations

from types import FrameType
from typing import Any, Final, NoReturn, Self, SupportsIndex

_SHOWN: Final = "[hidden]"


class _Hidden:
    """What `Secret` and its bytes share: they are neither shown by their repr nor pickled."""

    __slots__ = ()

    def __repr__(self) -> str:
        return _SHOWN

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError(
            "an API key cannot be pickled; create the adapter in each process, from that process's settings"
        )


class Secret(_Hidden, str):
    """A string whose repr does not show it, so that no traceback with local variables and no dump of an object does.

    `str()`, formatting and joining give the text itself, as of any string. It cannot be pickled.
    """

    __slots__ = ()

    def __getitem__(self, key: SupportsIndex | slice) -> Secret:  # of which rich shows the repr of a long text
        return Secret(super().__getitem__(key))

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
        """The bytes, which are not shown either."""
        return _SecretBytes(super().encode(encoding, errors))


class _SecretBytes(_Hidden, bytes):
    """What an HTTP client makes of the text of a header."""

    __slots__ = ()

    def __getitem__(self, key: SupportsIndex | slice) -> Any:
        return _SecretBytes(super().__getitem__(key)) if isinstance(key, slice) else super().__getitem__(key)

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        return Secret(super().decode(encoding, errors))


def hide_values(headers: dict[str, str]) -> dict[str, str]:
    """The headers, with lower-case names, and values that no repr shows."""
    return {name.lower(): Secret(value) for name, value in headers.items()}


def without_frames(error: BaseException) -> None:
    """Removes the tracebacks of an error and of those behind it: the local variables of their frames have headers."""
    frames = _frames(error)
    error.__traceback__ = None
    for behind in (error.__cause__, error.__context__):
        # an error that the caller handles meanwhile is the context, too: it was caught outside of these frames
        if behind is not None and frames & _frames(behind):
            without_frames(behind)


def _frames(error: BaseException) -> set[FrameType]:
    """The frames through which the error came."""
    found: set[FrameType] = set()
    traceback = error.__traceback__
    while traceback is not None:
        found.add(traceback.tb_frame)
        traceback = traceback.tb_next
    return found
