"""Requests in files: bodies, lines of JSON, HAR, curl commands and cassettes, read and judged one by one."""

from __future__ import annotations

from art_compliance.traffic.judged import Given, Judged, Judgements, judge_all
from art_compliance.traffic.reading import read_source

__all__ = ["Given", "Judged", "Judgements", "judge_all", "read_source"]
