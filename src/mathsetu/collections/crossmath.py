"""CrossMath: the ARQMath topics in other languages, one table per language.

The file name gives the language: ``hin_Deva.tsv`` is Hindi.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from mathsetu.collections.files import plain_name, read_lines, shown, writing
from mathsetu.collections.rows import REFUSE, BadRows
from mathsetu.collections.source_text import split_tags
from mathsetu.collections.trec import columns
from mathsetu.errors import RowError
from mathsetu.markup import to_marked_text
from mathsetu.records import Query

_COLUMNS = "topic id, title, body, tags"
# Language codes of the NLLB translation models (without the script) and their ISO 639-1 codes.
_LANGUAGES = dict(
    pair.split(":")
    for pair in (
        "afr:af als:sq amh:am arb:ar asm:as azj:az bel:be ben:bn bul:bg cat:ca ces:cs cym:cy "
        "dan:da deu:de ell:el eng:en est:et eus:eu fas:fa fin:fi fra:fr gle:ga glg:gl guj:gu "
        "hau:ha heb:he hin:hi hrv:hr hun:hu hye:hy ibo:ig ind:id isl:is ita:it jpn:ja kan:kn "
        "kat:ka kaz:kk khk:mn khm:km kor:ko lao:lo lit:lt lvs:lv mal:ml mar:mr mkd:mk mlt:mt "
        "mya:my nld:nl nno:nn nob:nb npi:ne ory:or pan:pa pbt:ps pes:fa pol:pl por:pt ron:ro "
        "rus:ru san:sa sin:si slk:sk slv:sl snd:sd som:so spa:es srp:sr swe:sv swh:sw tam:ta "
        "tel:te tgl:tl tha:th tur:tr ukr:uk urd:ur uzn:uz vie:vi xho:xh yor:yo zho:zh zsm:ms "
        "zul:zu"
    ).split()
)


def language_of(path: str | Path) -> str:
    """Return the language that a file name gives; empty if it gives none.

    >>> language_of("topics/hin_Deva.tsv"), language_of("npi_Deva.tsv.gz"), language_of("a.tsv")
    ('hi', 'ne', '')
    """
    code, _, script = plain_name(path).partition(".")[0].partition("_")
    return _LANGUAGES.get(code, "") if script else ""


def read_topics(path: str | Path, bad: BadRows = REFUSE, *, language: str = "") -> Iterator[Query]:
    r"""Read topics, one per line.

    Args:
        path: The table.
        bad: What to do with bad rows.
        language: The language; by default it is taken from the file name.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "spa_Latn.tsv"
    >>> _ = path.write_text("A.1\tSumas\t¿Cuánto es $1+1$?\tarithmetic,sums\n", encoding="utf-8")
    >>> next(read_topics(path))  # doctest: +ELLIPSIS
    Query(id='A.1', text='¿Cuánto es $1+1$?', title='Sumas', tags=('arithmetic', 'sums'), ...
    """
    language = language or language_of(path)
    for line, row in read_lines(path, bad):
        if not row.strip():
            continue
        try:
            number, title, body, tags = map(_unquoted, columns(row, 4, _COLUMNS, "\t"))
            if not number.strip():
                raise ValueError("the topic id is empty")
        except ValueError as error:
            bad.report(RowError(shown(path), line, str(error)))
            continue
        yield Query(
            id=number.strip(),
            text=to_marked_text(body),
            title=to_marked_text(title),
            tags=split_tags(tags),
            language=language,
            kind="question",
        )


def write_topics(path: str | Path, queries: Iterable[Query]) -> None:
    """Write topics; line breaks inside a text become spaces, because each line is one topic."""
    with writing(path) as file:
        for query in queries:
            row = (query.id, query.title, query.text, ",".join(query.tags))
            file.write("\t".join(_quoted(" ".join(text.split())) for text in row) + "\n")


def _quoted(text: str) -> str:
    """Quote a text as a spreadsheet does, if `_unquoted` would otherwise remove its quotes."""
    is_mistaken = _unquoted(text) != text
    return '"' + text.replace('"', '""') + '"' if is_mistaken else text


def _unquoted(text: str) -> str:
    """Undo the quoting of a spreadsheet, in which some of the tables were edited."""
    text = text.strip()
    if len(text) < 2 or not text[0] == text[-1] == '"':
        return text
    inner = text[1:-1].replace('""', "\0")
    return text if '"' in inner else inner.replace("\0", '"')
