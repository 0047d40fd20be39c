"""All rows."""

from __future__ import annotations

import answers
import calling
import given
import serving
import tables
from rows import Row

_TABLES = (answers.ROWS, calling.ROWS, given.ROWS, tables.ROWS, serving.ROWS)

ROWS: dict[str, Row] = {row.name: row for table in _TABLES for row in table}
"""The rows by name."""

COUNT = sum(map(len, _TABLES))
"""How many rows there are; as many as names."""
