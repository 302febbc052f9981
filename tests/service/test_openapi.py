"""Valid and invalid requests generated from the OpenAPI file: none breaks the server."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from mathsetu.service.app import create_app
from mathsetu.service.settings import Settings

pytestmark = pytest.mark.thorough

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def operations(sampler_folder: Path) -> list[Any]:
    app = create_app(Settings(str(sampler_folder)))
    # Every call would start and stop the application, which is called many times here.
    app.router.lifespan_context = lambda _: nullcontext()
    schema = schemathesis.openapi.from_asgi("/openapi.json", app)
    return [result.ok() for result in schema.get_all_operations()]


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
@settings(max_examples=10, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_answer_matches_the_openapi_file(
    operations: list[Any],
    mode: GenerationMode,
    data: st.DataObject,
) -> None:
    assert len(operations) == 13
    for operation in operations:
        if mode is GenerationMode.NEGATIVE and not list(operation.iter_parameters()):
            continue
        case = data.draw(operation.as_strategy(generation_mode=mode))
        case.call_and_validate(checks=CHECKS)
