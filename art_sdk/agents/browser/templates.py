"""The templates of a manager: kept, checked, changed, compiled once, and rendered by the assembler."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import deepcopy
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

from msgspec import structs

from art_sdk.agents.browser.default_templates import DEFAULT_TEMPLATES
from art_sdk.agents.browser.errors import TemplateNotFound, TemplateRenderingFailed, ValidationFailed
from art_sdk.agents.browser.options import (
    TEMPLATE_IDS,
    PromptTemplate,
    PromptTemplateCollection,
    TemplateConfig,
    TemplateVariable,
)
from art_sdk.blueprints.assembly import PromptManager
from art_sdk.blueprints.blueprint import Blueprint
from art_sdk.errors import PromptAssemblyFailed
from art_sdk.json_data import is_array, is_object

_FIELDS: Final = MappingProxyType(
    {
        "system_message_template": "system_message",
        "action_prompt_template": "initial_action",
        "reflection_prompt_template": "reflection_action",
        "validation_prompt_template": "validation",
        "context_template": "context",
        "schema_template": "schema",
    }
)
"""The fields of the collection, and the ids of the templates in them."""

_IS_TYPE: Final[Mapping[str, Callable[[Any], bool]]] = MappingProxyType(
    {
        "string": lambda value: isinstance(value, str),
        "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
        "boolean": lambda value: isinstance(value, bool),
        "object": is_object,
        "array": is_array,
    }
)


class TemplateStore:
    """The templates in use. `clock` dates changes."""

    def __init__(self, config: TemplateConfig, clock: Callable[[], datetime]) -> None:
        self._config = config
        self._clock = clock
        self._live = dict(DEFAULT_TEMPLATES)
        self._before: dict[str, PromptTemplate] = {}
        self._compiled: dict[str, Blueprint] = {}
        self._manager = PromptManager({})

    @property
    def versions(self) -> dict[str, str]:
        """The versions by id."""
        return {id_: one.version for id_, one in self._live.items()}

    def collection(self) -> PromptTemplateCollection:
        """All templates. Nothing in it is shared with those in use."""
        return PromptTemplateCollection(**{name: deepcopy(self._live[id_]) for name, id_ in _FIELDS.items()})

    def get(self, template_id: str) -> PromptTemplate:
        """One template. Raises TemplateNotFound."""
        if template_id not in self._live:
            known = ", ".join(TEMPLATE_IDS.values())
            raise TemplateNotFound(f"there is no template {template_id!r:.60}; known: {known}")
        return self._live[template_id]

    def is_custom(self, template_id: str) -> bool:
        """Whether the template is not the one that the manager began with."""
        return self.get(template_id) is not DEFAULT_TEMPLATES[template_id]

    def update(self, template_id: str, template: PromptTemplate) -> PromptTemplate:
        """Puts a template in place of the one with the id. Raises TemplateNotFound and ValidationFailed."""
        old = self.get(template_id)
        if not self._config.enable_custom_templates:
            raise ValidationFailed("templates cannot be changed: enable_custom_templates is off")
        if template.template_id != template_id:
            raise ValidationFailed(f"the template's own id must be {template_id!r}")
        if _parts(template.version) <= _parts(old.version):
            raise ValidationFailed(f"the template's version must be higher than {old.version}")
        if self._config.template_validation_enabled:
            check_template(template)
        new = structs.replace(deepcopy(template), last_modified=self._clock())
        self._before[template_id] = old
        self._live[template_id] = new
        self._compiled.pop(template_id, None)
        return new

    def render(self, template_id: str, values: Mapping[str, Any]) -> tuple[str, str | None]:
        """The text of a template, and the fallback that was used, if any: the template before it, or the default.

        Raises TemplateRenderingFailed for a custom template if `fallback_to_default` is off, and for a default one.
        """
        try:
            return self._render(self.get(template_id), values, self._blueprint(template_id)), None
        except (TemplateRenderingFailed, PromptAssemblyFailed) as error:
            if not (self._config.fallback_to_default and self.is_custom(template_id)):
                raise _failed(template_id, error) from error
        before, default = self._before[template_id], DEFAULT_TEMPLATES[template_id]
        if before is not default:
            with suppress(TemplateRenderingFailed, PromptAssemblyFailed):
                return self._render(before, values, compile_template(before)), f"previous_template:{template_id}"
        return self._render(default, values, compile_template(default)), f"default_template:{template_id}"

    def _blueprint(self, template_id: str) -> Blueprint:
        if not self._config.template_cache_enabled:
            return compile_template(self._live[template_id])
        if template_id not in self._compiled:
            self._compiled[template_id] = compile_template(self._live[template_id])
        return self._compiled[template_id]

    def _render(self, template: PromptTemplate, values: Mapping[str, Any], blueprint: Blueprint) -> str:
        (message,) = self._manager.assemble_prompt(blueprint, check_values(template, values))
        return str(message.content)


def _failed(template_id: str, error: TemplateRenderingFailed | PromptAssemblyFailed) -> TemplateRenderingFailed:
    if isinstance(error, TemplateRenderingFailed):
        return error
    place: dict[str, Any] = {name: error.details[name] for name in ("tag", "line", "within") if name in error.details}
    return TemplateRenderingFailed(
        f"the template '{template_id}' cannot be rendered: {error.message}",
        context={"template": template_id, **place},
        cause=error,
    )


def compile_template(template: PromptTemplate) -> Blueprint:
    """The template as a blueprint of one message. Raises PromptAssemblyFailed."""
    return Blueprint.compile([{"role": "user", "content": template.template}], name=template.template_id)


def check_values(template: PromptTemplate, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values with defaults. Raises TemplateRenderingFailed, naming the variable."""
    return {one.name: _checked(template, one, values.get(one.name, one.default_value)) for one in template.variables}


def _checked(template: PromptTemplate, variable: TemplateVariable, value: Any) -> Any:
    where = f"the variable '{variable.name}' of the template '{template.template_id}'"
    context = {"template": template.template_id, "variable": variable.name}
    if value is None and variable.required:
        raise TemplateRenderingFailed(f"{where} is required and not given", context=context)
    if value is not None and not _IS_TYPE[variable.type](value):
        raise TemplateRenderingFailed(f"{where} must be of the type {variable.type}", context=context)
    return value


def check_template(template: PromptTemplate) -> None:
    """Raises ValidationFailed unless the template is well-formed, and declares exactly the names that it uses."""
    try:
        uses = compile_template(template).uses()
    except PromptAssemblyFailed as error:
        raise ValidationFailed(error.message, context={"template": template.template_id}, cause=error) from error
    types = {one.name: one.type for one in template.variables}
    if len(types) < len(template.variables):
        raise ValidationFailed(f"the template '{template.template_id}' declares a variable twice")
    for name, around in uses:
        if name not in types and not any(types.get(section) in {"array", "object"} for section in around):
            raise ValidationFailed(f"the template '{template.template_id}' uses '{name:.60}' and does not declare it")
    unused = types.keys() - {name for name, _ in uses}
    if unused:
        raise ValidationFailed(
            f"the template '{template.template_id}' declares '{min(unused):.60}' and does not use it"
        )


def _parts(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
