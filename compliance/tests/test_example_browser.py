"""The example of a browser agent's loop, on its pages in a real Chromium."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).resolve().parents[2] / "examples" / "browser_loop.py"
SHOWN = """\
BEGIN: click {"selector": "#order"}
  executor: done
  page: 4 added, 2 removed, 1 modified of 5 elements
    added: #form
    added: label[for="packets"] "Packets of basil"
    added: #packets "packets"
    added: #continue "Continue"
    removed: body>main:nth-of-type(1)>p:nth-of-type(1) "Herbs and vegetables, by post."
    removed: #order "Order seeds"
    modified: body>main:nth-of-type(1)>h1:nth-of-type(1) "Your order" (text: "Seeds" -> "Your order")
not an answer: not JSON: Expecting value: line 1 column 1 (char 0)
PROCEED: fill {"selector": "#packets", "text": "3"}
  executor: done
  page: 0 added, 0 removed, 1 modified of 5 elements
    modified: #packets "3" (value: none -> "3")
PROCEED: click {"selector": "#go-on"}
  executor: there is no element #go-on
  page: no change in 5 elements
RETRY: click {"selector": "#continue"}
  executor: done
  page: 2 added, 0 removed, 2 modified of 7 elements
    added: label[for="postcode"] "Postcode"
    added: #postcode "postcode"
    modified: #packets "3" (disabled: none -> "")
    modified: #send "Send the order" (text: "Continue" -> "Send the order"; type: "button" -> none; id: "continue" -> \
"send")
PROCEED: click {"selector": "#send"}
  executor: done
  page: 1 added, 0 removed, 1 modified of 8 elements; new messages: "Give your postcode"
    added: p[role="alert"] "Give your postcode"
    modified: #packets "3" (disabled: "" -> none)
RETRY: fill {"selector": "#postcode", "text": "1010"}
  executor: done
  page: 0 added, 0 removed, 1 modified of 8 elements
    modified: #postcode "1010" (value: none -> "1010")
RETRY: click {"selector": "#send"}
  executor: done
  page: 0 added, 6 removed, 2 modified of 2 elements
    removed: #form
    removed: label[for="packets"] "Packets of basil"
    removed: #packets "3"
    removed: label[for="postcode"] "Postcode"
    removed: #postcode "1010"
    removed: #send "Send the order"
    modified: body>main:nth-of-type(1)>h1:nth-of-type(1) "Thank you" (text: "Your order" -> "Thank you")
    modified: #confirmation "Order 1048: 3 packets of basil to 1010" (text: "Give your postcode" -> "Order 1048: 3 \
packets of basil to 1010"; role: "alert" -> none; id: none -> "confirmation")
The answer: Order 1048: 3 packets of basil to 1010
"""

pytestmark = [pytest.mark.once, pytest.mark.unmeasured]


def run(*arguments: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = os.environ | ({} if path is None else {"PATH": path})
    command = [sys.executable, str(PROGRAM), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)


@pytest.mark.skipif(
    shutil.which("chromium") is None, reason="chromium is not installed (Debian's package of the same name)"
)
@pytest.mark.parametrize("adapter", ["anthropic", "azure", "gemini"])
def test_the_loop_retries_what_failed_until_the_order_is_sent_over_every_wire_format(adapter: str):
    done = run("--adapter", adapter)
    assert (done.stdout, done.stderr, done.returncode) == (SHOWN, "", 0)


def test_without_chromium_the_loop_says_what_to_install(tmp_path: Path):
    done = run(path=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr == "chromium is not installed (Debian's package of the same name)\n"
