"""Measures speed and memory of reading Posts.xml: 200 MB of synthetic rows like a real dump's.

    python benchmarks/posts_xml.py [--megabytes 200] [--keep FILE]

The target is 20,000 rows per second on one core with less than 150 MB of memory.
"""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
import time
from html import escape
from pathlib import Path

from mathsetu.collections.stackexchange import read_posts

WORDS = (
    "let we have that the function is continuous on a closed interval and so there exists some "
    "point where it attains its maximum which shows by induction every finite group of prime "
    "order cyclic hence any two elements commute but I don't see why this holds for larger "
    "values can someone give me a hint or explain what goes wrong in the last step of my proof"
).split()
FORMULAS = (
    "x", "n", "f(x)", r"\mathbb{R}", "a_n", "x^2 + y^2 = z^2", r"\frac{a}{b}", "x < y",
    r"\lim_{n\to\infty} a_n = 0", r"f: X \to Y", r"\int_0^1 f(t)\,dt", "p", r"\epsilon > 0",
    r"\sum_{k=1}^{n} k = \frac{n(n+1)}{2}", r"A \subseteq B", r"\{x_1, \dots, x_n\}",
)  # fmt: skip
TAGS = ("calculus", "real-analysis", "group-theory", "probability", "linear-algebra", "limits")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--megabytes", type=int, default=200)
    arguments.add_argument("--keep", type=Path, help="write the file here and leave it there")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.keep or Path(folder) / "Posts.xml"
        written = write_rows(path, options.megabytes * 1_000_000)
        size = path.stat().st_size
        wall, began = time.perf_counter(), time.process_time()
        rows = formulas = 0
        for post in read_posts(path, site="math.stackexchange.com", language="en"):
            rows += 1
            formulas += len(post.formulas)
        seconds, wall = time.process_time() - began, time.perf_counter() - wall
    assert rows == written
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{size / 1e6:.0f} MB, {rows:,} rows of {size / rows:.0f} bytes, {formulas:,} formulas")
    print(
        f"{rows / seconds:,.0f} rows a second of processor time ({rows / wall:,.0f} by the clock)"
    )
    print(f"{peak:.0f} MB peak memory")


def write_rows(path: Path, size: int) -> int:
    """Write rows until the file has this size; return their number."""
    chance = random.Random(7)
    number = written = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        written += file.write('<?xml version="1.0" encoding="utf-8"?>\n<posts>\n')
        while written < size:
            number += 1
            written += file.write(row(number, chance))
        file.write("</posts>\n")
    return number


def row(number: int, chance: random.Random) -> str:
    question = chance.random() < 0.45
    values = {
        "Id": number,
        "PostTypeId": 1 if question else 2,
        "ParentId": None if question else max(1, number - 1),
        "AcceptedAnswerId": number + 1 if question else None,
        "CreationDate": "2015-03-14T15:09:26.535",
        "Score": chance.randint(-2, 40),
        "ViewCount": chance.randint(10, 5000) if question else None,
        "Body": body(number, chance),
        "OwnerUserId": chance.randint(1, 900_000),
        "LastActivityDate": "2015-03-14T15:09:26.535",
        "Title": title(chance) if question else None,
        "Tags": "".join(f"<{tag}>" for tag in chance.sample(TAGS, 2)) if question else None,
        "CommentCount": chance.randint(0, 9),
        "ContentLicense": "CC BY-SA 3.0",
    }
    attributes = " ".join(
        f'{name}="{in_attribute(str(value))}"'
        for name, value in values.items()
        if value is not None
    )
    return f"  <row {attributes} />\n"


def body(number: int, chance: random.Random) -> str:
    paragraphs = []
    place = 0
    for _ in range(chance.randint(1, 4)):
        words = chance.choices(WORDS, k=chance.randint(8, 32))
        for _ in range(chance.randint(0, 3)):
            place += 1
            formula = escape(chance.choice(FORMULAS), quote=False)
            dollars = "$$" if chance.random() < 0.1 else "$"
            span = f'<span class="math-container" id="{number * 20 + place}">'
            words.insert(chance.randrange(len(words)), f"{span}{dollars}{formula}{dollars}</span>")
        if chance.random() < 0.2:
            words.insert(3, "<em>and</em>")
        if chance.random() < 0.1:
            words.insert(5, '<a href="https://example.org/?a=1&amp;b=2" rel="nofollow">this</a>')
        if chance.random() < 0.03:
            words.insert(4, "<code>a[i] &lt; b &amp;&amp; c</code>")
        paragraphs.append(f"<p>{' '.join(words)}.</p>\n")
    return "\n".join(paragraphs)


def title(chance: random.Random) -> str:
    words = chance.choices(WORDS, k=8)
    if chance.random() < 0.5:
        words.insert(4, f"${chance.choice(FORMULAS)}$")
    return " ".join(words).capitalize()


def in_attribute(text: str) -> str:
    return escape(text, quote=False).replace('"', "&quot;").replace("\n", "&#xA;")


if __name__ == "__main__":
    main()
