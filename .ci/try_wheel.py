"""Tests an installed package: checks what is compiled, parses, builds a library and searches.

    python .ci/try_wheel.py [--compiled] [--speed]

Runs outside the checkout, so that the installed package is tested instead of the sources.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

FORMULAS = [
    r"\int_0^\infty \frac{\sin x}{x}\,dx = \frac{\pi}{2}",
    r"\sum_{n=1}^{\infty} \frac{1}{n^2}",
    "a^2+b^2=c^2",
    r"\left(\begin{matrix} a & b \\ c & d \end{matrix}\right)",
    r"\lim_{x\to 0} \frac{f(x+h)-f(x)}{h}",
    r"x_{1,2} = \frac{-b \pm \sqrt{b^2-4ac}}{2a}",
]


def main() -> int:
    """Test the package; return 1 if a module that should be compiled is not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiled", action="store_true", help="the hot modules must be compiled")
    parser.add_argument("--speed", action="store_true", help="show formulas parsed in a second")
    options = parser.parse_args()
    checkout = Path(__file__).resolve().parent.parent
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        # Otherwise a run from the checkout would import its sources.
        sys.path[:] = [entry for entry in sys.path if checkout not in Path(entry or ".").parents]
        import mathsetu
        from mathsetu.retrieval import kernels

        reader = import_module("mathsetu.formulas.latex.reader")
        hot = not str(reader.__file__).endswith(".py")
        print(f"mathsetu {mathsetu.__version__} in {Path(mathsetu.__file__).parent}")
        print(f"hot modules compiled: {hot}; inner loops compiled: {kernels.is_compiled()}")
        # There are no inner loops in C for Windows; numpy does the same there.
        if options.compiled and not (hot and (kernels.is_compiled() or sys.platform == "win32")):
            return 1
        mathsetu.build_library(
            "tried.library",
            [mathsetu.Post(id="1", body="A right triangle has $a^2+b^2=c^2$.")],
            processes=1,
        )
        [hit] = mathsetu.open("tried.library").search("$x^2+y^2=z^2$", 1)
        print(f"found: {hit.id}, score {hit.score:.2f}")
        if options.speed:
            print(f"formulas parsed in a second of processor time: {speed():,.0f}")
    return 0


def speed(seconds: float = 2.0) -> float:
    """Return the number of formulas parsed into both trees per second of processor time."""
    from mathsetu.formulas.parse import parse_latex

    for latex in FORMULAS:
        parse_latex(latex)
    began, count = time.process_time(), 0
    while time.process_time() < began + seconds:
        for latex in FORMULAS:
            parsed = parse_latex(latex)
            assert parsed.slt is not None
            assert parsed.opt is not None
        count += len(FORMULAS)
    return count / (time.process_time() - began)


if __name__ == "__main__":
    sys.exit(main())
