"""Tables of many cheap rows, each table judged in one test: collecting a test for each row costs more than the row."""

from __future__ import annotations

import inspect
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import wraps
from typing import Any

import pytest
from coverage import Coverage

ParameterSet = type(pytest.param())

SHOWN = 5
"""This many rows that fail are shown with their tracebacks. The others are named."""

FAILURES = (Exception, pytest.fail.Exception)


@contextmanager
def unmeasured() -> Iterator[None]:
    """Let coverage trace neither this thread, nor threads and processes that start meanwhile."""
    here, threads = sys.gettrace(), threading.gettrace()
    process = os.environ.pop("COVERAGE_PROCESS_CONFIG", None)
    sys.settrace(None)
    threading.settrace(None)  # type: ignore[arg-type] # None ends it, as with sys.settrace
    try:
        yield
    finally:
        sys.settrace(here)
        threading.settrace(threads)  # type: ignore[arg-type] # likewise
        if process is not None:
            os.environ["COVERAGE_PROCESS_CONFIG"] = process


def is_sampled(number: int, *, first: int, every: int) -> bool:
    """Whether a row, counted from 1, is one of the first, or of a sample of the others."""
    return number <= first or (number - first) % every == 0


def table(names: str | Sequence[str], rows: Iterable[Any], *, ids: Any = None) -> Callable[[Any], Any]:
    """Call a test with each row, and fail with the ids of all rows that fail. Fixtures are made once for all rows.

    Takes what `pytest.mark.parametrize` takes, `names` as a tuple or with commas. With `--sample`, only some rows are
    run; coverage measures some, or all where the test is marked `measured`. The marks of an only row are the test's: it
    stands for rows that are not there, and skips.
    """
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    given = list(rows)
    marks = given[0].marks if len(given) == 1 and isinstance(given[0], ParameterSet) else ()
    cases = list(_cases(keys, [pytest.param(*given[0].values, id=given[0].id)] if marks else given, ids))
    assert cases, "a table without rows tests nothing"

    def decorate(test: Callable[..., Any]) -> Callable[..., None]:
        parameters = inspect.signature(test).parameters
        assert set(keys) <= set(parameters), f"{test.__name__} does not take {keys}"
        takes_request = "request" in parameters

        @wraps(test)
        def run(*, request: pytest.FixtureRequest, **fixtures: Any) -> None:
            known = {**fixtures, "request": request} if takes_request else fixtures
            failed: dict[str, BaseException] = {}
            for name, row, measured in _chosen(request, cases):
                with measured:
                    try:
                        test(**known, **row)
                    except FAILURES as error:
                        error.add_note(f"in the row {name}")
                        failed[name] = error
            if failed:
                message = f"{len(failed)} of {len(cases)} rows fail: {', '.join(failed)}"
                raise BaseExceptionGroup(message, list(failed.values())[:SHOWN])

        own = [one for name, one in parameters.items() if name not in {*keys, "request"}]
        asked = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own]
        request_of = inspect.Parameter("request", inspect.Parameter.KEYWORD_ONLY)
        run.__signature__ = inspect.Signature([*asked, request_of])  # type: ignore[attr-defined] # read by pytest
        for mark in marks:
            run = mark(run)
        return run

    return decorate


def _chosen(request: pytest.FixtureRequest, cases: list[tuple[str, dict[str, Any]]]) -> Iterator[tuple[str, Any, Any]]:
    """Yield the rows to be run: the id, the values, and the context that decides whether coverage measures the row."""
    only_some = request.config.getoption("sample")
    measures_all = Coverage.current() is None or request.node.get_closest_marker("measured") is not None
    for number, (name, row) in enumerate(cases, 1):
        if not only_some or is_sampled(number, first=1, every=23):
            is_measured = measures_all or is_sampled(number, first=3, every=11)
            yield name, row, nullcontext() if is_measured else unmeasured()


def _cases(keys: list[str], rows: list[Any], ids: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    names = [None] * len(rows) if ids is None else [ids(row) for row in rows] if callable(ids) else list(ids)
    for number, (row, name) in enumerate(zip(rows, names, strict=True), 1):
        param = row if isinstance(row, ParameterSet) else pytest.param(*(row if len(keys) > 1 else [row]))
        assert not param.marks, "a row of a table has no marks: take pytest.mark.parametrize"
        values = dict(zip(keys, param.values, strict=True))
        yield str(param.id or name or f"{number}: {_short(param.values)}"), values


def _short(values: Sequence[Any]) -> str:
    return "-".join(map(_name, values))[:80]


def _name(value: Any) -> str:
    """A name for a value whose representation may be long, or impossible."""
    if isinstance(value, str | bool | None) or (isinstance(value, int) and abs(value) < 10**9):
        return str(value)
    return str(getattr(value, "__name__", None) or getattr(value, "id", None) or type(value).__name__)
