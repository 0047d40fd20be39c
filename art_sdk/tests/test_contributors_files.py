"""Files and resources in a prompt: only those that may be read, whole, and unable to close their tags."""

from __future__ import annotations

import os
import re
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from art_sdk.contributors import DynamicContributorContext, FileContributor, ResourcesContributor
from art_sdk.contributors.files import UnusableFile, read_file
from art_sdk.contributors.tags import wrap


def content(contributor: Any, **context: Any) -> str:
    return anyio.run(contributor.get_content, DynamicContributorContext(**context))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    (folder / "inner").mkdir(parents=True)
    (folder / "a.md").write_text("Ä\r\n", encoding="utf-8", newline="")
    (folder / "inner" / "b.TXT").write_text("b")
    (tmp_path / "secret.md").write_text("SECRET")
    return folder


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_files_are_given_as_they_are_under_their_names(root: Path, backend: str):
    files = FileContributor("f", 1, ["a.md", "inner/../inner/b.TXT"], root=root)
    text = anyio.run(files.get_content, DynamicContributorContext(), backend=backend)
    assert text == '<file name="a.md">\nÄ\r\n\n</file>\n<file name="inner/../inner/b.TXT">\nb\n</file>'


def test_a_changed_file_is_read_anew(root: Path):
    files = FileContributor("f", 1, ["a.md"])
    before = content(files, workspace=root)
    os.utime(root / "a.md")
    stamp = (root / "a.md").stat()
    (root / "a.md").write_text("ABC\n")
    os.utime(root / "a.md", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert content(files, workspace=root) == before.replace("Ä\r\n", "ABC\n")


def test_a_template_in_a_file_is_filled_if_the_contributor_says_so(root: Path):
    (root / "a.md").write_text("{{name}}")
    assert "{{name}}" in content(FileContributor("f", 1, ["a.md"], root=root), extra={"name": "</file>"})
    filled = content(FileContributor("f", 1, ["a.md"], root=root, is_template=True), extra={"name": "</file>"})
    assert filled == '<file name="a.md">\n&lt;/file>\n</file>'


def make_link(root: Path) -> None:
    (root / "link.md").symlink_to("../secret.md")


def make_linked_folder(root: Path) -> None:
    (root / "up").symlink_to(root.parent, target_is_directory=True)


def make_circle(root: Path) -> None:
    (root / "circle.md").symlink_to("circle.md")


def make_pipe(root: Path) -> None:
    os.mkfifo(root / "pipe.md")


def make_folder(root: Path) -> None:
    (root / "folder.md").mkdir()


def make_latin(root: Path) -> None:
    (root / "latin.md").write_bytes(b"\xe4")


def make_large(root: Path) -> None:
    (root / "large.md").write_bytes(b"x" * 11)


@pytest.mark.parametrize(
    ("make", "name", "message"),
    [
        (None, "../secret.md", "'../secret.md' is outside the root"),
        (None, "inner/../../secret.md", "is outside the root"),
        (None, "/etc/hosts.md", "'/etc/hosts.md' is outside the root"),
        (make_link, "link.md", "'link.md' is outside the root"),
        (make_linked_folder, "up/secret.md", "'up/secret.md' is outside the root"),
        (make_circle, "circle.md", "'circle.md' "),  # in the words of the Python version
        (make_pipe, "pipe.md", "'pipe.md' is not a file"),
        (make_folder, "folder.md", "'folder.md' is not a file"),
        (make_latin, "latin.md", "'latin.md' is not UTF-8"),
        (make_large, "large.md", "'large.md' has more than 10 bytes"),
        (None, "gone.md", "'gone.md' cannot be read: No such file or directory"),
        (None, "x" * 300 + ".md", "cannot be read: File name too long"),
        (None, "nul\0.md", "is not a file name"),
        (None, "a.py", "the suffix of 'a.py' must be one of .md, .txt"),
    ],
)
def test_what_may_not_or_cannot_be_read_is_refused(root: Path, make: Any, name: str, message: str):
    if make is not None:
        make(root)
    with pytest.raises(UnusableFile) as caught:
        content(FileContributor("f", 1, [name], root=root, max_bytes=10))
    assert message in str(caught.value)
    assert str(root) not in str(caught.value)


def test_a_link_inside_the_root_is_followed(root: Path):
    (root / "link.md").symlink_to("inner/b.TXT")
    assert read_file(root, "link.md", 10) == "b"


def test_files_without_a_root_are_refused():
    with pytest.raises(UnusableFile, match="files need a root"):
        content(FileContributor("f", 1, ["a.md"]))


@pytest.mark.once
def test_a_file_that_is_replaced_meanwhile_is_given_as_it_was_or_as_it_is(root: Path):
    stop = threading.Event()
    path = root / "busy.md"
    path.write_text("a" * 50_000)

    def replace() -> None:
        while not stop.is_set():
            for letter in "ab":
                (root / "new").write_text(letter * 50_000)
                (root / "new").replace(path)

    writer = threading.Thread(target=replace)
    writer.start()
    try:
        seen = {attempt(root, "busy.md") for _ in range(200)}
    finally:
        stop.set()
        writer.join()
    lengths = {(text[0], len(text)) for text in seen - {"changes while it is read"}}
    assert lengths <= {("a", 50_000), ("b", 50_000)}
    assert all(len(set(text)) == 1 for text in seen - {"changes while it is read"})


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs files that are never as large as they say")
def test_a_file_that_is_not_as_large_as_it_was_when_opened_is_refused():
    with pytest.raises(UnusableFile, match="'status' changes while it is read"):
        read_file(Path("/proc/self"), "status", 100_000)


def swap_file(root: Path) -> None:
    path = root / "swapped.md"
    path.unlink(missing_ok=True)
    path.write_text("inside")
    path.unlink()
    path.symlink_to("../secret.md")


def swap_folder(root: Path) -> None:
    (root / "swapped").symlink_to("..", target_is_directory=True)
    (root / "swapped").unlink()
    (root / "aside").rename(root / "swapped")
    (root / "swapped").rename(root / "aside")


@pytest.mark.once
@pytest.mark.parametrize(("swap", "name"), [(swap_file, "swapped.md"), (swap_folder, "swapped/secret.md")])
def test_a_path_that_becomes_a_link_meanwhile_gives_nothing_from_outside(root: Path, swap: Any, name: str):
    (root / "aside").mkdir()
    (root / "aside" / "secret.md").write_text("inside")
    stop = threading.Event()

    def keep_swapping() -> None:
        while not stop.is_set():
            swap(root)

    swapper = threading.Thread(target=keep_swapping)
    swapper.start()
    try:
        seen = {attempt(root, name) for _ in range(500)}
    finally:
        stop.set()
        swapper.join()
    assert seen - {"inside", ""} <= {"changes while it is read", "is outside the root", "cannot be read"}


def attempt(root: Path, name: str) -> str:
    """The text, or in a few words why there is none."""
    try:
        return read_file(root, name, 100_000)
    except UnusableFile as error:
        return str(error).removeprefix(f"'{name}' ").partition(":")[0]


class Resources:
    def __init__(self, texts: dict[str, Any]) -> None:
        self.texts = texts
        self.read_ones: list[str] = []

    async def read(self, uri: str) -> Any:
        self.read_ones.append(uri)
        return self.texts[uri]


def test_only_the_listed_resources_are_read():
    resources = Resources({"a": "A", "b": "B", "c": "C"})
    text = content(ResourcesContributor("r", 1, ["c", "a"]), resources=resources)
    assert text == '<resource uri="c">\nC\n</resource>\n<resource uri="a">\nA\n</resource>'
    assert resources.read_ones == ["c", "a"]


@pytest.mark.parametrize(
    ("resources", "message"),
    [
        (None, "the context has no resources"),
        (Resources({"a": b"A"}), "the resource 'a' must be text, not of type bytes"),
        (Resources({"a": "ééé"}), "the resource 'a' has more than 5 bytes"),
        (Resources({}), "'a'"),
    ],
)
def test_a_resource_that_cannot_be_used_is_an_error(resources: Any, message: str):
    with pytest.raises((ValueError, TypeError, KeyError), match=message):
        content(ResourcesContributor("r", 1, ["a"], max_bytes=5), resources=resources)


PIECES = ("<", "</", "/", " ", "\t", ">", "file", "FILE", "File", "\u200b", "\u2028", "x", "&lt;", '"', "\n")


@given(text=st.lists(st.sampled_from(PIECES)).map("".join), name=st.lists(st.sampled_from(PIECES)).map("".join))
def test_no_text_and_no_name_closes_or_opens_its_tag(text: str, name: str):
    wrapped = wrap("file", text, name=name)
    head, _, rest = wrapped.partition(">\n")
    assert wrapped.endswith("\n</file>")
    assert head.count('"') == 2
    assert "<" not in head[1:]
    assert "\n" not in head
    seen = re.sub("[\\s\u200b]", "", rest[: -len("\n</file>")]).lower()
    assert not re.search("</?file(?![a-z0-9_-])", seen)
    assert rest[: -len("\n</file>")].replace("&lt;", "<") == text.replace("&lt;", "<")


def test_other_tags_stay_as_they_are():
    text = "<files> </file-x> a < b <b>filed</b> </ other >"
    assert wrap("file", text) == f"<file>\n{text}\n</file>"


def test_contributors_of_files_and_resources_show_names_alone():
    assert repr(FileContributor("f", 1, ["a.md"])) == "FileContributor('f', 1, a.md)"
    assert repr(ResourcesContributor("r", 2, ["u"])) == "ResourcesContributor('r', 2, u)"
