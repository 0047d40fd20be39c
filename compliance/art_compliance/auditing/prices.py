"""Reads a file of prices, TOML or JSON: a currency, and the price of a million tokens of each model.

currency = "USD"
[models]
"gpt-4.1" = {input = 2, output = 8}
"claude-sonnet-*" = {input = 3, output = 15}
"""

from __future__ import annotations

import json
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from art_compliance.auditing.settings import Price, Prices
from art_compliance.findings import HarnessError

_UNIT: Final = 10**6
"""A price of a million tokens is so many millionths of a millionth for one token."""


_MOST: Final = 10**12
"""More than any price: its product with the unit must be an integer that msgpack has."""


class _Row(Struct, frozen=True, forbid_unknown_fields=True):
    input: Decimal
    output: Decimal


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    models: dict[str, _Row]
    currency: str = "USD"


def load_prices(path: Path) -> Prices:
    """The prices. Raises HarnessError, naming file and field."""
    try:
        text = path.read_text(encoding="utf-8")
        read: Any = (
            tomllib.loads(text, parse_float=Decimal)
            if path.suffix.lower() == ".toml"
            else json.loads(text, parse_float=Decimal)
        )
        found = msgspec.convert(read, type=_File)
        return Prices(found.currency, {name: _price(name, row) for name, row in found.models.items()})
    except OSError as error:
        raise HarnessError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise HarnessError(f"{path} is not UTF-8 text (byte {error.start})") from error
    except (ValueError, RecursionError) as error:
        raise HarnessError(f"{path}: {error}") from error


def _price(name: str, row: _Row) -> Price:
    for side, price in (("input", row.input), ("output", row.output)):
        if not price.is_finite() or not 0 <= price <= _MOST or price * _UNIT % 1:
            raise ValueError(
                f"models.{name}.{side}: {price} is not a price per million tokens, with at most 6 decimals"
            )
    return Price(int(row.input * _UNIT), int(row.output * _UNIT))
