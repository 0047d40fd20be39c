from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from art_sdk import FRAGMENTS, PromptAssemblyFailed, PromptManager, UserMessage, load_blueprint
from art_sdk.blueprints.limits import DEFAULT_LIMITS

YAML = """
- role: user
  content: |-
    {{q}}
    {{> p}}
- '{{#history}}'
- '{{{.}}}'
- '{{/history}}'
"""
AS_JSON = [{"role": "user", "content": "{{q}}\n{{> p}}"}, "{{#history}}", "{{{.}}}", "{{/history}}"]
TEMPLATE = '[{"role": "user", "content": "{{q}}\n{{> p}}"}, {{#history}}{{.}},{{/history}}]'
IN_YAML = "template: |\n  [{'role': x}]\n".replace("[{'role': x}]", TEMPLATE.replace("\n", "\n  "))

FILES = {
    "list.yaml": YAML,
    "list.YML": YAML,
    "list.json": json.dumps(AS_JSON),
    "template.json": json.dumps({"template": TEMPLATE}),
    "template.yaml": IN_YAML,
    "text.json": json.dumps(TEMPLATE),
}


def doubling(open_: str, close: str) -> bytes:
    """Lines of YAML, each with two aliases of the line before."""
    names = "abcdefghijklmnopqrstuvwxyz"
    lines = (f"{name}: &{name} {open_}*{last}, *{last}{close}\n" for last, name in pairwise(names))
    return "".join(lines).encode()


BAD_FILES = [
    ("a.txt", b"[]", "the suffix of 'a.txt' must be one of .json, .yaml, .yml", None),
    ("a.json", b"[\n1\n2]", "not JSON: Expecting ',' delimiter", 3),
    ("a.json", b"[" + b"1" * 5_000 + b"]", "not JSON: Exceeds the limit", None),
    ("a.json", b"[" * 100_000, "nested too deeply", None),
    ("a.json", b'["\xff"]', "'a.json' is not UTF-8", None),
    ("a.json", b'[{"role": "user", "role": "system"}]', "the key 'role' appears twice in one object", None),
    ("a.yaml", b"- role: user\n- role: user\n  content: a\n  role: system", "the key 'role' appears twice", 4),
    ("a.json", b'{"role": "user"}', "a blueprint must be text", None),
    ("a.json", b'["{{#a}"]', "is not closed", 1),
    ("a.json", b" " * (DEFAULT_LIMITS.characters + 1), "more than 1,000,000 characters (the limit 'characters')", None),
    ("a.yaml", b"a: [1,\n2\nb: 3", "invalid YAML: did not find expected ',' or ']'", 3),
    ("a.yaml", b"a: \x01", "invalid YAML: unacceptable character", None),
    ("a.yaml", b"[" * 50_000, "invalid YAML: it expands to more than 100 levels of nesting", 1),
    ("a.yaml", b"", "a blueprint must be text", None),
    ("a.yaml", b"- role: user\n  content: 2020-01-01", "$[0].content: a value of type date is not JSON data", None),
    ("a.yaml", b"- !!python/object/apply:os.system ['true']", "invalid YAML: could not determine a constructor", 1),
    ("a.yaml", b"- {1: 2}", "invalid YAML: a key that is not text", 1),
    ("a.yaml", b"&a [*a]", "the alias *a contains itself, or has no anchor before it", 1),
    ("a.yaml", b"- x\n- !!int ''", "'' is not of the type int", 2),
    ("a.yaml", b"- " + b"1:" * 300 + b"1.5", "is not of the type float", 1),
    ("a.yaml", b"- " + b"1:" * 200_000 + b"1", "a value of 400,001 characters that is not text", 1),
    ("a.yaml", b"a: &a {<<: *a}", "the alias *a contains itself", 1),
    ("a.yaml", b"a: &a [x, x]\n" + doubling("[", "]"), "it expands to more than 50,000 values", 14),
    ("a.yaml", b"a: &a {x: x}\n" + doubling("{<<: [", "]}"), "it expands to more than 50,000 values", 14),
    ("a.yaml", b"%TAG !t! x\n" * 101 + b"---\na", "it has more than 100 directives", None),
]


@pytest.mark.parametrize("name", FILES)
def test_a_blueprint_is_loaded_from_json_and_yaml(tmp_path: Path, name: str):
    (tmp_path / name).write_text(FILES[name], encoding="utf-8")
    blueprint = load_blueprint(tmp_path / name, partials={"p": "é"})
    prompt = PromptManager().assemble_prompt(blueprint, {"q": '"', "history": [{"role": "user", "content": "h"}]})
    assert prompt == (UserMessage('"\né'), UserMessage("h"))
    assert blueprint.name == name.partition(".")[0]


def test_a_file_can_be_loaded_with_a_name_and_partials(tmp_path: Path):
    path = tmp_path / "a.json"
    path.write_text('[{"role": "user", "content": "{{> pes_tool_format}}"}]')
    manager = PromptManager()
    blueprint = load_blueprint(str(path), name="PLAN", partials=manager.fragments)
    assert blueprint.name == "PLAN"
    assert manager.assemble_prompt(blueprint, {}) == (UserMessage(FRAGMENTS["pes_tool_format"]),)


@pytest.mark.parametrize(("name", "content", "message", "line"), BAD_FILES)
def test_a_file_without_a_blueprint_is_an_error(
    tmp_path: Path, name: str, content: bytes, message: str, line: int | None
):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(PromptAssemblyFailed) as caught:
        load_blueprint(tmp_path / name)
    assert message in caught.value.message
    assert caught.value.details.get("line") == line
    assert caught.value.details["blueprint"] == "a"


@pytest.mark.parametrize("name", ["gone.json", "gone.yaml", ".", "a\0.json", "folder.json"])
def test_a_missing_file_is_an_error(tmp_path: Path, name: str):
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(
        PromptAssemblyFailed, match=r"cannot be read: No such file|must be one of|is not a (valid )?file"
    ):
        load_blueprint(tmp_path / name)


def test_without_pyyaml_the_extra_is_named(tmp_path: Path):
    (tmp_path / "a.yaml").write_text("[]")
    code = (
        "import sys; sys.modules['yaml'] = None\n"
        "import art_sdk\n"
        "try: art_sdk.load_blueprint('a.yaml')\n"
        "except art_sdk.PromptAssemblyFailed as error: print(error.message)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
    )
    assert "pip install 'art-adapter-sdk[yaml]'" in run.stdout
