"""Archives and dumps as they are published; reading an archive writes no files."""

import bz2
import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from mathsetu.collections import trees
from mathsetu.collections.formats import detect, find, open_posts
from mathsetu.collections.rows import BadRows
from mathsetu.collections.tally import Tally
from mathsetu.errors import InputError
from mathsetu.records import Post

MAIN = (
    b"\\documentclass{article}\\title{T}\\input{macros}\\begin{document}Let $\\R$.\\end{document}"
)
PAPER = {"main.tex": MAIN, "macros.tex": b"\\newcommand{\\R}{\\mathbb{R}}"}
POSTS = (
    b'<?xml version="1.0" encoding="utf-8"?>\n<posts>\n'
    b'<row Id="8" PostTypeId="1" Title="T" Body="&lt;p&gt;Is $x$?&lt;/p&gt;" />\n'
    b'<row Id="9" PostTypeId="5" Body="wiki" />\n</posts>\n'
)
WIKI = """<mediawiki xml:lang="es"><siteinfo><dbname>eswiki</dbname>
<base>https://es.wikipedia.org/wiki/Portada</base></siteinfo>
<page><title>Teorema de Pitágoras</title><ns>0</ns><revision><text>El '''teorema''' dice
{{math|''a''&lt;sup&gt;2&lt;/sup&gt;}} + &lt;math&gt;b^2&lt;/math&gt;.&lt;ref&gt;x&lt;/ref&gt;
Ver [[triángulo|triángulos]] y [[Archivo:x.png|thumb|pie [[enlace]]]].
== Demostración ==
Sea &lt;math display="block"&gt;x&lt;1&lt;/math&gt; {{Control de autoridades}}
== Referencias ==
{{listaref}} [[Categoría:Mates]]</text></revision></page>
<page><title>R</title><ns>0</ns><redirect title="x"/><revision><text>#R</text></revision></page>
<page><title>Plantilla:x</title><ns>10</ns><revision><text>x</text></revision></page></mediawiki>
"""


def tarred(members: dict[str, bytes], mode: str = "w:gz") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def read(path: Path, **options: bool) -> tuple[list[Post], Tally, BadRows]:
    bad = BadRows(notes=[], tally=Tally(), **options)
    assert bad.tally is not None
    return list(open_posts(path, bad)), bad.tally, bad


@pytest.mark.parametrize("mode", ["w:gz", "w:bz2", "w:xz", "w"])
def test_an_arxiv_archive_is_read_as_one_paper(tmp_path: Path, mode: str) -> None:
    ending = {"w": ".tar", "w:gz": ".tar.gz", "w:bz2": ".tar.bz2", "w:xz": ".tar.xz"}[mode]
    path = tmp_path / f"2101.00001{ending}"
    path.write_bytes(tarred(PAPER, mode))
    assert detect(path).name == "archive"
    (post,), _, _ = read(path)
    assert (post.id, post.title, post.body) == (f"{path.name}/main.tex", "T", r"Let $\mathbb{R}$.")


def test_a_single_file_and_a_bulk_archive_of_arxiv_are_read(tmp_path: Path) -> None:
    alone = gzip.compress(b"\\documentclass{article}\\begin{document}Alone.\\end{document}")
    (tmp_path / "2101.00002.gz").write_bytes(alone)
    (post,), _, _ = read(tmp_path / "2101.00002.gz")
    assert post.body == "Alone."
    bulk = tmp_path / "arXiv_src_2101_001.tar"
    bulk.write_bytes(tarred({"2101/1.gz": tarred(PAPER), "2101/2.gz": alone, "2101/3.pdf": b"x"},
                            "w"))  # fmt: skip
    posts, _, bad = read(bulk, skip=True)
    assert [post.body for post in posts] == [r"Let $\mathbb{R}$.", "Alone."]
    assert bad.count + sum((bad.tally or Tally()).ignored.counts.values()) == 1


def test_a_zip_archive_is_read_as_a_folder(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("notes/a.md", "# One\n\nLet $x$.")
        archive.writestr("posts.jsonl", '{"id": "7", "body": "b"}\n')
        archive.writestr("plot.png", "x")
    posts, tally, _ = read(tmp_path / "a.zip")
    assert [post.id for post in posts] == ["a.zip/notes/a.md#one", "7"]
    assert tally.ignored.counts == {"unsupported file type": 1}


def test_no_path_link_or_input_leads_outside_its_archive(tmp_path: Path) -> None:
    evil = b"Text \\input{../secret} \\input{/etc/hostname}"
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name in ("../../up.tex", "/abs.tex", "a.tex"):
            info = tarfile.TarInfo(name)
            info.size = len(evil)
            archive.addfile(info, io.BytesIO(evil))
        link = tarfile.TarInfo("link.tex")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    (tmp_path / "secret.tex").write_text("secret")
    (tmp_path / "a.tar.gz").write_bytes(buffer.getvalue())
    posts, tally, _ = read(tmp_path / "a.tar.gz")
    assert [post.body for post in posts] == ["Text"]
    assert tally.ignored.counts == {
        "not a regular file": 1,
        "a path that leads outside its archive": 2,
    }
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.tar.gz", "secret.tex"]


def test_archives_that_grow_too_large_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trees, "LONGEST_ARCHIVE", 100_000)
    (tmp_path / "a.tar.gz").write_bytes(tarred({"a.tex": b"x" * 200_000}))
    with pytest.raises(InputError, match="unpacks to more than"):
        read(tmp_path / "a.tar.gz")
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.tex", b"x" * 200_000)
    with pytest.raises(InputError, match="more than 100 times"):
        read(tmp_path / "a.zip")
    monkeypatch.setattr(trees, "MAX_MEMBERS", 3)
    (tmp_path / "b.tar").write_bytes(tarred({f"{n}.tex": b"x" for n in range(5)}, "w"))
    with pytest.raises(InputError, match="more than 3 members"):
        read(tmp_path / "b.tar")


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz", "a.7z", "a.tgz", "a.gz", "a.zst"])
def test_the_error_for_a_broken_archive_names_its_file(tmp_path: Path, name: str) -> None:
    if name.endswith(("7z", "zst")):
        pytest.importorskip("py7zr")
    heads = {"a.zip": b"PK\x03\x04", "a.7z": b"7z\xbc\xaf\x27\x1c", "a.zst": b"\x28\xb5\x2f\xfd"}
    (tmp_path / name).write_bytes(heads.get(name, b"\x1f\x8b\x08") + b"\0" * 600)
    with pytest.raises(InputError, match=f"{name}: "):
        read(tmp_path / name)


def test_a_stack_exchange_dump_is_read_from_a_7z_archive(tmp_path: Path) -> None:
    py7zr = pytest.importorskip("py7zr")
    path = tmp_path / "math.stackexchange.com.7z"
    with py7zr.SevenZipFile(path, "w") as archive:
        archive.writestr(b"<comments></comments>", "Comments.xml")
        archive.writestr(POSTS, "Posts.xml")
    (post,), tally, _ = read(path)
    assert (post.id, post.url) == ("8", "https://math.stackexchange.com/q/8")
    assert tally.ignored.counts == {
        "another table of a Stack Exchange dump": 1,
        "a row that is neither question nor answer": 1,
    }


def test_a_dump_compressed_with_zstandard_is_read(tmp_path: Path) -> None:
    zstd = pytest.importorskip("backports.zstd")
    (tmp_path / "Posts.xml.zst").write_bytes(zstd.compress(POSTS))
    (post,), _, _ = read(tmp_path / "Posts.xml.zst")
    assert post.id == "8"


def test_each_section_in_a_wikipedia_dump_is_a_post(tmp_path: Path) -> None:
    path = tmp_path / "eswiki-latest-pages-articles.xml.bz2"
    path.write_bytes(bz2.compress(WIKI.encode()))
    assert detect(path).name == "wikipedia"
    (first, second), tally, _ = read(path)
    assert (first.id, first.language) == ("eswiki:Teorema_de_Pitágoras", "es")
    assert first.body == "El teorema dice\n$a^{2}$ + $b^2$.\nVer triángulos y ."
    assert second.title == "Teorema de Pitágoras › Demostración"
    assert second.url.startswith("https://es.wikipedia.org/wiki/Teorema_de_Pit%C3%A1goras#Demo")
    assert second.body == "Sea $$x<1$$"
    assert tally.ignored.counts == {
        "a wiki page that is not an article": 1,
        "a redirect of a wiki": 1,
    }


def test_a_dump_that_declares_entities_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "wiki.xml"
    path.write_text('<!DOCTYPE x [<!ENTITY a "b">]><mediawiki></mediawiki>')
    with pytest.raises(InputError, match="declares entities"):
        list(find("wikipedia").read(path, BadRows()))


def test_archives_are_read_two_levels_inside_an_archive(tmp_path: Path) -> None:
    data = b""
    for depth in range(3, -1, -1):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr(f"note{depth}.md", f"Note {depth}.")
            if data:
                archive.writestr("inner.zip", data)
        data = buffer.getvalue()
    (tmp_path / "outer.zip").write_bytes(data)
    posts, tally, _ = read(tmp_path / "outer.zip")
    assert [post.body for post in posts] == ["Note 2.", "Note 1.", "Note 0."]
    assert dict(tally.ignored.counts) == {"an archive inside archives": 1}
