"""Templates to responses: one environment that escapes everything."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

from mathsetu.languages.table import LANGUAGES
from mathsetu.service.pages.examples import examples
from mathsetu.service.pages.files import address
from mathsetu.service.pages.interface_language import Interface
from mathsetu.service.pages.palette import palette
from mathsetu.service.pages.visit import Visit


def page(
    template: str, visit: Visit, interface: Interface, status: int = 200, **values: Any
) -> HTMLResponse:
    """A template filled in, as a response."""
    html = _environment().get_template(template).render(
        visit=visit,
        ui=interface.language,
        say=interface.say,
        part=interface.part,
        number=interface.number,
        decimal=lambda value: interface.number(value, decimals=2),
        **{"has_translator": False} | values,
    )  # fmt: skip
    return HTMLResponse(html, status, {"Vary": "Accept-Language"})


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
        "interface_languages": tuple(LANGUAGES.values()),
    }
    return environment
