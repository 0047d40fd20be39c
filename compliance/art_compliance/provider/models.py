"""Answers requests for the models: the list, and one by its name. Every name is answered, as every model is."""

from __future__ import annotations

import json
import re
from urllib.parse import unquote

from art_compliance.dialects.endpoints import Endpoint
from art_compliance.dialects.urls import path_of
from art_compliance.provider.receiving import Request
from art_compliance.provider.script import Response


def models_path(endpoint: Endpoint) -> str | None:
    """The path of the list, or None where the service has none."""
    return f"{endpoint.base_path}{endpoint.spoken.answers.models.path}" if endpoint.lists_models else None


def find_lister(endpoints: tuple[Endpoint, ...], request: Request) -> Endpoint | None:
    """The service whose models are asked for. Several have the path: headers and key decide."""
    having = [one for one in endpoints if models_path(one) is not None and _asked_name(one, request) is not None]
    return max(having, key=lambda one: _likeness(one, request), default=None)


def _likeness(endpoint: Endpoint, request: Request) -> tuple[bool, bool, bool, int]:
    needed = endpoint.access.headers
    return (
        set(needed) <= set(request.headers),
        endpoint.access.find_key(request.headers, request.target) is not None,
        path_of(request.target).startswith(f"{models_path(endpoint)}"),
        len(needed),
    )


def answer_models(endpoint: Endpoint, request: Request) -> Response:
    """The list of models, or the one that the path names."""
    models = endpoint.spoken.answers.models
    name = _asked_name(endpoint, request)
    body = models.describe(name) if name else models.gather(tuple(map(models.describe, models.names)))
    return Response(200, json.dumps(body).encode())


def _asked_name(endpoint: Endpoint, request: Request) -> str | None:
    """The name of one model, empty for all of them, or None for another path. Anything may come before the list's."""
    path = re.escape(endpoint.spoken.answers.models.path)
    found = re.search(rf"{path}(?:/([^:]+))?$", path_of(request.target))
    return None if found is None else unquote(found[1] or "")
