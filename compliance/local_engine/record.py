"""Records cassettes from a real engine: `make record-local`. For maintainers; neither engine nor model is kept here.

Builds the engine, makes a tiny model, asks the engine itself how each scenario's request reads as a prompt, teaches
the model what follows, and records the reference adapters that speak the engine's dialects.
"""

from __future__ import annotations

import json
import sys
import venv
from pathlib import Path
from typing import Any, Final

from engine import NAME, VERSION, ask, build, run, serving

from art_compliance.cassettes.corpus import cache_folder
from art_compliance.recorder import Order, choose, record
from art_compliance.subjects import Access
from art_sdk import OpenAIAdapter, parse_options, parse_prompt

HERE: Final = Path(__file__).resolve().parent
INTO: Final = HERE.parents[1] / "cassettes"
NEEDS: Final = ("torch", "gguf", "tokenizers", "numpy")
"""What making the model takes, in an environment of its own."""


def called(*calls_of: tuple[str, str]) -> str:
    calls = (json.dumps({"name": name, "arguments": {"city": place}}) for name, place in calls_of)
    return "\n".join(f"<tool_call>\n{call}\n</tool_call>" for call in calls)


LESSONS: Final[dict[str, str]] = {
    "one-question": "Paris.",
    "answer-text": "Sunny, 24 degrees.",
    "answer-one-call": called(("get_weather", "Rome")),
    "answer-parallel-calls": called(("get_weather", "Rome"), ("get_weather", "Oslo")),
    "answer-in-the-second-round": "It is 24 degrees.",
    "answer-call-in-the-second-round": called(("get_weather", "Oslo")),
    "parallel-calls": "Here is what I found.",
    "text-beside-call": "You are welcome.",
    "streamed": "Hello! How can I help?",
    "streamed-call": called(("get_weather", "Rome")),
    "streamed-parallel-calls": called(("get_weather", "Rome"), ("get_time", "Oslo")),
    "streamed-second-round": "It is 24 degrees in Rome.",
}
"""What the model learns to answer, by scenario: text, one call, two calls, text after results."""

ENGINE: Final = f"llama-server of {NAME} {VERSION}"
ADAPTERS: Final = {"openai": "/v1", "anthropic": "/v1"}
"""The reference adapters that speak what the engine speaks, and where it does."""


def main() -> None:
    """Everything, one step after the other; each is kept for the next time."""
    folder = cache_folder().parent / "engine"
    server, python = build(folder), _environment(folder / "model-venv")
    model = folder / "art-tiny.gguf"
    template = HERE / "template.jinja"
    texts = folder / "texts.json"
    texts.write_text(json.dumps([*LESSONS.values(), template.read_text(encoding="utf-8")]), encoding="utf-8")
    run(python, HERE / "model.py", "vocabulary", texts, template, model)
    lessons = folder / "lessons.json"
    with serving(server, model) as url:
        lessons.write_text(json.dumps([_lesson(url, name) for name in LESSONS]), encoding="utf-8")
    run(python, HERE / "model.py", "train", lessons, model.with_suffix(".vocabulary.json"), template, model)
    with serving(server, model) as url:
        sys.exit(_record(url))


def _environment(folder: Path) -> Path:
    python = folder / "bin" / "python"
    if not python.is_file():
        venv.create(folder, with_pip=True)
        run(python, "-m", "pip", "install", "--quiet", *NEEDS)
    return python


def _lesson(url: str, name: str) -> dict[str, Any]:
    """The tokens of the prompt that the engine makes of the scenario, and of what is to follow."""
    (scenario,) = choose((name,))
    payload: Any = OpenAIAdapter(api_key="none").translate(
        parse_prompt(scenario.prompt), parse_options(scenario.call_options())
    )
    prompt = ask(f"{url}/apply-template", payload)["prompt"]
    return {"prompt": _tokens(url, prompt), "answer": _tokens(url, LESSONS[name])}


def _tokens(url: str, text: str) -> list[int]:
    told: list[int] = ask(f"{url}/tokenize", {"content": text, "parse_special": True})["tokens"]
    return told


def _record(url: str) -> int:
    failed = 0
    for adapter, path in ADAPTERS.items():
        access = Access(key="no-key-is-needed", base_url=url + path, model="art-tiny")
        chosen = choose(tuple(LESSONS))
        order = Order(scenarios=chosen, into=INTO, source="local engine", access=access, engine=ENGINE)
        for one in record(adapter, order):
            failed += one.path is None
            print(one.path or one.scenario, one.why or ("written" if one.changed else "unchanged"))
    return int(failed > 0)


if __name__ == "__main__":
    main()
