"""Records replies of a real engine to the browser agent's prompts: the second half of `make record-local`.

The model is untrained and says nothing of sense. What its replies show is what an engine makes of the prompts' schemas:
what it holds a model to, and what is left of a reply that is cut.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, Final

from engine import ask, build, serving
from record import ENGINE, environment, untrained

from art_compliance.cassettes.corpus import user_cache
from art_sdk import OpenAIAdapter, parse_options
from browser_replies import CASES, FILE, PROMPTS, Case

SEED: Final = 7
FAVOURED: Final = {'"': 14.0, "}": 12.0}
"""Tokens that end texts and objects: an untrained model would hardly ever choose them."""


def main() -> None:
    """Asks for each case, and writes the replies."""
    folder = user_cache() / "engine"
    server, python = build(folder), environment(folder / "model-venv")
    model = untrained(python, folder)
    words = json.loads(model.with_suffix(".vocabulary.json").read_text(encoding="utf-8"))["words"]
    sampling = {"seed": SEED, "logit_bias": {str(words.index(word)): bias for word, bias in FAVOURED.items()}}
    with serving(server, model) as url:
        replies = {name: _reply(url, case, sampling) for name, case in CASES.items()}
    about = {
        "source": "local engine",
        "engine": ENGINE,
        "model": "art-tiny, untrained: its weights are random",
        "date": datetime.now(UTC).date().isoformat(),
        "adapter": "OpenAIAdapter",
        "sampling": {"temperature": 1.0, "seed": SEED, "logit_bias": FAVOURED},
    }
    FILE.write_text(json.dumps({**about, "replies": replies}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _reply(url: str, case: Case, sampling: dict[str, Any]) -> dict[str, Any]:
    prompt = PROMPTS[case.prompt]()
    options: dict[str, Any] = {
        "thread_id": "t",
        "model": "art-tiny",
        "temperature": 1.0,
        "max_tokens": case.most_tokens,
        "provider": {"openai-chat": sampling},
    }
    if case.fits_schema:
        options["response_schema"] = case.schema()
    payload: Any = OpenAIAdapter(api_key="none").translate(prompt.to_art_prompt(), parse_options(options))
    answer = ask(f"{url}/v1/chat/completions", payload, time_limit=600)
    (choice,) = answer["choices"]
    print(choice["finish_reason"], repr(choice["message"]["content"]))
    return {
        "prompt": case.prompt,
        "response_schema": options.get("response_schema"),
        "max_tokens": case.most_tokens,
        "finish_reason": choice["finish_reason"],
        "usage": {name: answer["usage"][name] for name in ("prompt_tokens", "completion_tokens")},
        "text": choice["message"]["content"],
    }


if __name__ == "__main__":
    main()
