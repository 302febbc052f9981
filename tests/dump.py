"""A small collection in the file formats of the ARQMath lab, for end-to-end tests.

Posts.xml with questions, answers and accepted answers, formulas in spans with ids; Comments.xml;
topics and judgments of both tasks; tables of formulas with their visual ids.
"""

from dataclasses import dataclass, field
from html import escape
from pathlib import Path

# The tag of each thread, its topic, and its formula as the question and the answer write it.
THREADS = (
    ("primes", "prime numbers", "p_1 p_2 + 1", "p_1p_2+1"),
    ("circles", "the area of a circle", "A = \\pi r^2", "A=\\pi r^2"),
    ("series", "the geometric series", "\\sum_{k=0}^n q^k", "\\sum_{k=0}^{n} q^k"),
    ("matrices", "an invertible matrix", "\\det A \\ne 0", "\\det A\\ne 0"),
    ("limits", "the limit of a quotient", "\\frac{\\sin x}{x}", "\\frac{\\sin x} x"),
    ("groups", "a group of prime order", "|G| = p", "|G|=p"),
    ("integrals", "an improper integral", "\\int_0^1 \\ln x dx", "\\int_0^1\\ln x dx"),
    ("triangles", "a right triangle", "a^2 + b^2 = c^2", "a^2+b^2=c^2"),
)


@dataclass
class Dump:
    """The files, and the ids in them.

    Attributes:
        folder: The folder of the files.
        posts: The ids of the posts by ``primes question``, ``primes accepted``, ``primes other``.
        formulas: The ids of the formulas by the same names.
    """

    folder: Path
    posts: dict[str, str] = field(default_factory=dict)
    formulas: dict[str, str] = field(default_factory=dict)

    def __truediv__(self, name: str) -> str:
        """The path of a file."""
        return str(self.folder / name)


def make_dump(folder: Path) -> Dump:
    """Write all files into a new folder."""
    folder.mkdir(parents=True)
    dump, rows, tables = Dump(folder), [], []
    for number, (topic, about, written, otherwise) in enumerate(THREADS):
        question, accepted, other = (str(10 * (number + 1) + place) for place in range(3))
        formulas = {
            "question": (question, "question", written),
            "accepted": (accepted, "answer", otherwise),
            "other": (other, "answer", f"n_{number} > {number}"),
        }
        for place, (kind, (post, where, latex)) in enumerate(formulas.items()):
            name = str(1000 + 10 * number + place)
            dump.posts[f"{topic} {kind}"], dump.formulas[f"{topic} {kind}"] = post, name
            # The first two look the same: the lab gives them one visual id.
            visual = 500 + 2 * number + (place == 2)
            tables.append((name, post, question, where, "", visual, visual, "", latex))
        ids = [dump.formulas[f"{topic} {kind}"] for kind in formulas]
        rows += [
            _row(Id=question, PostTypeId=1, AcceptedAnswerId=accepted, Score=5,
                 Title=f"What is known of {about}?", Tags=f"<{topic}>",
                 Body=f"<p>Please show what {about} has to do with {_math(ids[0], written)}.</p>"),
            _row(Id=accepted, PostTypeId=2, ParentId=question, Score=3,
                 Body=f"<p>It follows at once from {_math(ids[1], otherwise)}, as one sees.</p>"),
            _row(Id=other, PostTypeId=2, ParentId=question, Score=60,
                 Body=f"<p>Nothing at all is known unless {_math(ids[2], f'n_{number} > {number}')}"
                      " holds.</p>"),
        ]  # fmt: skip
    (folder / "Posts.xml").write_text(_document("posts", rows), encoding="utf-8")
    comment = _row(Id=1, PostId=10, Score=0, Text="Do you mean $p_1 p_2 + 1$?")
    (folder / "Comments.xml").write_text(_document("comments", [comment]), encoding="utf-8")
    _write_tables(folder / "latex_representation_v3", tables)
    _write_topics(dump)
    return dump


def _write_tables(folder: Path, rows: list[tuple[object, ...]]) -> None:
    """Write the formulas into two files, as the lab uses several."""
    folder.mkdir()
    header = "id post_id thread_id type comment_id old_visual_id visual_id issue formula".split()
    for number, part in enumerate((rows[:7], rows[7:]), start=1):
        lines = ["\t".join(map(str, row)) for row in (header, *part)]
        (folder / f"{number}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _write_topics(dump: Dump) -> None:
    answers, formulas, posts, visual = [], [], [], []
    for number, (topic, about, written, _) in enumerate(THREADS, start=1):
        name = f"q_{number}"
        asked = (
            f"<Title>{escape(f'A question about {about}')}</Title><Question>"
            + escape(f"<p>What does {_math(name, written)} say of {about}?</p>")
            + f"</Question><Tags>{topic}</Tags></Topic>"
        )
        answers.append(f'<Topic number="A.{number}">{asked}')
        formula = f"<Formula_Id>{name}</Formula_Id><Latex>{escape(written)}</Latex>"
        formulas.append(f'<Topic number="B.{number}">{formula}{asked}')
        other = THREADS[number % len(THREADS)][0]
        posts += [
            f"A.{number}\t0\t{dump.posts[f'{topic} accepted']}\t3",
            f"A.{number}\t0\t{dump.posts[f'{other} accepted']}\t0",
        ]
        visual += [f"B.{number}\t0\t{498 + 2 * number}\t3", f"B.{number}\t0\t{499 + 2 * number}\t0"]
    for name, topics in (("topics-task1.xml", answers), ("topics-task2.xml", formulas)):
        text = f'<?xml version="1.0" ?>\n<Topics>{"".join(topics)}</Topics>'
        (dump.folder / name).write_text(text, encoding="utf-8")
    for name, lines in (("qrels-task1.txt", posts), ("qrels-task2.txt", visual)):
        (dump.folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _math(name: str, latex: str) -> str:
    return f'<span class="math-container" id="{name}">${escape(latex)}$</span>'


def _row(**attributes: object) -> str:
    pairs = (f'{name}="{escape(str(value))}"' for name, value in attributes.items())
    return f"  <row {' '.join(pairs)} />\n"


def _document(name: str, rows: list[str]) -> str:
    return f'<?xml version="1.0" encoding="utf-8"?>\n<{name}>\n{"".join(rows)}</{name}>'
