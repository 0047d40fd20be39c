"""Which faults an adapter is put through, and what is wrong with what comes of them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from io import StringIO
from typing import Any

import httpx2
import pytest

from art_compliance.dialects import DIALECTS
from art_compliance.miniatures.base import change_events
from art_compliance.provider.faults import FAULTS, RETRY_AFTER
from art_compliance.subject.access import TEST_KEY
from art_compliance.subject.host.watching import Watch
from art_sdk import CAPABILITIES, OpenAIAdapter
from trials import (
    Event,
    Script,
    answer_events,
    assert_each_has,
    failure_events,
    findings_of,
    messages_of,
    reason_of,
    scripted,
    spoiled,
    translator,
)

ERRORS, BENIGN, KEY, LEFT = (
    f"faults.{name}"
    for name in ("become-errors", "benign-faults-change-nothing", "show-no-key", "leave-nothing-behind")
)
UNSTREAMED = CAPABILITIES - {"streaming"}
GOOD = answer_events()


def cases(*expects: str, streamed: bool = True) -> set[str]:
    """The faults that end of themselves, as findings name them. Compressed ones are for those who take them."""
    dialect = DIALECTS["openai-chat"]
    return {
        f"{fault.id} ({kind})"
        for fault in FAULTS.values()
        for kind in fault.on
        if ("either" if fault.id in dialect.streams.client_failures else fault.expects) in expects
        and fault.is_for(dialect)
        and not fault.hangs
        and "gzip" not in fault.id
        and (streamed or kind == "unstreamed")
    }


def by_case(check: str, make: Any) -> dict[str, list[str]]:
    """What is found, by fault."""
    found: dict[str, list[str]] = {}
    for message in messages_of(check, make):
        case, _, wrong = message.partition(": ")
        found.setdefault(case, []).append(wrong)
    return found


def after_two_good(script: Script, **more: Any) -> Any:
    """An adapter that reads the plain answer, whose calls give this as soon as there are faults."""
    return scripted(GOOD, GOOD, script, dialect="openai-chat", **more)


@pytest.mark.unmeasured
@pytest.mark.parametrize("streamed", [True, False])
def test_every_fault_is_tried_on_the_kinds_of_answer_that_are_asked_for(streamed: bool):  # noqa: FBT001
    capabilities = CAPABILITIES if streamed else UNSTREAMED
    crashing = after_two_good(OSError("no line"), capabilities=capabilities)
    found = by_case(ERRORS, crashing)
    assert found.keys() == cases("error", "either", streamed=streamed)
    assert ["OSError: no line" in one for one in found["status-500 (unstreamed)"]] == [True, False, False]
    assert_each_has(found["status-500 (unstreamed)"][1:], ["status is null", '"written error 500"'])
    unstreamed = after_two_good(OSError("no line"), capabilities=UNSTREAMED)
    assert by_case(BENIGN, unstreamed).keys() == cases("whole", streamed=False)


@pytest.mark.unmeasured
def test_an_adapter_that_always_asks_for_a_stream_has_no_faults_of_whole_answers():
    class StreamsInside(OpenAIAdapter):
        def prepare(self, prompt: object, options: Any) -> Any:
            return super().prepare(prompt, {**options, "stream": True})

    for check in (BENIGN, ERRORS):
        assert messages_of(check, StreamsInside) == []


@pytest.mark.parametrize(
    ("header", "takes_gzip"), [("gzip", True), ("br , gzip;q=1 ,deflate", True), ("br", False), ("x-gzip", False)]
)
def test_an_answer_is_compressed_where_the_request_accepts_that(header: str, takes_gzip: bool):  # noqa: FBT001
    class Posts:
        dialect, capabilities = "openai-chat", UNSTREAMED

        def __init__(self, *, base_url: str, **_: Any) -> None:
            self.url, self.count = f"{base_url}/chat/completions", 0

        def call(self, _: Any, options: Any) -> Iterator[Event]:
            self.count += 1
            if self.count > 2:
                raise OSError("no line")
            httpx2.post(self.url, json={}, headers={"accept-encoding": header}, timeout=60)
            return iter([{**options, "trace_id": "t", **event} for event in GOOD])

    assert ("whole-gzip (unstreamed)" in by_case(BENIGN, Posts)) is takes_gzip
    assert ("truncated-gzip (unstreamed)" in by_case(ERRORS, Posts)) is takes_gzip


CHANGES: dict[int, tuple[dict[str, Any], str | None]] = {
    400: ({"provider_message": None, "message": "a written error 400"}, None),
    401: ({"status": 429}, "the error's status is 429"),
    403: ({"status": 501}, "the error's status is 501"),
    404: ({"provider_message": None, "message": "no"}, '"written error 404"'),
    413: ({"provider_message": "x", "message": "written error 413"}, '"written error 413"'),
    429: ({"retry_after": None}, f"retry_after is null; the answer says {RETRY_AFTER} s"),
    500: ({"retry_after": 99}, None),
    502: ({"provider_message": None, "message": "a page"}, None),
    503: ({"code": "OWN"}, '"OWN"'),
    529: ({"status": None}, "the error's status is null"),
}


class Unstreamed(OpenAIAdapter):
    capabilities = UNSTREAMED


def test_what_an_error_does_not_say_is_found():
    def change(events: list[Event]) -> list[Event]:
        for event in events:
            if event["type"] == "ERROR":
                event["error"].update(CHANGES.get(event["error"]["status"], ({}, None))[0])
        return events

    found = by_case(ERRORS, spoiled(lambda adapter: change_events(adapter, change), Unstreamed))
    wanted = {f"status-{status} (unstreamed)": one for status, (_, one) in CHANGES.items() if one is not None}
    wanted["cut-refusal (unstreamed)"] = wanted["status-401 (unstreamed)"]
    assert found.keys() == wanted.keys()
    for case, fragment in wanted.items():
        assert_each_has(found[case], [fragment])


def test_another_wait_than_the_providers_is_found():
    def change(events: list[Event]) -> list[Event]:
        for event in events:
            if event["type"] == "ERROR" and event["error"]["status"] == 429:
                event["error"]["retry_after"] = 99
        return events

    found = by_case(ERRORS, spoiled(lambda adapter: change_events(adapter, change), Unstreamed))
    assert found == {"status-429 (unstreamed)": [f"retry_after is 99; the answer says {RETRY_AFTER} s"]}


@pytest.mark.parametrize(
    ("script", "expects"), [(GOOD, ("error",)), (failure_events(code="X"), ("error", "either"))], ids=["good", "failed"]
)
def test_what_an_adapter_may_or_may_not_read_is_an_error_or_an_answer(script: Script, expects: Any):
    found = by_case(ERRORS, after_two_good(script))
    assert found.keys() == cases(*expects)
    fragment = '"X"' if "either" in expects else "expected tokens and calls"
    assert all(fragment in wrong[0] for wrong in found.values())


@pytest.mark.parametrize(
    ("script", "expects", "fragment"),
    [
        (GOOD, (), ""),
        (answer_events("other"), ("whole", "either"), "the answer differs in the message"),
        (failure_events(), ("whole",), 'the answer differs in an ERROR event: "no"'),
        (OSError("no line"), ("whole",), "OSError"),
    ],
    ids=["same", "other", "failed", "crashed"],
)
def test_an_odd_answer_that_is_read_otherwise_is_found(script: Script, expects: tuple[str, ...], fragment: str):
    found = by_case(BENIGN, after_two_good(script, capabilities=UNSTREAMED))
    assert found.keys() == cases(*expects, streamed=False)
    assert all(fragment in wrong[0] for wrong in found.values())


def test_odd_streams_are_compared_with_the_plain_stream():
    def by_kind(_: Any, options: Any) -> list[Event]:
        return answer_events("streamed" if options.get("stream") else "whole")

    assert messages_of(BENIGN, scripted(by_kind)) == []


@pytest.mark.parametrize("script", [failure_events(message=f"no {TEST_KEY}"), OSError(f"no {TEST_KEY}")])
def test_a_key_that_is_shown_is_found_for_every_fault(script: Script):
    found = by_case(KEY, after_two_good(script, capabilities=UNSTREAMED))
    waiting = {case for case in found if "time limit" in case}
    assert found.keys() - waiting == cases("error", "either", "whole", streamed=False)
    assert {case.partition(" ")[0] for case in waiting} > {fault.id for fault in FAULTS.values() if fault.hangs}
    assert all(TEST_KEY not in str(wrong) for wrong in found.values())


class Parrots:
    """It repeats what the provider says, to the letter, as soon as it was put through all the faults."""

    dialect = "openai-chat"

    def __init__(self, *, base_url: str, **_: Any) -> None:
        self.url, self.waiting = f"{base_url}/chat/completions", 2 + len(cases("error", "either", "whole"))

    def call(self, _: Any, options: Any) -> Iterator[Event]:
        self.waiting -= 1
        is_asked = self.waiting < 0 and "timeouts" not in options
        events = failure_events(message=httpx2.post(self.url, json={}, timeout=60).text) if is_asked else GOOD
        return iter([{**options, "trace_id": "t", **event} for event in events])


def test_the_provider_repeats_the_key_in_a_status_and_in_an_event():
    assert set(by_case(KEY, Parrots)) == {
        "status 401 that repeats the key (streamed)",
        "an error event that repeats the key",
    }


@pytest.mark.parametrize("tell", [logging.getLogger("an.adapter").debug, print])
def test_the_first_line_of_a_log_that_shows_the_key_is_shown_without_it(tell: Any):
    def log(*_: Any) -> list[Event]:
        tell(f"good\n{'x' * 300}\nsent {TEST_KEY} away {'y' * 300}\nand {TEST_KEY} again")
        return GOOD

    (found,) = messages_of(KEY, scripted(log, capabilities=UNSTREAMED))
    assert "sent [the key] away yyy" in found
    assert len(found) < 160


SHORT = cases("error", "either", "whole", streamed=False) - {
    f"{name} (unstreamed)" for name in ("long-page", "long-page-502", "long-body", "slow", "byte-by-byte")
}


class Threads:
    """Threads that a call leaves behind: each lives so many seconds, or until they are all ended."""

    def __init__(self) -> None:
        self.over = threading.Event()

    def start(self, seconds: float) -> None:
        threading.Thread(target=self.over.wait, args=(seconds,), daemon=True).start()


@pytest.fixture
def threads() -> Iterator[Threads]:
    started = Threads()
    yield started
    started.over.set()


def leaving(threads: Threads, count: int, seconds: float) -> Any:
    """An adapter that leaves so many threads behind, one a call, after each fault was tried once.

    A long body is tried in two lengths, or in a few more on a slow machine.
    """
    longer = sum(fault.of_size is not None for fault in FAULTS.values())
    first = 2 + len(cases("error", "either", "whole", streamed=False)) + longer + len(SHORT) - count
    calls = [0]

    def leave(*_: Any) -> list[Event]:
        calls[0] += 1
        if first < calls[0] <= first + count:
            threads.start(seconds)
        return GOOD

    return scripted(leave, capabilities=UNSTREAMED)


@pytest.mark.parametrize(("count", "seconds", "is_found"), [(3, 9.0, False), (4, 9.0, True), (9, 0.3, False)])
def test_more_threads_than_a_few_that_live_for_a_second_are_left_behind(
    threads: Threads,
    count: int,
    seconds: float,
    is_found: bool,  # noqa: FBT001
):
    found = messages_of(LEFT, leaving(threads, count, seconds))
    assert_each_has(found, [f"after {len(SHORT)} faults there are {count} more threads"] if is_found else [])


@pytest.mark.parametrize("check", [ERRORS, BENIGN, KEY, LEFT, "faults.end-in-time"])
def test_an_adapter_that_cannot_be_called_or_read_is_put_through_nothing(check: str):
    assert "no call" in reason_of(check, translator(lambda *_: {}))
    assert "not read" in reason_of(check, scripted(failure_events()))


def test_an_answer_that_official_clients_give_is_no_loss():
    classes = {one.message.partition(": ")[0]: one.finding_class for one in findings_of(ERRORS, after_two_good(GOOD))}
    unread = {name for name, of in classes.items() if of == "contract" and name.startswith("bad-utf8")}
    assert unread == {"bad-utf8 (unstreamed)", "bad-utf8 (streamed)"}
    assert classes["half-body (unstreamed)"] == "loss"


def test_a_library_that_shows_its_log_shows_no_more_while_it_is_captured():
    own = logging.StreamHandler(shown := StringIO())
    logging.getLogger().addHandler(own)
    try:
        watch = Watch({})
        watch.capture()
        logging.getLogger("a.library").debug("a detail")
        logging.getLogger("a.library").warning("a warning")
        assert "a detail" in watch.captured()["logged"]
    finally:
        logging.getLogger().removeHandler(own)
    assert (shown.getvalue(), own.level) == ("a warning\n", logging.NOTSET)
