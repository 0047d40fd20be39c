"""Cohere's keys, and its answers to requests without them."""

from __future__ import annotations

from typing import Final

from art_compliance.dialects.access import BEARER_ADVICE, find_bearer_key
from art_compliance.dialects.base import Access, Denial

ACCESS: Final = Access(
    find_key=find_bearer_key,
    advice=BEARER_ADVICE,
    no_key=Denial(401, "no api key supplied"),  # docs.cohere.com/reference/errors
    wrong_key=Denial(  # recorded, without the key, which it masks
        401, "Incorrect API key provided. You can find your API key at https://dashboard.cohere.com/api-keys."
    ),
)

NOT_JSON: Final = Denial(400, "invalid json syntax: unexpected end of JSON input")  # its form: reference/errors
