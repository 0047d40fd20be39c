"""A call is one POST."""

from __future__ import annotations

from typing import Any

import pytest

from art_compliance.miniatures.isolation import readdress
from art_sdk import OpenAICompatibleAdapter
from trials import messages_of, spoiled

ENDPOINT = "wire.request-goes-to-the-right-endpoint"
ISOLATED = "load.adapters-are-isolated"


@pytest.mark.parametrize("method", ["GET", "PATCH", "PUT"])
def test_a_request_with_another_method_is_another_one(method: str):
    def change(adapter: Any) -> None:
        readdress(adapter, lambda request, _: {**request, "method": method})

    whole, streamed = messages_of(ENDPOINT, spoiled(change))
    assert whole == f"a call sends other requests, too: {method} /v1/chat/completions; it must send one POST"
    assert streamed.startswith("a streamed call sends other requests, too: ")


def test_one_post_is_right():
    assert messages_of(ENDPOINT, spoiled(lambda _: None)) == []


@pytest.mark.parametrize("path", ["/api", "/api/v3/v1"])
def test_a_second_adapter_for_any_server_keeps_the_path_of_its_own_url(path: str):
    def change(adapter: Any) -> None:
        readdress(adapter, lambda request, _: {**request, "url": request["url"].replace("/api/v3", path)})

    [message] = messages_of(ISOLATED, spoiled(change, OpenAICompatibleAdapter))
    called, wanted = (f'"/another{base}/chat/completions"' for base in (path, "/api/v3"))
    assert message == f"a second one calls {called}; with its base_url, that must be {wanted}"
