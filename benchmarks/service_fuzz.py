"""Does any request break the API? schemathesis makes them up from the OpenAPI file.

    python -m benchmarks.service_fuzz [--examples 200] [--seed 1]

Starts ``mathsetu serve`` over the sampler and sends it requests that follow the file and requests
that do not. No answer may be a 5xx, and every answer must be one that the file describes: its
status, its type and its fields. Not asked is whether every request that follows the file is
granted: a language without a glossary, or a part that the recipe lacks, is refused with 400.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.service_load import HOST, start
from mathsetu.collections import sampler
from mathsetu.library import build_library

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "unsupported_method",
)
# Nothing that schemathesis prints about single requests is longer than this.
SHOWN = 4_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=200, help="for each operation")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--port", type=int, default=8124)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "library"
        build_library(library, sampler.posts(), "default")
        server = start(library, arguments.port, workers=1, waiting=64)
        try:
            command = [
                *(sys.executable, "-m", "schemathesis.cli", "run"),
                f"http://{HOST}:{arguments.port}/openapi.json",
                *("--checks", ",".join(CHECKS)),
                *("--max-examples", str(arguments.examples)),
                *("--seed", str(arguments.seed)),
                "--continue-on-failure",
                "--no-color",
            ]
            done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
        finally:
            server.terminate()
            server.wait(30)
    print(done.stdout[-SHOWN:], done.stderr[-SHOWN:], sep="")
    raise SystemExit(done.returncode)


if __name__ == "__main__":
    main()
