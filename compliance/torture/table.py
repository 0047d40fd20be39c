"""All rows."""

from __future__ import annotations

import answers
import calling
import serving
import tables
from rows import Row

ROWS: dict[str, Row] = {row.name: row for row in (*answers.ROWS, *calling.ROWS, *tables.ROWS, *serving.ROWS)}
"""The rows by name."""

COUNT = sum(map(len, (answers.ROWS, calling.ROWS, tables.ROWS, serving.ROWS)))
"""How many rows there are; as many as names."""
