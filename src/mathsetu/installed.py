"""Detects how this package was installed, so that messages name a working install command."""

from __future__ import annotations

import json
import shlex
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

_NAME = "mathsetu"


def install_command(extra: str) -> str:
    """The command that adds an extra to this installation."""
    try:
        found = distribution(_NAME)
        installer = (found.read_text("INSTALLER") or "").strip()
        origin = found.read_text("direct_url.json") or ""
    except PackageNotFoundError:  # run from the sources, without installing
        installer, origin = "pip", json.dumps({"url": "file:///", "dir_info": {}})
    return command_for(extra, origin, installer, Path(sys.prefix))


def command_for(extra: str, origin: str, installer: str, environment: Path) -> str:
    """The command for an installation that its metadata files describe.

    Args:
        extra: The extra to install.
        origin: The text of direct_url.json; empty if the package came from an index.
        installer: The program that installed it, from the file INSTALLER.
        environment: The folder of the environment.

    >>> nowhere = Path("/usr")
    >>> command_for("web", "", "pip", nowhere)
    "pip install 'mathsetu[web]'"
    >>> command_for("web", "", "uv", nowhere)
    "uv pip install 'mathsetu[web]'"
    >>> command_for("web", "", "pip", Path("/home/me/.local/share/pipx/venvs/mathsetu"))
    "pipx install --force 'mathsetu[web]'"
    >>> editable = '{"url": "file:///home/me/mathsetu", "dir_info": {"editable": true}}'
    >>> command_for("web", editable, "pip", nowhere)
    "pip install --editable '.[web]' (in the folder of MathSetu's source code)"
    >>> wheel = '{"url": "file:///downloads/mathsetu-1.0-py3-none-any.whl", "archive_info": {}}'
    >>> command_for("web", wheel, "pip", nowhere)
    "pip install 'mathsetu-1.0-py3-none-any.whl[web]' (where that file is)"
    """
    facts = _facts(origin)
    url = str(facts.get("url", ""))
    suffix = ""
    if "dir_info" in facts:
        editable = isinstance(facts["dir_info"], dict) and facts["dir_info"].get("editable")
        what = f"{'--editable ' if editable else ''}{shlex.quote(f'.[{extra}]')}"
        suffix = " (in the folder of MathSetu's source code)"
    elif "vcs_info" in facts and isinstance(facts["vcs_info"], dict):
        what = shlex.quote(f"{_NAME}[{extra}] @ {facts['vcs_info'].get('vcs', 'git')}+{url}")
    elif url.startswith("file://"):
        # The folder is left out: clients of a service on this machine may see the message.
        what = shlex.quote(f"{url.rpartition('/')[2]}[{extra}]")
        suffix = " (where that file is)"
    else:
        what = shlex.quote(f"{_NAME}[{extra}]")
    return f"{_installing(installer, environment)} {what}{suffix}"


def _facts(origin: str) -> dict[str, object]:
    try:
        facts = json.loads(origin)
    except ValueError:
        return {}
    return facts if isinstance(facts, dict) else {}


def _installing(installer: str, environment: Path) -> str:
    """The command that installs packages into this environment."""
    if "pipx" in environment.parts:
        return "pipx install --force"
    if (environment / "uv-receipt.toml").is_file():
        return "uv tool install"
    return "uv pip install" if installer == "uv" else "pip install"
