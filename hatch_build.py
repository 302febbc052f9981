"""Compiles C code and Python modules for the wheel.

Every installation compiles the inner loops of search (``retrieval/kernels/_compiled.c``) if there
is a C compiler; an editable installation puts the result next to the source. Without a compiler,
numpy does the same, but slower. ``MATHSETU_COMPILE=1 pip install .`` also compiles the hot modules
with mypyc: the same Python files with the same behaviour, but faster. ``MATHSETU_COMPILE=0``
compiles nothing, so that the wheel fits every machine.
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

#: The modules to compile, under ``src/mathsetu``: those that read and index formulas and posts.
HOT = """
    formulas/latex/*.py formulas/features/*.py formulas/matching/*.py formulas/tree.py
    formulas/layout.py formulas/operators.py formulas/operands.py formulas/clauses.py
    formulas/parse.py formulas/notation.py formulas/labels.py formulas/numbers.py
    markup/spans.py markup/delimiters.py markup/html.py markup/convert.py
    collections/source_text.py collections/stackexchange.py collections/xmlstream.py
""".split()


#: The folder of the inner loops under ``src``, and the file name of the compiled extension.
KERNELS, EXTENSION = "mathsetu/retrieval/kernels", "_compiled.abi3.so"


class CompileHook(BuildHookInterface[Any]):
    """Adds the compiled files to the wheel, next to their sources."""

    folder = ""

    def dependencies(self) -> list[str]:
        """The packages that the build needs besides hatchling."""
        return ["mypy>=1.13", "setuptools>=65"] if _wanted() == "1" else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before the wheel is packed."""
        if _wanted() == "0" or self.target_name != "wheel":
            return
        sources = Path(self.root) / "src"
        if version == "editable":
            # An editable installation imports from the source folder.
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
        """Compile the inner loops, or warn that numpy replaces them; return whether it worked."""
        try:
            _compile_extension(sources, extension)
        except (OSError, subprocess.SubprocessError) as error:
            said = getattr(error, "stderr", None) or str(error)
            reason = (said.strip().splitlines() or ["no reason given"])[0]
            self.app.display_warning(f"inner loops not compiled, so search is slower: {reason}")
            return False
        return True

    def _compile_modules(self, sources: Path, build_data: dict[str, Any]) -> None:
        """Compile the hot modules, or warn that they remain Python."""
        from setuptools.errors import BaseError, CCompilerError

        try:
            built = _compile(sources, self.folder)
        except (BaseError, CCompilerError) as error:
            self.app.display_warning(f"modules not compiled, so they stay Python: {error}")
            return
        build_data["force_include"].update(built)
        # These extensions fit only one version of Python.
        build_data.pop("tag", None)
        build_data.update(pure_python=False, infer_tag=True)


def _wanted() -> str:
    return os.environ.get("MATHSETU_COMPILE", "")


def _compile_extension(sources: Path, extension: Path) -> None:
    """Compile the C file of the inner loops; the build is reproducible."""
    if sys.implementation.name != "cpython" or sys.platform == "win32":
        raise OSError("only CPython on Linux and macOS has a way to do it")
    command = [*_compiler(), "-O3", "-Wall", "-fPIC", "-fvisibility=hidden"]
    # Fused multiply-add would round differently from numpy.
    command += ["-ffp-contract=off"]
    for name in dict.fromkeys(("include", "platinclude")):
        command += ["-I", sysconfig.get_path(name)]
    bundle = ["-bundle", "-undefined", "dynamic_lookup"]
    command += bundle if sys.platform == "darwin" else ["-shared", "-s"]
    # The source is given by name only, so that its folder is not written into the result. The
    # result is written to another file first: a running process may have mapped the old one.
    made = extension.with_name(f"{extension.name}.new")
    command += ["_compiled.c", "-o", str(made)]
    subprocess.run(  # noqa: S603
        command, cwd=sources, check=True, capture_output=True, text=True, timeout=300
    )
    made.replace(extension)


def _compiler() -> list[str]:
    """Find a C compiler: that named by CC, that which built Python, or any other."""
    named = os.environ.get("CC")
    for command in [named] if named else [sysconfig.get_config_var("CC"), "cc", "gcc", "clang"]:
        words = shlex.split(command or "")
        if words and shutil.which(words[0]):
            return words
    raise OSError(f"there is no C compiler {named}" if named else "there is no C compiler")


def _stable_tag() -> str:
    """The tag of wheels for Python 3.11 and later on platforms like this one."""
    from packaging.tags import platform_tags

    # Compatibility with older Linux libraries has not been checked.
    own = [tag for tag in platform_tags() if not tag.startswith(("manylinux", "musllinux"))]
    return f"cp311-abi3-{own[0]}"


def _compile(sources: Path, folder: str) -> dict[str, str]:
    """Compile into a folder outside the source tree; map each file to its path in the wheel."""
    from mypyc.build import mypycify
    from setuptools import Distribution

    # The __init__ files of packages are not worth compiling.
    found = (path for pattern in HOT for path in (sources / "mathsetu").glob(pattern))
    modules = sorted(str(path) for path in found if path.name != "__init__.py")
    # Check only these modules: the packages that they import may not be installed here.
    options = ["--follow-imports=silent", "--ignore-missing-imports", f"--cache-dir={folder}/mypy"]
    extensions = mypycify(
        [*options, *modules], opt_level="3", target_dir=folder, group_name="mathsetu"
    )
    if sys.platform == "linux":
        # Our symbols are not used from outside, so calls between them can be direct; calls into
        # Python need no PLT.
        for extension in extensions:
            extension.extra_compile_args += ["-fvisibility=hidden", "-fno-plt"]
    command = Distribution({"ext_modules": extensions}).get_command_obj("build_ext")
    command.build_lib, command.build_temp = f"{folder}/built", f"{folder}/objects"
    command.ensure_finalized()
    command.run()
    built = Path(command.build_lib)
    return {str(path): str(path.relative_to(built)) for path in built.rglob("*.*")}
