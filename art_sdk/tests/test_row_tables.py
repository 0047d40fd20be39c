from __future__ import annotations

import pytest

from row_tables import SHOWN, table

pytestmark = pytest.mark.once  # with --sample, a table runs only some of its rows


def test_a_table_names_every_row_that_fails(request: pytest.FixtureRequest):
    @table("a, b", [(1, 1), pytest.param(1, 2, id="unequal"), (3, 4)])
    def equal(a: int, b: int):
        assert a == b

    with pytest.raises(BaseExceptionGroup, match="2 of 3 rows fail: unequal, 3: 3-4") as caught:
        equal(request=request)
    assert [error.__notes__ for error in caught.value.exceptions] == [["in the row unequal"], ["in the row 3: 3-4"]]


def test_an_exception_that_does_not_come_is_a_failure_too(request: pytest.FixtureRequest):
    @table("text", ["x", "7", "y"])
    def is_no_number(text: str):
        with pytest.raises(ValueError, match="invalid literal"):
            int(text)

    with pytest.raises(BaseExceptionGroup, match="1 of 3 rows fail: 2: 7"):
        is_no_number(request=request)


def test_of_many_failures_all_are_named_and_some_shown(request: pytest.FixtureRequest):
    @table("number", range(40))
    def fails(number: int):
        assert number < 0

    with pytest.raises(BaseExceptionGroup, match=r"40 of 40 rows fail: .*40: 39") as caught:
        fails(request=request)
    assert len(caught.value.exceptions) == SHOWN


def test_every_row_is_run_with_its_values(request: pytest.FixtureRequest):
    seen = []

    @table(("a", "b"), [(1, 2), (3, 4)], ids=["x", "y"])
    def see(a: int, b: int):
        seen.append((a, b))

    see(request=request)
    assert seen == [(1, 2), (3, 4)]


@pytest.mark.parametrize("outer", [1, 2])
@table("inner", [1, 2, 3])
def test_fixtures_and_parameters_reach_each_row(outer: int, inner: int, tmp_path):
    assert outer + inner > 1
    assert tmp_path.is_dir()


def test_a_row_among_others_has_no_marks_and_a_table_has_rows():
    with pytest.raises(AssertionError, match="a row of a table has no marks"):
        table("a", [pytest.param(1, marks=pytest.mark.once), 2])
    with pytest.raises(AssertionError, match="a table without rows tests nothing"):
        table("a", [])


@table("row", [pytest.param(None, marks=pytest.mark.skip(reason="no rows here"), id="absent")])
def test_a_row_that_stands_for_absent_ones_skips_its_test(row: object):
    pytest.fail(f"{row} was run")
