"""What the process of an adapter knows of wire formats: the whole of them is the judge's, and slow to import."""

from __future__ import annotations

from msgspec import Struct


class Format(Struct, frozen=True, kw_only=True):
    """A wire format by its dialect's name.

    `base_path` follows the address in a base URL, `version_header` is the header with the API's version, or "", and
    `model` is for adapters that have no default, as those have none that go to `any_server`.
    """

    name: str
    base_path: str = ""
    version_header: str = ""
    model: str
    any_server: bool = False
