"""Pins the container images that we build on by their digests.

    python .ci/images.py            # looks up every digest and writes it (needs docker)
    python .ci/images.py --check    # fails if an image has no digest

The image behind a tag such as python:3.12-slim changes every few weeks; a digest never changes.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).parent.parent
#: The files that name images.
FILES = ("Dockerfile", "compose.yaml", "docs/qdrant-cluster.yaml", "docs/cluster.yaml")
IMAGE = re.compile(
    r"(?m)^(?P<before>ARG PYTHON_IMAGE=|\s*image: )(?P<tag>[\w./-]+:[\w.-]+)"
    r"(?P<digest>@sha256:[0-9a-f]{64})?$"
)
SECONDS = 120


def main() -> int:
    """Write or check the digests; return the exit status."""
    if "--check" in sys.argv[1:]:
        missing = [
            f"{name}: {match['tag']} has no digest"
            for name in FILES
            for match in IMAGE.finditer((CHECKOUT / name).read_text(encoding="utf-8"))
            if not match["digest"]
        ]
        print(*(missing or ["every image has a digest"]), sep="\n")
        if missing:
            print("Write them with 'make image-digests', where docker is", file=sys.stderr)
        return int(bool(missing))
    known: dict[str, str] = {}
    try:
        for name in FILES:
            path = CHECKOUT / name
            text = path.read_text(encoding="utf-8")
            for match in IMAGE.finditer(text):
                known.setdefault(match["tag"], digest(match["tag"]))
            pinned = IMAGE.sub(lambda m: f"{m['before']}{m['tag']}@{known[m['tag']]}", text)
            path.write_text(pinned, encoding="utf-8")
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        print(f"images: {error}", file=sys.stderr)
        return 1
    print(*(f"{tag}@{found}" for tag, found in known.items()), sep="\n")
    return 0


def digest(tag: str) -> str:
    """Look up the digest of a tag in its registry; it covers all platforms."""
    command = ["docker", "buildx", "imagetools", "inspect", tag, "--format", "{{json .Manifest}}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    if done.returncode:
        raise ValueError(f"{tag}: {done.stderr.strip()[-300:]}")
    manifest = json.loads(done.stdout)
    found = str(manifest.get("digest") if isinstance(manifest, dict) else manifest)
    if not re.fullmatch(r"sha256:[0-9a-f]{64}", found):
        raise ValueError(f"{tag}: {found[:80]!r} is not a digest")
    return found


if __name__ == "__main__":
    sys.exit(main())
