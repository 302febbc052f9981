"""A tour in one minute: index the sampler, then search in one language and find posts in another.

Run with: make demo
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from mathsetu.collections import sampler
from mathsetu.library import Filter, Library, build_library
from mathsetu.markup import plain

LIBRARY = Path("out") / "sampler.library"
# The queries, and the language of the answers ("" for any).
QUESTIONS = [
    (r"समाकल $\int_0^\infty \frac{\sin x}{x}dx$ का मान", "en"),
    ("por qué hay infinitos números primos", "cs"),
    ("why is sqrt(2) irrational", "es"),
    ("u^2 + v^2 = w^2", ""),
    (r"prove that $\int_0^\infty ?f\,dx$ has a finite value", "hr"),
]


def say(line: str = "", bold: bool = False) -> None:
    """Print a line, in bold if the terminal supports it."""
    styled = f"\033[1m{line}\033[0m" if bold and sys.stdout.isatty() else line
    sys.stdout.write(styled + "\n")


def main() -> None:
    """Index the sampler, search it with five queries, and serve its page."""
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
                if reason.detail:
                    say(f"        {reason.part} {reason.score:.2f}: {reason.detail}")
    say()
    command = f".venv/bin/mathsetu search {LIBRARY} 'why is sqrt(2) irrational' --explain"
    say(f"Ask it yourself: {command}")
    show_page(started)


def show_page(started: float) -> None:
    """Serve the page until Ctrl-C; without a terminal, only check that it answers."""
    port = free_port()
    page = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "mathsetu", "serve", str(LIBRARY), "--port", str(port)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as server:  # noqa: S603
        try:
            while not answers(f"{page}/?q=prime"):
                if server.poll() is not None:
                    sys.exit("The page could not be opened; see what `mathsetu serve` says.")
                time.sleep(0.1)
            seconds = time.perf_counter() - started
            say(f"The page answers at {page} {seconds:.1f} s after the demo began.", bold=True)
            if sys.stdin.isatty():
                say("Ctrl-C ends it.")
                server.wait()
            else:
                say("No terminal waits for Ctrl-C, so the page is closed again. To keep it open:")
                say(f"  .venv/bin/mathsetu serve {LIBRARY}")
        except KeyboardInterrupt:
            say()
        finally:
            server.terminate()


def free_port(wanted: int = 8080) -> int:
    """Return the usual port, or the next one that is free."""
    with socket.socket() as tried:
        try:
            tried.bind(("127.0.0.1", wanted))
        except OSError:
            return free_port(wanted + 1)
    return wanted


def answers(address: str) -> bool:
    """Whether a page answers."""
    try:
        with urlopen(address, timeout=10) as page:  # noqa: S310
            return bool(page.status == 200)
    except (URLError, OSError):
        return False


if __name__ == "__main__":
    main()
