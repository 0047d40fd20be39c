"""Providers with two APIs at one host: one without versions, and a dated one that names the model in its path."""

from __future__ import annotations

from typing import Any, ClassVar
from urllib.parse import quote, urlsplit

from msgspec import Struct

from art_sdk.adapters.chat_completions.adapter import ChatCompletionsAdapter
from art_sdk.adapters.settings import hides_settings, is_given
from art_sdk.errors import InvalidConfig
from art_sdk.options import CallOptions


class DatedAPI(Struct, frozen=True, kw_only=True):
    """What tells the two APIs apart. A URL is the form of a base URL, with what varies in capitals."""

    url: str
    undated_url: str
    path: str
    """The path of the dated API's requests, with `{model}` and `{version}`."""
    version: str
    """A version, as an example."""


class DatedAdapter(ChatCompletionsAdapter):
    """An adapter to both APIs: with `api_version` it calls the dated one."""

    dated: ClassVar[DatedAPI]
    history_field = "messages"

    @hides_settings
    def __init__(self, *, api_version: str | None = None, **settings: Any) -> None:
        self.api_version = api_version if is_given(api_version) else None
        super().__init__(**settings)

    def check_settings(self) -> None:
        """Raises InvalidConfig where URL and version are not those of one API."""
        wrong = _find_wrong(self.base_url, self.api_version, self.dated)
        if wrong is not None:
            raise InvalidConfig(f"{self.provider_name}: {wrong}")

    def endpoint(self, options: CallOptions) -> str:
        if self.api_version is None:
            return super().endpoint(options)
        model, version = (quote(text, safe="") for text in (options.model or self.model, self.api_version))
        return self.dated.path.format(model=model, version=version)


def _find_wrong(base_url: str, version: object, dated: DatedAPI) -> str | None:
    """What is wrong, and what to give."""
    path, dated_path = (urlsplit(url).path for url in (base_url, dated.url))
    version_path = "/" + dated.undated_url.rpartition("/")[2]  # a gateway may have anything before it
    if "/deployments" in path:
        return f"base_url {base_url!r} names a deployment; pass its name as model, and {dated.url} as base_url"
    if version is None:
        advice = f"pass one, such as {dated.version}, or the base_url {dated.undated_url}"
        return None if path.endswith(version_path) else f"api_version is missing; {advice}"
    if not isinstance(version, str):
        return f"api_version must be a string, such as {dated.version}"
    advice = f"base_url must end with {dated_path}, as {dated.url} does"
    return None if path.endswith(dated_path) else f"with an api_version, {advice}"
