"""What another library costs, in one process with ours and the floor, which take turns with it.

    python -m benchmarks.peer_costs litellm > litellm.json

`make bench` runs it in an environment per library: translation, whole calls, memory, and imports.
"""
# ruff: noqa: T201 - JSON is printed

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import version
from statistics import median
from typing import Any, Final

from art_compliance.provider import WRITTEN_TEXT
from benchmarks.calls import MESSAGES, floor_calls, our_calls
from benchmarks.conversation import SIZES, make_options, make_prompt
from benchmarks.floors import CONTESTS
from benchmarks.measure import Work, compare_all, peak, run_child, spread
from benchmarks.peer_calls import CALLS
from benchmarks.peers import PACKAGES, PEERS, Peer, chat_dicts, to_bytes
from benchmarks.serving import provider_process

ROUNDS: Final = int(os.environ.get("BENCH_ROUNDS", "9"))
IMPORT_ROUNDS: Final = max(ROUNDS // 2, 3)
MANY: Final = SIZES[-1]
"""The messages of the translation whose memory is measured."""

_OURS: Final = "import art_sdk, httpx2; [getattr(art_sdk, one)(api_key='key') for one in {names!r}]"
_ADAPTERS: Final = {"openai": "OpenAIAdapter", "anthropic": "AnthropicAdapter", "gemini": "GeminiAdapter"}
IMPORTS: Final[Mapping[str, str]] = {
    "aisuite": "import aisuite; aisuite.Client({'openai': {'api_key': 'k'}, 'anthropic': {'api_key': 'k'}}).chat",
    "any_llm": (
        "from any_llm import AnyLLM;[AnyLLM.create(one, api_key='k') for one in ('openai', 'anthropic', 'gemini')]"
    ),
    "haystack": (
        "from haystack.components.generators.chat import OpenAIChatGenerator;"
        "from haystack_integrations.components.generators.anthropic import AnthropicChatGenerator;"
        "from haystack_integrations.components.generators.google_genai import GoogleGenAIChatGenerator"
    ),
    "langchain": "import langchain_openai, langchain_anthropic, langchain_google_genai as g;"
    "langchain_openai.ChatOpenAI, langchain_anthropic.ChatAnthropic, g.ChatGoogleGenerativeAI",
    "litellm": "import os; os.environ['LITELLM_LOCAL_MODEL_COST_MAP'] = 'True'; import litellm; litellm.completion",
    "llama_index": "import llama_index.llms.openai, llama_index.llms.anthropic",
    "pydantic_ai": (
        "from pydantic_ai import direct; import pydantic_ai.models.openai, pydantic_ai.models.anthropic,"
        " pydantic_ai.models.google"
    ),
}
"""What a program imports to call the providers that are measured here."""

Found = dict[str, Any]


def translation(provider: str, peer: Peer) -> Found:
    """The ratios to the floor by size, with their spread: ours, the peer's, and the peer's from its own messages."""
    return {f"{size:,}": _translation(provider, peer, size) for size in SIZES}


def _translation(provider: str, peer: Peer, size: int) -> Found:
    works = _translations(provider, peer, size)
    floor = works.pop("floor")
    return {name: pair.spread for name, pair in compare_all(floor, works, rounds=ROUNDS).items()}


def _translations(provider: str, peer: Peer, size: int) -> dict[str, Work]:
    contest, options, prompt = CONTESTS[provider], make_options(), make_prompt(size)
    chat, convert, translate = chat_dicts(prompt), peer.convert, peer.translate
    works: dict[str, Work] = {
        "floor": lambda: contest.floor(prompt),
        "ours": lambda: contest.adapter.prepare(prompt, options).request.body,
    }
    if convert is None:
        return works | {"theirs": lambda: to_bytes(translate(chat))}
    own = convert(chat)
    return works | {"theirs": lambda: to_bytes(translate(convert(chat))), "own types": lambda: to_bytes(translate(own))}


def memory(provider: str, peer: Peer) -> Found:
    """The peaks of a translation to the floor's."""
    works = _translations(provider, peer, MANY)
    floor = peak(works["floor"])
    return {name: f"{peak(works[name]) / floor:.2f}" for name in ("ours", "theirs")}


def calls(library: str, provider: str, peer: Peer, url: str) -> Found:
    """The ratios of whole calls to the floor's, by kind."""
    prompt = make_prompt(MESSAGES)
    theirs = CALLS[library](provider, url, chat_dicts(prompt), peer.convert)
    found: Found = {}
    with floor_calls(provider, url, prompt) as floor, our_calls(provider, url, prompt) as ours:
        for kind in ("whole", "streamed"):
            if (text := getattr(theirs, kind)()) != WRITTEN_TEXT:
                raise ValueError(f"the answer of a {kind} call is {text!r:.60}")
            works = {"ours": getattr(ours, kind), "theirs": getattr(theirs, kind)}
            pairs = compare_all(getattr(floor, kind), works, rounds=ROUNDS)
            found[kind] = {name: pair.spread for name, pair in pairs.items()}
    return found


def imports(library: str) -> Found:
    """CPU time over bare Python's, of whole processes in turns."""
    names = [_ADAPTERS[provider] for provider in PEERS[library]()]
    programs = {"bare": "pass", "ours": _OURS.format(names=names), "theirs": IMPORTS[library]}
    runs = [{name: run_child(["-c", code]) for name, code in programs.items()} for _ in range(IMPORT_ROUNDS + 1)][1:]
    over = [{name: run[name] - run["bare"] for name in ("ours", "theirs")} for run in runs]
    return {
        "ours": f"{median(run['ours'] for run in over) * 1000:.0f} ms",
        "theirs": f"{median(run['theirs'] for run in over) * 1000:.0f} ms",
        "ratio": spread([run["theirs"] / run["ours"] for run in over]),
    }


def _attempt(measure: Callable[[], Found]) -> Found | str:
    """What was measured, or why it could not be."""
    try:
        return measure()
    except Exception as error:  # noqa: BLE001 - whatever a foreign library raises
        return f"it no longer works as measured here ({type(error).__name__}: {error})"


def main(library: str) -> None:
    """Prints what was measured of the library."""
    found: Found = {"library": library, "version": version(PACKAGES.get(library, library))}
    found["import"] = _attempt(partial(imports, library))
    peers = PEERS[library]()
    with provider_process() as url:
        for provider, peer in peers.items():
            found[provider] = _attempt(partial(translation, provider, peer))
            found[f"memory {provider}"] = _attempt(partial(memory, provider, peer))
            found[f"calls {provider}"] = _attempt(partial(calls, library, provider, peer, url))
    print(f"\n{MARK}\n{json.dumps(found, indent=1)}")


MARK: Final = "--- measured"
"""The line before the JSON: libraries print, too."""


if __name__ == "__main__":
    main(sys.argv[1])
