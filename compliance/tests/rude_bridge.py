"""A bridge that misbehaves: `rude_bridge.py WAY`. It uses the standard library alone, so that it starts fast.

`WAY` names a function below, which answers a verb. All others are answered as a good bridge does, without a provider.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

STARTED = {"is": "started", "name": "rude", "version": "1", "call": True, "translate": True}
ERROR = {"is": "error", "message": "no", "code": "PROMPT_TRANSLATION_FAILED"}
WAITING: list[int] = []
"""The calls that wait."""


def say(number: Any, **message: Any) -> None:
    write(json.dumps({"id": number, **message}) + "\n")


def write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def good_start(number: int, _: Any) -> None:
    say(number, **STARTED)


def good_stop(number: int, _: Any) -> None:
    say(number, **{"is": "stopped"})


def good_translate(number: int, message: Any) -> None:
    say(number, **{"is": "payload"}, payload={"messages": message["prompt"]})


def good_cancel(number: int, _: Any) -> None:
    if number in WAITING:
        WAITING.remove(number)
        say(number, **{"is": "cancelled"})


def good_call(number: int, message: Any) -> None:
    """As the prompt says: `wait`, or so many tokens; a call that follows one that waits comes to its end first."""
    text = message["prompt"][0]["content"]
    for at in range(0 if text == "wait" else int(text)):
        say(number, **{"is": "event"}, event={"type": "TOKEN", "text": f"{at} "})
    if text == "wait":
        say(number, **{"is": "event"}, event={"type": "TOKEN", "text": "\ud800"})
        WAITING.append(number)
    else:
        say(number, **{"is": "done"})


def exits_at_start(_: int, __: Any) -> None:
    sys.stderr.write("Error: Cannot find module './adapter.js'\n    at require (node:internal)\n\nNode.js v24.19.0\n")
    os._exit(3)


def hangs_at_start(_: int, __: Any) -> None:
    sys.stderr.write("waiting for a debugger\n")


def is_killed_at_start(_: int, __: Any) -> None:
    os.kill(os.getpid(), 9)


def prints_at_start(_: int, __: Any) -> None:
    write("Listening on port 3000\n")


def repeats_at_start(_: int, message: Any) -> None:
    write(f"start with {message['api_key']}\n")


def closes_at_start(_: int, __: Any) -> None:
    os.close(1)
    time.sleep(60)


def stops_in_a_line_at_start(number: int, _: Any) -> None:
    write(json.dumps({"id": number, **STARTED})[:40])
    os._exit(0)


def writes_bytes_at_start(_: int, __: Any) -> None:
    os.write(1, b'{"id": 1, "is": "\xff"}\n')


def nests_at_start(number: int, _: Any) -> None:
    write(f'{{"id": {number}, "is": "payload", "payload": {"[" * 100_000}{"]" * 100_000}}}\n')


def floods_at_start(_: int, __: Any) -> None:
    while True:
        os.write(1, b"x" * 2**20)


def answers_another_at_start(_: int, __: Any) -> None:
    say(99, **STARTED)


def says_too_much_at_start(number: int, _: Any) -> None:
    say(number, **STARTED, colour="red")


def is_no_object_at_start(_: int, __: Any) -> None:
    write("[1, 2]\n")


def has_a_text_as_id_at_start(number: int, _: Any) -> None:
    say(str(number), **STARTED)


def answers_with_a_payload_at_start(number: int, _: Any) -> None:
    say(number, **{"is": "payload"}, payload={})


def refuses_at_start(number: int, message: Any) -> None:
    say(number, **{"is": "error"}, message=f"no model for {message['api_key']}")


def is_cancelled_at_call(number: int, _: Any) -> None:
    say(number, **{"is": "cancelled"})


def goes_on_at_call(number: int, _: Any) -> None:
    say(number, **{"is": "done"})
    say(number, **{"is": "done"})


def exits_at_call(_: int, __: Any) -> None:
    sys.stderr.write("panic: nil pointer\n\n")
    sys.stderr.flush()
    os._exit(2)


def fails_at_call(number: int, _: Any) -> None:
    say(number, **{"is": "error"}, message="TypeError: x is not a function")


def refuses_at_call(number: int, _: Any) -> None:
    say(number, **ERROR)


def hangs_at_call(_: int, __: Any) -> None:
    sys.stderr.write("still thinking\n")
    sys.stderr.flush()


def goes_on_at_cancel(_: int, __: Any) -> None:
    """It neither ends the call nor says so."""


def comes_to_its_end_at_cancel(number: int, _: Any) -> None:
    say(number, **{"is": "done"})


def hangs_at_translate(_: int, __: Any) -> None:
    pass


def hangs_at_stop(_: int, __: Any) -> None:
    pass


def main(way: str) -> None:
    for line in sys.stdin:
        message = json.loads(line)
        verb = message["verb"]
        does = way if way.endswith(f"_at_{verb}") else f"good_{verb}"
        globals()[does](message["id"], message)
    if way == "never_ends":
        time.sleep(60)


if __name__ == "__main__":
    main(sys.argv[1])
