"""Maps the labels of dependency parsers to the relations of meaning graphs.

English models use the labels of ClearNLP (``dobj``, ``nsubjpass``, ``prep``), most others those of
Universal Dependencies (``obj``, ``nsubj:pass``, ``case``). Both are mapped to the relations of
AMR, so that all languages share them.
"""

from __future__ import annotations

ARG0, ARG1, ARG2 = ":ARG0", ":ARG1", ":ARG2"
DOMAIN, MOD, QUANT, OF = ":domain", ":mod", ":quant", ":poss"
CONDITION, CAUSE, TIME, CONCESSION, PURPOSE = (
    ":condition",
    ":cause",
    ":time",
    ":concession",
    ":purpose",
)

#: Dependencies of function words: they get no node, but may determine a relation.
FUNCTION = frozenset(
    "punct det aux auxpass aux:pass mark case cc cc:preconj prep prt expl cop predet preconj "
    "agent intj discourse expl:pv expl:pass expl:impers".split()
)
SUBJECTS = frozenset({"nsubj", "csubj", "nsubj:outer", "csubj:outer"})
PASSIVE_SUBJECTS = frozenset({"nsubjpass", "csubjpass", "nsubj:pass", "csubj:pass"})
#: Dependencies of the complement of "be".
COMPLEMENTS = frozenset({"attr", "acomp", "oprd"})
#: Clauses that modify a noun; the noun is an argument of the clause.
RELATIVE = frozenset({"relcl", "acl", "acl:relcl"})
#: Direct modifiers of a noun; a formula among them is joined by ``:math``.
NOMINAL = frozenset({"compound", "appos", "nmod", "flat", "flat:name", "nn", "amod", "npadvmod"})
CONJUNCT = "conj"

_ROLES = {
    "dobj": ARG1,
    "obj": ARG1,
    "ccomp": ARG1,
    "xcomp": ARG1,
    "iobj": ARG2,
    "dative": ARG2,
    "attr": ARG2,
    "acomp": ARG2,
    "oprd": ARG2,
    "obl:agent": ARG0,
    "obl:arg": ARG2,
    "nummod": QUANT,
    "nummod:gov": QUANT,
    "poss": OF,
    "nmod:poss": OF,
}
_BY_WORD = {
    word: relation
    for relation, words in {
        OF: "of de del",
        ":location": "in on at over inside within between among under above en sobre entre dentro "
        "v ve na mezi nad pod",
        ":accompanier": "with con s se",
        ":instrument": "by using via through por mediante pomocí",
        PURPOSE: "for para pro",
        ":source": "from out desde z ze od",
        ":destination": "to into onto towards a hacia hasta do k ke",
        ":topic": "about acerca o",
        CONDITION: "if unless provided whenever si pokud jestliže jestli kdyby když-li",
        CAUSE: "because since as porque ya pues protože neboť",
        TIME: "when while after before until cuando mientras después antes když až po před",
        CONCESSION: "although though while aunque ačkoli ačkoliv přestože",
    }.items()
    for word in words.split()
}
#: Question words: in a question, they become the node of the unknown.
QUESTION_WORDS = frozenset(
    "what which how why where when who whom whose qué cuál cuáles cómo cuándo dónde cuánto cuántos "
    "cuántas quién co jak proč kde kdy který která které jaký jaká jaké kolik kdo".split()
)
UNKNOWN = "amr-unknown"
_OR = frozenset("or nor either o u ni nebo anebo či".split())


def role(dependency: str, word: str = "") -> str:
    """Return the relation of a dependency; a preposition or conjunction may determine it.

    >>> role("dobj"), role("obl", "in"), role("advcl", "si"), role("advmod")
    (':ARG1', ':location', ':condition', ':mod')
    """
    return _ROLES.get(dependency) or _BY_WORD.get(word, MOD)


def conjunction(word: str) -> str:
    """Return the concept that joins conjuncts: and, or.

    >>> conjunction("nebo"), conjunction("y")
    ('or', 'and')
    """
    return "or" if word in _OR else "and"


#: Parts of speech without content.
EMPTY_PARTS = frozenset({"PUNCT", "SPACE", "PRON", "SYM", "X"})
#: Universal parts of speech of Penn tags; faster than the rules of the model.
PENN = {
    tag: part
    for part, tags in {
        "VERB": "VB VBD VBG VBN VBP VBZ",
        "NOUN": "NN NNS",
        "PROPN": "NNP NNPS",
        "ADJ": "JJ JJR JJS AFX",
        "ADV": "RB RBR RBS",
        "PRON": "PRP PRP$ WP WP$ EX",
        "DET": "DT PDT WDT",
        "NUM": "CD",
        "AUX": "MD",
        "ADP": "IN RP",
        "PART": "TO POS",
        "CCONJ": "CC",
        "PUNCT": ", . : '' `` -LRB- -RRB- HYPH NFP $ #",
    }.items()
    for tag in tags.split()
}
