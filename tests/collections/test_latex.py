"""LaTeX documents of several files."""

from pathlib import Path

import pytest

from mathsetu.collections.documents import latex, tex_expansion
from mathsetu.collections.documents.latex import included, is_main, main_file, resolve
from mathsetu.collections.documents.sections import Document
from mathsetu.collections.rows import BadRows
from mathsetu.collections.trees import FolderTree
from mathsetu.errors import RowError
from mathsetu.records import Post

MAIN = "\\documentclass{article}\\begin{document}\n"


def tree(folder: Path, **files: str) -> FolderTree:
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(exist_ok=True)
        path.with_suffix(".tex").write_text(text, encoding="utf-8")
    return FolderTree(folder, label="")


def posts(made: FolderTree, name: str = "main.tex", bad: BadRows | None = None) -> list[Post]:
    return list(latex.read_posts(Document(made, name), bad or BadRows()))


def test_the_argument_of_input_is_resolved_to_a_file(tmp_path: Path) -> None:
    made = tree(tmp_path, main="x", part__a="x", b="x")
    assert resolve(made, "a", "part") == "part/a.tex"
    assert resolve(made, ' "a.tex" ', "part") == "part/a.tex"
    assert resolve(made, "../b", "part") == "b.tex"
    assert resolve(made, "b", "part", "") == "b.tex"
    assert resolve(made, "../b", "", "part") == "b.tex"
    for name in ("", "/b", "../b", "gone", f"{tmp_path}/b"):
        assert resolve(made, name, "") is None


def test_files_that_others_include_are_not_documents(tmp_path: Path) -> None:
    made = tree(
        tmp_path,
        main=r"\input{a} \include b \subfile{part/c} %\input{d}"
        "\n\\import{part/}{e} \\input{main}",
        a="x", b="x", d="x", part__c=r"\input{e}", part__e="x", part__f=r"\subimport{}{c}",
    )  # fmt: skip
    names = ["gone.tex", "main.tex", "part/c.tex", "part/f.tex"]
    assert included(made, names) == {"a.tex", "b.tex", "part/c.tex", "part/e.tex"}


def test_the_main_file_of_a_chapter_is_found_through_other_files(tmp_path: Path) -> None:
    made = tree(
        tmp_path,
        alone=MAIN,
        part=r"\input{deep}",
        other=r"\input{deep}",
        main=MAIN + r"\input{part}",
        deep=r"\input{part}",
    )
    names = ["alone.tex", "deep.tex", "other.tex", "main.tex", "part.tex"]
    assert main_file(made, "deep.tex", names) == "main.tex"
    assert main_file(made, "part.tex", names) == "main.tex"
    assert main_file(made, "alone.tex", names) is None
    assert main_file(made, "main.tex", names) is None


def test_a_main_file_declares_a_document_class(tmp_path: Path) -> None:
    made = tree(tmp_path, a=r"\documentclass{x}", b=r"\documentstyle{x}", c=r"%\documentclass{x}",
                d=r"\documentclasses", e=r"\% \documentclass{x}")  # fmt: skip
    assert [is_main(made, f"{name}.tex") for name in "abcde"] == [True, True, False, False, True]
    assert not is_main(made, "gone.tex")


def test_missing_files_and_macros_that_expand_too_far_are_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tex_expansion, "_BUDGET", 0)
    made = tree(tmp_path, main=MAIN + r"\def\a{\a\a}\a \input{gone}\input{lost}\input{gone} text")
    bad = BadRows(notes=[])
    (post,) = posts(made, bad=bad)
    assert post.body == "text"
    assert bad.notes == [
        "main.tex: included files are missing: gone, lost",
        "main.tex: its macros expand to too much text; some are not expanded",
    ]


def test_the_length_of_included_files_is_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tree(tmp_path, main=MAIN + r"\input{a}\input{b}", a="x" * 30, b="y" * 10)
    monkeypatch.setattr(latex, "LONGEST_TEXT", 10)
    assert len(posts(made)) == 1
    tree(tmp_path, b="y" * 11)
    with pytest.raises(RowError, match=r"main.tex: includes more than 40 characters"):
        posts(made)


def test_references_are_removed_and_sections_keep_their_labels(tmp_path: Path) -> None:
    source = (
        rf"\title{{Old}}\title{{On \ensuremath{{x}}\label{{t}}}}{MAIN}"
        r"See \ref{a}, \ref{b} and \ref{c}. By (\ref{a}) it~\cite{b} holds. "
        r"\section{One \label{no}}\label{sec:one} Text $\ensuremath{y}$."
        r"\subsection{Two} More \ensuremath{z_{1}}."
    )
    first, second, third = posts(tree(tmp_path, main=source))
    assert first.title == "On $x$"
    assert first.body == "See. By it holds."
    assert (second.id, second.title, second.body) == (
        "main.tex#sec:one",
        "On $x$ › One",
        "Text ${y}$.",
    )
    assert (third.id, third.body) == ("main.tex#two", "More $z_{1}$.")


@pytest.mark.parametrize(
    ("preamble", "language"),
    [
        (r"\usepackage[german]{babel}", "de"),
        (r"\usepackage[ngerman, french]{babel}", "fr"),
        (r"\usepackage[main=hindi, english]{babel}", "hi"),
        (r"\usepackage[english, klingon]{babel}", "en"),
        (r"\usepackage[klingon]{babel}", ""),
        (r"\setdefaultlanguage[variant=british]{english}", "en"),
        (r"\setmainlanguage{russian}", "ru"),
        ("%\\usepackage[german]{babel}\n", ""),
        (" " * 20_000 + r"\usepackage[german]{babel}", ""),
        ("", ""),
    ],
)
def test_the_language_stated_in_the_preamble_is_recognised(preamble: str, language: str) -> None:
    assert latex._stated_language(preamble) == language


def test_the_encoding_declared_in_the_preamble_is_recognised() -> None:
    assert latex._declared(rb"\usepackage[Latin1]{inputenc}") == "latin-1"
    assert latex._declared(rb"\usepackage[utf8]{inputenc}") == ""
    assert latex._declared(b"") == ""


@pytest.mark.parametrize(
    ("macro", "used", "expanded"),
    [
        (r"\newcommand{\norm}[1]{\lVert#1\rVert}", r"\norm{x}", r"\lVert x\rVert"),
        (r"\newcommand{\pd}[2]{\partial#1/\partial#2}", r"\pd{u}{t}", r"\partial u/\partial t"),
        (r"\newcommand{\up}[1]{#1x}", r"\up{\alpha}", r"\alpha x"),
        (r"\newcommand{\apply}[2]{#1#2}", r"\apply{\sin}{x}", r"\sin x"),
        (r"\newcommand{\norm}[1]{\lVert#1\rVert}", r"\norm{\pi}", r"\lVert\pi\rVert"),
        (r"\newcommand{\pair}[2]{#1\\#2}", r"\pair{a}{b}", r"a\\b"),
        (r"\newcommand{\index}[2]{#1_#2}", r"\index{x}{i}", "x_i"),
    ],
)  # fmt: skip
def test_an_argument_never_becomes_part_of_a_command_name(
    tmp_path: Path, macro: str, used: str, expanded: str
) -> None:
    text = rf"\documentclass{{article}}{macro}\begin{{document}}A sum ${used}$.\end{{document}}"
    [post] = posts(tree(tmp_path, main=text))
    assert [formula.latex for formula in post.formulas] == [expanded]


def test_an_optional_argument_may_follow_a_space(tmp_path: Path) -> None:
    made = tree(tmp_path, main=r"\section [Short] {A long title} One sum.")
    assert [(post.title, post.body) for post in posts(made)] == [("A long title", "One sum.")]
