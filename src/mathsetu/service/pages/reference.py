"""The API reference as a page, made from the OpenAPI document, so that the two agree."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup, escape

_REFERENCE = "#/components/schemas/"
_METHODS = ("get", "post", "put", "delete")
_CODE = re.compile(r"``([^`]+)``")
_TYPES = {"string": "text", "integer": "integer", "boolean": "true or false", "null": "null"}


@dataclass(frozen=True)
class Field:
    """A parameter, or a field of a body or an answer."""

    name: str
    kind: Markup
    is_required: bool
    default: str
    description: Markup


@dataclass(frozen=True)
class Operation:
    """One method of a path."""

    anchor: str
    method: str
    path: str
    summary: str
    parameters: tuple[Field, ...]
    body: tuple[Field, ...]
    body_note: Markup
    answer: Markup
    problems: tuple[tuple[str, str], ...]
    example: str = ""


@dataclass(frozen=True)
class Schema:
    """A type of values in answers."""

    name: str
    description: Markup
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class Reference:
    """The whole reference, with operations grouped by tag."""

    version: str
    description: str
    groups: tuple[tuple[str, tuple[Operation, ...]], ...]
    schemas: tuple[Schema, ...]


def reference(
    document: Mapping[str, Any], post_id: str = "", untried: Collection[str] = ()
) -> Reference:
    """The reference from an OpenAPI document.

    Args:
        document: The OpenAPI document.
        post_id: The id of a post for addresses to try; if empty, those with an id are left out.
        untried: The paths for which no address is offered.

    >>> said = {"info": {"title": "T", "version": "1"}, "paths": {}}
    >>> reference(said).groups
    ()
    """
    schemas: Mapping[str, Any] = document.get("components", {}).get("schemas", {})
    groups: dict[str, list[Operation]] = {}
    for path, methods in document["paths"].items():
        for method in _METHODS:
            if method in methods:
                said = methods[method]
                group = next(iter(said.get("tags", ())), "")
                operation = _operation(path, method, said, schemas)
                if method == "get" and path not in untried:
                    example = _example(path, said.get("parameters", ()), post_id)
                    operation = replace(operation, example=example)
                groups.setdefault(group, []).append(operation)
    return Reference(
        document["info"]["version"],
        " ".join(document["info"].get("description", "").split()),
        tuple((name, tuple(operations)) for name, operations in groups.items()),
        tuple(
            Schema(name, _text(said.get("description", "")), tuple(_fields(said)))
            for name, said in schemas.items()
            if not name.endswith("Request")
        ),
    )


def _operation(
    path: str, method: str, said: Mapping[str, Any], schemas: Mapping[str, Any]
) -> Operation:
    parameters = said.get("parameters", ())
    body = said.get("requestBody", {})
    sent = _schema_of(body)
    known = schemas.get(_name(sent), {}) if _name(sent) else {}
    return Operation(
        anchor=f"{method}-{path.strip('/').replace('/', '-')}",
        method=method.upper(),
        path=path,
        summary=said.get("summary", ""),
        parameters=tuple(
            Field(
                one["name"],
                _kind(one["schema"]),
                one.get("required", False),
                _default(one["schema"]),
                _text(one.get("description", "")),
            )
            for one in parameters
        ),
        body=tuple(_fields(known)),
        body_note=_text(body.get("description", "")),
        answer=_kind(_schema_of(said["responses"]["200"])),
        problems=tuple(
            (status, problem["description"])
            for status, problem in said["responses"].items()
            if status != "200"
        ),
    )


def _example(path: str, parameters: Any, post_id: str) -> str:
    """An address to try: the required parameters, with the first example of each."""
    said: dict[str, str] = {}
    for one in parameters:
        if one.get("required"):
            examples = [example["value"] for example in one.get("examples", {}).values()]
            example = post_id if one["name"] == "id" else next(iter(examples), "")
            if not example:
                return ""
            said[one["name"]] = example
    return f"{path}?{urlencode(said)}" if said else path


def _fields(said: Mapping[str, Any]) -> Iterator[Field]:
    required = said.get("required", ())
    for name, one in said.get("properties", {}).items():
        description = _text(one.get("description", ""))
        yield Field(name, _kind(one), name in required, _default(one), description)


def _kind(said: Mapping[str, Any]) -> Markup:
    """The type of a value in words, with a link to its table if it has one."""
    if name := _name(said):
        return Markup('<a href="#value-{}">{}</a>').format(name, name)
    if several := said.get("anyOf") or said.get("oneOf"):
        return Markup(" or ").join(dict.fromkeys(_kind(one) for one in several))
    if "enum" in said:
        return Markup(", ").join(Markup("<code>{}</code>").format(one) for one in said["enum"])
    kind = said.get("type", "")
    if kind == "array":
        return Markup("list of {}").format(_kind(said.get("items", {})))
    if kind == "object" and isinstance(said.get("additionalProperties"), dict):
        return Markup("table of {}").format(_kind(said["additionalProperties"]))
    if kind in ("integer", "number"):
        return escape(f"{_TYPES.get(kind, 'number')}{_range(said)}")
    return escape(_TYPES.get(kind, kind or "any value"))


def _range(said: Mapping[str, Any]) -> str:
    least, most = said.get("minimum"), said.get("maximum")
    return "" if least is None or most is None else f", {least:,.0f} to {most:,.0f}"


def _default(said: Mapping[str, Any]) -> str:
    default = said.get("default")
    if default in (None, "", []):
        return ""
    return str(default).lower() if isinstance(default, bool) else str(default)


def _schema_of(said: Mapping[str, Any]) -> Mapping[str, Any]:
    content: Mapping[str, Any] = said.get("content", {})
    first: Mapping[str, Any] = next(iter(content.values()), {})
    schema: Mapping[str, Any] = first.get("schema", {})
    return schema


def _name(said: Mapping[str, Any]) -> str:
    return str(said.get("$ref", "")).removeprefix(_REFERENCE)


def _text(text: str) -> Markup:
    """A docstring as HTML; names between double back quotes are code."""
    parts = _CODE.split(" ".join(text.split()))
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if place % 2 else escape(part)
        for place, part in enumerate(parts)
    )
