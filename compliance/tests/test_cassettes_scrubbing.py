"""No provider's key is ever written, wherever it is; a scan of the file finds what the scrubbing would miss."""

from __future__ import annotations

import base64
import json
import random
import re
import string
import time
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from art_compliance.cassettes import BadCassette, ContainsSecret, Exchange, Provenance, load_cassette, write_cassette
from art_compliance.cassettes.scanning import find_leaks
from art_compliance.cassettes.scrubbing import REDACTED, Scrubber
from art_compliance.cassettes.writing import render
from secret_places import exchange

PROVENANCE = Provenance(
    source="provider", date="2026-01-02", adapter="a:B", model="m", scenario="one", digest="sha256:0", suite="0"
)
ALNUM, UPPER = string.ascii_letters + string.digits, string.ascii_uppercase + string.digits

FORMS = {
    "openai": ("sk-", ALNUM + "_-", 40),
    "openai project": ("sk-proj-", ALNUM + "_-", 48),
    "openai service account": ("sk-svcacct-", ALNUM + "_-", 48),
    "anthropic": ("sk-ant-api03-", ALNUM + "_-", 60),
    "openrouter": ("sk-or-v1-", string.hexdigits.lower(), 64),
    "google": ("AIza", ALNUM + "_-", 35),
    "google, new": ("AQ.", ALNUM + "_-", 40),
    "google oauth": ("ya29.", ALNUM + "_-", 40),
    "groq": ("gsk_", ALNUM, 52),
    "xai": ("xai-", ALNUM, 80),
    "hugging face": ("hf_", string.ascii_letters, 34),
    "aws": ("AKIA", UPPER, 16),
    "aws, temporary": ("ASIA", UPPER, 16),
    "perplexity": ("pplx-", ALNUM, 48),
    "cerebras": ("csk-", ALNUM, 40),
    "nvidia": ("nvapi-", ALNUM + "_-", 60),
    "replicate": ("r8_", ALNUM, 37),
    "fireworks": ("fw_", ALNUM, 22),
    "together": ("tgp_v1_", ALNUM + "_-", 40),
}
"""How providers' keys begin, what they are made of, and how many letters follow."""

NAMELESS = {"mistral": (ALNUM, 32), "cohere": (ALNUM, 40), "azure": (string.hexdigits.lower(), 32)}
"""Keys without a form: they are known to the letter, or not at all."""

SEEDS = 500
"""How many keys of each form are tried."""


def generated(name: str, seed: int) -> str:
    """A key of a form, as a provider generates one: of letters that are equally likely."""
    choices = random.Random(seed).choices
    if name in NAMELESS:
        letters, count = NAMELESS[name]
        return "".join(choices(letters, k=count))
    head, letters, count = FORMS[name]
    # what is around a key in a text is not a letter of it
    return head + "".join(choices(letters, k=count - 1)) + ("A" if letters == UPPER else "a")


def keys(names: Iterable[str]) -> st.SearchStrategy[str]:
    return st.builds(generated, st.sampled_from(sorted(names)), st.integers(0, SEEDS - 1))


def in_json(text: str) -> bytes:
    return json.dumps({"messages": [{"content": f"my key is {text}, keep it"}]}).encode()


PLACES = {
    "authorization": lambda key: exchange(request_headers={"Authorization": f"Bearer {key}"}),
    "another scheme": lambda key: exchange(request_headers={"authorization": f"Token {key}"}),
    "x-api-key": lambda key: exchange(request_headers={"x-api-key": key}),
    "x-goog-api-key": lambda key: exchange(request_headers={"x-goog-api-key": key}),
    "api-key": lambda key: exchange(request_headers={"api-key": key}),
    "a header that is kept": lambda key: exchange(request_headers={"accept": key}),
    "cookie": lambda key: exchange(request_headers={"cookie": f"session={key}"}),
    "set-cookie": lambda key: exchange(answer_headers={"set-cookie": f"session={key}; path=/"}),
    "a header of tomorrow": lambda key: exchange(answer_headers={"x-tomorrow-token": key}),
    "an answer's header that is kept": lambda key: exchange(answer_headers={"retry-after": key}),
    "the query": lambda key: exchange(uri=f"https://api.example.com/v1/m:go?key={quote(key, safe='')}&alt=sse"),
    "a parameter that is kept": lambda key: exchange(uri=f"https://api.example.com/v1/m:go?alt={quote(key, safe='')}"),
    "the user of the URL": lambda key: exchange(uri=f"https://{quote(key, safe='')}:x@api.example.com/v1"),
    "the path": lambda key: exchange(uri=f"https://api.example.com/v1/{quote(key, safe='')}/chat"),
    "a text of the request": lambda key: exchange(request_body=in_json(key)),
    "a field of the request": lambda key: exchange(request_body=json.dumps({"api_key": key}).encode()),
    "a text of the answer": lambda key: exchange(answer_body=in_json(key)),
    "an error's message": lambda key: exchange(
        status=401, answer_body=json.dumps({"error": {"message": f"Incorrect API key provided: {key}."}}).encode()
    ),
    "a stream": lambda key: exchange(
        answer_body=b"event: x\ndata: " + in_json(key) + b"\n\ndata: [DONE]\n\n",
        answer_headers={"content-type": "text/event-stream"},
    ),
    "escaped JSON": lambda key: exchange(
        answer_body=b'{"text":"' + "".join(f"\\u{ord(char):04x}" for char in key).encode() + b'"}'
    ),
    "base64": lambda key: exchange(answer_body=json.dumps({"a": base64.b64encode(key.encode()).decode()}).encode()),
    "a page of HTML": lambda key: exchange(status=500, answer_body=f"<p>{key}</p>".encode()),
    "bytes that are no text": lambda key: exchange(answer_body=b"\xff\xfe " + key.encode() + b" \xff"),
}


@pytest.mark.unmeasured
@pytest.mark.parametrize("place", PLACES)
@settings(max_examples=15, deadline=None)
@given(key=keys({*FORMS, *NAMELESS}))
def test_a_key_is_written_nowhere(place: str, key: str, tmp_path_factory: pytest.TempPathFactory):
    path = tmp_path_factory.getbasetemp() / "scrubbed" / "one.yaml"
    write_cassette(path, [PLACES[place](key)], PROVENANCE, secrets=(key,))
    raw = path.read_bytes()
    assert key.encode() not in raw
    assert base64.b64encode(key.encode())[:20] not in raw
    kept = load_cassette(path).exchanges[0]
    for body in (kept.request_body, kept.answer_body):
        assert key.encode() not in body
        assert key not in str(json.loads(body) if body[:1] == b"{" else body)


@pytest.mark.parametrize("name", FORMS)
def test_every_generated_key_looks_like_one(name: str):
    scrub = Scrubber().text
    keys_of_it = [generated(name, seed) for seed in range(SEEDS)]
    assert not [key for key in keys_of_it if key in scrub(f"my key is {key}, keep it")]


FORMED = [place for place in PLACES if place != "base64"]


@pytest.mark.parametrize("place", FORMED)
@settings(max_examples=20, deadline=None)
@given(key=keys(FORMS))
def test_an_unknown_key_is_removed_because_of_its_form(place: str, key: str):
    scrubbed = Scrubber().exchange(PLACES[place](key))
    assert key not in str(scrubbed)
    assert key.encode() not in scrubbed.request_body + scrubbed.answer_body


OTHERS = {
    "an organisation": ("org-AbCdEfGhIjKlMnOpQrStUvWx", "organization org-AbCdEfGhIjKlMnOpQrStUvWx on tokens"),
    "a project": ("proj_AbCdEfGhIjKlMnOpQrStUvWx", "in project proj_AbCdEfGhIjKlMnOpQrStUvWx"),
    "a project's number": ("123456789012", "API has not been used in project 123456789012 before"),
    "a project's path": ("my-secret-project", "projects/my-secret-project/locations/us"),
    "a request's id": ("req_011CSHoEeqs5C35K2UUqR7Fy", "see req_011CSHoEeqs5C35K2UUqR7Fy"),
    "a signed URL": ("aBcD1234%2Bx%3D", "https://blob.example/a.png?se=2030&sig=aBcD1234%2Bx%3D"),
    "a signed URL, escaped": ("aBcD1234", "https://blob.example/a.png?se=2030\\u0026sig=aBcD1234"),
    "an address": ("jane.doe+x@mail.acme.co.uk", "write to jane.doe+x@mail.acme.co.uk"),
    "a web token": ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2ln", "t=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2ln"),
}


@pytest.mark.parametrize("what", OTHERS)
def test_what_identifies_an_account_is_removed(what: str):
    secret, text = OTHERS[what]
    body = json.dumps({"error": {"message": text, "code": 403}}).encode()
    scrubbed = Scrubber().exchange(exchange(status=403, answer_body=body))
    assert secret not in scrubbed.answer_body.decode()
    assert json.loads(scrubbed.answer_body)["error"]["code"] == 403


def test_account_fields_are_removed_from_errors_and_kept_in_conversations():
    fields = {"details": [{"metadata": {"consumer": "projects/4711", "organization": "ACME"}}]}
    conversation = {"choices": [{"message": {"organization": "ACME"}}], "organization": "mine"}
    scrubbed = Scrubber().exchange(exchange(status=403, answer_body=json.dumps(fields).encode()))
    assert json.loads(scrubbed.answer_body) == {
        "details": [{"metadata": {"consumer": REDACTED, "organization": REDACTED}}]
    }
    kept = json.loads(Scrubber().body(json.dumps(conversation).encode()))
    assert kept == {"choices": [{"message": {"organization": "ACME"}}], "organization": REDACTED}


WORDS = [
    "a basic understanding of bearer responsibilities",
    "org_creationdate, req_uirements, user-friendliness, project-management",
    "task-management-systems, risk-adjusted-return-on-capital",
    "CqUCCkYICxgCKkDfwvq13abcdEFGH0123456789xyz+hf1B7Mabcdefgh01234567/r8SpWuabcdefghij0123456789",
]
"""Words, and a signature as models send it with their reasoning."""


@pytest.mark.parametrize("text", WORDS)
def test_words_and_signatures_are_not_secrets(text: str):
    body = json.dumps({"content": text}).encode()
    assert Scrubber().body(body) == body
    assert find_leaks(body.decode()) == []


def test_a_binary_body_is_scrubbed_and_otherwise_kept_byte_for_byte():
    key = b"sk-proj-abcdefghijklmnop0123456789"
    body = bytes(range(256)) + key + bytes(range(255, -1, -1))
    assert Scrubber().body(body) == body.replace(key, REDACTED.encode())


STREAMS = {
    "lines of JSON": ('{"a": 1}\n{"authorization": "x"}\n', '{"a": 1}\n{"authorization":"REDACTED"}\n'),
    "events": ('data: {"password": "x"}\n\ndata: [DONE]\n', 'data: {"password":"REDACTED"}\n\ndata: [DONE]\n'),
    "a line that is no JSON": ('data: {"password": x}\n', 'data: {"password": x}\n'),
    "a list": ('[{"cookie": "x"}, true]', '[{"cookie":"REDACTED"},true]'),
    "a list that is cut": ('[{"cookie": "x"}', '[{"cookie": "x"}'),
}


@pytest.mark.parametrize("what", STREAMS)
def test_each_line_of_a_stream_is_scrubbed_by_its_fields(what: str):
    given_, scrubbed = STREAMS[what]
    assert Scrubber().body(given_.encode()).decode() == scrubbed


def test_only_harmless_headers_are_kept():
    noise = {"cf-ray": "8a-FRA", "openai-organization": "acme", "x-request-id": "r", "content-type": "text/plain"}
    scrubbed = Scrubber().exchange(exchange(answer_headers=noise, request_headers={**noise, "user-agent": "me"}))
    assert scrubbed.answer_headers == scrubbed.request_headers == {"content-type": "text/plain"}


@given(text=st.text())
def test_a_body_without_secrets_is_kept_byte_for_byte(text: str):
    body = json.dumps({"messages": [{"role": "user", "content": "x" + text.replace("@", " ").replace("-", " ")}]})
    if find_leaks(body):
        return
    assert Scrubber().body(body.encode()) == body.encode()


SLIPS = {
    "a key of Anthropic's form": "sk-ant-api03-abcdefghijklmnop",
    "a key of OpenAI's form": "sk-abcdefghijklmnopqrstuv",
    "a key of Google's form": "AIzaSyA1234567890abcdefghijk",
    "a key of Groq's form": "gsk_abcdefghijklmnopqrstuvwx",
    "a key of xAI's form": "xai-abcdefghijklmnopqrstuvwx",
    "a key of Hugging Face's form": "hf_abcdefghijklmnopqrstuvwx",
    "a key of AWS's form": "AKIAABCDEFGHIJKLMNOP",
    "a key of another provider's form": "pplx-abcdefghijklmnopqrstuv",
    "a bearer token": "Bearer abcdefghij4klmnopqrst",
    "a basic authorization": "Basic dXNlcjpwYXNzd29yZDEyMw==",
    "a JSON web token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    "a private key": "-----BEGIN RSA " + "PRIVATE KEY-----\\n" + "MIIEpAIBAAKCAQEA" * 4,
    "an organisation's id": "org-AbCdEfGhIjKlMnOp",
    "a project's id": "proj_AbCdEfGhIjKlMnOp",
    "a request's id": "req_011CSHoEeqs5C35K2UUq",
    "an e-mail address": "jane@acme.com",
    "a key in a URL": "https://x.example/?key=abcdefgh",
}
CODED = {
    "in a URL": ("a key of OpenAI's form", "sk%2Dabcdefghijklmnopqrstuv"),
    "in JSON": ("a key of OpenAI's form", "sk\\u002dabcdefghijklmnopqrstuv"),
    "in YAML": ("an e-mail address, in escapes", "jane\\x40acme.com"),
}


@pytest.mark.parametrize("how", CODED)
def test_an_escaped_secret_is_found_in_its_line(how: str):
    kind, text = CODED[how]
    (leak,) = find_leaks(f"100 %\n{text}\n")
    assert (leak.kind, leak.line) == (kind, 2)


def test_a_short_word_is_not_a_secret_even_if_it_is_the_key():
    assert find_leaks("one key for all", ["key"]) == []
    assert find_leaks("one-key-for-all", ["one-key-for-all"])[0].kind == "the key that it was recorded with"


@pytest.mark.parametrize("kind", SLIPS)
def test_a_missed_secret_is_an_error_that_names_its_place_and_kind(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Scrubber, "exchange", lambda _, given: given)
    path = tmp_path / "new" / "one.yaml"
    with pytest.raises(ContainsSecret) as caught:
        write_cassette(path, [exchange(answer_body=f'{{"a":"{SLIPS[kind]}"}}'.encode())], PROVENANCE)
    assert kind in str(caught.value)
    assert "line " in str(caught.value)
    assert SLIPS[kind] not in str(caught.value)
    assert not path.parent.exists()


WRONG_BODIES = {
    "the request": ("request", "interactions[0]: not written: its gzip data is cut off or damaged"),
    "the answer": ("answer", "interactions[0]: not written: its gzip data is cut off or damaged"),
}


@pytest.mark.parametrize("what", WRONG_BODIES)
def test_a_body_that_cannot_be_decompressed_is_not_written(what: str, tmp_path: Path):
    side, message = WRONG_BODIES[what]
    torn = {f"{side}_headers": {"content-encoding": "gzip"}, f"{side}_body": b"\x1f\x8b torn"}
    with pytest.raises(BadCassette, match=re.escape(message)):
        write_cassette(tmp_path / "one.yaml", [exchange(**torn)], PROVENANCE)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_would_lose_what_was_recorded_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def render_stripped(exchanges: Iterable[Exchange], provenance: Provenance) -> str:
        return render([structs.replace(one, answer_body=one.answer_body.strip()) for one in exchanges], provenance)

    monkeypatch.setattr("art_compliance.cassettes.writing.render", render_stripped)
    write_cassette(tmp_path / "one.yaml", [exchange(answer_body=b"a")], PROVENANCE)
    with pytest.raises(BadCassette, match="not written: the file would not contain what was recorded"):
        write_cassette(tmp_path / "two.yaml", [exchange(answer_body=b"a ")], PROVENANCE)
    assert [path.name for path in tmp_path.iterdir()] == ["one.yaml"]


def test_the_key_of_the_recording_is_found_in_every_spelling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Scrubber, "exchange", lambda _, given: given)
    for text in ("plain 0123456789abcdef here", base64.b64encode(b"0123456789abcdef").decode()):
        body = json.dumps({"a": text}).encode()
        with pytest.raises(ContainsSecret, match="the key that it was recorded with") as caught:
            write_cassette(
                tmp_path / "one.yaml", [exchange(answer_body=body)], PROVENANCE, secrets=("0123456789abcdef",)
            )
        assert "0123456789abcdef" not in str(caught.value)


@pytest.mark.parametrize("header", ["authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie", "set-cookie"])
def test_a_header_for_a_key_is_an_error_whatever_its_value(
    header: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Scrubber, "exchange", lambda _, given: given)
    with pytest.raises(ContainsSecret):
        write_cassette(tmp_path / "one.yaml", [exchange(request_headers={header: "tiny"})], PROVENANCE)


@pytest.mark.unmeasured
def test_a_long_body_is_scrubbed_in_linear_time():
    body = json.dumps({"image": "A" * 1_000_000, "to": "jane@acme.com"}).encode()
    began = time.process_time()
    scrubbed = Scrubber().body(body).decode()
    assert find_leaks(scrubbed) == []
    assert time.process_time() - began < 5
    assert "jane" not in scrubbed
