"""A recipe for tests that are not about the encoder: two parts with predictable scores."""

from mathsetu.recipes.schema import parse_recipe

#: The recipe as the text of a file.
LIGHT_TOML = """
    name = "light"
    description = "Words through the glossary, and formulas by structure"
    [parts.words]
    kind = "lexical"
    scheme = { name = "bm25+", k1 = 3.0, b = 0.75, delta = 0.0 }
    fields = { title = 1, body = 1, question = 1, tags = 1 }
    formula_tokens = 0.5
    [parts.formulas]
    kind = "formula"
    matched = 12
    [ranking]
    weights = { words = 0.6, formulas = 0.4 }
"""
LIGHT = parse_recipe(LIGHT_TOML, "tests")
