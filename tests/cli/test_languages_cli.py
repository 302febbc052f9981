"""The language of a post or topic comes from its file, from --lang, or from detection."""

import json
from pathlib import Path

import pytest

from mathsetu.collections import jsonl
from mathsetu.records import Post
from tests.command import Mathsetu
from tests.light import LIGHT_TOML

ENGLISH = "Every bounded sequence of real numbers has a convergent subsequence"
CZECH = "Každá omezená posloupnost reálných čísel má konvergentní podposloupnost"
HINDI = "वास्तविक संख्याओं का प्रत्येक परिबद्ध अनुक्रम एक अभिसारी उपअनुक्रम रखता है"


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "light.toml"
    path.write_text(LIGHT_TOML, encoding="utf-8")
    return path


def languages(mathsetu: Mathsetu, library: Path) -> object:
    facts = mathsetu.json("info", library)
    assert isinstance(facts, dict)
    return facts["languages"]


def indexed(mathsetu: Mathsetu, tmp_path: Path, recipe: Path, *more: str | Path) -> Path:
    folder = tmp_path / "library"
    done = mathsetu("index", folder, *more, "--recipe", recipe, "--processes", "1")
    assert done.code == 0, done.err
    return folder


@pytest.mark.thorough
def test_the_languages_of_posts_in_a_table_are_detected(
    mathsetu: Mathsetu, tmp_path: Path, recipe: Path
) -> None:
    table = tmp_path / "posts.csv"
    table.write_text(f"ID,Title,Body\n1,Sequences,{ENGLISH}\n2,,{CZECH}\n3,,{HINDI}\n", "utf-8")
    library = indexed(mathsetu, tmp_path, recipe, table)
    assert languages(mathsetu, library) == {"cs": 1, "en": 1, "hi": 1}
    hits = mathsetu.json("search", library, "sequence", "--in", "en")
    assert isinstance(hits, dict)
    assert [hit["id"] for hit in hits["hits"]] == ["1"]


def test_a_table_may_state_languages_in_a_column(
    mathsetu: Mathsetu, tmp_path: Path, recipe: Path
) -> None:
    table = tmp_path / "posts.csv"
    table.write_text("id,title,body,language\n1,,integral,Spanish\n2,,integral,hr\n", "utf-8")
    library = indexed(mathsetu, tmp_path, recipe, table)
    assert languages(mathsetu, library) == {"es": 1, "hr": 1}


@pytest.mark.thorough
def test_json_lines_may_state_languages_by_any_of_their_names(
    mathsetu: Mathsetu, tmp_path: Path, recipe: Path
) -> None:
    stated = {"Hindi": "hi", "en-US": "en", "EN": "en", "eng": "en", "español": "es", "fi": "fi",
              "Elvish": "elvish", "Elvish-Quenya": "elvish"}  # fmt: skip
    posts = tmp_path / "posts.jsonl"
    jsonl.write_posts(posts, [Post(name, "integral", language=name) for name in stated])
    library = indexed(mathsetu, tmp_path, recipe, posts)
    assert languages(mathsetu, library) == {"elvish": 2, "en": 3, "es": 1, "fi": 1, "hi": 1}
    for name, code in stated.items():
        found = mathsetu.json("search", library, "integral", "--in", name)
        assert isinstance(found, dict)
        assert {hit["language"] for hit in found["hits"]} == {code}
        assert name in {hit["id"] for hit in found["hits"]}


def test_lang_sets_the_language_if_the_file_states_none(
    mathsetu: Mathsetu, tmp_path: Path, recipe: Path
) -> None:
    table = tmp_path / "posts.csv"
    table.write_text("id,title,body\n1,,integral\n2,,vektor\n", "utf-8")
    library = indexed(mathsetu, tmp_path, recipe, table, "--lang", "hr")
    assert languages(mathsetu, library) == {"hr": 2}


UNKNOWN = "unknown language; give a code such as en or a name such as German"


@pytest.mark.parametrize(
    "asked",
    [
        ("search", "sampler.library", "primes", "--in"),
        ("search", "sampler.library", "primes", "--not-in"),
        ("search", "sampler.library", "primes", "--lang"),
        ("index", "new.library", "sampler", "--lang"),
        ("add", "sampler.library", "sampler", "--lang"),
        ("plan", "plan", "sampler", "--lang"),
        ("run", "sampler.library", "topics.xml", "run.txt", "--lang"),
        ("analyze", "primes", "--lang"),
        ("translate", "primes", "--lang"),
        ("translate", "primes", "--into"),
        ("glossary", "search", "prime", "--lang"),
        ("glossary", "match", "primes", "--lang"),
    ],
)
def test_an_unknown_language_is_refused_by_every_verb(
    mathsetu: Mathsetu, sampler_folder: Path, tmp_path: Path, asked: tuple[str, ...]
) -> None:
    arguments = [sampler_folder if word == "sampler.library" else word for word in asked]
    for name in ("elvish", "qq"):
        refused = mathsetu.refuses(*arguments, name)
        assert refused == f"mathsetu: {asked[-1]} {name}: {UNKNOWN}"
    assert not (tmp_path / "new.library").exists()


@pytest.mark.thorough
def test_a_filter_accepts_languages_that_only_posts_state(
    mathsetu: Mathsetu, tmp_path: Path, recipe: Path
) -> None:
    posts = tmp_path / "posts.jsonl"
    jsonl.write_posts(posts, [Post("1", "primes", language="elvish"), Post("2", "primes")])
    library = indexed(mathsetu, tmp_path, recipe, posts, "--lang", "German")
    assert languages(mathsetu, library) == {"elvish": 1, "de": 1}
    found = mathsetu.json("search", library, "primes", "--in", "elvish", "--lang", "fi")
    assert isinstance(found, dict)
    assert [hit["id"] for hit in found["hits"]] == ["1"]
    # A code of ISO 639 that the library lacks.
    assert mathsetu("search", library, "primes", "--in", "kas_Deva").out == "nothing found\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "topics.xml",
            '<Topics><Topic number="A.1"><Title>pole</Title><Question>pole</Question>'
            "<Tags>a</Tags></Topic></Topics>",
        ),
        ("topics.tsv", "A.1\tpole\tpole\ta\n"),
        ("topics.csv", "query_id,query,context\nA.1,x,pole\n"),
    ],
)
def test_lang_sets_the_language_of_topics_in_every_format(
    mathsetu: Mathsetu, tmp_path: Path, recipe: Path, name: str, content: str
) -> None:
    """The Czech word "pole" means field."""
    posts = tmp_path / "posts.jsonl"
    bodies = {"field": "A field of numbers.", "pole": "A pole of order two."}
    jsonl.write_posts(posts, [Post(key, body, language="en") for key, body in bodies.items()])
    library = indexed(mathsetu, tmp_path, recipe, posts)
    topics = tmp_path / name
    topics.write_text(content, "utf-8")
    first = {}
    for lang in ("Czech", "en"):
        run = tmp_path / f"{lang}.run"
        done = mathsetu("run", library, topics, run, "--lang", lang)
        assert done.code == 0, done.err
        first[lang] = run.read_text("utf-8").split()[2]
    assert first == {"Czech": "field", "en": "pole"}


def test_topics_in_xml_are_translated_from_the_language_of_lang(
    mathsetu: Mathsetu, tmp_path: Path
) -> None:
    """CrossMath translates whole topics; its files are XML, which states no language."""
    recipe = tmp_path / "translating.toml"
    recipe.write_text(
        """name = "translating"
        description = "English words; queries are translated before"
        [query]
        translate = "en"
        [parts.words]
        kind = "lexical"
        translate = false
        [ranking]
        weights = { words = 1.0 }
        """,
        encoding="utf-8",
    )
    posts, topics = tmp_path / "posts.jsonl", tmp_path / "topics.xml"
    jsonl.write_posts(posts, [Post("field", "A field of numbers.", language="en")])
    topics.write_text(
        '<Topics><Topic number="A.1"><Title>pole</Title><Question>&lt;p&gt;pole&lt;/p&gt;'
        "</Question><Tags>a</Tags></Topic></Topics>",
        "utf-8",
    )
    library = indexed(mathsetu, tmp_path, recipe, posts)
    told = [mathsetu.json("run", library, topics, tmp_path / "run", "--lang", lang)
            for lang in ("cs", "en")]  # fmt: skip
    assert [one["hits"] for one in told if isinstance(one, dict)] == [1, 0]


def test_facets_are_printed_only_if_they_have_counts(
    mathsetu: Mathsetu, tmp_path: Path, recipe: Path
) -> None:
    posts = tmp_path / "posts.jsonl"
    jsonl.write_posts(posts, [Post("1", "We solve $x^2=4$ for x.", language="en")])
    library = indexed(mathsetu, tmp_path, recipe, posts)
    found = mathsetu("search", library, "solve", "--facets")
    assert "language: en 1\n" in found.out
    assert "tag:" not in found.out
    assert mathsetu("search", library, "solve", "--facets", "--in", "hi").out == "nothing found\n"


@pytest.mark.thorough
def test_the_answer_shows_how_a_typed_query_was_read(
    mathsetu: Mathsetu, tmp_path: Path, recipe: Path
) -> None:
    posts = tmp_path / "posts.jsonl"
    jsonl.write_posts(posts, [Post("1", "We solve $x^2=4$ for x.", language="en")])
    library = indexed(mathsetu, tmp_path, recipe, posts)
    done = mathsetu("search", library, "solve x^2 = 4")
    assert "read as: formulas $x^2=4$ · words solve · language English" in done.err
    read = mathsetu.json("search", library, "solve x^2 = 4")
    assert isinstance(read, dict)
    assert read["query"]["formulas"] == ["x^2=4"]
    assert "".join(piece["text"] for piece in read["query"]["pieces"]) == "solve x^2 = 4"
    long = mathsetu("search", library, "solve " * 1000 + "$" + "x+" * 1000 + "x$")
    assert len(long.err) < 1000
    assert "solve … · language English" in long.err
    assert "at most 100,000" in mathsetu.refuses("search", library, "solve " * 20_000)
    as_words = mathsetu.json("search", library, "solve x^2 = 4", "--as-words")
    assert isinstance(as_words, dict)
    assert as_words["query"]["formulas"] == []


def test_a_query_in_a_language_of_a_lower_grade_gets_a_note(
    mathsetu: Mathsetu, tmp_path: Path, recipe: Path
) -> None:
    posts = tmp_path / "posts.jsonl"
    jsonl.write_posts(posts, [Post("1", "quadratische Gleichung", language="de")])
    library = indexed(mathsetu, tmp_path, recipe, posts)
    done = mathsetu("search", library, "Wie löst man eine quadratische Gleichung")
    assert "note: German has grade good" in done.err
    assert "Nepali" in done.err
    read = json.loads(mathsetu("search", library, "eine Gleichung für x", "--json").out)
    assert read["query"]["note"].startswith("German")
    asked = mathsetu("search", library, "quadratische Gleichung", "--lang", "fi")
    assert "note: Finnish is not supported: formulas are found" in asked.err


def test_a_table_of_terms_is_exported_corrected_and_imported(
    mathsetu: Mathsetu, tmp_path: Path
) -> None:
    exported = mathsetu("glossary", "export", "German").out
    assert "prime-number\tprime number\tPrimzahl" in exported
    table = tmp_path / "de.tsv"
    lines = [
        line.rpartition("\t")[0].replace("\tPrimzahl", "\tUrzahl") + "\treviewed"
        if line.startswith("prime-number\t")
        else line
        for line in exported.splitlines()
    ]
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    said = mathsetu("glossary", "import", str(table), str(tmp_path / "own")).out
    assert "1 reviewed" in said
    kept = (tmp_path / "own" / "de.tsv").read_text(encoding="utf-8")
    assert "\tUrzahl" in kept
    assert "\treviewed\n" in kept


def test_importing_an_unknown_concept_and_exporting_english_are_refused(
    mathsetu: Mathsetu, tmp_path: Path
) -> None:
    table = tmp_path / "de.tsv"
    table.write_text("concept\tforms\tsources\nno-such\tWort\tt\n", encoding="utf-8")
    refused = mathsetu("glossary", "import", str(table), str(tmp_path / "own"))
    assert refused.code == 2
    assert "no-such" in refused.err
    assert not (tmp_path / "own").exists()
    assert mathsetu("glossary", "export", "English").code == 2


@pytest.mark.thorough
def test_a_term_that_the_glossary_lacks_is_reported(mathsetu: Mathsetu) -> None:
    done = mathsetu("glossary", "search", "prme number")
    assert (done.code, done.out) == (1, "")
    assert "no term begins with or contains 'prme number'" in done.err
