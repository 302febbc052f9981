"""Commands other than plain signs: their arguments and their results."""

from __future__ import annotations

from typing import Final

from mathsetu.formulas.latex.boxes import (
    ACCENT,
    FENCE,
    FRACTION,
    GROUP,
    PHANTOM,
    RELATION,
    ROOT,
    SPACE,
    TABLE,
    Sign,
)
from mathsetu.formulas.latex.symbols import ACCENTS

# What is built from the arguments of a command.
MAKE_BOX: Final = 0  # a box with the arguments as its rows
MAKE_BINOMIAL: Final = 1  # a fraction without a line, in parentheses
MAKE_ROOT: Final = 2  # optional degree, then radicand
MAKE_OVER: Final = 3  # first argument over the second
MAKE_UNDER: Final = 4  # first argument under the second
MAKE_ARROW: Final = 5  # optional text under and text over a stretched arrow
MAKE_MODULUS: Final = 6  # (mod n)
MAKE_LAST: Final = 7  # the last argument, as if it had no command
MAKE_FONT: Final = 8  # the argument in another font
MAKE_NOTHING: Final = 9  # nothing: the arguments are not part of the formula
MAKE_PRESCRIPTS: Final = 10  # below left, above left, base
MAKE_WILDCARD: Final = 11  # \qvar{name}
MAKE_FENCE: Final = 12  # the argument in brackets


class Command:
    """The number of arguments of a command, and what is built from them.

    ``optional`` means that an argument in square brackets may come first.
    """

    __slots__ = ("arguments", "font", "make", "optional", "sign")

    def __init__(
        self,
        make: int,
        arguments: int,
        sign: Sign | None = None,
        *,
        optional: bool = False,
        font: str = "",
    ) -> None:
        self.make = make
        self.arguments = arguments
        self.sign = sign
        self.optional = optional
        self.font = font


#: A fraction with its line; ``/`` in a row gives the same operator.
DIVIDE: Final = Sign("/", "mfrac", kind=FRACTION, layout="O!divide", operand="O!divide")
CONTINUED: Final = Sign(
    "/", "mfrac", kind=FRACTION, layout="O!divide", operand="O!continued-fraction"
)
#: Two stacked rows without a line.
STACKED: Final = Sign("", "mfrac", kind=FRACTION, layout="O!divide", operand="O!binomial")
ATOP: Final = Sign("", "mfrac", kind=FRACTION, layout="O!divide", operand="O!atop")
RADICAL: Final = Sign("√", "msqrt", kind=ROOT, layout="O!root", operand="O!root")
PLAIN_GROUP: Final = Sign("", "mrow", kind=GROUP, layout="W!", operand="W!")
BOXED: Final = Sign("□", "mrow", kind=GROUP, layout="W!", operand="W!")
UNSEEN: Final = Sign("", "mphantom", SPACE, kind=PHANTOM, layout="W!", operand="W!")

#: The base of scripts without one, and its replacement when they move to the box after them.
EMPTY: Final = Sign("", "mi", layout="W!", operand="W!")
NOTHING: Final = Sign("0", "mspace", SPACE)

COMMANDS: Final[dict[str, Command]] = {
    "\\frac": Command(MAKE_BOX, 2, DIVIDE),
    "\\dfrac": Command(MAKE_BOX, 2, DIVIDE),
    "\\tfrac": Command(MAKE_BOX, 2, DIVIDE),
    "\\cfrac": Command(MAKE_BOX, 2, CONTINUED, optional=True),
    "\\nicefrac": Command(MAKE_BOX, 2, DIVIDE),
    "\\sfrac": Command(MAKE_BOX, 2, DIVIDE),
    "\\binom": Command(MAKE_BINOMIAL, 2),
    "\\dbinom": Command(MAKE_BINOMIAL, 2),
    "\\tbinom": Command(MAKE_BINOMIAL, 2),
    "\\sqrt": Command(MAKE_ROOT, 1, RADICAL, optional=True),
    "\\overset": Command(MAKE_OVER, 2),
    "\\stackrel": Command(MAKE_OVER, 2),
    "\\underset": Command(MAKE_UNDER, 2),
    "\\pmod": Command(MAKE_MODULUS, 1),
    "\\pod": Command(MAKE_MODULUS, 1),
    "\\boxed": Command(MAKE_BOX, 1, BOXED),
    "\\fbox": Command(MAKE_BOX, 1, BOXED),
    "\\phantom": Command(MAKE_BOX, 1, UNSEEN),
    "\\hphantom": Command(MAKE_BOX, 1, UNSEEN),
    "\\vphantom": Command(MAKE_BOX, 1, UNSEEN),
    "\\prescript": Command(MAKE_PRESCRIPTS, 3),
    "\\qvar": Command(MAKE_WILDCARD, 1),
    "\\textcolor": Command(MAKE_LAST, 2),
    "\\colorbox": Command(MAKE_LAST, 2),
    "\\href": Command(MAKE_LAST, 2),
    "\\raisebox": Command(MAKE_LAST, 2),
    "\\bbox": Command(MAKE_LAST, 1, optional=True),
    "\\smash": Command(MAKE_LAST, 1, optional=True),
}
COMMANDS.update(
    {
        name: Command(
            MAKE_BOX, 1, Sign(mark, "mover", kind=ACCENT, below=below, limits=mark in "⏞⏟")
        )
        for name, (mark, below) in ACCENTS.items()
    }
)
# Commands that only affect how their argument is typeset.
COMMANDS.update(
    dict.fromkeys(
        r"""
        \mathord \mathbin \mathrel \mathop \mathopen \mathclose \mathpunct \mathinner \cancel
        \bcancel \xcancel \ensuremath \text \mbox \hbox \textrm \textbf \textit \textsf \texttt
        \textnormal \textsc \emph \operatorname \operatorname* \mathclap \mathllap \mathrlap
        \llap \rlap \centerline
        """.split(),
        Command(MAKE_LAST, 1),
    )
)
# Commands whose argument is not part of the formula.
COMMANDS.update(
    dict.fromkeys(
        r"""
        \tag \tag* \label \ref \eqref \cite \pagecolor \hspace \hspace* \vspace \vspace*
        \require \class \cssId \style \footnote \usepackage
        """.split(),
        Command(MAKE_NOTHING, 1),
    )
)
COMMANDS["\\color"] = Command(MAKE_NOTHING, 1, optional=True)
COMMANDS["\\rule"] = Command(MAKE_NOTHING, 2, optional=True)
COMMANDS.update(
    {
        name: Command(MAKE_ARROW, 1, Sign(mark, "mo", RELATION), optional=True)
        for name, mark in zip(
            r"""
            \xrightarrow \xleftarrow \xleftrightarrow \xRightarrow \xLeftarrow \xLeftrightarrow
            \xmapsto \xhookrightarrow \xlongequal
            """.split(),
            "→←↔⇒⇐⇔↦↪=",
            strict=True,
        )
    }
)

#: Infix commands of the kind of a fraction, with the brackets that they draw.
INFIX: Final[dict[str, tuple[Sign, str, str]]] = {
    "\\over": (DIVIDE, "", ""),
    "\\atop": (ATOP, "", ""),
    "\\above": (DIVIDE, "", ""),
    "\\choose": (STACKED, "(", ")"),
    "\\brace": (STACKED, "{", "}"),
    "\\brack": (STACKED, "[", "]"),
}

#: Commands that do not change the meaning.
IGNORED: Final = frozenset(
    (
        *r"""
    \displaystyle \textstyle \scriptstyle \scriptscriptstyle \limits \nolimits \displaylimits
    \big \Big \bigg \Bigg \bigl \Bigl \biggl \Biggl \bigr \Bigr \biggr \Biggr \bigm \Bigm
    \biggm \Biggm \left \right \middle \! \/ \- \@ \( \) \[ \] $ \negthinspace \negmedspace
    \negthickspace \relax \nonumber \notag \hline \allowbreak \break \nobreak \noindent \hfill
    \hfil \hss \strut \mathstrut \null \tiny \Tiny \scriptsize \footnotesize \small
    \normalsize \large \Large \LARGE \huge \Huge \centering \protect \newline \par \smallskip
    \medskip \bigskip \boldmath \unboldmath \normalfont \normalcolor \mathsurround \unskip
    """.split(),
        # A backslash at the end of the text, zero-width marks, and invisible operators.
        "\\",
        *"\ufeff\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufe0f\u00ad",
    )
)

#: Environments: the brackets around the table, and the meaning of the table.
ENVIRONMENTS: Final[dict[str, Sign]] = {
    name: Sign("", "mtable", kind=TABLE, opening=opening, closing=closing, operand=meaning)
    for names, opening, closing, meaning in (
        ("matrix smallmatrix subarray", "", "", "O!matrix"),
        ("pmatrix psmallmatrix", "(", ")", "O!matrix"),
        ("bmatrix bsmallmatrix", "[", "]", "O!matrix"),
        ("Bmatrix Bsmallmatrix", "{", "}", "O!matrix"),
        ("vmatrix vsmallmatrix", "|", "|", "F!det"),
        ("Vmatrix Vsmallmatrix", "∥", "∥", "O!norm"),
        ("array tabular", "", "", "M!"),
        ("cases dcases cases* dcases*", "{", "", "O!cases"),
        ("rcases drcases", "", "}", "O!cases"),
        (
            "align aligned alignedat alignat flalign split gather gathered eqnarray equation"
            " multline multlined displaymath math subequations document center",
            "",
            "",
            "O!lines",
        ),
    )
    for name in names.split()
}
#: Environments that begin with an argument for the format of the columns.
WITH_COLUMNS: Final = frozenset(
    {"array", "tabular", "alignat", "alignedat", "subarray", "alignat*"}
)
#: The sign of unknown environments.
OTHER_ENVIRONMENT: Final = ENVIRONMENTS["align"]
#: The sign of stacked lines without an environment: ``\\substack``.
LINES: Final = ENVIRONMENTS["array"]

_fences: Final[dict[tuple[str, str], Sign]] = {}


def fence_sign(opening: str, closing: str) -> Sign:
    """Return the sign of a pair of brackets.

    >>> fence_sign("(", "]").layout
    'M!(]'
    """
    sign = _fences.get((opening, closing))
    if sign is None:
        label = "M!" + (opening + closing).replace("‖", "∥")
        sign = Sign(
            "", "mrow", kind=FENCE, layout=label, operand=label, opening=opening, closing=closing
        )
        _fences[opening, closing] = sign
    return sign


COMMANDS.update(
    {
        "\\" + name: Command(MAKE_FENCE, 1, fence_sign(opening, closing))
        for name, opening, closing in (
            ("abs", "|", "|"),
            ("norm", "∥", "∥"),
            ("floor", "⌊", "⌋"),
            ("ceil", "⌈", "⌉"),
            ("set", "{", "}"),
            ("paren", "(", ")"),
        )
    }
)
