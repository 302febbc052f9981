"""Documents as people have them; common tools made those in ``real``."""

import io
import json
import shutil
import zipfile
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest

from mathsetu.collections import source_text
from mathsetu.collections.documents import KINDS, kind_by_content, kind_by_name, pdf
from mathsetu.collections.documents.tex_expansion import expand
from mathsetu.collections.formats import detect, open_posts
from mathsetu.collections.rows import BadRows
from mathsetu.collections.tally import Tally
from mathsetu.errors import InputError, RowError
from mathsetu.formulas import parse_latex
from mathsetu.records import Post

REAL = Path(__file__).parent / "real"
#: The formulas of real/source.md, section by section.
FORMULAS = [
    r"\sum_{n=1}^{\infty} \frac{1}{n^2} = \frac{\pi^2}{6}",
    r"\int_0^1 \sqrt{1-x^2}\,dx = \frac{\pi}{4}",
    r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}",
    r"f(x)=\begin{cases}1 & x>0\\0 & x\le 0\end{cases}",
    r"\hat{x}", r"\lim_{x\to 0}\frac{\sin x}{x}=1", r"\binom{n}{k}", "x_i^2", r"\sqrt[3]{2}",
    r"\overline{AB}", r"\frac{1}{n(n+1)}", "z",
]  # fmt: skip


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def read(path: Path, bad: BadRows | None = None) -> list[Post]:
    return list(open_posts(path, bad or BadRows()))


def read_tex(tmp_path: Path, source: str) -> list[Post]:
    return read(write(tmp_path / "paper.tex", source))


def symbols(latex: str) -> object:
    return parse_latex(latex).opt


@pytest.mark.parametrize(
    "name",
    ["source.md", "pandoc.tex", "pandoc.ipynb", "pandoc.docx", "libreoffice.docx",
     "pandoc-mathml.html", "pandoc-katex.html", "pandoc-mathjax.html"],
)  # fmt: skip
def test_a_document_is_read_the_same_whichever_tool_made_it(name: str) -> None:
    first, second = read(REAL / name)
    assert first.title.endswith("The Basel problem")
    assert second.title.endswith("The Basel problem › A trick")
    assert first.id == f"{name}#the-basel-problem"
    assert "Euler showed that" in first.body
    assert r"costs \$5." in first.body
    found = [formula.latex for formula in first.formulas + second.formulas]
    assert len(found) == len(FORMULAS)
    different = {
        wanted: latex
        for latex, wanted in zip(found, FORMULAS, strict=True)
        if symbols(latex) != symbols(wanted)
    }
    # LibreOffice has no binomial coefficients.
    assert set(different) <= ({r"\binom{n}{k}"} if name == "libreoffice.docx" else set())


def test_a_pdf_gives_its_text_and_reports_that_formulas_are_lost() -> None:
    pytest.importorskip("pypdf")
    bad = BadRows(tally=Tally())
    posts = read(REAL / "pdflatex.pdf", bad)
    assert [(post.id, post.title) for post in posts] == [
        ("pdflatex.pdf#page=1", "Notes on series › p. 1"),
        ("pdflatex.pdf#page=2", "Notes on series › p. 2"),
    ]
    assert "Euler showed that" in posts[0].body
    assert bad.tally is not None
    ((_, word),) = bad.tally.words
    assert word == "text of 2 of 2 pages; formulas in a PDF are mostly lost"


def test_a_pdf_or_word_document_without_text_is_reported_once(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.docx", "w") as word:
        space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
        word.writestr("word/document.xml", f'<w:document xmlns:w="{space}"><w:body/></w:document>')
    pypdf = pytest.importorskip("pypdf")
    scanned = pypdf.PdfWriter()
    scanned.add_blank_page(100, 100)
    scanned.write(tmp_path / "b.pdf")
    tally = Tally()
    assert read(tmp_path, BadRows(tally=tally)) == []
    assert not tally.files
    assert tally.ignored.first == {
        "no text in it": [str(tmp_path / "a.docx")],
        "a PDF without text (scanned images?)": [str(tmp_path / "b.pdf")],
    }


def test_a_broken_pdf_or_word_document_is_a_bad_row(tmp_path: Path) -> None:
    (tmp_path / "a.docx").write_bytes((REAL / "pandoc.docx").read_bytes()[:5000])
    with pytest.raises(RowError, match=r"a\.docx: not a Word document, or a damaged one"):
        read(tmp_path / "a.docx")
    pytest.importorskip("pypdf")
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.5 nothing")
    with pytest.raises(RowError, match=r"a\.pdf: not a PDF, or a damaged one"):
        read(tmp_path / "a.pdf")


def test_a_folder_may_contain_documents_of_all_kinds(tmp_path: Path) -> None:
    folder = tmp_path / "all"
    shutil.copytree(REAL, folder)
    write(folder / "plot.png", "no text")
    bad = BadRows(notes=[], tally=Tally())
    posts = read(folder, bad)
    tally = bad.tally
    assert tally is not None
    assert {post.thread_id for post in posts} >= {"pandoc.docx", "pandoc.tex", "source.md"}
    counted = tally.to_json()
    assert counted["kinds"]["word"] == 2
    assert counted["kinds"]["html"] == 3
    assert {"reason": "unsupported file type", "count": 1,
            "first": [str(folder / "plot.png")]} in counted["ignored"]  # fmt: skip
    assert {post.language for post in posts} == {""}


# LaTeX


def test_macros_are_expanded_before_formulas_are_read(tmp_path: Path) -> None:
    (post,) = read_tex(
        tmp_path,
        r"""\documentclass{article}
        \newcommand{\R}{\mathbb{R}} \newcommand{\norm}[1]{\left\|#1\right\|}
        \newcommand{\inner}[2][x]{\langle #1,#2\rangle} \def\eps{\varepsilon}
        \DeclareMathOperator{\rank}{rank} \let\phi\varphi
        \newcommand{\beq}{\begin{equation}} \newcommand{\eeq}{\end{equation}}
        \DeclarePairedDelimiter{\abs}{\lvert}{\rvert} \newcommand{\N}{\ensuremath{\mathbb N}}
        \begin{document}
        $x\in\R$, $\norm{x}<\eps$, $\inner{y}$, $\inner[z]{y}$, $\rank A$, $\phi$, \beq a=b \eeq
        $\abs*{x}$ in \N.
        \end{document}""",
    )
    assert [formula.latex for formula in post.formulas] == [
        r"x\in\mathbb{R}", r"\left\|x\right\|<\varepsilon", r"\langle x,y\rangle",
        r"\langle z,y\rangle", r"\operatorname{rank} A", r"\varphi",
        r"\begin{equation} a=b \end{equation}", r"\lvert x\rvert", r"\mathbb N",
    ]  # fmt: skip


def test_the_definition_of_a_macro_with_delimited_arguments_is_skipped(tmp_path: Path) -> None:
    source = "\\def\\pair#1,#2;{<#1|#2>}Before. \\def\\R{\\mathbb R}After $x\\in\\R$."
    (post,) = read_tex(tmp_path, f"\\begin{{document}}{source}\\end{{document}}")
    assert "<" not in post.body
    assert "Before." in post.body
    assert [formula.latex for formula in post.formulas] == [r"x\in\mathbb R"]


def test_macros_and_environments_as_in_textbooks_are_expanded(tmp_path: Path) -> None:
    (post,) = read_tex(
        tmp_path,
        "\\newcommand{\\ct}{%\n \\mathchoice{\\mathbin{\\raisebox{1ex}{$\\cdot$}}}%\n {b}{c}{d}\n}"
        "\\newenvironment{narrowalign}{\\ifnarrow\\fi}{}\\begin{document}The path $p \\ct\n q$ "
        "\\begin{narrowalign}x&=1\\end{narrowalign} \\hbox to 20pt{wide} \\own[width=3cm]{box}"
        "\\end{document}",
    )
    formulas = ["".join(formula.latex.split()) for formula in post.formulas]
    assert formulas == [r"p\mathbin{{\cdot}}{}q", r"\begin{align}x&=1\end{align}"]
    assert post.body.endswith("wide box")


def test_included_files_are_part_of_the_document(tmp_path: Path) -> None:
    write(
        tmp_path / "main.tex",
        "\\documentclass{book}\\usepackage{own}\\input{macros}\\title{A book}\n\\begin{document}\n"
        "\\include{chapters/one}\\input chapters/two \\end{document}",
    )
    write(tmp_path / "own.sty", "\\newcommand{\\Q}{\\mathbb{Q}}\n")
    write(tmp_path / "macros.tex", "\\newcommand{\\R}{\\mathbb{R}}\n")
    write(tmp_path / "chapters/one.tex", "\\chapter{One}\\label{ch:one} In $\\R$ and $\\Q$.\n")
    write(tmp_path / "chapters/two.tex", "\\section{Two}\nMore.\n")
    bad = BadRows(notes=[])
    posts = read(tmp_path, bad)
    assert [(post.id, post.title, post.thread_id) for post in posts] == [
        ("chapters/one.tex#ch:one", "A book › One", "main.tex"),
        ("chapters/two.tex#two", "A book › One › Two", "main.tex"),
    ]
    assert [f.latex for f in posts[0].formulas] == [r"\mathbb{R}", r"\mathbb{Q}"]
    assert bad.notes == []
    assert [post.id for post in read(tmp_path / "main.tex")] == [post.id for post in posts]


def test_files_outside_the_folder_are_never_included(tmp_path: Path) -> None:
    write(tmp_path / "secret.tex", "secret")
    main = write(
        tmp_path / "paper" / "main.tex",
        f"Text. \\input{{../secret}} \\input{{{tmp_path}/secret}} \\input{{link}} end",
    )
    (tmp_path / "paper" / "link.tex").symlink_to(tmp_path / "secret.tex")
    bad = BadRows(notes=[])
    (post,) = read(main, bad)
    assert "secret" not in post.body
    assert bad.notes is not None
    assert "included files are missing: ../secret" in bad.notes[0]


def test_files_that_include_each_other_are_read_once(tmp_path: Path) -> None:
    write(tmp_path / "a.tex", "A \\input{b}")
    write(tmp_path / "b.tex", "B \\input{a}")
    assert [post.body for post in read(tmp_path)] == ["A B"]


def test_theorem_names_are_part_of_the_text(tmp_path: Path) -> None:
    (post,) = read_tex(
        tmp_path,
        "\\newtheorem{satz}{Satz}\\begin{document}\\begin{satz}[Bolzano--Weierstraß]\\label{bw}"
        "Every bounded sequence.\\end{satz}\\begin{proof}Clear.\\end{proof}\\end{document}",
    )
    assert post.body == "Satz (Bolzano–Weierstraß). Every bounded sequence.\nProof. Clear."


def test_references_drawings_comments_and_listings_are_removed(tmp_path: Path) -> None:
    (post,) = read_tex(
        tmp_path,
        r"""\begin{document}
        By Theorem~\ref{t} and (\ref{e}), see \cite[Thm.~3]{foo,bar} and \autoref{x}. % $5 hidden
        \begin{tikzpicture}[scale=2] \draw (0,0) -- node {$n$} (1,1); \end{tikzpicture}
        \begin{verbatim} $HOME \foo \end{verbatim}
        \begin{lstlisting}[language=C] int x; \end{lstlisting}
        Use \verb|a$b| here.\footnote{A note.} \includegraphics[width=3cm]{plot}
        \begin{tabular}{|c|c|} a & b \\[2pt] c & d \end{tabular} \hspace{1cm}
        \begin{comment} no \end{comment} \iffalse not \ifx\a\b\fi this \fi
        \begin{thebibliography}{9} \bibitem{foo} Foo. \end{thebibliography}
        \begin{equation}\label{e} x=1 \tag{7} \end{equation}
        \end{document}""",
    )
    assert " ".join(post.body.split()) == (
        r"By Theorem and, see. Use a\$b here. (A note.) a b c d "
        r"\begin{equation} x=1 \end{equation}"
    )


def test_a_paper_is_read_in_the_encoding_that_it_declares(tmp_path: Path) -> None:
    source = "\\usepackage[latin1]{inputenc}\\begin{document}Théorème\\end{document}"
    (tmp_path / "a.tex").write_bytes(source.encode("latin-1"))
    (post,) = read(tmp_path / "a.tex")
    assert post.body == "Théorème"


def test_an_included_file_is_read_in_the_encoding_of_the_paper_or_its_own(tmp_path: Path) -> None:
    declared, chapter = "\\usepackage[latin1]{inputenc}", "Théorème".encode("latin-1")
    document = "\\begin{document}\\input{b}\\end{document}"
    for main, included in (
        (declared + document, chapter),
        (document, declared.encode() + b"\\begin{document}" + chapter + b"\\end{document}"),
    ):
        (tmp_path / "a.tex").write_text(main)
        (tmp_path / "b.tex").write_bytes(included)
        (post,) = read(tmp_path / "a.tex")
        assert "Théorème" in post.body


@pytest.mark.parametrize(
    "piece",
    ["\\a{", "{", "\\def\\a{\\a\\a}\\a ", "\\cite{", "\\cite[", "\\begin{verbatim}", "\\iffalse ",
     "\\section{", "\\footnote{a}", "\\newcommand{\\a}[1]{#1#1}\\a{\\a{", "\\verb|", "\\\\[",
     "\\newenvironment{q}{\\begin{q}}{}\\begin{q}", "\\begin{theorem}["],
)  # fmt: skip
@pytest.mark.thorough
def test_the_expansion_of_macros_ends_for_any_document(piece: str) -> None:
    made = expand(piece * 2_000, "a.tex", lambda name, origin: None)
    assert len(made.text) < 2_000_000


# Markdown


def test_quarto_and_obsidian_notes_are_read_without_their_markup(tmp_path: Path) -> None:
    path = write(
        tmp_path / "notes.qmd",
        '---\ntitle: "Series"\n---\n\n# Sums {#sec-sums}\n\n'
        "See [[Calculus|the calculus]] and [[Limits#One]], ![[plot.png]] %% hidden %% ==bold==.\n\n"
        '::: {#thm-basel name="Basel"}\nAs @eq-one says [@euler1740, p. 3].[^1]\n:::\n\n'
        "> [!note] Mind\n> $$\n> \\sum_n\n>\n> \\frac1{n^2}\n> $$\n\n"
        "$$ x^2 $$ {#eq-one}\n\nKeep $[[1,2]]$ and $a == b == c$.\n\n[^1]: The note.\n",
    )
    (post,) = read(path)
    assert (post.id, post.title) == ("notes.qmd#sec-sums", "Series › Sums")
    formulas = ["".join(formula.latex.split()) for formula in post.formulas]
    assert formulas == [r"\sum_n\frac1{n^2}", "x^2", "[[1,2]]", "a==b==c"]
    for mark in ("[[C", "|", "plot", "hidden", "==bold", ":::", "@", "[^", "{#", "[!"):
        assert mark not in post.body, mark
    for word in ("the calculus", "Limits", "bold", "Basel", "Mind", "The note."):
        assert word in post.body


@pytest.mark.parametrize(
    ("front", "language", "tags"),
    [
        ("lang: hi\ntags: [algebra, 'number theory']", "hi", ("algebra", "number theory")),
        ('lang: "pt-BR"\ntags: algebra, sums', "pt", ("algebra", "sums")),
        ("tags:\n  - algebra\n- '#sums'\ntitle: x", "", ("algebra", "sums")),
        ("keywords: []\nlanguage:\n  title: x", "", ()),
        ("tags:\ntitle: x", "", ()),
    ],
)
def test_the_tags_and_language_in_the_front_matter_of_a_note_are_kept(
    tmp_path: Path, front: str, language: str, tags: tuple[str, ...]
) -> None:
    path = write(tmp_path / "a.md", f"---\n{front}\n---\n\nOne.\n\n# Two\n\nAnd two.\n")
    posts = read(path)
    assert [post.tags for post in posts] == [tags, tags]
    assert [post.language for post in posts] == [language, language]


@pytest.mark.parametrize(
    ("name", "text", "language"),
    [
        ("page.html", '<html class="a" lang="fr-CA"><p>La série $x$.', "fr"),
        ("page.html", '<html lang="en"><p>La série $x$.', ""),  # templates write this on all pages
        ("page.html", '<html lang="fra"><p>La série $x$.', "fr"),
        ("page.html", '<p lang="fr">La série $x$.', ""),
        ("note.tex", "\\usepackage[english, spanish]{babel}\n\\begin{document} x", "es"),
        ("note.tex", "\\setmainlanguage{czech}\n\\begin{document} x", "cs"),
        ("note.tex", "% \\usepackage[spanish]{babel}\n\\begin{document} x", ""),
        ("note.tex", "\\usepackage[klingon]{babel}\n\\begin{document} x", ""),
        ("note.md", '+++\ntitle = "A"\nlanguage = "hr"\n+++\nx', "hr"),
    ],
)
def test_a_document_may_state_its_language(
    tmp_path: Path, name: str, text: str, language: str
) -> None:
    [post] = read(write(tmp_path / name, text))
    assert post.language == language
    assert "+++" not in post.body


def test_formulas_in_math_fences_and_in_dollars_with_backticks_are_found(tmp_path: Path) -> None:
    text = "So $`x^2`$ is\n\n```math\ny^2\n```\n\nbut no\n\n```python\nz = '$`z^2`$'\n```\n"
    [post] = read(write(tmp_path / "note.md", text))
    assert [formula.latex for formula in post.formulas] == ["x^2", "y^2"]


def test_a_page_with_mathml_and_latex_delimiters_keeps_all_formulas(tmp_path: Path) -> None:
    marked = "<math><mi>x</mi></math>"
    page = rf"<p>{marked} and \(y^2\), $a&lt;b$, \[z^3\], <code>\(c\)</code>, for $5."
    [post] = read(write(tmp_path / "page.html", page))
    assert [formula.latex for formula in post.formulas] == ["x", "y^2", "a<b", "z^3"]
    priced_page = f"<p>{marked} costs $5, not $y^2$."
    [priced] = read(write(tmp_path / "priced.html", priced_page))
    assert [formula.latex for formula in priced.formulas] == ["x"]


@pytest.mark.parametrize(
    ("page", "anchors"),
    [
        ('<h2 id="own"><a id="in"></a>One</h2>A', ["own"]),
        ('<section id="box"><h2 id="own">One</h2>A</section>', ["own"]),
        ('<section id="box"><h2><a id="in"></a>One</h2>A</section>', ["in"]),
        ('<h2><a name="in">One</a></h2>A', ["in"]),
        ('<h2><span class="mw-headline" id="One_two">One</span></h2>A', ["One_two"]),
        ('<h2>One<a class="headerlink" id="in" href="#in">¶</a></h2>A', ["in"]),
        ('<a name="before"></a>\n<h2>One</h2>A', ["before"]),
        ('<section id="box"><h2>One<a class="headerlink" href="#box">¶</a></h2>A', ["box"]),
        ('<div id="page"><article id="box"> &nbsp;<header><h2>One</h2>A', ["box"]),
        ('<div id="page"><h1>One</h1>A<div><h2>Two</h2>B', ["page", "two"]),
        ('First.<ul><li id="a"><h3>One</h3>A</li><li id="b"><h3>Two</h3>B', ["", "a", "b"]),
        ('<section id="box"><h1>One</h1>A</section><h1>Two</h1>B', ["box", "two"]),
        ('<section id="box"><h2>One</h2><h2>Two</h2>B', ["box", "two"]),
        ('<div id="box">\\(x\\) <h2>One</h2>A', ["", "one"]),
        ('<div id="box"></div><h2>One</h2>A', ["one"]),
        ('<a id="far"></a>First.<h2>One</h2>A', ["", "one"]),
        ('<div id="b"><h2>One</h2>A</div><div id="b"><h2>One</h2>B</div>', ["b", "b-1"]),
    ],
)
def test_a_section_has_an_anchor_of_its_page_or_one_made_from_its_heading(
    tmp_path: Path, page: str, anchors: list[str]
) -> None:
    posts = read(write(tmp_path / "page.html", page))
    assert [post.url.partition("#")[2] for post in posts] == anchors


@pytest.mark.parametrize(
    ("title", "headings", "titles"),
    [
        ("Sheet", "<h2>Trace</h2>A<h2>Rank</h2>B", ["Sheet › Trace", "Sheet › Rank"]),
        ("Sheet", "<h1>Trace</h1>A<h1>Rank</h1>B", ["Sheet › Trace", "Sheet › Rank"]),
        ("Sheet", "<h1>Trace</h1>A<h2>Rank</h2>B", ["Sheet › Trace", "Sheet › Trace › Rank"]),
        ("Trace", "<h1>Trace</h1>A<h2>Rank</h2>B", ["Trace", "Trace › Rank"]),
        ("Trace - Wikipedia", "<h1><i>Trace</i></h1>A<h2>Rank</h2>B", ["Trace", "Trace › Rank"]),
        ("Trace and rank", "<h1>Trace</h1>A", ["Trace and rank › Trace"]),
        ("Sheet", "<h1><img src=a></h1>A<h2>Rank</h2>B", ["Sheet", "Sheet › Rank"]),
        ("Sheet", "A<h2>Rank</h2>B", ["Sheet", "Sheet › Rank"]),
        ("", "<h1>Trace</h1>A<h2>Rank</h2>B", ["Trace", "Trace › Rank"]),
    ],
)
def test_the_title_of_a_page_comes_before_its_headings_and_is_not_repeated(
    tmp_path: Path, title: str, headings: str, titles: list[str]
) -> None:
    page = f"<html><head><title>\n {title}\n</title></head><body>{headings}</body></html>"
    assert [post.title for post in read(write(tmp_path / "page.html", page))] == titles


def test_macros_defined_in_one_formula_apply_to_the_others_of_a_note(tmp_path: Path) -> None:
    path = write(tmp_path / "a.md", "$$\\newcommand{\\R}{\\mathbb{R}}$$\n\nLet $x\\in\\R$.")
    (post,) = read(path)
    assert [formula.latex for formula in post.formulas] == [r"x\in\mathbb{R}"]


# Notebooks


def test_a_notebook_is_read_cell_by_cell(tmp_path: Path) -> None:
    v4 = nbformat.v4
    result = v4.new_output("execute_result", {"text/latex": r"$\displaystyle \frac{1}{2}$"})
    notebook = v4.new_notebook(
        cells=[
            v4.new_markdown_cell("# Halves\n\nLet $x$ be."),
            v4.new_code_cell("print('$5')", outputs=[result]),
            v4.new_raw_cell("raw"),
            v4.new_markdown_cell("## More\n\nAnd $y$."),
        ]
    )
    nbformat.write(notebook, tmp_path / "a.ipynb")
    bad = BadRows(tally=Tally())
    first, second = read(tmp_path / "a.ipynb", bad)
    assert [f.latex for f in first.formulas] == ["x", r"\displaystyle \frac{1}{2}"]
    assert r"print('\$5')" in first.body
    assert (second.id, second.title) == ("a.ipynb#more", "Halves › More")
    assert bad.tally is not None
    assert bad.tally.ignored.counts == {"a raw cell of a notebook": 1}


@pytest.mark.parametrize("text", ["[]", "{}", "{", '{"cells": 7}', '{"cells": [{"source": 3}]}'])
def test_an_invalid_notebook_gives_no_posts(tmp_path: Path, text: str) -> None:
    path = write(tmp_path / "a.ipynb", text)
    bad = BadRows(skip=True, tally=Tally())
    assert read(path, bad) == []
    assert bad.tally is not None
    told = [*bad.messages, *bad.tally.ignored.first.get("no text in it", ())]
    assert ["a.ipynb" in one for one in told] == [True]


def test_cells_in_the_worksheets_of_version_3_notebooks_are_read(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "heading", "level": 1, "source": ["Old"]},
        {"cell_type": "markdown", "source": "Let $x$ be."},
    ]
    notebook = {"nbformat": 3, "worksheets": [{"cells": cells}, {"cells": cells[1:]}, 7]}
    (post,) = read(write(tmp_path / "old.ipynb", json.dumps(notebook)))
    assert post.title == "Old"
    assert [formula.latex for formula in post.formulas] == ["x", "x"]
    empty = write(tmp_path / "empty.ipynb", json.dumps({"nbformat": 3, "worksheets": []}))
    with pytest.raises(RowError, match="it has no cells"):
        read(empty)


# Recognition by content, and single files


def test_documents_are_also_recognised_by_their_content(tmp_path: Path) -> None:
    write(tmp_path / "paper", "\\documentclass{article}\\begin{document}Hi.\\end{document}")
    write(tmp_path / "page.save", "<!DOCTYPE html><html><p>Hi.</p></html>")
    write(tmp_path / "book", json.dumps(nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_markdown_cell("Hi.")])))  # fmt: skip
    for name in ("paper", "page.save", "book"):
        assert detect(tmp_path / name).name == "document"
        assert [post.body for post in read(tmp_path / name)] == ["Hi."]
    assert {post.thread_id for post in read(tmp_path)} == {"paper", "page.save", "book"}


def test_posts_about_latex_are_not_read_as_documents(tmp_path: Path) -> None:
    path = write(tmp_path / "posts.jsonl", json.dumps({"id": "7", "body": "\\documentclass{a}"}))
    assert detect(path).name == "jsonl-posts"
    path = write(tmp_path / "a.csv", "Subject;Content\nT;<html> \\begin{document}\n")
    assert detect(path).name == "table"


def test_files_of_the_same_name_in_different_folders_have_different_ids(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for week in ("week1", "week2"):
        write(Path(week) / "notes.md", "# Sums\n\ntext")
    assert [read(Path(f"{week}/notes.md"))[0].id for week in ("week1", "week2")] == [
        "week1/notes.md#sums",
        "week2/notes.md#sums",
    ]


def test_a_heading_with_nothing_below_it_is_a_post(tmp_path: Path) -> None:
    path = write(tmp_path / "a.md", "# One\n\n# Two\nText.\n# Three\n")
    assert [(post.title, post.body) for post in read(path)] == [
        ("One", ""),
        ("Two", "Text."),
        ("Three", ""),
    ]


def test_a_heading_without_text_is_not_a_post_if_it_has_subsections(tmp_path: Path) -> None:
    path = write(tmp_path / "a.md", "# One\n\n## Two\n\ntext\n\n# A statement alone\n")
    assert [post.title for post in read(path)] == ["One › Two", "A statement alone"]


def test_judgments_in_a_folder_are_not_read_as_posts(tmp_path: Path) -> None:
    write(tmp_path / "qrels.txt", "A.1 0 7 3\n")
    write(tmp_path / "note.txt", "A note on $x$.")
    bad = BadRows(tally=Tally())
    assert [post.id for post in read(tmp_path, bad)] == ["note.txt"]
    assert bad.tally is not None
    assert bad.tally.ignored.counts == {"holds judgments, not posts": 1}


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read(tmp_path / "absent.md")


@pytest.mark.parametrize(
    ("preamble", "printed"),
    [
        (r"\usepackage[czech]{babel}", "Důkaz."),
        (r"\usepackage[english,ngerman]{babel}", "Beweis."),
        (r"\usepackage{polyglossia}\setmainlanguage{spanish}", "Demostración."),
        (r"\usepackage[magyar]{babel}", "Bizonyítás."),
        (r"\usepackage[hindi]{babel}", "प्रमाण."),
        (r"\usepackage[czech]{babel}\renewcommand{\proofname}{Náznak}", "Náznak."),
        (r"\usepackage[czech]{babel}\addto\captionsczech{\def\proofname{Idea}}", "Idea."),
        (r"\usepackage[czech]{babel}\newtheorem*{proof}{Dk}", "Dk."),
        (r"\usepackage[klingon]{babel}", "Proof."),
        ("", "Proof."),
    ],
)
def test_a_proof_has_the_name_that_latex_prints(
    tmp_path: Path, preamble: str, printed: str
) -> None:
    path = tmp_path / "a.tex"
    path.write_text(
        f"\\documentclass{{article}}{preamble}\\begin{{document}}\\begin{{proof}}$x$\\end{{proof}}"
        "\\end{document}",
        encoding="utf-8",
    )
    (post,) = open_posts(path)
    assert post.body.split() == [printed, "$x$"]


def test_a_first_heading_without_text_is_the_title_of_the_page(tmp_path: Path) -> None:
    (post,) = read(write(tmp_path / "a.html", "<h1>Rings</h1><h1>Ideals</h1><p>Text.</p>"))
    assert post.title == "Rings › Ideals"
    (post,) = read(write(tmp_path / "b.html", "<h1>Rings</h1><p>Text.</p>"))
    assert post.title == "Rings"


def test_tabs_and_line_breaks_of_word_separate_words(tmp_path: Path) -> None:
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    text = "<w:t>one</w:t><w:tab/><w:t>two</w:t><w:br/><w:t>three</w:t><w:cr/><w:t>four</w:t>"
    with zipfile.ZipFile(tmp_path / "a.docx", "w") as file:
        body = f"<w:body><w:p><w:r>{text}</w:r></w:p></w:body>"
        file.writestr("word/document.xml", f"<w:document {space}>{body}</w:document>")
    (post,) = read(tmp_path / "a.docx")
    assert post.body == "one two\nthree\nfour"


@pytest.mark.parametrize(
    ("source", "body"),
    [
        (r"\paragraph*{Note} Text.", "Note. Text."),
        (
            r"\declaretheorem[name=Satz, style=plain]{satz}\begin{satz}Text.\end{satz}",
            "Satz. Text.",
        ),
        (r"\declaretheorem{lemma}\begin{lemma}Text.\end{lemma}", "Lemma. Text."),
        (r"One \vskip 3pt plus 1pt two.", "One two."),
        (r"One \hbox{two} \hbox to 20pt{three}.", "One two three."),
    ],
)
def test_latex_commands_leave_only_the_text_that_they_print(
    tmp_path: Path, source: str, body: str
) -> None:
    (post,) = read_tex(tmp_path, f"\\begin{{document}}{source}\\end{{document}}")
    assert " ".join(post.body.split()) == body


def test_environments_of_latex_cannot_be_redefined(tmp_path: Path) -> None:
    (post,) = read_tex(
        tmp_path,
        "\\newenvironment{align}{no}{no}\\newenvironment{document}{no}{no}"
        "\\newenvironment{own}{Before}{After}\\begin{document}\\begin{align}x\\end{align}"
        " \\begin{own} text \\end{own}\\end{document}",
    )
    assert " ".join(post.body.split()) == r"\begin{align}x\end{align} Before text After"


def test_files_are_included_up_to_sixty_levels_deep(tmp_path: Path) -> None:
    for number in range(70):
        write(tmp_path / f"f{number}.tex", f"{number} \\input{{f{number + 1}}} end")
    (post,) = read(tmp_path / "f0.tex")
    assert post.body.split()[:61] == [*map(str, range(60)), "end"]


def test_code_cells_that_contain_fences_stay_code(tmp_path: Path) -> None:
    cells = [{"cell_type": "code", "source": "'''\n```\n$x$\n```\n'''"}]
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
    (post,) = read(write(tmp_path / "a.ipynb", json.dumps(notebook)))
    assert "x" in post.body
    assert post.formulas == ()


def test_a_word_document_is_recognised_by_its_whole_content(tmp_path: Path) -> None:
    whole = (REAL / "pandoc.docx").read_bytes()
    kind = kind_by_content(whole[:100], whole)
    assert kind is KINDS["word"]
    assert kind_by_content(whole[:100]) is None
    assert kind_by_content(whole[:100], whole[:100]) is None
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.txt", "x")
    assert kind_by_content(buffer.getvalue(), buffer.getvalue()) is None


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"<!doctype html><p>", "html"),
        (b'<?xml version="1.0"?> <!-- x --> <HTML>', "html"),
        (b"% a note\n\\documentclass{article}", "latex"),
        (b'{"cells": [], "nbformat": 4}', "notebook"),
        (b"%PDF-1.7", "pdf"),
    ],
)
def test_a_document_is_recognised_by_its_first_bytes(head: bytes, name: str) -> None:
    assert kind_by_content(head) is KINDS[name]


def test_a_file_that_is_not_a_document_has_no_kind() -> None:
    assert kind_by_content(b"text with html") is None
    assert kind_by_name("Makefile") is None
    assert kind_by_name("a.b/c") is None
    assert kind_by_name(".md") is KINDS["markdown"]


def test_each_file_is_counted_once(tmp_path: Path) -> None:
    bad = BadRows(tally=Tally(), notes=[])
    for name in ("source.md", "pandoc.docx"):
        shutil.copy(REAL / name, tmp_path)
    write(tmp_path / "empty.md", "<!-- nothing -->")
    assert len(read(tmp_path, bad)) == 4
    assert bad.tally is not None
    assert bad.tally.files == {"markdown": 1, "word": 1}
    assert bad.tally.ignored.counts == {"no text in it": 1}


def test_each_readable_page_of_a_pdf_is_a_post(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pypdf = pytest.importorskip("pypdf")
    texts: list[str | None] = ["one\x00 costs $5 a\\b, com-\nposed", " ", None, "four"]

    class Page:
        def __init__(self, text: str | None) -> None:
            self._text = text

        def extract_text(self) -> str:
            if self._text is None:
                raise KeyError("broken")
            return self._text

    class Reader:
        is_encrypted = False
        metadata = SimpleNamespace(title=" A $ \x01 title")

        def __init__(self, file: object) -> None:
            self.pages = [Page(text) for text in texts]

    monkeypatch.setattr(pypdf, "PdfReader", Reader)
    path = write(tmp_path / "a.pdf", "%PDF-1.4")
    bad = BadRows(tally=Tally(), notes=[])
    first, last = read(path, bad)
    assert (first.id, first.title) == ("a.pdf#page=1", "A \\$ title › p. 1")
    assert first.body == "one costs \\$5 a\\\\b, composed"
    assert (last.id, last.body) == ("a.pdf#page=4", "four")
    assert bad.tally is not None
    assert bad.tally.words == [
        (str(path), "text of 2 of 4 pages; formulas in a PDF are mostly lost; 1 pages are damaged")
    ]
    texts[:] = [None]
    bad = BadRows(tally=Tally())
    assert read(path, bad) == []
    assert bad.tally is not None
    assert bad.tally.ignored.counts == {"a PDF without text (damaged pages)": 1}
    texts[:] = [" "]
    bad = BadRows(tally=Tally())
    assert read(path, bad) == []
    assert bad.tally is not None
    assert bad.tally.ignored.counts == {"a PDF without text (scanned images?)": 1}
    texts[:] = ["a", "b", "c"]
    monkeypatch.setattr(pdf, "_MAX_PAGES", 2)
    bad = BadRows(notes=[])
    assert len(read(path, bad)) == 2
    assert bad.notes == [f"{path}: too long; read up to page 2"]
    monkeypatch.setattr(pdf, "_SECONDS", -1.0)
    bad = BadRows(notes=[])
    assert read(path, bad) == []
    assert bad.notes == [f"{path}: too long; read up to page 0"]


def test_a_pdf_page_that_is_too_long_is_reported_without_a_line_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pypdf = pytest.importorskip("pypdf")
    texts = ("longer than that", "b")
    pages = [SimpleNamespace(extract_text=lambda text=text: text) for text in texts]
    reader = SimpleNamespace(is_encrypted=False, metadata=None, pages=pages)
    monkeypatch.setattr(pypdf, "PdfReader", lambda file: reader)
    path = write(tmp_path / "a.pdf", "%PDF-1.4")
    bad = BadRows(skip=True)
    monkeypatch.setattr(source_text, "LONGEST_TEXT", 12)
    assert [post.id for post in read(path, bad)] == ["a.pdf#page=2"]
    assert bad.messages == [f"{path}: the body is longer than 12 characters"]
    encrypted = SimpleNamespace(is_encrypted=True, decrypt=lambda word: 0)
    monkeypatch.setattr(pypdf, "PdfReader", lambda file: encrypted)
    with pytest.raises(RowError, match="is encrypted"):
        read(path)


def test_a_menu_of_links_before_the_heading_leaves_nothing(tmp_path: Path) -> None:
    menu = '<ul><li><a href="/">Home</a></li><li><a href="/es/">Notes</a></li></ul>'
    article = "<h1>Integral</h1><p>The integral of a function is the area below its graph."
    (post,) = read(write(tmp_path / "a.html", f"<body><div>{menu}</div><div>{article}</div>"))
    assert (post.title, post.body) == (
        "Integral",
        "The integral of a function is the area below its graph.",
    )


@pytest.mark.parametrize(
    ("head", "tags"),
    [
        ('<meta name="keywords" content="series, limits">', ("series", "limits")),
        ("<META content='series' NAME=Keywords>", ("series",)),
        ('<meta property="article:tag" content="a b"><meta property="article:tag" content="c">',
         ("a b", "c")),
        ('<meta name="description" content="series">', ()),
        ('<meta name="keywords" content="">', ()),
        ('</head><body><meta name="keywords" content="series">', ()),
    ],
)  # fmt: skip
def test_the_tags_of_a_page_are_read_from_its_head(
    tmp_path: Path, head: str, tags: tuple[str, ...]
) -> None:
    path = write(tmp_path / "a.html", f"<head>{head}<h1>A</h1><p>x<h2>B</h2><p>y")
    assert [post.tags for post in read(path)] == [tags, tags]


def test_the_language_of_a_page_is_read_from_its_html_tag(tmp_path: Path) -> None:
    for page, language in (
        ('<html lang="fr-CA"><p>x', "fr"),
        ('<html dir="ltr" xml:lang="hi"><p>x', "hi"),
        ("<html lang=en><p>x", ""),  # what templates write
        ('<html data-lang="fr"><p>x', ""),
        ("<!-- " + "x" * 4_200 + ' --><html lang="fr"><p>x', "fr"),
    ):
        (post,) = read(write(tmp_path / "a.html", page))
        assert post.language == language, page
