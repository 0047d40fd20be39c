from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import subprocess
import sys
from types import ModuleType

import pytest

import art_sdk
from art_sdk import BUILT_IN, BaseAdapter
from row_tables import table


def test_all_is_sorted() -> None:
    assert art_sdk.__all__ == sorted(art_sdk.__all__, key=_ruff_order)


def _ruff_order(name: str) -> tuple[int, str]:
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


def test_all_has_each_name_once() -> None:
    assert len(set(art_sdk.__all__)) == len(art_sdk.__all__)


@table("name", art_sdk.__all__)
def test_every_name_is_importable(name: str) -> None:
    assert getattr(art_sdk, name, None) is not None


def test_nothing_public_is_missing_from_all() -> None:
    imported = {
        name
        for name, value in vars(art_sdk).items()
        if not name.startswith("_") and not isinstance(value, ModuleType) and name != "annotations"
    }
    assert imported == set(art_sdk.__all__)


def test_what_is_imported_later_is_what_the_types_say() -> None:
    [typed] = [node for node in ast.parse(inspect.getsource(art_sdk)).body if isinstance(node, ast.If)]
    said = {
        f"{node.module}:{one.name}" for node in typed.body if isinstance(node, ast.ImportFrom) for one in node.names
    }
    code = "import art_sdk; before = {*vars(art_sdk)}; print(*({*art_sdk.__all__} - before))"
    later = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert {path.partition(":")[2] for path in said} == set(later.stdout.split())
    assert all(pkgutil.resolve_name(path) is getattr(art_sdk, path.partition(":")[2]) for path in said)


def test_a_name_that_does_not_exist_is_named() -> None:
    with pytest.raises(AttributeError, match=r"^module 'art_sdk' has no attribute 'OpenAiAdapter'$"):
        art_sdk.OpenAiAdapter  # type: ignore[attr-defined] # noqa: B018 - on purpose
    with pytest.raises(ImportError, match="cannot import name 'OpenAiAdapter' from 'art_sdk'"):
        from art_sdk import OpenAiAdapter  # type: ignore[attr-defined] # noqa: F401, PLC0415 - on purpose


@table("name", [name for name in art_sdk.__all__ if inspect.isclass(getattr(art_sdk, name))])
def test_every_class_says_what_it_is_for(name: str) -> None:
    assert (getattr(art_sdk, name).__doc__ or "").strip()


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_built_in_is_an_adapter_of_its_name(name: str) -> None:
    module, _, attribute = BUILT_IN[name].partition(":")
    factory = getattr(importlib.import_module(module), attribute)
    assert issubclass(factory, BaseAdapter)
    assert factory.provider_name == name


def test_importing_the_sdk_imports_no_heavy_module() -> None:
    later = ("httpx2", "anyio", "chevron", "yaml", "jsonschema", "art_compliance")
    code = f"import sys, art_sdk; print([m for m in {later} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert found.stdout.strip() == "[]"
