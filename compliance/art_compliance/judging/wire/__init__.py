"""Layer 1 of judging: closed schemas of what goes over the wire, made from the providers' own published types.

The kept schemas in `fixtures/wire` judge without any SDK (`kept`, `explain`, `allowances`); `art wire rebuild`
makes them anew from the SDKs of the extra `judges` (`rebuild` and one module a kind of source).
"""

from __future__ import annotations

from art_compliance.judging.wire.schemas import WireSchema, judge_answer, judge_wire, load_schema, schema_names

__all__ = ["WireSchema", "judge_answer", "judge_wire", "load_schema", "schema_names"]
