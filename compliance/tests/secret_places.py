"""Where a secret may stand in a call, and how it would be read there: the reader is not the scrubber's own."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import quote, quote_plus, unquote, unquote_plus

from art_compliance.cassettes import Exchange


def exchange(**changed: object) -> Exchange:
    plain: dict[str, object] = {
        "method": "POST",
        "uri": "https://api.example.com/v1/chat",
        "request_headers": {"content-type": "application/json"},
        "request_body": b'{"model":"m"}',
        "status": 200,
        "reason": "OK",
        "answer_headers": {"content-type": "application/json"},
        "answer_body": b'{"id":"x"}',
    }
    return Exchange(**{**plain, **changed})  # pyright: ignore[reportArgumentType]


class Place(NamedTuple):
    """Puts a text into a call, and reads it there again."""

    put: Callable[[str], Exchange]
    read: Callable[[Exchange], str]


def _dump(value: object) -> bytes:
    return json.dumps(value).encode()


def _texts(value: Any) -> str:
    """All texts in JSON data, names included."""
    if isinstance(value, dict):
        return " ".join(f"{name} {_texts(item)}" for name, item in value.items())
    return " ".join(map(_texts, value)) if isinstance(value, list) else str(value)


def _json(body: bytes) -> str:
    return _texts(json.loads(body))


def _pieces(text: str) -> list[str]:
    """A text in pieces, as models send it."""
    lengths = (5, 17, 8, 31)
    found: list[str] = []
    while text:
        count = lengths[len(found) % len(lengths)]
        found.append(text[:count])
        text = text[count:]
    return found


def _delta(piece: str) -> dict[str, Any]:
    return {"id": "x", "choices": [{"index": 0, "delta": {"content": piece}}]}


def _chat_stream(text: str) -> bytes:
    events = [b"data: " + _dump(_delta(piece)) for piece in _pieces(f"It is {text} .")]
    return b"\n\n".join([*events, b"data: [DONE]\n\n"])


def _read_chat_stream(body: bytes) -> str:
    events = [json.loads(line[6:]) for line in body.decode().split("\n") if line.startswith("data: {")]
    return "".join(event["choices"][0]["delta"]["content"] for event in events)


def _arguments_stream(text: str) -> bytes:
    """Arguments of a call, with another call's between them, and lines that end as HTTP's do."""
    lines: list[bytes] = []
    for piece in _pieces(json.dumps({"note": f"it is {text} ."})):
        for index, part in ((0, piece), (1, "{}")):
            delta = {"type": "input_json_delta", "partial_json": part}
            event = {"type": "content_block_delta", "index": index, "delta": delta}
            lines.append(b"event: content_block_delta\r\ndata: " + _dump(event) + b"\r\n\r\n")
    return b"".join(lines)


def _read_arguments_stream(body: bytes) -> str:
    events = [json.loads(line[6:]) for line in body.decode().split("\r\n") if line.startswith("data: {")]
    return _texts(json.loads("".join(one["delta"]["partial_json"] for one in events if one["index"] == 0)))


def _lines_of_json(text: str) -> bytes:
    return b"\n".join(_dump({"message": {"content": piece}, "done": False}) for piece in _pieces(f"It is {text} ."))


def _array_of_chunks(text: str) -> bytes:
    chunks = [{"candidates": [{"content": {"parts": [{"text": piece}]}}]} for piece in _pieces(f"It is {text} .")]
    return json.dumps(chunks, indent=1).encode()


def _coded(text: str, code: Callable[[bytes], bytes], *, strip: str = "") -> bytes:
    return _dump({"data": code(f"config: {text} .".encode()).decode().rstrip(strip or " ")})


def _decoded(body: bytes, decode: Callable[[bytes], bytes]) -> str:
    coded = json.loads(body)["data"]
    return decode((coded + "=" * (-len(coded) % 4)).encode()).decode("utf-8", "replace")


def _multipart(text: str) -> bytes:
    head = 'Content-Disposition: form-data; name="note"\r\n\r\n'
    return f"--edge\r\n{head}{text}\r\n--edge\r\n{head}{{}}\r\n--edge--\r\n".encode()


def _mail(text: str) -> bytes:
    coded = base64.encodebytes(f"It is a long text, and it says that it is {text} .".encode()).strip()
    head = b"--edge\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    return head + coded.replace(b"\n", b"\r\n") + b"\r\n\r\n--edge--\r\n"


def _escaped(text: str) -> bytes:
    return b'{"text":"' + "".join(f"\\u{ord(char):04x}" for char in f"it is {text} .").encode() + b'"}'


def _bytes_around(text: str) -> bytes:
    return bytes(range(256)) + text.encode() + b"\x00\xff\x01"


def _error(text: str) -> Exchange:
    return exchange(status=401, answer_body=_dump({"error": {"message": f"Rejected: {text}.", "code": 1}}))


def _parameter(text: str) -> str:
    return f"https://api.example.com/v1/m:go?alt={quote(text, safe='')}&other={quote(text, safe='')}"


def _all(call: Exchange) -> str:
    return str(call)


PLACES: dict[str, Place] = {
    "a header": Place(lambda text: exchange(request_headers={"x-extra": text, "accept": text}), _all),
    "a header of the answer": Place(lambda text: exchange(answer_headers={"x-extra": text, "retry-after": text}), _all),
    "a cookie": Place(
        lambda text: exchange(request_headers={"cookie": f"a={text}"}, answer_headers={"set-cookie": f"a={text}"}), _all
    ),
    "the query": Place(lambda text: exchange(uri=_parameter(text)), lambda call: unquote_plus(call.uri)),
    "the path": Place(
        lambda text: exchange(uri=f"https://api.example.com/v1/{quote(text, safe='')}/chat"),
        lambda call: unquote(call.uri),
    ),
    "the reason": Place(lambda text: exchange(reason=text), _all),
    "a value of the request": Place(
        lambda text: exchange(request_body=_dump({"messages": [{"content": text}]})),
        lambda call: _json(call.request_body),
    ),
    "metadata": Place(
        lambda text: exchange(request_body=_dump({"metadata": {"note": text}})), lambda call: _json(call.request_body)
    ),
    "a text of the answer": Place(
        lambda text: exchange(answer_body=_dump({"content": [{"text": f"It is {text} , keep it."}]})),
        lambda call: _json(call.answer_body),
    ),
    "the arguments of a call": Place(
        lambda text: exchange(answer_body=_dump({"arguments": json.dumps({"note": f"it is {text} ."})})),
        lambda call: _texts(json.loads(json.loads(call.answer_body)["arguments"])),
    ),
    "a name": Place(
        lambda text: exchange(answer_body=_dump({"table": {text: 1}})), lambda call: _json(call.answer_body)
    ),
    "a form": Place(
        lambda text: exchange(request_body=f"a=1&note={quote_plus(text)}&b=2".encode()),
        lambda call: unquote_plus(call.request_body.decode()),
    ),
    "a form, encoded twice": Place(
        lambda text: exchange(request_body=f"a=1&next={quote(quote(text, safe=''), safe='')}".encode()),
        lambda call: unquote_plus(unquote_plus(call.request_body.decode())),
    ),
    "several parts": Place(
        lambda text: exchange(request_body=_multipart(text)), lambda call: call.request_body.decode()
    ),
    "base64 in lines": Place(
        lambda text: exchange(request_body=_mail(text)),
        lambda call: base64.b64decode(call.request_body.split(b"\r\n\r\n")[1]).decode(),
    ),
    "escapes": Place(lambda text: exchange(answer_body=_escaped(text)), lambda call: _json(call.answer_body)),
    "base64": Place(
        lambda text: exchange(answer_body=_coded(text, base64.b64encode)),
        lambda call: _decoded(call.answer_body, base64.b64decode),
    ),
    "base64 of URLs, unpadded": Place(
        lambda text: exchange(answer_body=_coded(text, base64.urlsafe_b64encode, strip="=")),
        lambda call: _decoded(call.answer_body, base64.urlsafe_b64decode),
    ),
    "base64 of UTF-16": Place(
        lambda text: exchange(
            answer_body=_dump({"data": base64.b64encode(f"it is {text} .".encode("utf-16")).decode()})
        ),
        lambda call: _decoded(call.answer_body, base64.b64decode).replace("\0", ""),
    ),
    "UTF-16": Place(
        lambda text: exchange(answer_body=f"it is {text} .".encode("utf-16-le")),
        lambda call: call.answer_body.decode("utf-16-le"),
    ),
    "UTF-16, big end first": Place(
        lambda text: exchange(answer_body=f"\ufeffit is {text} .".encode("utf-16-be")),
        lambda call: call.answer_body.decode("utf-16-be"),
    ),
    "bytes": Place(
        lambda text: exchange(answer_body=_bytes_around(f" it is {text} .")),
        lambda call: call.answer_body.decode("latin-1"),
    ),
    "an error's text": Place(_error, lambda call: _json(call.answer_body)),
    "a page of HTML": Place(
        lambda text: exchange(status=502, answer_body=f"<html><p>{text}</p></html>".encode()),
        lambda call: call.answer_body.decode(),
    ),
    "a stream's events": Place(
        lambda text: exchange(answer_body=_chat_stream(text)), lambda call: _read_chat_stream(call.answer_body)
    ),
    "a stream's arguments": Place(
        lambda text: exchange(answer_body=_arguments_stream(text)),
        lambda call: _read_arguments_stream(call.answer_body),
    ),
    "a stream of lines": Place(
        lambda text: exchange(answer_body=_lines_of_json(text)),
        lambda call: "".join(json.loads(line)["message"]["content"] for line in call.answer_body.split(b"\n")),
    ),
    "a stream in an array": Place(
        lambda text: exchange(answer_body=_array_of_chunks(text)),
        lambda call: "".join(
            one["candidates"][0]["content"]["parts"][0]["text"] for one in json.loads(call.answer_body)
        ),
    ),
}  # fmt: skip
"""Every place that is tried with every kind of secret."""


def is_readable(private: str, shown: str) -> bool:
    """Whether a reader could put the secret together again: whitespace is left out."""
    return re.sub(r"\s", "", private) in re.sub(r"\s", "", shown)
