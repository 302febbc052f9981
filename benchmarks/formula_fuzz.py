"""Feed broken LaTeX to the parser: ``python benchmarks/formula_fuzz.py --count 200000``.

Real formulas are mutated (pieces cut, doubled, swapped, strange tokens put in) and parsed into
both trees. No exception may come out, and no formula under 10,000 characters may take longer
than 100 ms of processor time. The pathological list comes first.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import time
from pathlib import Path

from mathsetu.formulas import parse_latex

#: The longest that a short formula may take, in seconds.
LIMIT = 0.1
SHORT = 10_000

_BOMB = "".join(
    f"\\newcommand{{\\m{chr(ord(name) + 1)}}}{{\\m{name}\\m{name}\\m{name}}}"
    for name in "abcdefghij"
)
PATHOLOGICAL: dict[str, str] = {
    "\\frac x 3000": "\\frac" * 3000,
    "{ x 5000": "{" * 5000,
    "} x 5000": "}" * 5000,
    "{} x 5000": "{" * 2500 + "x" + "}" * 2500,
    "nested groups": "{a" * 1600 + "}b" * 1600,
    "\\sqrt[ x 3000": "\\sqrt[" * 3000,
    "\\sqrt[{ x 1500": "\\sqrt[{" * 1400,
    "\\not x 3000": "\\not" * 3000,
    "1 MB of text": "\\text{" + "word " * 200_000 + "}",
    "1 MB of letters": "abcdefghi " * 100_000,
    "open brackets": "(" * 9999,
    "nested brackets": "(" * 4999 + ")" * 4999,
    "mixed brackets": "([\\{" * 2000 + "])" * 900,
    "bars": "|" * 9999,
    "bars and letters": "|a" * 4999,
    "bars then brackets": "|" * 4999 + ")" * 4999,
    "scripts": "x^" * 4999,
    "scripts in groups": "x^{" * 3300,
    "primes": "'" * 9999,
    "chains in chains": "a=(" * 2000 + "b" + ")=c" * 1300,
    "long chain": "a=" * 4999,
    "functions": "\\sin " * 1999,
    "big operators": "\\sum " * 1999,
    "signs": "-" * 9999,
    "plus and minus": "a+b-" * 2499,
    "\\left x 1600": "\\left(" * 1600,
    "\\right x 1400": "\\right)" * 1400,
    "\\left\\right": "\\left(" * 750 + "\\right)" * 700,
    "\\begin{matrix}": "\\begin{matrix}" * 700,
    "wide table": "\\begin{matrix}" + "&" * 4900 + "\\\\" * 2400 + "\\end{matrix}",
    "\\over": "\\over " * 1600,
    "{\\over": "{a\\over " * 1100,
    "\\text{": "\\text{" * 1600,
    "\\text{$": "\\text{$" * 1400,
    "\\mathbf{": "\\mathbf{a" * 1100,
    "\\rm": "{\\rm a" * 1600,
    "\\hat": "\\hat" * 2400,
    "\\overset": "\\overset" * 1200,
    "\\underbrace": "\\underbrace{a" * 760,
    "\\substack{": "\\substack{" * 990,
    "\\boxed{a": "\\boxed{" * 900 + "a" + "}a" * 900,
    "commas in brackets": "(" + "a," * 4990 + ")",
    "sets": "\\{a|" * 1900,
    "macro bomb": "\\newcommand{\\ma}{x}" + _BOMB + "\\mk",
    "macro that uses itself": "\\def\\a{\\a\\a}\\a",
    "macro with long arguments": "\\def\\d#1{#1#1}" + "\\d{" * 2400 + "x" + "}" * 2400,
    "digits": "1" * 9999,
    "digit groups": "1\\,234" * 1600,
    "comments": "%\n" * 4999,
    "entities": "&lt;&#x41;&bogus;" * 580,
    "null characters": "\x00" * 9999,
    "combining marks": "a\u0301" * 4999,
    "lone surrogates": "\ud800x\udfff" * 3000,
    "backslashes": "\\" * 9999,
    "superscript digits": "x²³" * 3300,
}

_TOKENS = (
    "{ } ^ _ & \\\\ $ % # ~ ' | \\| ( ) [ ] \\{ \\} \\left( \\right) \\left. \\right| \\frac \\sqrt"
    " \\sqrt[ \\over \\choose \\not \\text{ \\mathbb \\mathbf{ \\rm \\begin{matrix} \\end{matrix}"
    " \\prescript \\abs \\set{ \\substack{ \\begin{cases} \\end{align} \\overset \\underbrace{"
    " \\hat \\sum \\int \\lim \\sin \\log \\phantom \\boxed \\xrightarrow[ \\middle|"
    " \\langle \\rangle {} {}_n"
    " \\newcommand{\\z}[1]{#1} \\z \\def\\y{x} \\y \\operatorname{ab} \\tag{1} \\pmod \\quad , ; :"
    " = < > + - \\cdot ! ? ?x 1 23 4.5 x y d \\unknown &lt; &amp; ² ½ √ ≤ ∑ 𝑥 ५ \u200c \x00 \ud800"
).split(" ")


def mutated(latex: str, pieces: list[str], chance: random.Random) -> str:
    """A formula with a few things done to it, or one that was never a formula."""
    if not chance.randrange(4):
        return "".join(chance.choices(_TOKENS, k=chance.randint(1, 30)))
    for _ in range(chance.randint(1, 6)):
        start = chance.randint(0, len(latex))
        end = min(len(latex), start + chance.randint(0, 12))
        match chance.randrange(6):
            case 0:
                latex = latex[:start] + latex[end:]
            case 1:
                latex = latex[:end] + latex[start:]
            case 2:
                latex = latex[:start] + latex[start:end][::-1] + latex[end:]
            case 3:
                other = chance.choice(pieces)
                cut = chance.randint(0, len(other))
                latex = latex[:start] + other[cut : cut + chance.randint(0, 30)] + latex[end:]
            case _:
                latex = latex[:start] + chance.choice(_TOKENS) + latex[start:]
    return latex


def timed(latex: str) -> float:
    """Parse into both trees; the processor time it took."""
    begun = time.process_time()
    parsed = parse_latex(latex)
    assert parsed.slt is not None
    assert parsed.opt is not None
    return time.process_time() - begun


def read_formulas(data: Path) -> list[str]:
    with gzip.open(data / "latex" / "formulas.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line)["latex"] for line in lines]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--data", type=Path, default=Path("../shared/data"), help="data folder")
    arguments.add_argument("--count", type=int, default=200_000, help="mutated formulas")
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()

    failures = 0
    slow: list[tuple[float, str]] = []
    for name, latex in PATHOLOGICAL.items():
        try:
            seconds = timed(latex)
        except Exception as error:
            failures += 1
            print(f"{name}: {type(error).__name__}: {error}"[:200])
            continue
        if seconds > LIMIT / 2:
            print(f"{name}: {seconds * 1000:.0f} ms for {len(latex)} characters")
        if seconds > LIMIT and len(latex) < SHORT:
            slow.append((seconds, name))

    chance = random.Random(options.seed)
    formulas = read_formulas(options.data)
    worst = 0.0
    for _ in range(options.count):
        latex = mutated(chance.choice(formulas), formulas, chance)
        try:
            seconds = timed(latex)
        except Exception as error:
            failures += 1
            if failures <= 20:
                print(f"{type(error).__name__}: {error}: {latex!r}"[:400])
            continue
        worst = max(worst, seconds)
        if seconds > LIMIT and len(latex) < SHORT:
            slow.append((seconds, latex))
    for seconds, latex in slow[:20]:
        print(f"slow: {seconds * 1000:.0f} ms: {latex[:200]!r}")
    print(
        f"{len(PATHOLOGICAL)} pathological and {options.count} mutated formulas: "
        f"{failures} exceptions, {len(slow)} over {LIMIT * 1000:.0f} ms, "
        f"slowest mutated {worst * 1000:.1f} ms"
    )


if __name__ == "__main__":
    main()
