"""Azure OpenAI, by its chat completions API: OpenAI's limits, with its own key and URL.

`/openai/v1` names the deployment in the body and takes no version; the dated API names it in the path, and answers 404
without `api-version`.
Sources: learn.microsoft.com/azure/foundry/openai/api-version-lifecycle, and issue 114602 of MicrosoftDocs/azure-docs.
"""

from __future__ import annotations

from typing import Final

import msgspec

from art_sdk.adapters.chat_completions.dated import DatedAdapter, DatedAPI
from art_sdk.adapters.chat_completions.openai import OpenAIAdapter

_V1: Final = "https://RESOURCE.openai.azure.com/openai/v1"
_DATED: Final = "https://RESOURCE.openai.azure.com/openai"


class AzureOpenAIAdapter(DatedAdapter, OpenAIAdapter):
    """Translates to `POST /chat/completions` at an Azure OpenAI resource.

    `model` is the name of a deployment. With `api_version`, such as `2024-10-21`, `base_url` ends with `/openai`, and
    the dated API is called; without, it ends with `/openai/v1`. All other arguments are those of `BaseAdapter`.
    Raises InvalidConfig, also for a missing deployment, URL or version.
    """

    provider_name = "azure"
    default_model = ""
    default_base_url = ""
    required = {  # noqa: RUF012 - nobody changes it
        "base_url": f"pass {_V1}, or {_DATED} and an api_version",
        "model": "pass the name of your deployment",
    }
    dated = DatedAPI(
        url=_DATED,
        undated_url=_V1,
        path="/deployments/{model}/chat/completions?api-version={version}",
        version="2024-10-21",
    )
    own_url = "https://azure.com"  # `[DONE]` ends its streams: `stream` in Azure/azure-rest-api-specs, inference.json
    provider = msgspec.structs.replace(OpenAIAdapter.provider, key_header="api-key")  # openai 3.54, lib/azure.py
