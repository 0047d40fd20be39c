"""What providers say in their errors: prose that means the status it comes with, in words that other errors have, too.

An error is what its status and code say. Who looks for `rate`, `timeout` or a number in the words finds them in the
message about a field that a caller sent. No sentence is one by which a provider documents an error: a used-up quota,
a prompt that is too long, a rate limit at a status that some use for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final


def words_for(status: int) -> str:
    """The provider's words about an error with this status, which begin as `begun` says."""
    said = _PROSE.get(status)
    return f"{begun(status)}: {said}" if said else begun(status)


def begun(status: int) -> str:
    """How they begin: enough to see whether they are kept."""
    return f"written error {status}"


_PROSE: Final[Mapping[int, str]] = {
    400: "nothing was generated, as `frame_rate` is over its limit, 429, and `timeout` must be a number.",
    401: "this key was replaced after a server error; try again with the new one.",
    402: "the balance is too low to generate with, whatever the quota of 500 operations says.",
    403: "the key has no permission for overloaded operators, nor for a connection timeout.",
    404: "the model `generate-503` does not exist; it was temporarily unavailable before.",
    413: "529 kB were sent at a high rate, and 500 kB are read; send less, then retry.",
    422: "`internal_error` is no name for a tool; please try again later, with another one.",
    408: "the request was not read in time, because of an invalid byte at position 400.",
    429: "400 requests were counted; no permission is missing, and no field is invalid.",
    500: "the context length was not found for request 404; an unsupported host is the reason.",
    502: "the model's host sent an unauthorized content type: 401 bytes that are not valid.",
    503: "no host was found for the model; 404 of them are not supported at this hour.",
    504: "a host did not answer: the address of a bad request was forbidden to it.",
}
"""The words after the first, by status: first those of errors that stay, then those that may pass."""
