"""Records cassettes from a real engine: `make record-local`. For maintainers; neither engine nor model is kept here.

Builds the engine, makes a tiny model, asks the engine itself how each scenario's request reads as a prompt, teaches
the model what follows, and records the reference adapters that speak the engine's dialects.
"""

from __future__ import annotations

import hashlib
import json
import sys
import venv
from pathlib import Path
from typing import Any, Final

from engine import NAME, VERSION, ask, build, run, serving

from art_compliance.cassettes import load_cassette
from art_compliance.cassettes.corpus import user_cache
from art_compliance.checks.replay.recorded import read_recorded
from art_compliance.pointers import look_up
from art_compliance.run.recorder import Order, choose, record
from art_compliance.subject.access import Access
from art_sdk import OpenAIAdapter, parse_options, parse_prompt

HERE: Final = Path(__file__).resolve().parent
MAKER: Final = HERE / "model.py"
TEMPLATE: Final = HERE / "template.jinja"
INTO: Final = HERE.parents[1] / "cassettes"
NEEDS: Final = ("torch==2.15.0", "gguf==0.19.0", "tokenizers==0.23.3", "numpy==2.4.6")
"""What making the model takes, in an environment of its own: pinned, for with others it might learn otherwise."""


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
    folder = user_cache() / "engine"
    server, python = build(folder), _environment(folder / "model-venv")
    with serving(server, _untrained(python, folder)) as url:
        lessons = json.dumps([_lesson(url, name) for name in LESSONS])
    with serving(server, _trained(python, folder, lessons)) as url:
        sys.exit(_record(url))


def _environment(folder: Path) -> Path:
    python, installed = folder / "bin" / "python", folder / "installed.txt"
    told = "\n".join(NEEDS)
    if not (installed.is_file() and installed.read_text(encoding="utf-8") == told):
        venv.create(folder, with_pip=True)
        run(python, "-m", "pip", "install", "--quiet", *NEEDS)
        installed.write_text(told, encoding="utf-8")  # last, so that a half is not taken for whole
    return python


def _untrained(python: Path, folder: Path) -> Path:
    """A model that has the words and knows nothing: the engine needs one to say how it reads a request."""
    texts, model = folder / "texts.json", folder / "art-tiny-untrained.gguf"
    texts.write_text(json.dumps([*LESSONS.values(), TEMPLATE.read_text(encoding="utf-8")]), encoding="utf-8")
    run(python, MAKER, "vocabulary", texts, TEMPLATE, model)
    return model


def _trained(python: Path, folder: Path, lessons: str) -> Path:
    """The model that has learned the lessons. Its name says what it was made of, so it is made once."""
    vocabulary = folder / "art-tiny-untrained.vocabulary.json"
    made_of = (lessons.encode(), vocabulary.read_bytes(), MAKER.read_bytes(), TEMPLATE.read_bytes())
    model = folder / f"art-tiny-{hashlib.sha256(b''.join(made_of)).hexdigest()[:12]}.gguf"
    if not model.is_file():
        given, draft = folder / "lessons.json", folder / "art-tiny-draft.gguf"
        given.write_text(lessons, encoding="utf-8")
        run(python, MAKER, "train", given, vocabulary, TEMPLATE, draft)
        draft.replace(model)
    return model


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
        order = Order(scenarios=choose(tuple(LESSONS)), into=INTO, source="local engine", access=access, engine=ENGINE)
        for one in record(adapter, order):
            wrong = one.why or _differs(one.path, one.scenario)
            failed += wrong is not None
            print(one.path or one.scenario, wrong or ("written" if one.changed else "unchanged"))
    return int(failed > 0)


def _differs(path: Path | None, name: str) -> str | None:
    """What the engine answered where it is not what the model was taught: then it has not learned enough."""
    kept = load_cassette(path or INTO)
    dialect = "openai-chat" if kept.exchanges[-1].uri.endswith("/chat/completions") else "anthropic-messages"
    told = read_recorded(dialect, kept.exchanges[-1].answer_body)
    calls = [(call.name, look_up(call.value, "/city")) for call in told.calls.values()]
    said = called(*calls) if calls else "".join(told.texts.values())
    return None if said == LESSONS[name] else f"was taught {LESSONS[name]!r}, and answers {said!r}"


if __name__ == "__main__":
    main()
