"""Rows of Parquet: the fields of a line of JSONL as columns, `request` and `response` as JSON texts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, BinaryIO, Final

from art_compliance.cassettes.compression import import_first
from art_compliance.findings import HarnessError
from art_compliance.traffic.batches import unwrap
from art_compliance.traffic.found import Item, Unread
from art_sdk.json_data import is_object

_COLUMNS: Final = ("url", "request", "response", "time", "client", "model", "shape")
_ROWS: Final = 256
"""Rows that are in memory at once."""


def rows_of(path: str, file: BinaryIO) -> Iterator[Item]:
    """What each row has. Raises HarnessError for a file that is damaged, or without a column of requests."""
    library = import_first(("pyarrow.parquet",))
    if library is None:
        raise HarnessError(f"cannot read {path}: Parquet needs pyarrow: pip install 'art-adapter-sdk[audit]'")
    try:
        table: Any = library.ParquetFile(file)
        columns = [name for name in _COLUMNS if name in table.schema_arrow.names]
        if "request" not in columns:
            raise HarnessError(f"cannot read {path}: it has no column 'request'")
        for batch in table.iter_batches(batch_size=_ROWS, columns=columns):
            yield from map(_item, batch.to_pylist())
    except (OSError, ValueError) as error:  # pyarrow's own errors are of these
        raise HarnessError(f"cannot read {path}: {error}") from error


def _item(row: Mapping[str, Any]) -> Item:
    request = row.get("request")
    if not isinstance(request, str | bytes):
        return Unread(where="", why="the column 'request' does not contain JSON text")
    try:
        body: Any = json.loads(request)
        response: Any = json.loads(answer) if isinstance(answer := row.get("response"), str | bytes) else answer
    except (ValueError, RecursionError) as error:
        return Unread(where="", why=f"not JSON: {error}")
    time = row.get("time")
    shown = time.isoformat() if isinstance(time, datetime) else time
    return unwrap("", {**row, "request": body, "response": response if is_object(response) else {}, "time": shown})
