"""The shards of a plan as Ray tasks, on one machine."""

import subprocess
import sys
from pathlib import Path

import pytest

from mathsetu.cluster.plan import make_plan
from mathsetu.library import Library
from tests.cluster.helpers import QUERIES, quiet, some_posts
from tests.light import LIGHT
from tests.retrieval.qdrant_marks import needs_client, needs_server
from tests.retrieval.qdrant_server import LocalQdrant

pytestmark = [
    pytest.mark.thorough,
    needs_client,
    needs_server,
]
EXAMPLE = Path(__file__).parents[2] / "examples" / "publish_with_ray.py"


def test_ray_publishes_all_shards(tmp_path, monkeypatch):
    # Not `importorskip`: an import in this process would start threads that affect other tests.
    if subprocess.run([sys.executable, "-c", "import ray"], capture_output=True).returncode:
        pytest.skip("the extra 'ray' is not installed")
    monkeypatch.setenv("QDRANT_SECONDS", "60")
    make_plan(tmp_path / "plan", some_posts(20), LIGHT, 3, quiet)
    server = LocalQdrant(tmp_path / "server")
    server.start()
    try:
        address = f"{server.url.replace('http', 'qdrant')}/math"
        subprocess.run([sys.executable, EXAMPLE, tmp_path / "plan", address], check=True)
        with Library(address) as library:
            assert len(library) == 20
            assert library.search(QUERIES[3], 3)
    finally:
        server.kill()
