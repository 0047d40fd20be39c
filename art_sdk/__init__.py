"""ART's provider-agnostic prompt format and its reference adapters. Import everything public from here."""

from __future__ import annotations

import typing as _typing
from pkgutil import resolve_name as _resolve_name

from art_sdk.adapters import BUILT_IN
from art_sdk.arguments import parse_arguments
from art_sdk.context import PromptContext
from art_sdk.conversation import AssistantTurn, Conversation, SystemTurn, UserTurn
from art_sdk.errors import (
    ARTError,
    ErrorCode,
    InvalidConfig,
    LLMProviderError,
    PromptAssemblyFailed,
    PromptTranslationFailed,
    PromptValidationFailed,
)
from art_sdk.http.exchange import StreamReader
from art_sdk.http.framing import Frame, Frames, JsonLines, ServerSentEvents
from art_sdk.http.secret import Secret
from art_sdk.http.size_limits import SizeLimits
from art_sdk.http.time_limits import Timeouts
from art_sdk.http.transport import HttpRequest, ResponseHead
from art_sdk.messages import (
    ART_STANDARD_VERSION,
    ArtStandardMessage,
    ArtStandardMessageRole,
    ArtStandardPrompt,
    ArtToolCallRequest,
    AssistantMessage,
    FunctionCall,
    ImagePart,
    ParsedToolCall,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolRequest,
    ToolRequestMessage,
    ToolResult,
    ToolResultMessage,
    ToolSchema,
    UserMessage,
    dump_prompt,
)
from art_sdk.options import CallOptions, parse_options
from art_sdk.stream import (
    Completion,
    EndEvent,
    ErrorEvent,
    LLMMetadata,
    MetadataEvent,
    OutOfOrder,
    StopReason,
    StreamEvent,
    TokenEvent,
    ToolCallEvent,
    fold,
)
from art_sdk.tool_calls import answer_call, parse_tool_calls
from art_sdk.validation import parse_prompt, parse_prompt_json

if _typing.TYPE_CHECKING:
    from art_sdk.adapters.answers import Answer, CallInfo, Ending, Piece, Text, Thinking, Usage
    from art_sdk.adapters.anthropic.adapter import AnthropicAdapter
    from art_sdk.adapters.base import BaseAdapter
    from art_sdk.adapters.bedrock.adapter import BedrockConverseAdapter
    from art_sdk.adapters.capabilities import CAPABILITIES, LOSSES, REPAIRS, Capability, Loss, Repair
    from art_sdk.adapters.chat_completions.adapter import ChatCompletionsAdapter
    from art_sdk.adapters.chat_completions.azure import AzureOpenAIAdapter
    from art_sdk.adapters.chat_completions.compatible import OpenAICompatibleAdapter
    from art_sdk.adapters.chat_completions.deepseek import DeepSeekAdapter
    from art_sdk.adapters.chat_completions.groq import GroqAdapter
    from art_sdk.adapters.chat_completions.mistral import MistralAdapter
    from art_sdk.adapters.chat_completions.ollama import OllamaAdapter
    from art_sdk.adapters.chat_completions.openai import OpenAIAdapter
    from art_sdk.adapters.chat_completions.openrouter import OpenRouterAdapter
    from art_sdk.adapters.chat_completions.provider import ChatProvider, ChatRules
    from art_sdk.adapters.chat_completions.xai import XAIAdapter
    from art_sdk.adapters.cohere.adapter import CohereChatAdapter
    from art_sdk.adapters.gemini.adapter import GeminiAdapter
    from art_sdk.adapters.ollama.adapter import OllamaChatAdapter
    from art_sdk.adapters.openai_responses.adapter import OpenAIResponsesAdapter
    from art_sdk.adapters.payload import Payload
    from art_sdk.adapters.reading import AnswerStream, ErrorInStream, Prepared, StoppedEarly
    from art_sdk.adapters.rules import CallIdRule, CountRule, NameRule, RangeRule, RootRule
    from art_sdk.blueprints.assembly import PromptManager
    from art_sdk.blueprints.blueprint import Blueprint, BlueprintSource
    from art_sdk.blueprints.files import load_blueprint
    from art_sdk.blueprints.fragments import FRAGMENTS
    from art_sdk.blueprints.limits import BlueprintLimits
    from art_sdk.blueprints.rendering import Strict

__all__ = [
    "ART_STANDARD_VERSION",
    "BUILT_IN",
    "CAPABILITIES",
    "FRAGMENTS",
    "LOSSES",
    "REPAIRS",
    "ARTError",
    "Answer",
    "AnswerStream",
    "AnthropicAdapter",
    "ArtStandardMessage",
    "ArtStandardMessageRole",
    "ArtStandardPrompt",
    "ArtToolCallRequest",
    "AssistantMessage",
    "AssistantTurn",
    "AzureOpenAIAdapter",
    "BaseAdapter",
    "BedrockConverseAdapter",
    "Blueprint",
    "BlueprintLimits",
    "BlueprintSource",
    "CallIdRule",
    "CallInfo",
    "CallOptions",
    "Capability",
    "ChatCompletionsAdapter",
    "ChatProvider",
    "ChatRules",
    "CohereChatAdapter",
    "Completion",
    "Conversation",
    "CountRule",
    "DeepSeekAdapter",
    "EndEvent",
    "Ending",
    "ErrorCode",
    "ErrorEvent",
    "ErrorInStream",
    "Frame",
    "Frames",
    "FunctionCall",
    "GeminiAdapter",
    "GroqAdapter",
    "HttpRequest",
    "ImagePart",
    "InvalidConfig",
    "JsonLines",
    "LLMMetadata",
    "LLMProviderError",
    "Loss",
    "MetadataEvent",
    "MistralAdapter",
    "NameRule",
    "OllamaAdapter",
    "OllamaChatAdapter",
    "OpenAIAdapter",
    "OpenAICompatibleAdapter",
    "OpenAIResponsesAdapter",
    "OpenRouterAdapter",
    "OutOfOrder",
    "ParsedToolCall",
    "Payload",
    "Piece",
    "Prepared",
    "PromptAssemblyFailed",
    "PromptContext",
    "PromptManager",
    "PromptTranslationFailed",
    "PromptValidationFailed",
    "RangeRule",
    "Repair",
    "ResponseHead",
    "RootRule",
    "Secret",
    "ServerSentEvents",
    "SizeLimits",
    "StopReason",
    "StoppedEarly",
    "StreamEvent",
    "StreamReader",
    "Strict",
    "SystemMessage",
    "SystemTurn",
    "Text",
    "TextPart",
    "Thinking",
    "Timeouts",
    "TokenEvent",
    "ToolCall",
    "ToolCallEvent",
    "ToolRequest",
    "ToolRequestMessage",
    "ToolResult",
    "ToolResultMessage",
    "ToolSchema",
    "Usage",
    "UserMessage",
    "UserTurn",
    "XAIAdapter",
    "answer_call",
    "dump_prompt",
    "fold",
    "load_blueprint",
    "parse_arguments",
    "parse_options",
    "parse_prompt",
    "parse_prompt_json",
    "parse_tool_calls",
]


_LATER: _typing.Final = {
    **{path.partition(":")[2]: path for path in BUILT_IN.values()},
    **{
        name: f"{module}:{name}"
        for module, names in {
            "art_sdk.adapters.answers": "Answer CallInfo Ending Piece Text Thinking Usage",
            "art_sdk.adapters.base": "BaseAdapter",
            "art_sdk.adapters.capabilities": "CAPABILITIES LOSSES REPAIRS Capability Loss Repair",
            "art_sdk.adapters.chat_completions.adapter": "ChatCompletionsAdapter",
            "art_sdk.adapters.chat_completions.provider": "ChatProvider ChatRules",
            "art_sdk.adapters.payload": "Payload",
            "art_sdk.adapters.reading": "AnswerStream ErrorInStream Prepared StoppedEarly",
            "art_sdk.adapters.rules": "CallIdRule CountRule NameRule RangeRule RootRule",
            "art_sdk.blueprints.assembly": "PromptManager",
            "art_sdk.blueprints.blueprint": "Blueprint BlueprintSource",
            "art_sdk.blueprints.files": "load_blueprint",
            "art_sdk.blueprints.fragments": "FRAGMENTS",
            "art_sdk.blueprints.limits": "BlueprintLimits",
            "art_sdk.blueprints.rendering": "Strict",
        }.items()
        for name in names.split()
    },
}
"""What is imported at its first use: one adapter of fifteen is what most programs need."""


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = _resolve_name(_LATER[name])
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
