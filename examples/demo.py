"""The main job in one minute: index the sampler, ask in one language, find in another.

Run with: make demo
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from mathsetu.collections import sampler
from mathsetu.library import Filter, Library, build_library
from mathsetu.markup import plain

LIBRARY = Path("out") / "sampler.library"
# What is asked, and in which language the answer is wanted ("" for any).
QUESTIONS = [
    (r"समाकल $\int_0^\infty \frac{\sin x}{x}dx$ का मान", "en"),
    ("por qué hay infinitos números primos", "cs"),
    (r"$u^2 + v^2 = w^2$", ""),
    (r"prove that $\int_0^\infty ?f\,dx$ has a finite value", "hr"),
]


def say(line: str = "", bold: bool = False) -> None:
    """Print a line, bold where the terminal can."""
    styled = f"\033[1m{line}\033[0m" if bold and sys.stdout.isatty() else line
    sys.stdout.write(styled + "\n")


def main() -> None:
    """Index the sampler and ask it four questions."""
    started = time.perf_counter()
    build_library(LIBRARY, sampler.posts(), "default")
    library = Library(LIBRARY)
    languages = ", ".join(f"{code} {count}" for code, count in library.manifest.languages.items())
    say(f"Indexed {len(library)} posts ({languages}) in {time.perf_counter() - started:.1f} s.")
    for question, language in QUESTIONS:
        say()
        say(f"? {question}" + (f"   [answers in {language}]" if language else ""), bold=True)
        for hit in library.search(question, k=2, where=Filter(language=language)):
            post = library.post(hit.id)
            say(f"  {hit.score:.2f}  [{post.language}] {plain(post.title)}  ({post.id})")
            for reason in hit.reasons:
                say(f"        {reason.part} {reason.score:.2f}: {reason.detail}")
    say()
    say(f"Ask it yourself: .venv/bin/mathsetu search {LIBRARY} 'words and $formulas$' --explain")


if __name__ == "__main__":
    main()
