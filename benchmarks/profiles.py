"""Writes docs/profiles: where the time goes, as cProfile sees it, which makes Python's own calls dearer than they are.

python -m benchmarks.profiles
"""

from __future__ import annotations

import cProfile
import pstats
import re
import time
from io import StringIO
from pathlib import Path
from typing import Final

from art_sdk import OllamaChatAdapter, OpenAIAdapter
from benchmarks.certificate import certificate_by_check
from benchmarks.conversation import make_options, make_prompt
from benchmarks.measure import Work
from benchmarks.serving import provider_process
from benchmarks.streams import STREAMS
from benchmarks.test_streams import ASK, client_of

FOLDER: Final = Path(__file__).resolve().parents[1] / "docs" / "profiles"
ROWS: Final = 16
USER: Final = [{"role": "user", "content": "hello"}]


def profile(title: str, work: Work, times: int) -> str:
    """The rows that take most of the time themselves."""
    work()
    profiler = cProfile.Profile(time.process_time)
    profiler.enable()
    for _ in range(times):
        work()
    profiler.disable()
    text = StringIO()
    pstats.Stats(profiler, stream=text).sort_stats("tottime").print_stats(ROWS)
    rows = text.getvalue().partition("ncalls")[2]
    rows = re.sub(r"\S*/(site-packages/|lib/python3[.\d]+/|art_sdk/|benchmarks/)", lambda m: _shown(m[1]), rows)
    total = pstats.Stats(profiler).total_tt  # type: ignore[attr-defined] # it has it, undeclared
    return f"{title}: {total / times * 1e6:,.0f} us\n\n   ncalls{rows.rstrip()}\n"


def _shown(folder: str) -> str:
    return folder if folder in ("art_sdk/", "benchmarks/") else ""


def translation() -> str:
    """OpenAI's, of a prompt of JSON data that was not sent before."""
    adapter, options = OpenAIAdapter(api_key="key"), make_options()

    def of(messages: int) -> Work:
        prompt = make_prompt(messages)
        return lambda: adapter.prepare(prompt, options)

    return "\n".join(profile(f"openai, {n:,} messages", of(n), 20_000 // n) for n in (10, 1_000))


def call() -> str:
    """OpenAI's, over HTTP, to a provider in another process."""
    prompt, options = make_prompt(100), make_options()
    with provider_process() as url:
        adapter = OpenAIAdapter(api_key="key", base_url=url)
        work = lambda: list(adapter.call_sync(prompt, options))  # noqa: E731 - one of three alike
        found = profile("openai, a call of 100 messages", work, 200)
        adapter.close()
    return found


def stream() -> str:
    """Ollama's, read by its own client and by ours."""
    client = client_of("ollama-chat", STREAMS["ollama-chat"](1_000_000))
    adapter, options = OllamaChatAdapter(api_key="key", http_client=client), {"thread_id": "t", "stream": True}
    ours = profile("ours, a stream of 1 MB", lambda: list(adapter.call_sync(USER, options)), 10)
    theirs = profile("Ollama's client, the same stream", lambda: ASK["ollama-chat"](client), 10)
    return f"{ours}\n{theirs}"


def certificate() -> str:
    """OpenAI's, by check, over all scenarios of each."""
    return certificate_by_check(ROWS)


def main() -> None:
    """Writes all of them."""
    FOLDER.mkdir(exist_ok=True)
    for make in (translation, call, stream, certificate):
        (FOLDER / f"{make.__name__}.txt").write_text(f"{make.__doc__}\n\n{make()}")


if __name__ == "__main__":
    main()
