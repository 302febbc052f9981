"""Renders templates to responses, in one environment that escapes everything."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

from mathsetu.languages.table import LANGUAGES, ROWS, Language
from mathsetu.service.pages.examples import examples
from mathsetu.service.pages.files import address
from mathsetu.service.pages.interface_language import INTERFACE_LANGUAGES, Interface
from mathsetu.service.pages.palette import palette
from mathsetu.service.pages.visit import Visit


def page(
    template: str, visit: Visit, interface: Interface, status: int = 200, **values: Any
) -> HTMLResponse:
    """Render a template to a response; languages of the library are listed first."""
    summary = values.get("summary")
    present = [row.code for row in summary.languages] if summary else []
    html = _environment().get_template(template).render(
        visit=visit,
        ui=interface.language,
        say=interface.say,
        part=interface.part,
        number=interface.number,
        decimal=lambda value: interface.number(value, decimals=2),
        is_reviewed=interface.is_reviewed,
        interface_languages=_present_first(INTERFACE_LANGUAGES.values(), present),
        asked_languages=_present_first(ROWS.values(), present),
        **{"has_translator": False} | values,
    )  # fmt: skip
    return HTMLResponse(html, status, {"Vary": "Accept-Language"})


def _present_first(rows: Iterable[Language], present: list[str]) -> list[Language]:
    """Languages of a library in its order, then the others in their order."""
    places = {code: place for place, code in enumerate(present)}
    return sorted(rows, key=lambda row: places.get(row.code, len(places)))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("mathsetu.service.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "file": address,
        "examples": examples(),
        "palette": palette(),
        "full_languages": tuple(LANGUAGES.values()),
    }
    return environment
