"""Compiles what is compiled: the inner loops of search, and the hot modules for those who ask.

The inner loops (``retrieval/kernels/_compiled.c``, one file) are compiled by every installation
where there is a C compiler, in editable ones beside their source; without them numpy does the
same, slower. ``MATHSETU_COMPILE=1 pip install .`` compiles the hot modules as well, with mypyc;
they come from the same Python files and do the same, faster. ``MATHSETU_COMPILE=0`` compiles
nothing: the wheel then fits every machine.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

#: What is compiled, under ``src/mathsetu``: the way of a formula and of a post into an index.
HOT = """
    formulas/latex/*.py formulas/features/*.py formulas/matching/*.py formulas/tree.py
    formulas/layout.py formulas/operators.py formulas/operands.py formulas/clauses.py
    formulas/parse.py formulas/notation.py formulas/labels.py formulas/numbers.py
    markup/spans.py markup/delimiters.py markup/html.py markup/convert.py
    collections/source_text.py collections/stackexchange.py collections/xmlstream.py
""".split()


#: The folder of the inner loops under ``src``, and the name of what is made of them there.
KERNELS, EXTENSION = "mathsetu/retrieval/kernels", "_compiled.abi3.so"


class CompileHook(BuildHookInterface[Any]):
    """Adds what is compiled to the wheel, beside its sources."""

    folder = ""

    def dependencies(self) -> list[str]:
        """What the build needs besides hatchling."""
        return ["mypy>=1.13", "setuptools>=65"] if _wanted() == "1" else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before the wheel is packed."""
        if _wanted() == "0" or self.target_name != "wheel":
            return
        sources = Path(self.root) / "src"
        if version == "editable":
            # Python reads the source folder itself, so this is the only place that it looks at.
            self._compile_kernels(sources / KERNELS, sources / KERNELS / EXTENSION)
            return
        self.folder = mkdtemp(prefix="mathsetu-")
        extension = Path(self.folder) / EXTENSION
        if self._compile_kernels(sources / KERNELS, extension):
            build_data["force_include"][str(extension)] = f"{KERNELS}/{EXTENSION}"
            build_data.update(pure_python=False, tag=_stable_tag())
        if _wanted() == "1":
            self._compile_modules(sources, build_data)

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Clean up when the wheel is packed."""
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _compile_kernels(self, sources: Path, extension: Path) -> bool:
        """Compile the inner loops, or warn that numpy has to do."""
        try:
            _compile_extension(sources, extension)
        except (OSError, subprocess.SubprocessError) as error:
            said = getattr(error, "stderr", None) or str(error)
            reason = (said.strip().splitlines() or ["no reason given"])[0]
            self.app.display_warning(f"inner loops not compiled, so search is slower: {reason}")
            return False
        return True

    def _compile_modules(self, sources: Path, build_data: dict[str, Any]) -> None:
        """Compile the hot modules, or warn that they stay Python."""
        from setuptools.errors import BaseError, CCompilerError

        try:
            built = _compile(sources, self.folder)
        except (BaseError, CCompilerError) as error:
            self.app.display_warning(f"modules not compiled, so they stay Python: {error}")
            return
        build_data["force_include"].update(built)
        # These fit one version of Python alone.
        build_data.pop("tag", None)
        build_data.update(pure_python=False, infer_tag=True)


def _wanted() -> str:
    return os.environ.get("MATHSETU_COMPILE", "")


def _compile_extension(sources: Path, extension: Path) -> None:
    """Compile the one file of the inner loops; the same bytes each time."""
    if sys.implementation.name != "cpython" or sys.platform == "win32":
        raise OSError("only CPython on Linux and macOS has a way to do it")
    command = [*_compiler(), "-O3", "-Wall", "-fPIC", "-fvisibility=hidden"]
    # Multiplying and adding in one step would round otherwise than numpy does.
    command += ["-ffp-contract=off"]
    for name in dict.fromkeys(("include", "platinclude")):
        command += ["-I", sysconfig.get_path(name)]
    bundle = ["-bundle", "-undefined", "dynamic_lookup"]
    command += bundle if sys.platform == "darwin" else ["-shared", "-s"]
    # Named by its name alone, so that the folder is not written into the file. Written elsewhere
    # first: a running process may have the old one mapped.
    made = extension.with_name(f"{extension.name}.new")
    command += ["_compiled.c", "-o", str(made)]
    subprocess.run(  # noqa: S603
        command, cwd=sources, check=True, capture_output=True, text=True, timeout=300
    )
    made.replace(extension)


def _compiler() -> list[str]:
    """The C compiler: the one named by CC, or that of Python, or any."""
    named = os.environ.get("CC")
    for command in [named] if named else [sysconfig.get_config_var("CC"), "cc", "gcc", "clang"]:
        words = shlex.split(command or "")
        if words and shutil.which(words[0]):
            return words
    raise OSError(f"there is no C compiler {named}" if named else "there is no C compiler")


def _stable_tag() -> str:
    """The tag of wheels for Python 3.11 and all that follow, on machines like this one."""
    from packaging.tags import platform_tags

    # Whether it fits Linux machines with older libraries was not looked at.
    own = [tag for tag in platform_tags() if not tag.startswith(("manylinux", "musllinux"))]
    return f"cp311-abi3-{own[0]}"


def _compile(sources: Path, folder: str) -> dict[str, str]:
    """Compile into a folder outside the tree: each file made, and its place in the wheel."""
    from mypyc.build import mypycify
    from setuptools import Distribution

    # The __init__ files of folders do nothing that takes time.
    found = (path for pattern in HOT for path in (sources / "mathsetu").glob(pattern))
    modules = sorted(str(path) for path in found if path.name != "__init__.py")
    # Only these modules count: what they import from elsewhere may not be installed here.
    options = ["--follow-imports=silent", "--ignore-missing-imports", f"--cache-dir={folder}/mypy"]
    extensions = mypycify(
        [*options, *modules], opt_level="3", target_dir=folder, group_name="mathsetu"
    )
    if sys.platform == "linux":
        # Nothing outside needs our functions, so that they call each other directly, and those of
        # Python without a detour.
        for extension in extensions:
            extension.extra_compile_args += ["-fvisibility=hidden", "-fno-plt"]
    command = Distribution({"ext_modules": extensions}).get_command_obj("build_ext")
    command.build_lib, command.build_temp = f"{folder}/built", f"{folder}/objects"
    command.ensure_finalized()
    command.run()
    built = Path(command.build_lib)
    return {str(path): str(path.relative_to(built)) for path in built.rglob("*.*")}
