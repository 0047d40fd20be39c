"""Other forms in which a stream of Bedrock's fails: each exception among its events, and an error without a type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from art_compliance.dialects.aws_events import write_error_message, write_message
from art_compliance.dialects.variations import Events, FailureForm


def _exception(name: str, **more: Any) -> Callable[[Events, int, str], Events]:
    def write(begun: Events, status: int, message: str) -> Events:
        del begun, status
        return (write_message(name, {"message": message, **more}, kind="exception"),)

    return write


def _unmodeled(begun: Events, status: int, message: str) -> Events:
    del begun
    return (write_error_message(str(status), message),)


_OF_MODEL: Final = {"originalStatusCode": 500, "originalMessage": "the model failed"}

FAILURES: Final = (
    FailureForm(words="an internalServerException", events=_exception("internalServerException")),
    FailureForm(words="a throttlingException", events=_exception("throttlingException")),
    FailureForm(words="a modelStreamErrorException", events=_exception("modelStreamErrorException", **_OF_MODEL)),
    FailureForm(words="an error in the headers of a message", events=_unmodeled),
)
"""`ConverseStreamOutput` of botocore 1.44, besides those of its usual errors; and what its parser reads where a message
has another type: `EventStreamXMLParser` and its kin, `_do_error_parse`."""
