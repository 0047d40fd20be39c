"""The comparison distinguishes what is lost, changed, moved, invented, repaired, and declared as a loss."""

from __future__ import annotations

from typing import Any

import pytest

from art_compliance.comparison import NO_CONSTANTS, Comparison, Constants, Expected, Notes, compare
from art_compliance.comparison.normal_form import keeps_json, normal_form, same_json
from art_compliance.dialects import Decoded
from art_sdk import ToolSchema, parse_prompt


def call(call_id: str, arguments: str = "{}", name: str = "f") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def user(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str | None, *calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": text, "tool_calls": list(calls)}


def result(call_id: str, text: str, **fields: Any) -> dict[str, Any]:
    return {"role": "tool_result", "tool_call_id": call_id, "content": text, **fields}


def system(text: str) -> dict[str, Any]:
    return {"role": "system", "content": text}


def compared(
    wanted: list[dict[str, Any]], found: list[dict[str, Any]], constants: Constants = NO_CONSTANTS
) -> Comparison:
    prompt = parse_prompt(wanted)
    expected = Expected(dialect="openai-chat", prompt=prompt, tools=(), options={}, constants=constants)
    return compare(expected, Decoded(prompt=parse_prompt(found)))


TALK = [
    system("s"),
    user("a"),
    assistant("b", call("1", '{"n": 1}'), call("2")),
    result("1", "one"),
    result("2", "two"),
    user("c"),
]


@pytest.mark.parametrize(
    ("found", "slots"),
    [
        (TALK, []),
        (TALK[1:], ["system-text"]),
        ([*TALK[:1], user("A"), *TALK[2:]], ["user-text"]),
        ([*TALK[:2], assistant("x", *TALK[2]["tool_calls"]), *TALK[3:]], ["assistant-text"]),
        ([*TALK[:2], assistant("b", call("1", '{"n": 1}')), TALK[3], TALK[5]], ["call"]),
        ([*TALK[:2], assistant("b", call("1", '{"n": 1.0}'), call("2")), *TALK[3:]], ["arguments"]),
        ([*TALK[:2], assistant("b", call("1", '{"n": 1}', "g"), call("2")), *TALK[3:]], ["call"]),
        ([*TALK[:2], assistant("b", call("2"), call("1", '{"n": 1}')), *TALK[3:]], ["call"]),  # in another order
        ([*TALK[:2], assistant("b", call("2", '{"n": 2}'), call("1", '{"n": 1}')), *TALK[3:]], ["arguments", "call"]),
        ([*TALK[:3], result("1", "ONE"), *TALK[4:]], ["result"]),
        ([*TALK[:4], *TALK[5:]], ["result"]),
        ([*TALK[:3], result("1", "one", status="error"), *TALK[4:]], ["result-status"]),
        ([*TALK, user("d")], ["invented"]),
        ([*TALK, user("c")], ["invented"]),
        ([TALK[0], TALK[5], *TALK[1:5]], ["turns"]),
        ([*TALK[:3], result("2", "two"), result("1", "one"), TALK[5]], []),
        ([*TALK[:3], result("1", "two"), result("2", "one"), TALK[5]], ["result", "result"]),
    ],
)
def test_a_difference_names_its_slot(found: list[dict[str, Any]], slots: list[str]):
    comparison = compared(TALK, found)
    assert sorted(difference.slot for difference in comparison.differences) == slots
    assert comparison.repairs == frozenset()


@pytest.mark.parametrize(("text", "slots"), [("", []), (" ", ["invented"]), ("s", ["invented"])])
def test_an_empty_system_prompt_is_none(text: str, slots: list[str]):
    found = compared(TALK[1:], [system(text), *TALK[1:]])
    assert [difference.slot for difference in found.differences] == slots


@pytest.mark.parametrize(
    ("wanted", "found", "repairs"),
    [
        ([user("a"), user("b")], [user("a\n\nb")], {"joins_turns"}),
        ([user("a"), user("b")], [user("ab")], {"joins_turns"}),
        ([system("s"), user("a"), system("t")], [system("s"), system("t"), user("a")], {"hoists_late_system"}),
        ([user("a"), user(" "), assistant("b")], [user("a"), assistant("b")], {"drops_blank_text"}),
        (
            [user("a"), assistant(None, call("long")), result("long", "r")],
            [user("a"), assistant(None, call("short")), result("short", "r")],
            {"maps_call_ids"},
        ),
        (
            [user("a"), system("t"), user("b")],
            [system("t"), user("a\n\nb")],
            {"hoists_late_system", "joins_turns"},
        ),
        (
            [user("a"), assistant(None, call("1")), assistant("b"), result("1", "r")],
            [user("a"), assistant("b", call("1")), result("1", "r")],
            {"joins_turns"},
        ),
    ],
)
def test_a_change_that_a_repair_explains_is_not_a_difference(wanted: Any, found: Any, repairs: set[str]):
    comparison = compared(wanted, found)
    assert comparison.differences == ()
    assert comparison.repairs == repairs


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ([user("a"), user("b")], [user("a and b")]),
        ([user("a"), user("b")], [user("b\n\na")]),
        ([user("a"), assistant("b"), user("c")], [user("a\n\nc"), assistant("b")]),
        (
            [user("a"), assistant(None, call("1")), result("1", "r"), assistant("b")],
            [user("a"), assistant("b", call("1")), result("1", "r")],
        ),
    ],
)
def test_a_join_that_adds_moves_or_skips_is_a_difference(wanted: Any, found: Any):
    assert compared(wanted, found).differences


def parts(*texts: str) -> dict[str, Any]:
    return user([{"type": "text", "text": text} for text in texts])


NOTED = Constants(beside_demoted=Notes(("Note.",)), blanks={"assistant": "(none)", "user": "(none)"})


@pytest.mark.parametrize(
    ("wanted", "found", "repairs"),
    [
        (
            [user("a"), system("t"), assistant("b")],
            [user("a"), parts("Note.", "t"), assistant("b")],
            {"demotes_late_system"},
        ),
        (
            [user("a"), system("t"), user("b")],
            [parts("a", "Note.", "t", "b")],
            {"demotes_late_system", "joins_turns"},
        ),
        ([user("a"), system("t"), assistant("b")], [user("a"), parts("Other.", "t"), assistant("b")], None),
        ([user("a"), system("t"), assistant("b")], [user("a"), parts("Note."), assistant("b")], None),
        (
            [user("a"), assistant("", call("1")), result("1", "r")],
            [user("a"), assistant("(none)", call("1")), result("1", "r")],
            {"fills_blank_text"},
        ),
        (
            [user("a"), assistant(None, call("1")), result("1", "r")],
            [user("a"), assistant("(none)", call("1")), result("1", "r")],
            None,
        ),
        (
            [user(" "), assistant(None, call("1")), result("1", "r")],
            [user("(none)"), assistant("", call("1")), result("1", "r")],
            {"fills_blank_text"},
        ),
    ],
)
def test_constant_texts_explain_only_what_they_stand_for(wanted: Any, found: Any, repairs: set[str] | None):
    comparison = compared(wanted, found, NOTED)
    assert bool(comparison.differences) is (repairs is None)
    assert repairs in (None, comparison.repairs)


def kept(message: dict[str, Any], **extensions: Any) -> dict[str, Any]:
    return message | {"extensions": {name.replace("_", "-"): value for name, value in extensions.items()}}


@pytest.mark.parametrize(
    ("wanted", "found", "is_same"),
    [
        ('{"a": NaN, "b": 1}', '{"a":NaN,"b":1}', True),
        ('{"a": NaN, "b": 1}', '{"a":NaN,"b":2}', False),
        ('{"a": NaN}', '{"a":Infinity}', False),
        ('{"a": NaN}', '{"a":"NaN"}', False),
        ('{"a": 1', '{"a":1', False),
    ],
)
def test_of_texts_that_are_nearly_json_spaces_mean_nothing(wanted: str, found: str, is_same: bool):  # noqa: FBT001
    one, other = ([user("a"), assistant(None, call("1", text)), result("1", "r")] for text in (wanted, found))
    assert (compared(one, other).differences == ()) is is_same


@pytest.mark.parametrize(
    ("wanted", "found", "slots"),
    [
        (kept(assistant("b"), openai_chat={"a": 1}), kept(assistant("b"), openai_chat={"a": 1}), []),
        (kept(assistant("b"), openai_chat={"a": 1}), kept(assistant("b"), openai_chat={"a": 1.0}), ["extensions"]),
        (kept(assistant("b"), openai_chat={"a": 1}), assistant("b"), ["extensions"]),
        (assistant("b"), kept(assistant("b"), openai_chat={"a": 1}), ["extensions"]),
        (kept(assistant("b"), another_dialect={"a": 1}), assistant("b"), []),
    ],
)
def test_only_extensions_of_the_dialect_are_compared(wanted: Any, found: Any, slots: list[str]):
    comparison = compared([user("a"), wanted], [user("a"), found])
    assert [difference.slot for difference in comparison.differences] == slots


def test_a_turn_with_only_extensions_is_not_blank():
    users = [user("a"), user("b")]
    silent = kept(assistant(None), openai_chat={"a": 1})
    assert compared([users[0], silent, users[1]], users).differences
    foreign = kept(assistant(None), another_dialect={"a": 1})
    assert compared([users[0], foreign, users[1]], users).repairs == {"drops_blank_text"}


def test_joined_turns_keep_the_extensions_of_both():
    one, two = kept(assistant("b"), openai_chat={"a": 1}), kept(assistant(None, call("1")), openai_chat={"b": 2})
    joined = assistant("b", call("1"))
    found = compared([user("a"), one, two, result("1", "x")], [user("a"), joined, result("1", "x")])
    assert [difference.slot for difference in found.differences] == ["extensions"]
    whole = kept(joined, openai_chat={"a": 1, "b": 2})
    found = compared([user("a"), one, two, result("1", "x")], [user("a"), whole, result("1", "x")])
    assert (found.differences, found.repairs) == ((), {"joins_turns"})


TWICE = ['the call id "1" was sent as "0" and "3"', 'the call id "2" was sent as "0" and "4"']


@pytest.mark.parametrize(
    ("own", "sent", "messages"),
    [
        ("123", "456", []),
        ("12", "00", ['the call ids "1" and "2" were both sent as "0"']),
        ("12", "11", ['the call ids "1" and "2" were both sent as "1"']),
        ("1234", "0566", ['the call ids "3" and "4" were both sent as "6"']),
        ("12345", "00000", ['the call ids "1", "2", "3" and 2 more were all sent as "0"']),
        ("1212", "0034", ['the call ids "1" and "2" were both sent as "0"', *TWICE]),
    ],
)
def test_the_ids_that_are_not_mapped_one_to_one_are_named(own: str, sent: str, messages: list[str]):
    def rounds(ids: str) -> list[dict[str, Any]]:
        return [message for one in ids for message in (assistant(None, call(one)), result(one, "x"))]

    found = compared(rounds(own), rounds(sent))
    assert [one.message for one in found.differences] == [f"{one}; ids must be mapped one to one" for one in messages]
    assert ("maps_call_ids" in found.repairs) is (messages == [])


def test_ids_that_are_not_mapped_one_to_one_are_shown_at_the_last_call_of_them():
    wanted = [user("a"), assistant(None, call("1"), call("2")), result("1", "x"), result("2", "y")]
    found = [user("a"), assistant(None, call("0"), call("0")), result("0", "x"), result("0", "y")]
    places = [one.path for one in compared(wanted, found).differences if one.slot == "call-id"]
    assert places == ["$[1].tool_calls[1].id"]


def test_a_tool_request_is_part_of_its_assistant_turn():
    request = {"role": "tool_request", "content": {"id": "1", "name": "f", "arguments": {"n": 1}}}
    wanted = [user("a"), assistant("b"), request, result("1", "x")]
    assert compared(wanted, [user("a"), assistant("b", call("1", '{"n":1}')), result("1", "x")]).differences == ()
    alone = [user("a"), request, result("1", "x")]
    assert compared(alone, [user("a"), assistant(None, call("1", '{"n":1}')), result("1", "x")]).differences == ()


def test_a_difference_points_into_the_payload():
    expected = Expected(dialect="openai-chat", prompt=parse_prompt(TALK), tools=(), options={"temperature": 1})
    changed = [*TALK[:2], assistant("b", call("1", '{"n": 2}'), call("2")), *TALK[3:]]
    places = {"prompt/2": "/m/2", "prompt/2/tool_calls/0": "/m/2/c/0", "options/temperature": "/t"}
    decoded = Decoded(prompt=parse_prompt(changed), options={"temperature": 0.5}, places=places)
    found = {difference.slot: difference for difference in compare(expected, decoded).differences}
    assert found["arguments"].pointer == "/m/2/c/0"
    assert found["arguments"].path == "$[2].tool_calls[0].function.arguments"
    assert found["option"].pointer == "/t"


TOOL = ToolSchema("f", "does f", {"type": "object"}, {"type": "string"})


@pytest.mark.parametrize(
    ("found", "slot", "loss"),
    [
        ((), "tool", None),
        ((ToolSchema("f", "", {"type": "object"}, {"type": "string"}),), "tool", None),
        ((ToolSchema("f", "does f", {"title": "Finds"}, {"type": "string"}),), "tool", None),
        ((ToolSchema("f", "does f", {"type": "object"}),), "tool", "tool_output_schema"),
        ((TOOL, ToolSchema("g", "", {})), "invented", None),
    ],
)
def test_a_tool_is_compared_field_by_field(found: Any, slot: str, loss: str | None):
    expected = Expected(dialect="openai-chat", prompt=(), tools=(TOOL,), options={})
    (difference,) = compare(expected, Decoded(prompt=(), tools=found)).differences
    assert (difference.slot, difference.loss) == (slot, loss)


@pytest.mark.parametrize(
    ("wanted", "sent", "is_lost"),
    [
        ({"temperature": 1}, {"temperature": 1.0}, False),
        ({"max_tokens": 5}, {"max_tokens": 5.0}, True),
        ({"stop": ("a",)}, {"stop": ("a",)}, False),
        ({"stop": ("a",)}, {}, True),
        ({"temperature": 0}, {}, True),
        ({}, {"temperature": 0.5}, False),
        ({"parallel_tool_calls": True}, {}, False),
        ({"parallel_tool_calls": True}, {"parallel_tool_calls": False}, True),
        ({"parallel_tool_calls": False}, {}, True),
        ({"parallel_tool_calls": False, "tool_choice": "none"}, {"tool_choice": "none"}, False),
        ({"parallel_tool_calls": False, "tool_choice": "none"}, {}, True),
        ({"parallel_tool_calls": False, "tool_choice": "auto"}, {"tool_choice": "auto"}, True),
    ],
)
def test_a_lost_or_changed_option_is_a_difference(wanted: Any, sent: Any, is_lost: Any):
    expected = Expected(dialect="openai-chat", prompt=(), tools=(), options=wanted)
    assert bool(compare(expected, Decoded(prompt=(), options=sent)).differences) is is_lost


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        (1, 1.0, False),
        (1, True, False),
        (10**30, 10**30, True),
        ([1, {"a": None}], [1, {"a": None}], True),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": None}, {}, False),
        ([1], [1, 2], False),
        ("1", 1, False),
    ],
)
def test_json_values_are_equal_only_with_the_same_type(one: Any, other: Any, is_same: Any):
    assert same_json(one, other) is is_same


@pytest.mark.parametrize(
    ("wanted", "found", "is_kept"),
    [
        (1.0, 1, True),
        (-0.0, 0, True),
        (-0.0, 0.0, False),
        (0.0, -0.0, False),
        ([{"a": 100.0}], [{"a": 100}], True),
        (2**70, 2.0**70, True),
        (2**70 + 1, 2.0**70, False),
        (2**53 + 1, 2**53, False),
        (1, 1.0, False),
        (10**20, 1e20, False),
        (1.5, 1, False),
        (1.0, True, False),
        (0.1, 0.10000000149, False),
    ],
)
def test_a_number_may_be_written_in_another_notation_where_every_reader_takes_it(wanted: Any, found: Any, is_kept: Any):
    assert keeps_json(wanted, found) is is_kept


def test_a_repeated_key_is_not_lost():
    (one,) = normal_form(parse_prompt([assistant(None, call("1", '{"a": 1, "a": 2}'))]))
    (other,) = normal_form(parse_prompt([assistant(None, call("1", '{"a": 2}'))]))
    assert not same_json(one.calls[0].arguments, other.calls[0].arguments)


@pytest.mark.parametrize(
    ("wanted", "found", "slots"),
    [
        ("null", "{}", []),
        ("null", "null", []),
        ("{}", "null", ["arguments"]),  # providers that take nothing but an object refuse it
        ("null", '{"a": null}', ["arguments"]),
        ("[]", "{}", ["arguments"]),
        ('{"a": null}', '{"a": {}}', ["arguments"]),
    ],
)
def test_null_may_be_sent_as_no_arguments(wanted: str, found: str, slots: list[str]):
    one, other = ([user("a"), assistant(None, call("1", text)), result("1", "x")] for text in (wanted, found))
    assert [difference.slot for difference in compared(one, other).differences] == slots


@pytest.mark.parametrize("before", [[], [result("1", "24")]])
def test_a_result_that_is_no_calls_or_its_second_may_be_sent_as_the_json_that_it_is(before: list[dict[str, Any]]):
    calls = [assistant(None, call("1"))] if before else []
    wanted, found = ([*calls, *before, result("1", text)] for text in ("4", '{"result":4}'))
    expected = Expected(dialect="openai-chat", prompt=parse_prompt(wanted), tools=(), options={})
    place = f"$[{len(wanted) - 1}]"
    for values, slots in (((4,), []), ((5,), ["result"])):
        decoded = Decoded(prompt=parse_prompt(found), json_results={place: values})
        assert [one.slot for one in compare(expected, decoded).differences] == slots


def test_a_result_answers_the_last_call_of_its_id_where_the_earlier_ones_have_theirs():
    rounds = [assistant(None, call("1")), result("1", "one"), assistant(None, call("1")), result("1", "two")]
    apart = [rounds[0], rounds[1], assistant(None, call("2")), result("2", "two")]
    assert [one.slot for one in compared(rounds, apart).differences] == ["call-id"]
    assert "result" in {one.slot for one in compared(rounds, [*apart[:3], result("2", "2")]).differences}
