"""OpenAI's keys, and its answers to requests without them; relatives replace what differs."""

from __future__ import annotations

from typing import Final

from art_compliance.dialects.access import BEARER_ADVICE, find_bearer_key
from art_compliance.dialects.base import Access, Denial

_NO_KEY: Final = Denial(  # https://github.com/continuedev/continue/issues/9973
    401,
    "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth "
    "(i.e. Authorization: Bearer YOUR_KEY), or as the password field (with blank username) if you're accessing the "
    "API from your browser and are prompted for a username and password. You can obtain an API key from "
    "https://platform.openai.com/account/api-keys.",
)
_WRONG_KEY: Final = Denial(  # recorded, without the key's first letters, which it repeats
    401, "Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys."
)


def chat_access(*, no_key: str | None = None, wrong_key: str | None = None) -> Access:
    """Access to a service of the family: OpenAI's, with the service's own texts where they are known."""
    return Access(
        find_key=find_bearer_key,
        advice=BEARER_ADVICE,
        no_key=_NO_KEY if no_key is None else Denial(401, no_key),
        wrong_key=_WRONG_KEY if wrong_key is None else Denial(401, wrong_key),
    )


NOT_JSON: Final = Denial(400, "We could not parse the JSON body of your request.")  # inferred
