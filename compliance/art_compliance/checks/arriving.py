"""What arrived at the provider: what is wrong with a request whatever its body says, and what a failed call sent."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from typing import Any, Final

from art_compliance.dialects import find_by_url
from art_compliance.dialects.base import Dialect
from art_compliance.dialects.endpoints import ENDPOINTS, own_endpoint, path_pattern
from art_compliance.dialects.urls import path_of
from art_compliance.provider import Request, ask
from art_compliance.provider.refusing import refuse
from art_compliance.quoting import show
from art_compliance.subject.subject import Subject


def wrong_with(dialect: Dialect, request: Request, base_url: str) -> Iterator[str]:
    """What is wrong with its path, its key and its headers, each as the rest of a sentence.

    `base_url` is that of the adapter's factory.
    """
    paths = [path for one in (own_endpoint(dialect), *_services(dialect)) for path in one.paths]
    paths += [base + ending for base in dialect.service.other_base_paths for ending in dialect.service.endings]
    if not any(re.fullmatch(path_pattern(path, _WITH_SLASHES), path_of(request.target)) for path in paths):
        served = ", ".join(sorted(set(paths)))
        hint = _hint_at_path(base_url, request)
        yield f"goes to the path {show(path_of(request.target))}; the provider serves {served}{hint}"
    refusal = refuse(ask(dialect, request))
    if refusal is not None:
        found = refusal.findings[0]
        yield f"would be refused with {refusal.status}: {found.message}"
    kind = request.headers.get("content-type", "")
    if kind.partition(";")[0].strip().lower() != "application/json":
        yield f"has the content-type {show(kind)}; it must be application/json"
    if request.body.startswith(BOM_UTF8):
        yield "has a body that begins with a byte order mark, which JSON over a network must not (RFC 8259, 8.1)"
    for name, values in dialect.service.access.known_values.items():
        if request.headers.get(name, values[0]) not in values:
            yield f"has the header {name}: {show(request.headers[name])}; the provider knows {', '.join(values)}"


def describe_arrivals(subject: Subject, requests: Sequence[Request]) -> str:
    """What a call that failed has sent, and what is wrong with it; empty if nothing is."""
    if not requests:
        if subject.speaks is not None:
            url = f"{subject.base_url}, which must be the URL of the gateway's provider"
            return f"called in {subject.speaks}, it sent nothing to {url}"
        return f"nothing arrived at {subject.base_url}, the base_url of its factory"
    first = requests[0]
    what = f"{first.method} {first.target} arrived"
    if first.method != "POST":
        return f"{what}; a call must be one POST"
    wrong = [] if subject.dialect is None else [*wrong_with(subject.dialect, first, subject.base_url)]
    if wrong:
        return f"{what}; it {wrong[0]}"
    if subject.dialect is None and find_by_url(first.target) is None:
        return f"{what}, and no dialect that the suite knows has this path"
    return ""


def _hint_at_path(base_url: str, request: Request) -> str:
    """That the adapter repeats the end of its base URL, if so: most often it adds its own version."""
    path = path_of(base_url)
    is_repeated = len(path) > 1 and path_of(request.target).startswith(path * 2)
    return f"; base_url already ends with {path}" if is_repeated else ""


def _services(dialect: Dialect) -> Iterator[Any]:
    return (one for one in ENDPOINTS if one.dialect == dialect.name)


_WITH_SLASHES: Final = "[^?#]+"
"""As a model's name in a path may be."""
