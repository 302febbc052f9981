"""Generates the pages of the site that are made from the code, and checks what the site loads.

MkDocs calls these functions (mkdocs.yml). Pages of ``docs/`` link to files of the repository by
relative paths, as on GitHub; here these become URLs, and a broken link is an error.
"""

from __future__ import annotations

import inspect
import logging
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import click

CHECKOUT = Path(__file__).resolve().parent.parent
_LOG = logging.getLogger("mkdocs.hooks.site")
_LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")
# Resources that a page loads when it is opened.
_LOADED = re.compile(
    r"<(?:script|img|iframe|audio|video|source)\b[^>]*\bsrc=[\"']?(https?:)?//"
    r"|<link\b(?![^>]*rel=[\"']?(?:canonical|edit|next|prev))[^>]*\bhref=[\"']?(https?:)?//"
    r"|@import\s+[\"']?(?:url\()?[\"']?https?:"
    # The theme's script calls the GitHub API if the repository is marked so.
    r"|data-md-component=[\"']?source\b"
)


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages: reference, changelog, contributing."""
    from mkdocs.structure.files import File

    made = {
        "reference/command-line.md": command_line(),
        "reference/python.md": python_names(),
        "changelog.md": (CHECKOUT / "CHANGELOG.md").read_text(encoding="utf-8"),
        "contributing.md": (CHECKOUT / "CONTRIBUTING.md").read_text(encoding="utf-8"),
    }
    for place, text in made.items():
        files.append(File.generated(config, place, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Rewrite links to files of the repository as URLs, and links to pages as links in the site."""
    source = page.file.src_uri
    # These two files are at the root of the repository.
    folder = "" if source in ("changelog.md", "contributing.md") else f"docs/{source}"
    folder = posixpath.dirname(folder)

    def followed(match: re.Match[str]) -> str:
        target = match[2]
        if re.match(r"[a-z]+:|/", target):
            return match[0]
        place = posixpath.normpath(posixpath.join(folder, target))
        inside = place.removeprefix("docs/")
        if place.startswith("docs/") and files.get_file_from_path(inside):
            here = posixpath.relpath(inside, posixpath.dirname(source) or ".")
            return f"{match[1]}{here}{match[3] or ''}{match[4]}"
        if files.get_file_from_path(
            posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        ):
            return match[0]
        if place == "README.md":
            return f"{match[1]}{config.extra['repository']}#readme{match[4]}"
        if place in ("CHANGELOG.md", "CONTRIBUTING.md"):
            up = posixpath.relpath(place.lower(), posixpath.dirname(source) or ".")
            return f"{match[1]}{up}{match[3] or ''}{match[4]}"
        if not (CHECKOUT / place).exists():
            _LOG.warning("%s links to %s, which is not there", source, target)
        kind = "tree" if (CHECKOUT / place).is_dir() else "blob"
        return (
            f"{match[1]}{config.extra['repository']}/{kind}/main/{place}{match[3] or ''}{match[4]}"
        )

    # Fenced code blocks have no links.
    parts = re.split(r"(?ms)(^```.*?^```[^\n]*$)", markdown)
    return "".join(part if part.startswith("```") else _LINK.sub(followed, part) for part in parts)


def on_post_build(config: Any) -> None:
    """Warn if a page of the site loads anything from another host."""
    for page in sorted(Path(config.site_dir).rglob("*.html")):
        found = _LOADED.search(page.read_text(encoding="utf-8"))
        if found:
            _LOG.warning("%s loads something from elsewhere: %s", page.name, found[0][:200])


def command_line() -> str:
    """Return the help texts of all verbs, as the command line prints them."""
    from mathsetu.cli import VERBS, _group

    lines = ["# Command line", "", "Made from the code. Every verb that prints results takes "
             "`--json`; `mathsetu VERB --help` shows what stands here.", ""]  # fmt: skip
    lines += [f"- [`mathsetu {verb}`](#mathsetu-{verb}): {VERBS[verb]}" for verb in sorted(VERBS)]
    context = click.Context(_group, info_name="mathsetu")
    for verb in sorted(VERBS):
        command = _group.get_command(context, verb)
        assert command is not None
        for name, one in _commands(f"mathsetu {verb}", command):
            own = click.Context(one, info_name=name, max_content_width=96, terminal_width=96)
            level = "##" if name.count(" ") == 1 else "###"
            lines += ["", f"{level} mathsetu {name.removeprefix('mathsetu ')}", "", "```text",
                      one.get_help(own).strip(), "```"]  # fmt: skip
    return "\n".join(lines) + "\n"


def _commands(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        for inner in sorted(command.commands):
            yield from _commands(f"{name} {inner}", command.commands[inner])


def python_names() -> str:
    """Return the public names of the package with their signatures and docstrings."""
    import mathsetu
    import mathsetu.client

    lines = ["# Python", "", "Made from the code. These names are public "
             "(`from mathsetu import …`, [`from mathsetu.client import …`](#mathsetuclient)) and "
             "follow the "
             "[policy of versions](../versions.md).", "", *_names(mathsetu),
             "## mathsetu.client", "", "The [client](../api.md#from-python) of a server.", "",
             *_names(mathsetu.client)]  # fmt: skip
    return "\n".join(lines) + "\n"


def _names(module: ModuleType) -> list[str]:
    """Describe the public names of a module."""
    lines = []
    for name in sorted(module.__all__, key=str.lower):
        value = getattr(module, name)
        if not callable(value):
            continue
        lines += [f"## {name}", "", "```python", f"{name}{_signature(value)}", "```", "",
                  *_described(value)]  # fmt: skip
        if inspect.isclass(value) and not issubclass(value, BaseException):
            for method, member in sorted(vars(value).items()):
                if method.startswith("_") or not _is_method(member):
                    continue
                function = member.fget if isinstance(member, property) else member
                function = getattr(function, "func", getattr(function, "__func__", function))
                shown = "" if isinstance(member, property) else _signature(function)
                lines += [f"### {name}.{method}", "", "```python", f"{method}{shown}", "```", "",
                          *_described(function)]  # fmt: skip
    return lines


def _is_method(member: object) -> bool:
    kinds = (property, classmethod, staticmethod)
    return inspect.isfunction(member) or isinstance(member, kinds) or hasattr(member, "func")


def _signature(value: Any) -> str:
    """Format a signature; a long one gets one line per argument."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return "(…)"
    text = str(signature)
    if len(text) > 80:
        one = signature.replace(return_annotation=inspect.Signature.empty)
        kinds = [parameter.kind for parameter in one.parameters.values()]
        shown = [str(parameter) for parameter in one.parameters.values()]
        if inspect.Parameter.KEYWORD_ONLY in kinds and "*" not in "".join(shown):
            shown.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
        end = text[len(str(one)) :] if text.startswith(str(one)) else ""
        text = "(\n    " + ",\n    ".join(shown) + ",\n)" + end
    # Annotations are strings here; the repr of a default function would contain its address.
    text = re.sub(r"(: |-> )'([^'\n]*)'", r"\1\2", text)
    return re.sub(r"<function (\w+) at 0x[0-9a-f]+>", r"\1", text).replace("<factory>", "…")


def _described(value: Any) -> list[str]:
    """Convert a docstring to Markdown: examples become code blocks, argument lists become lists."""
    lines: list[str] = []
    in_example = in_list = False
    for line in (inspect.getdoc(value) or "").splitlines():
        if line.startswith(">>>") and not in_example:
            in_example = True
            lines += ["```pycon"]
        elif in_example and not line.strip():
            in_example = False
            lines += ["```"]
        if in_example:
            lines.append(line)
            continue
        if re.fullmatch(r"(Args|Attributes|Returns|Raises):", line):
            in_list = True
            lines += [f"**{line.removesuffix(':')}**", ""]
        elif in_list and (entry := re.fullmatch(r"    (\w+): (.*)", line)):
            lines.append(f"- `{entry[1]}`: {entry[2]}")
        else:
            in_list = in_list and (not line.strip() or line.startswith(" "))
            lines.append(line.strip() if not in_list else f"  {line.strip()}".rstrip())
    return [*lines, *(["```"] if in_example else []), ""]
