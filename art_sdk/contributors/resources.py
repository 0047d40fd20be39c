"""ResourcesContributor: the texts of the listed resources. No other resource is read."""

from __future__ import annotations

from collections.abc import Sequence

from art_sdk.contributors.configuration import MOST_BYTES, Stability
from art_sdk.contributors.context import DynamicContributorContext
from art_sdk.contributors.tags import wrap


class ResourcesContributor:
    """The texts of the resources `uris`, each in `<resource uri="...">`, read through the context's `resources`.

    A resource must have at most `max_bytes` as UTF-8.
    """

    def __init__(
        self,
        id: str,  # noqa: A002
        priority: int,
        uris: Sequence[str],
        *,
        max_bytes: int = MOST_BYTES,
        stability: Stability = "session",
    ) -> None:
        self.id = id
        self.priority = priority
        self.stability: Stability = stability
        self.uris = tuple(uris)
        self.max_bytes = max_bytes

    @property
    def is_wrapped(self) -> bool:
        """Its text is in tags, so that it cannot be cut."""
        return True

    async def get_content(self, context: DynamicContributorContext) -> str:
        """The texts. Raises ValueError without resources in the context or for one that is too large."""
        resources = context.resources
        if resources is None:
            raise ValueError("the context has no resources")
        return "\n".join(
            [wrap("resource", self._checked(uri, await resources.read(uri)), uri=uri) for uri in self.uris]
        )

    def _checked(self, uri: str, text: object) -> str:
        if not isinstance(text, str):
            raise TypeError(f"the resource {uri!r} must be text, not of type {type(text).__name__}")
        if len(text.encode("utf-8", "surrogatepass")) > self.max_bytes:
            raise ValueError(f"the resource {uri!r} has more than {self.max_bytes:,} bytes")
        return text

    def __repr__(self) -> str:
        return f"ResourcesContributor({self.id!r}, {self.priority!r}, {', '.join(self.uris)})"
