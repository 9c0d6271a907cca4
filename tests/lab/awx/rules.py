# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What AWX accepts: the fields of `options.json`, the schemas of `rules.json`, and what a schema cannot state."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
import yaml
from jsonschema import Draft202012Validator

if TYPE_CHECKING:
    from .api import Api, Record

__all__ = ["OPTIONS", "TYPES", "Refused", "check", "check_association", "check_survey", "clean"]

_FOLDER = Path(__file__).parent
OPTIONS: dict[str, dict[str, dict[str, Any]]] = json.loads((_FOLDER / "options.json").read_text())
"""Endpoint, field, and what AWX says of the field: type, required, default, choices, limits."""
TYPES: dict[str, Any] = json.loads((_FOLDER / "types.json").read_text())
"""How types belong together: the endpoints that a field refers to, what an object owns, what is unique."""
_SCHEMAS = json.loads((_FOLDER / "rules.json").read_text())
_JINJA = jinja2.Environment(undefined=jinja2.StrictUndefined)  # noqa: S701 - it renders no page
_WEBHOOK = {"disable_ssl_verification": False, "username": "", "password": ""}
_EVENTS = ("started", "success", "error", "workflow_approval")
_PROMPTS = ("limit", "job_type", "verbosity", "diff_mode", "scm_branch", "skip_tags", "job_slice_count")
# The field, and what is wrong with it.
_Problems = Iterator[tuple[str, str]]


class Refused(Exception):
    """The request is refused; `body` is the answer's document."""

    def __init__(self, body: dict[str, Any], status: int = 400) -> None:
        super().__init__(str(body))
        self.body, self.status = body, status


def clean(endpoint: str, body: dict[str, Any], *, partial: bool = False) -> dict[str, Any]:
    """Return the values of a request as AWX stores them; fields that the type does not have are dropped.

    :param partial: a PATCH: nothing is required, and absent fields get no default.
    :raises Refused: names each wrong field.
    """
    values: dict[str, Any] = {}
    errors: dict[str, list[str]] = {}
    for name, field in OPTIONS[endpoint].items():
        if name in body:
            values[name], problem = _value(field, body[name])
            if problem:
                errors[name] = [problem]
        elif not partial:
            values[name] = field.get("default", None if field["type"] in ("id", "integer") else "")
            if field.get("required"):
                errors[name] = ["This field is required."]
    if errors:
        raise Refused(dict(errors))
    return values


def _value(field: dict[str, Any], value: Any) -> tuple[Any, str]:
    """Return the stored form of a value, and what is wrong with it."""
    kind = field["type"]
    if kind in ("string", "choice") and value is None:
        value = field.get("default", "")
    if kind == "choice" and value not in field["choices"]:
        return value, f'"{value or ""}" is not a valid choice.'
    if kind == "boolean" and not isinstance(value, bool | None):
        return value, "Must be a valid boolean."
    if kind in ("id", "integer") and not isinstance(value, int | None):
        return value, "A valid integer is required."
    if kind == "integer" and value is not None and value < field.get("min_value", value):
        return value, f"Ensure this value is greater than or equal to {field['min_value']}."
    if isinstance(value, str):
        value = value.strip()
        if not value and field.get("required"):
            return value, "This field may not be blank."
        if len(value) > field.get("max_length", len(value)):
            return value, f"Ensure this field has no more than {field['max_length']} characters."
    return value, ""


def check(api: Api, endpoint: str, values: dict[str, Any]) -> None:
    """Check an object's values, and fill in what AWX itself does.

    :raises Refused: names the first wrong field.
    """
    for error in Draft202012Validator(_SCHEMAS.get(endpoint, True)).iter_errors(values):
        raise Refused({str(error.path[0]): [error.message]})
    if endpoint in _CHECKS:
        for name, problem in _CHECKS[endpoint](api, values):
            raise Refused({name: [problem]})


def _credential_type(_api: Api, values: dict[str, Any]) -> _Problems:
    names = [entry["id"] for entry in values["inputs"].get("fields", ())]
    if len(set(names)) < len(names):
        yield "inputs", "field IDs must be unique"
    labels = {label.partition(".")[2]: "PATH" for label in values["injectors"].get("file", {})}
    namespace: dict[str, Any] = dict.fromkeys(names, "EXAMPLE")
    namespace["tower"] = {"filename": labels.get("", labels)} if labels else {}
    for template in _texts(values["injectors"]):
        try:
            _JINJA.from_string(template).render(namespace)
        except jinja2.TemplateError as error:
            yield "injectors", f"an undefined field or a syntax error: {error}"


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    else:
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def _credential(api: Api, values: dict[str, Any]) -> _Problems:
    inputs = api.records[values["credential_type"]].values["inputs"]
    fields = {entry["id"]: entry for entry in inputs.get("fields", ())}
    for name, value in values["inputs"].items():
        field = fields.get(name, {})
        if fields and not field:
            yield "inputs", f"Additional properties are not allowed ('{name}' was unexpected)"
        if isinstance(value, bool) != (field.get("type") == "boolean"):
            yield "inputs", "the value is of another type"
        elif field.get("format") == "url" and value and "://" not in value:
            yield "inputs", "Invalid URL: Missing url scheme (http, https, etc.)"


def _source(api: Api, values: dict[str, Any]) -> _Problems:
    variables = _mapping(values["source_vars"])
    if variables is None or "PATH" in variables:
        yield "source_vars", "Cannot parse as JSON or YAML, or a prohibited environment variable"
    values["organization"] = api.records[values["inventory"]].values["organization"]


def _job_template(api: Api, values: dict[str, Any]) -> _Problems:
    project = api.records[values["project"]].values
    if values["playbook"] not in api.playbooks:
        yield "playbook", "Playbook not found for project."
    if _mapping(values["extra_vars"]) is None:
        yield "extra_vars", "Cannot parse as JSON or YAML."
    values["organization"] = project["organization"]


def _mapping(text: str) -> dict[str, Any] | None:
    try:
        document = yaml.safe_load(text or "{}")
    except yaml.YAMLError:
        return None
    return document if isinstance(document, dict) else None


def _node(api: Api, values: dict[str, Any]) -> _Problems:
    template = api.records.get(values["unified_job_template"] or 0)
    for name in _PROMPTS if template else ():
        if values[name] is not None and template and not template.values.get(f"ask_{name}_on_launch"):
            yield name, "Field is not configured to prompt on launch."


def _schedule(api: Api, values: dict[str, Any]) -> _Problems:
    template = api.records[values["unified_job_template"]]
    survey = template.survey if template.values.get("survey_enabled") and template.survey else {"spec": []}
    required = {question["variable"]: question["required"] for question in survey["spec"]}
    answers = values["extra_data"]
    if set(answers) - set(required) and not template.values.get("ask_variables_on_launch"):
        yield "extra_data", "Variables are not allowed on launch."
    if any(required[name] and name not in answers for name in required):
        yield "variables_needed_to_start", "value missing"
    yield from _node(api, values)


def _notification(_api: Api, values: dict[str, Any]) -> _Problems:
    if values["notification_type"] == "webhook":
        values["notification_configuration"] = {**_WEBHOOK, **values["notification_configuration"]}
    if values["messages"] is not None:
        values["messages"] = {**dict.fromkeys(_EVENTS), **values["messages"]}
    yield from ()


_CHECKS: dict[str, Callable[[Any, dict[str, Any]], _Problems]] = {
    "credential_types": _credential_type,
    "credentials": _credential,
    "inventory_sources": _source,
    "job_templates": _job_template,
    "notification_templates": _notification,
    "schedules": _schedule,
    "workflow_job_template_nodes": _node,
}


def check_survey(survey: dict[str, Any]) -> None:
    """Check the questions of a survey."""
    for error in Draft202012Validator(_SCHEMAS["survey_spec"]).iter_errors(survey):
        raise Refused({"error": error.message})
    variables = [question["variable"] for question in survey["spec"]]
    if len(set(variables)) < len(variables):
        raise Refused({"error": "a 'variable' is duplicated"})
    for question in survey["spec"]:
        choices = question.get("choices") or []
        texts = choices.split("\n") if isinstance(choices, str) else choices
        if texts and not set(filter(None, question.get("default", "").split("\n"))) <= set(texts):
            raise Refused({"error": "Default choice must be answered from the choices listed."})


def check_association(api: Api, record: Record, relation: str, other: Record) -> None:
    """Check an object that is to be associated with another one."""
    if other.endpoint == "credentials":
        number = other.values["credential_type"]
        if relation == "galaxy_credentials" and api.records[number].values["kind"] != "galaxy":
            raise Refused({"msg": "Credential must be a Galaxy credential."})
        types = [api.records[credential].values["credential_type"] for credential in record.links[relation]]
        if relation == "credentials" and number in types:
            raise Refused({"error": "Cannot assign multiple credentials of one type."})
