"""Compiles the hot modules with mypyc, for those who ask: ``MATHSETU_COMPILE=1 pip install .``.

The package is pure Python, and stays so wherever nothing is asked for, in editable installs, and
where there is no C compiler. Compiled modules come from the same files and do the same, faster.
"""

from __future__ import annotations

import os
import shutil
import sys
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
    collections/texts.py collections/stackexchange.py collections/xmlstream.py
""".split()


class CompileHook(BuildHookInterface[Any]):
    """Adds the compiled modules to the wheel, beside their sources."""

    folder = ""

    def dependencies(self) -> list[str]:
        """What the build needs besides hatchling."""
        return ["mypy>=1.13", "setuptools>=65"] if _is_wanted() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before the wheel is packed."""
        if not _is_wanted() or self.target_name != "wheel" or version == "editable":
            return
        from setuptools.errors import BaseError, CCompilerError

        self.folder = mkdtemp(prefix="mathsetu-")
        try:
            built = _compile(Path(self.root) / "src", self.folder)
        except (BaseError, CCompilerError) as error:
            self.app.display_warning(f"not compiled, so this is pure Python: {error}")
            return
        build_data["force_include"].update(built)
        build_data.update(pure_python=False, infer_tag=True)

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Clean up when the wheel is packed."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _is_wanted() -> bool:
    return os.environ.get("MATHSETU_COMPILE") == "1"


def _compile(sources: Path, folder: str) -> dict[str, str]:
    """Compile into a folder outside the tree: each file made, and its place in the wheel."""
    from mypyc.build import mypycify
    from setuptools import Distribution

    # The front doors of folders do nothing that takes time.
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
