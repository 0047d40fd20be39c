"""Cassettes that other projects recorded, read for what is in them and never played: they may contain secrets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from art_compliance.cassettes.errors import BadCassette, NotCassette
from art_compliance.cassettes.exchange import Exchange
from art_compliance.cassettes.parts import Reader
from art_compliance.cassettes.reading import parse_yaml
from art_sdk.json_data import is_array, is_object


def read_exchanges(text: str, path: Path) -> Iterator[Exchange | BadCassette]:
    """Each call of a cassette, or why it cannot be read.

    The format is vcrpy's, or has requests and responses in two lists. Raises NotCassette, and BadCassette for a text
    that is not YAML. The errors may quote the file.
    """
    reader = Reader(path)
    return (_read(reader, one, f"interactions[{at}]") for at, one in enumerate(_interactions(text, path)))


def _read(reader: Reader, interaction: Any, place: str) -> Exchange | BadCassette:
    try:
        return reader.exchange(_in_todays_form(interaction), place)
    except BadCassette as error:
        return error


def _interactions(text: str, path: Path) -> list[Any]:
    data = parse_yaml(text, path)
    if is_object(data):
        if is_array(data.get("interactions")):
            return list(data["interactions"])
        requests, answers = data.get("requests"), data.get("responses")
        if is_array(requests) and is_array(answers):
            pairs = zip(requests, answers, strict=False)
            return [{"request": request, "response": answer} for request, answer in pairs]
    raise NotCassette(path, "$", "it has neither `interactions`, nor `requests` and `responses`")


def _in_todays_form(interaction: Any) -> Any:
    """The call as vcrpy writes it today: before 6.0 it had another form for httpx, and others write parsed JSON."""
    if not is_object(interaction):
        return interaction
    request, answer = (_with_text(interaction.get(name)) for name in ("request", "response"))
    if is_object(answer) and "status_code" in answer:
        answer = {**answer, "status": {"code": answer["status_code"], "message": ""}, "body": answer.get("content")}
        del answer["status_code"]
    return {**interaction, "request": request, "response": answer}


def _with_text(message: Any) -> Any:
    if not is_object(message) or "parsed_body" not in message:
        return message
    others = {name: value for name, value in message.items() if name != "parsed_body"}
    return {"body": json.dumps(message["parsed_body"], ensure_ascii=False), **others}
