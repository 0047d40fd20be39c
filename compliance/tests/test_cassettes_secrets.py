"""Every kind of secret is removed in every place, texts that only look like secrets stay, and the time is linear."""

from __future__ import annotations

import base64
import json
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs

from art_compliance.cassettes import ContainsSecret, Provenance, load_cassette, write_cassette
from art_compliance.cassettes.scanning import find_leaks
from art_compliance.cassettes.scrubbing import REDACTED, Scrubber
from art_compliance.cassettes.secrets import Cleaner
from art_compliance.cassettes.secrets.changes import Change, Joined
from art_compliance.cassettes.secrets.shapes import SHAPES
from art_compliance.cassettes.writing import render
from hostile_secrets import hostile_texts
from secret_kinds import STAY, kinds
from secret_places import PLACES, exchange, is_readable

pytestmark = pytest.mark.unmeasured  # other tests run the same lines

PROVENANCE = Provenance(
    source="provider", date="2026-01-02", adapter="a:B", model="m", scenario="one", digest="sha256:0", suite="0"
)
KINDS = kinds()
LEFT_OUT = {"a header", "a header of the answer", "a cookie", "the query"}
"""Places that are not kept at all, whatever stands there."""
NOT_IN_A_FILE = {"a stream in an array", *LEFT_OUT}
"""Places that the scan of a file does not look at: its lines are not the events."""
KEY = "0123456789abcdef" + "ghijklmn"


def test_the_tables_are_large_enough():
    assert len(KINDS) >= 80
    assert len({made.text for made in KINDS.values()}) == len(KINDS)
    assert len(PLACES) >= 10
    assert len(STAY) >= 60


@pytest.mark.parametrize("place", PLACES)
def test_every_kind_of_secret_is_removed(place: str):
    scrubber, where = Scrubber(), PLACES[place]
    for kind, made in KINDS.items():
        call = where.put(made.text)
        assert place in LEFT_OUT or is_readable(made.private, where.read(call)), f"{kind}: it was never there"
        scrubbed = scrubber.exchange(call)
        assert not is_readable(made.private, where.read(scrubbed)), f"{kind}: it can still be read"
        assert not is_readable(made.private, str(scrubbed)), f"{kind}: it still stands there"
        assert scrubber.exchange(scrubbed) == scrubbed, f"{kind}: scrubbing it again changes it again"


@pytest.mark.parametrize("place", PLACES)
def test_the_key_of_the_recording_is_removed_though_it_has_no_form(place: str):
    where = PLACES[place]
    assert not is_readable(KEY, where.read(Scrubber([KEY]).exchange(where.put(KEY))))
    kept = Scrubber().exchange(where.put(KEY))
    assert place in LEFT_OUT or is_readable(KEY, where.read(kept)), "it has a form, so this shows nothing"


@pytest.mark.parametrize("place", [place for place in PLACES if place not in LEFT_OUT])
def test_texts_that_look_like_secrets_stay(place: str):
    scrubber, where = Scrubber(), PLACES[place]
    for text in STAY:
        call = where.put(text)
        assert where.read(scrubber.exchange(call)) == where.read(call), text


def test_the_scan_finds_every_kind_of_secret():
    for kind, made in KINDS.items():
        leaks = find_leaks(f"version: 1\nbody: it is {made.text} .\n")
        assert leaks, kind
        assert leaks[0].line == 2, kind
        assert not any(made.private in str(leak) for leak in leaks), kind


@pytest.mark.parametrize("place", [place for place in PLACES if place not in NOT_IN_A_FILE])
def test_the_scan_finds_a_secret_in_every_place_of_a_file(place: str):
    for kind in ("Anthropic", "GitHub, OAuth", "a bearer token", "a mail address", "a private key"):
        text = render([PLACES[place].put(KINDS[kind].text)], PROVENANCE)
        assert find_leaks(text), kind


def test_the_scan_lets_texts_pass_that_look_like_secrets():
    for text in STAY:
        call = exchange(answer_body=json.dumps({"text": text}).encode())
        assert find_leaks(render([call], PROVENANCE)) == [], text


def test_a_secret_that_is_split_in_a_file_is_found_at_its_stream(tmp_path: Path):
    path = tmp_path / "one.yaml"
    path.write_text(render([PLACES["a stream's events"].put(KINDS["Groq"].text)], PROVENANCE))
    with pytest.raises(ContainsSecret, match="a secret that is split over the events of a stream"):
        load_cassette(path)


def test_what_a_stream_split_is_put_into_its_first_piece():
    made = KINDS["Anthropic"].text
    pieces = ["a", "b ", made[:3], made[3:20], made[20:] + " c", "d"]
    assert Cleaner().clean_pieces(pieces) == ["a", "b ", REDACTED, "", " c", "d"]


CUTS = {
    "between": (["ab", "cd"], [(1, 2, "X")], ["aX", "cd"]),
    "over a cut": (["ab", "cd"], [(1, 3, "X")], ["aX", "d"]),
    "over two cuts": (["a", "b", "c"], [(0, 3, "X")], ["X", "", ""]),
    "at a cut": (["ab", "cd"], [(2, 3, "XY")], ["ab", "XYd"]),
    "two": (["ab", "cd", "ef"], [(0, 1, ""), (3, 5, "X")], ["b", "cX", "f"]),
    "none": (["", "a", ""], [], ["", "a", ""]),
}


@pytest.mark.parametrize("case", CUTS)
def test_cuts_move_with_what_is_replaced(case: str):
    pieces, changes, expected = CUTS[case]
    assert Joined.of(pieces).apply(Change(*change, "kind") for change in changes).pieces() == expected


def _image(size: int) -> bytes:
    return random.Random(7).randbytes(size)


PICTURES: dict[str, Callable[[bytes], str]] = {
    "base64": lambda raw: base64.b64encode(raw).decode(),
    "base64 of URLs": lambda raw: base64.urlsafe_b64encode(raw).decode().rstrip("="),
    "a data URL": lambda raw: "data:image/png;base64," + base64.b64encode(raw).decode(),
    "hexadecimal": bytes.hex,
}


@pytest.mark.parametrize("form", PICTURES)
def test_images_and_signatures_are_kept_byte_for_byte(form: str):
    body = json.dumps({"image": PICTURES[form](_image(60_000)), "more": [PICTURES[form](_image(90))]}).encode()
    assert Scrubber().body(body) == body
    assert find_leaks(body.decode()) == []


def test_of_a_file_in_base64_only_the_secret_changes():
    head, tail = _image(5_000), _image(3_000)
    made = KINDS["GitHub, refresh"].text
    coded = base64.b64encode(head + b"\n" + made.encode() + b"\n" + tail).decode()
    scrubbed = json.loads(Scrubber().body(json.dumps({"file": coded}).encode()))["file"]
    assert base64.b64decode(scrubbed, validate=True) == head + b"\nREDACTED\n" + tail


def test_what_is_beside_a_secret_keeps_its_value_and_its_form():
    made = KINDS["OpenAI"].text
    body = f'{{"n": 1.0, "big": 12345678901234567890, "text": "ä \\ud83d {made}", "none": null}}'.encode()
    scrubbed = json.loads(Scrubber().body(body))
    assert scrubbed == {"n": 1.0, "big": 12345678901234567890, "text": f"ä \ud83d {REDACTED}", "none": None}


BROKEN = {
    "a name twice": '{{"a": "{0}", "a": "x"}}',
    "a number that is too large": '{{"a": "{0}", "n": 1e999}}',
    "a number that is none": '{{"a": "{0}", "n": NaN}}',
    "an integer of 5,000 digits": '{{"a": "{0}", "n": ' + "9" * 5000 + "}}",
    "nested too deep": '{{"a": "{0}", "n": ' + "[" * 3000 + "]" * 3000 + "}}",
    "cut short": '{{"a": "{0}", "n": ',
    "half an event": 'data: {{"a": "{0}", \n\ndata: {{"b": 1}}\n\n',
}


@pytest.mark.parametrize("case", BROKEN)
def test_json_that_cannot_be_written_again_is_scrubbed_as_text(case: str):
    made = KINDS["Groq"].text
    assert Scrubber().body(BROKEN[case].format(made).encode()).decode() == BROKEN[case].format(REDACTED)


def test_an_error_of_a_gateway_is_scrubbed_by_the_fields_of_the_error_inside():
    inner = json.dumps({"error": {"organization": "ACME", "message": "no"}})
    call = exchange(status=500, answer_body=json.dumps({"raw": inner}).encode())
    scrubbed = json.loads(Scrubber().exchange(call).answer_body)
    assert json.loads(scrubbed["raw"]) == {"error": {"organization": REDACTED, "message": "no"}}
    kept = exchange(answer_body=json.dumps({"arguments": '{"organization": "ACME", "password": "mellon"}'}).encode())
    assert Scrubber().exchange(kept) == kept


def test_an_aws_secret_is_removed_beside_its_id_in_an_object():
    made = KINDS["an AWS secret beside its id"]
    body = json.dumps({"first": made.text.partition(":")[0], "second": made.private, "third": "x"}).encode()
    assert json.loads(Scrubber().body(body)) == {"first": REDACTED, "second": REDACTED, "third": "x"}


def test_plain_data_of_a_stream_are_joined_too():
    made = KINDS["Perplexity"].text
    body = f'data: {{"a": 1}}\n\ndata: it is {made[:9]}\n\ndata: {made[9:]}\n\ndata: [DONE]\n\n'.encode()
    scrubbed = Scrubber().body(body).decode()
    assert scrubbed == 'data: {"a": 1}\n\ndata: it is REDACTED\n\ndata: \n\ndata: [DONE]\n\n'


def test_a_cassette_with_secrets_everywhere_is_written_without_them_and_read_again(tmp_path: Path):
    calls = [where.put(KINDS[kind].text) for kind, where in zip(KINDS, PLACES.values(), strict=False)]
    path = tmp_path / "one.yaml"
    write_cassette(path, calls, PROVENANCE)
    kept = load_cassette(path).exchanges
    scrubber = Scrubber()
    assert kept == tuple(scrubber.exchange(call) for call in calls)


def test_what_a_cassette_says_of_itself_is_scrubbed(tmp_path: Path):
    made = KINDS["an ARN of Bedrock"]
    path = tmp_path / "one.yaml"
    write_cassette(path, [exchange()], structs.replace(PROVENANCE, model=made.text))
    known = load_cassette(path).provenance
    assert known is not None
    assert known.model == made.text.replace(made.private, REDACTED)


def test_each_shape_names_its_source_and_begins_like_no_other():
    heads = [head for shape in SHAPES for head in shape.heads.split()]
    assert len(heads) == len(set(heads))
    assert all(shape.source and shape.kind for shape in SHAPES)


SMALL, FACTOR = 2_500, 4
LOOKS: dict[str, Callable[[str], object]] = {
    "scrubbing": lambda text: Scrubber([KEY]).body(text.encode()),
    "the scan": find_leaks,
}


def _seconds(look: Callable[[str], object], text: str) -> float:
    """The processor's time, at best: the garbage of other tests may be collected meanwhile."""
    found: list[float] = []
    for _ in range(2):
        began = time.process_time()
        look(text)
        found.append(time.process_time() - began)
    return min(found)


@pytest.mark.once
@pytest.mark.parametrize("look", LOOKS)
def test_the_time_is_linear_in_the_text(look: str):
    """Every unit, and a sample of the rest: quadratic time would be 16 times as much for 4 times the text."""
    names = [name for at, (name, _) in enumerate(hostile_texts(1)) if ":" not in name or at % 30 == 0]
    small, large = dict(hostile_texts(SMALL)), dict(hostile_texts(SMALL * FACTOR))
    for name in names:
        took = _seconds(LOOKS[look], large[name])
        if took > 0.05:  # less says nothing, and is not a harm
            ratio = took / max(_seconds(LOOKS[look], small[name]), 1e-4)
            assert ratio < FACTOR * 2.5, f"{name}: {ratio:.1f} times as long for {FACTOR} times the text"
