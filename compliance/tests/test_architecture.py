"""What the import contracts in `pyproject.toml` cannot say."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

import art_compliance


def imports_of(*packages: str) -> dict[str, set[str]]:
    graph = grimp.build_graph(*packages, cache_dir=None)
    return {module: set(graph.find_modules_directly_imported_by(module)) for module in graph.modules}


def test_no_modules_import_each_other_in_a_circle():
    imports = imports_of("art_sdk", "art_compliance")
    assert "art_compliance.pytest_plugin.run" in imports["art_compliance.plugin"]
    TopologicalSorter(imports).prepare()


def test_a_circle_of_two_modules_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    package = tmp_path / "circular"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "one.py").write_text("def use():\n    from circular import two\n")
    (package / "two.py").write_text("from circular.one import use\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(CycleError, match=r"circular\.(one|two)"):
        TopologicalSorter(imports_of("circular")).prepare()


@pytest.mark.parametrize("folder", ["art_sdk.adapters", "art_compliance.dialects"])
def test_no_wire_format_imports_another(folder: str):
    """Those of the chat completions family stand on OpenAI's."""
    graph = grimp.build_graph(folder.partition(".")[0], cache_dir=None)
    formats = [one for one in graph.find_children(folder) if graph.find_children(one)]
    assert len(formats) >= 7
    known = {
        (one, other)
        for one in formats
        for other in formats
        if one != other and graph.direct_import_exists(importer=one, imported=other, as_packages=True)
    }
    assert {pair for pair in known if pair[1] not in BASES} == set()


BASES = frozenset({"art_compliance.dialects.openai_chat", "art_compliance.dialects.openai_compatible"})
"""What the dialects of the chat completions family stand on."""


def test_at_most_twelve_modules_stand_loose_at_the_top():
    top = Path(art_compliance.__file__).parent
    assert len([path for path in top.glob("*.py") if path.name != "__init__.py"]) <= 12
