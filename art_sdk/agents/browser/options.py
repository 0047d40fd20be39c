"""What a caller asks for and configures. Request options come before those of the configuration, field by field."""

from __future__ import annotations

from datetime import datetime
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, UnsetType, field, structs

from art_sdk.agents.browser.models import Model

PROMPT_MANAGER_VERSION: Final = "1.0.0"
DEFAULT_MAX_DOM_SIZE: Final = 100_000
"""The most characters of a page's outline in a prompt."""
DEFAULT_MAX_HISTORY_STEPS: Final = 10
DEFAULT_CACHE_TTL_MS: Final = 15 * 60 * 1000
DEFAULT_MAX_CACHE_SIZE: Final = 50
PARSING_FACTOR: Final = 20
"""How many times the size of its outline a page may have: more is cut before it is parsed."""

TEMPLATE_IDS: Final = MappingProxyType(
    {
        "SYSTEM_MESSAGE": "system_message",
        "INITIAL_ACTION": "initial_action",
        "REFLECTION_ACTION": "reflection_action",
        "VALIDATION": "validation",
        "CONTEXT": "context",
        "SCHEMA": "schema",
    }
)
QUALITY_THRESHOLDS: Final = MappingProxyType(
    {"MIN_CLARITY_SCORE": 0.7, "MIN_COMPLETENESS_SCORE": 0.8, "MIN_OVERALL_SCORE": 0.75}
)

Positive = Annotated[int, Meta(ge=1)]
ValidationMode = Literal["strict", "lenient"]
ReasoningDepth = Literal["basic", "detailed", "comprehensive"]


class PromptOptions(Model, frozen=True, kw_only=True):
    """What a prompt has. A field that is not given is the configuration's, or `DEFAULT_PROMPT_OPTIONS`'s."""

    include_execution_history: bool | UnsetType = UNSET
    max_history_steps: Positive | UnsetType = UNSET
    include_dom_comparison: bool | UnsetType = UNSET
    include_element_context: bool | UnsetType = UNSET
    validation_mode: ValidationMode | UnsetType = UNSET
    reasoning_depth: ReasoningDepth | UnsetType = UNSET
    include_examples: bool | UnsetType = UNSET
    custom_instructions: str | UnsetType | None = UNSET


class EffectiveOptions(Model, frozen=True, kw_only=True, omit_defaults=False):
    """Options with every field."""

    include_execution_history: bool = True
    max_history_steps: int = DEFAULT_MAX_HISTORY_STEPS
    include_dom_comparison: bool = True
    include_element_context: bool = True
    validation_mode: ValidationMode = "strict"
    reasoning_depth: ReasoningDepth = "detailed"
    include_examples: bool = False
    custom_instructions: str | None = None


DEFAULT_PROMPT_OPTIONS: Final = EffectiveOptions()


def merge_options(*given: PromptOptions | None) -> EffectiveOptions:
    """The options, of which later ones win."""
    known: dict[str, Any] = {}
    for options in given:
        if options is not None:
            known |= {name: value for name, value in structs.asdict(options).items() if value is not UNSET}
    return structs.replace(DEFAULT_PROMPT_OPTIONS, **known)


class ActionPromptRequest(Model, frozen=True, kw_only=True):
    """Asks for a prompt for one step. Indexes begin at 0."""

    session_id: Annotated[str, Meta(min_length=1)]
    current_step_index: int
    current_step_content: str
    include_validation: bool = False
    prompt_options: PromptOptions | None = None


class ReflectionPromptRequest(Model, frozen=True, kw_only=True):
    """Asks for a look at a completed step, and for the next one. The same index twice means to try a step again."""

    session_id: Annotated[str, Meta(min_length=1)]
    completed_step_index: int
    next_step_index: int
    next_step_content: str
    expected_outcome: str | None = None
    prompt_options: PromptOptions | None = None


class AIContextJson(Model, frozen=True, kw_only=True):
    """What the context manager knows of a session.

    `steps` and `events` are `StepExecutionSummary` and `ExecutionEventSummary`, or objects that become such. They are
    read one by one, so that a malformed one does not hide the others.
    """

    session_id: str
    total_steps: int | None = None
    steps: tuple[Any, ...] = ()
    events: tuple[Any, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])


class SchemaOptions(Model, frozen=True, kw_only=True):
    """What a schema is asked for. `commands` are names of the executor's commands; None means all."""

    include_examples: bool = False
    commands: tuple[str, ...] | None = None


class CommandDefinition(Model, frozen=True, kw_only=True):
    """A command of the executor. `parameters` is a JSON Schema."""

    name: Annotated[str, Meta(min_length=1)]
    description: str = ""
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])


class TemplateVariable(Model, frozen=True, kw_only=True):
    """A name that a template uses. `default_value` takes its place if it is not given."""

    name: Annotated[str, Meta(min_length=1)]
    type: Literal["string", "number", "boolean", "object", "array"]
    required: bool
    description: str
    default_value: Any = None


class PromptTemplate(Model, frozen=True, kw_only=True):
    """A Mustache text with the names that it uses. `version` is a semantic version, `locale` the text's language."""

    template_id: str
    name: str
    description: str
    template: str
    variables: tuple[TemplateVariable, ...]
    version: Annotated[str, Meta(pattern=r"^\d{1,9}\.\d{1,9}\.\d{1,9}$")]
    last_modified: datetime
    locale: str | None = None


class PromptTemplateCollection(Model, frozen=True, kw_only=True):
    """All six templates."""

    system_message_template: PromptTemplate
    action_prompt_template: PromptTemplate
    reflection_prompt_template: PromptTemplate
    validation_prompt_template: PromptTemplate
    context_template: PromptTemplate
    schema_template: PromptTemplate


class TemplateConfig(Model, frozen=True, kw_only=True):
    """How templates are used."""

    enable_custom_templates: bool = True
    template_cache_enabled: bool = True
    template_validation_enabled: bool = True
    fallback_to_default: bool = True


class ContextConfig(Model, frozen=True, kw_only=True):
    """How much of a session a prompt shows. `max_history_items` bounds the events."""

    max_dom_size: Positive = DEFAULT_MAX_DOM_SIZE
    max_history_items: Positive = 50
    include_timestamps: bool = True
    compress_large_dom: bool = True
    highlight_relevant_elements: bool = True


class ValidationConfig(Model, frozen=True, kw_only=True):
    """Which validation a prompt has. `validation_timeout_ms` bounds the validator's check of a prompt."""

    enable_action_validation: bool = True
    enable_result_analysis: bool = True
    validation_timeout_ms: Positive = 5_000
    require_explicit_validation: bool = False


class PerformanceConfig(Model, frozen=True, kw_only=True):
    """The cache of prompts. `async_generation` runs the calls for context, and the sections, concurrently."""

    prompt_cache_enabled: bool = True
    cache_ttl_ms: Positive = field(default=DEFAULT_CACHE_TTL_MS, name="cacheTTLMs")
    max_cache_size: Positive = DEFAULT_MAX_CACHE_SIZE
    async_generation: bool = True


class LoggingConfig(Model, frozen=True, kw_only=True):
    """What is logged, and on which level: prompts only if `log_prompts` asks for them, redacted."""

    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    log_prompts: bool = False


class TimeoutConfig(Model, frozen=True, kw_only=True):
    """Time limits in milliseconds.

    `context_ms` bounds each call for context, the executor's last error, the summary and the contributors;
    `schema_ms` the response schema with the executor's commands. After `total_ms`, optional sections are dropped.
    """

    context_ms: Positive = 5_000
    schema_ms: Positive = 5_000
    total_ms: Positive = 15_000


DEFAULT_TIMEOUT_CONFIG: Final = TimeoutConfig()


class BaseModuleConfig(Model, frozen=True, kw_only=True):
    """What all modules of an agent are configured with."""

    module_id: str
    logging: LoggingConfig = LoggingConfig()
    performance: PerformanceConfig = PerformanceConfig()
    timeouts: TimeoutConfig = DEFAULT_TIMEOUT_CONFIG


class AIPromptManagerConfig(BaseModuleConfig, frozen=True, kw_only=True):
    """The configuration of an `AIPromptManager`."""

    module_id: Literal["ai-prompt-manager"] = "ai-prompt-manager"
    default_prompt_options: PromptOptions = PromptOptions()
    template_config: TemplateConfig = TemplateConfig()
    context_config: ContextConfig = ContextConfig()
    validation_config: ValidationConfig = ValidationConfig()
