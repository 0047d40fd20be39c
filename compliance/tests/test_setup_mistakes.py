"""The mistakes that an author is likely to make first: each is one sentence that says what, where and what to do."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from art_compliance import HarnessError, Selection, certify

GOOD = """
import json, urllib.request

class Good:
    dialect = "openai-chat"
    path = "/chat/completions"

    def __init__(self, *, api_key, base_url=None, model=None):
        self.key, self.url, self.model = api_key, base_url, model or "m"

    def translate(self, prompt, options):
        return {"model": self.model, "messages": prompt}

    def headers(self):
        return {"content-type": "application/json", "authorization": "Bearer " + self.key}

    def call(self, prompt, options):
        body = json.dumps(self.translate(prompt, options)).encode()
        request = urllib.request.Request(self.url + self.path, body, self.headers())
        with urllib.request.urlopen(request, timeout=5) as response:
            text = json.load(response)["choices"][0]["message"]["content"]
        ids = {"thread_id": options["thread_id"], "trace_id": "t"}
        yield {"type": "TOKEN", "token_type": "LLM_RESPONSE", "text": text, **ids}
        yield {"type": "METADATA", "metadata": {"stop_reason": "stop"}, **ids}
        yield {"type": "END", "message": {"role": "assistant", "content": text}, "finish": "stop", **ids}
"""

NAMES = [
    ("mine", "write mine:MyAdapter"),
    ("mine.Good", "did you mean mine:Good?"),
    ("mine.py", "write mine:MyAdapter"),
    ("/no/such/bridge", "there is no command '/no/such/bridge'; an adapter in Python is module:attribute"),
    ("./mine.py:Good", "'./mine.py' is the name of a file; name its module: mine:MyAdapter"),
    ("mime:Good", "there is no module 'mime' *did you mean mine?"),
    ("nowhere:X", "there is no module 'nowhere' (looked in the working directory and"),
    ("packaged:X", "it is in src/: install your package with pip install -e ., or set PYTHONPATH=src"),
    ("mine:God", "'mine' has no attribute 'God'; did you mean Good?"),
    ("mine:Zzz", "'mine' has no attribute 'Zzz'; it defines Good"),
    ("mine:instance", "'instance' is a Good, not a factory; give the adapter's class or a function"),
    (
        "openia",
        "there is no adapter 'openia'; did you mean openai?; give module:Class, *or an installed adapter: anthropic",
    ),
]

MODULES = [
    ("import os\nKEY = os.environ['NO_SUCH_KEY']", "KeyError: 'NO_SUCH_KEY', at wrong.py:2; read this environment"),
    ("class X:\n    def f(self)\n        pass", "SyntaxError: expected ':', at wrong.py:2"),
    ("import no_such_library", "No module named 'no_such_library', at wrong.py:1; install it in the environment of "),
    ("from mine import Gone", "ImportError: cannot import name 'Gone' from 'mine' *, at wrong.py:1"),
    ("\n1/0", "importing 'wrong' failed: ZeroDivisionError: division by zero, at wrong.py:2"),
]

CLASSES = [
    (
        "def __init__(self, api_key, base_url=None, model=None): self.start()\ndef start(self): raise OSError('no')",
        "the factory raised OSError: no, at wrong.py:5 in start",
    ),
    (
        "def __init__(self, api_key, base_url=None, model=None): raise OSError('no:\\n  gone')",
        "the factory raised OSError: no:   gone, at wrong.py:4 in __init__",
    ),
    (
        "def __init__(self, key, url): pass",
        "got an unexpected keyword argument 'api_key'; it is called with api_key, base_url and model",
    ),
    ("dialect = 'openai'", "its dialect is 'openai', which the suite does not know; did you mean 'openai-chat'?"),
    ("capabilities = ['tool']", "unknown capabilities tool (did you mean tools?); known: images, late_system"),
    ("capabilities = 'tools'", "capabilities must be a set of names, not a str"),
    (
        "def translate(self, prompt): return {}",
        "translate is called with two arguments, translate(prompt, options), but yours is translate(prompt)",
    ),
    (
        "def call(self, *, prompt, options): yield",
        "call is called with two arguments, call(prompt, options), but yours is call(*, prompt, options)",
    ),
    (
        "def __init__(self, **settings): super().__init__(**{**settings, 'base_url': 'http://127.0.0.1:9/v1'})",
        "nothing arrived at http://127.0.0.1:*/v1, the base_url of its factory; call: it raised URLError: *at mine.py",
    ),
    (
        "path = '/completions'",
        'POST /v1/completions arrived; it goes to the path "/v1/completions"; the provider serves *; call: *404',
    ),
    (
        "def call(self, prompt, options):\n    urllib.request.urlopen(self.url + self.path)\n    yield",
        "GET /v1/chat/completions arrived; a call must be one POST",
    ),
    (
        "def call(self, p, o): yield urllib.request.urlopen(self.url + self.path, b'a=1')",
        "POST /v1/chat/completions arrived; it would be refused with 401: the request has no key",
    ),
    (
        """
path = '/v9/chat'
def call(self, p, o):
    try:
        yield from super().call(p, o)
    except OSError:
        yield {'type': 'ERROR', 'error': {'code': 'LLM_PROVIDER_ERROR', 'message': 'the provider failed'}}
        yield {'type': 'END', 'message': None, 'finish': 'error'}
""",
        'POST /v1/v9/chat arrived; it goes to the path "/v1/v9/chat"; *call gave an ERROR event: the provider failed',
    ),
    ("def translate(self, p, o): return json.dumps(p)", "returned a str; return the data, not its JSON text"),
    ("def translate(self, p, o): super().translate(p, o)", "must return a JSON object (a dict), but returned nothing"),
    ("def translate(self, p, o): return p", "must return a JSON object (a dict), but returned a list"),
    ("async def translate(self, p, o): return {}", "but returned a coroutine; translate must not be async"),
    ("def translate(self, p, o): return {'x': [b'1']}", "translate must return JSON data; at $.x[0], a value of type"),
    (
        "def translate(self, p, o):\n    return {'messages': [m.role for m in p]}",
        "translate: it raised AttributeError: 'dict' object has no attribute 'role', at wrong.py:5 in",
    ),
    ("def call(self, p, o): return list(super().call(p, o))[-1]['message']", "call: it returned a dict; it must yield"),
    ("def call(self, p, o): return 'hello'", "call: it returned a str; it must yield events"),
    ("def call(self, p, o): list(super().call(p, o))", "call: it returned nothing (None); it must yield events"),
    ("async def call(self, p, o): return 'hello'", "call: it returned a str; it must yield events"),
    ("def call(self, p, o): yield 'hello'", 'event 0 has the type "hello"; the types are END, ERROR, METADATA, TOKEN'),
    (
        "def call(self, p, o):\n    for e in super().call(p, o): yield {**e, 'type': e['type'].lower()}",
        "event 0 has the type token; the types are END, ERROR, METADATA, TOKEN, TOOL_CALL",
    ),
    (
        "def call(self, p, o):\n    yield {'type': 'END', 'finish': 'stop', 'message': {'content': 'from a mock'}}",
        'nothing arrived at *; expected END with the text "This answer was written, *, got "from a mock" after END',
    ),
]

FUNCTIONS = [
    ("async def X(**settings): return Good(**settings)", "the factory is asynchronous (async def); it must be a class"),
    ("def X(**settings): Good(**settings)", "the factory returned nothing; it must return the adapter"),
    ("def X(**settings): return Good", "the factory returned the class Good; it must return an instance of it"),
    ("def X(**settings): yield Good(**settings)", "the factory yields, as a fixture does; it must return the adapter"),
    ("def X(**settings): return 5", "the factory made an int, which has neither translate nor call"),
]

HARMLESS = [
    "async def call(self, p, o): return list(super().call(p, o))",
    "def call(self, p, o): return list(super().call(p, o))",
    "async def call(self, p, o):\n    for event in list(super().call(p, o)): yield event",
    "dialect = None",
]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A folder with a good adapter in `mine`, and a way to write a wrong module next to it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "src" / "packaged").mkdir(parents=True)
    (tmp_path / "mine.py").write_text(GOOD + "\ninstance = Good(api_key='k')\n")
    yield (tmp_path / "wrong.py").write_text
    for name in ("mine", "wrong"):
        sys.modules.pop(name, None)


@pytest.fixture
def write_class(project):
    def write(body: str) -> None:
        lines = "".join(f"    {line}\n" for line in body.splitlines())
        project(f"import json, urllib.request\nfrom mine import Good\nclass X(Good):\n{lines}")

    return write


def preflight(name: str) -> str:
    """What the suite says of the adapter before anything else is run."""
    try:
        report = certify(name, selection=Selection(checks=("preflight.answer-is-read",)), isolated=False)
    except HarnessError as error:
        return str(error)
    return "\n".join(finding.message for result in report.results for finding in result.findings)


def assert_says(message: str, said: str) -> None:
    """That what is said is one sentence with the message in it, where `*` stands for anything."""
    assert re.search(".*".join(map(re.escape, message.split("*"))), said), said
    assert "Traceback" not in said
    assert len(said.splitlines()) == 1, said


@pytest.mark.parametrize(("name", "message"), NAMES)
def test_a_wrong_name(project, name, message):
    assert_says(message, preflight(name))


@pytest.mark.parametrize(("text", "message"), MODULES)
def test_a_module_that_cannot_be_imported(project, text, message):
    project(text)
    assert_says(message, preflight("wrong:X"))


@pytest.mark.filterwarnings("ignore:coroutine", "ignore:Exception ignored in")  # what adapters leave
@pytest.mark.parametrize(("body", "message"), CLASSES)
def test_a_class_that_is_no_adapter(write_class, body, message):
    write_class(body)
    assert_says(message, preflight("wrong:X"))


@pytest.mark.parametrize(("text", "message"), FUNCTIONS)
def test_a_function_that_is_no_factory(project, text, message):
    project(f"from mine import Good\n{text}")
    assert_says(message, preflight("wrong:X"))


@pytest.mark.parametrize("body", HARMLESS)
def test_what_is_no_mistake(write_class, body):
    write_class(body)
    assert preflight("wrong:X") == ""


def test_none_is_no_factory():
    with pytest.raises(HarnessError, match=r"nothing \(None\) is not a factory"):
        certify(None, isolated=False)  # type: ignore[arg-type]
