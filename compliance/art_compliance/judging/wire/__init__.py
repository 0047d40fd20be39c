"""Judges requests by closed schemas, generated from the providers' own published types.

The schemas in `fixtures/wire` need no SDK (`schemas`, `explain`, `allowances`). `art wire rebuild` generates them from
the SDKs of the extra `judges` (`rebuild`, and one module per kind of source).
"""

from __future__ import annotations

from art_compliance.judging.wire.schemas import WireSchema, judge_answer, judge_wire, load_schema, schema_names

__all__ = ["WireSchema", "judge_answer", "judge_wire", "load_schema", "schema_names"]
