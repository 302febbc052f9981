"""Tables of LaTeX commands and environments, grouped by how they are read."""

from __future__ import annotations

import re

DEFINING = frozenset(("newcommand", "renewcommand", "providecommand", "DeclareRobustCommand"))
DOCUMENT_COMMANDS = frozenset(
    f"{verb}DocumentCommand" for verb in ("New", "Renew", "Declare", "Provide")
)
HEADINGS = {"part": 0, "chapter": 1, "section": 2, "subsection": 3, "frametitle": 3}
REFERENCES = re.compile(
    r"(?:page|eq|auto|c|C|v|name|label|sub|th|sec|fig)?ref|(?:foot|auto|paren|text|super|full|"
    r"no|smart)?[cC]ite[A-Za-z]*"
)
# Commands of layout and definitions that are removed, with their number of arguments. Optional
# arguments before these are removed, too.
DROPPED = dict(
    pair.split(":")
    for pair in (
        "vspace:1 hspace:1 includegraphics:1 documentclass:1 bibliography:1 addbibresource:1 "
        "bibliographystyle:1 pagestyle:1 thispagestyle:1 pagenumbering:1 setcounter:2 "
        "addtocounter:2 setlength:2 addtolength:2 newcounter:1 newlength:1 index:1 hyphenation:1 "
        "author:1 date:1 thanks:1 address:1 email:1 affil:1 affiliation:1 institute:1 "
        "institution:1 curraddr:1 orcid:1 subjclass:1 dedicatory:1 theoremstyle:1 numberwithin:2 "
        "color:1 textcolor:1 colorbox:1 definecolor:3 colorlet:2 hypersetup:1 tikzset:1 "
        "tikzstyle:1 usetikzlibrary:1 pgfplotsset:1 captionsetup:1 geometry:1 graphicspath:1 "
        "addcontentsline:3 addtocontents:2 markboth:2 markright:1 rule:2 resizebox:2 "
        "scalebox:1 rotatebox:1 multicolumn:2 multirow:2 linespread:1 fontsize:2 cline:1 "
        "cmidrule:1 todo:1 marginpar:1 enlargethispage:1 input@path:1 crefname:3 "
        "Crefname:3 newtheoremstyle:9 pdfbookmark:2 AtBeginDocument:1 lstset:1 newboolean:1 "
        "setboolean:2 DeclareGraphicsExtensions:1 RequirePackage:1 PassOptionsToPackage:2 "
        "usetheme:1 usecolortheme:1 setbeamertemplate:1 titleformat:5 titlespacing:4 "
        "allowdisplaybreaks:0 tableofcontents:0 maketitle:0 appendix:0 printbibliography:0 "
        "mathtoolsset:1 setenumerate:1 setlist:1 hyperref:0 footnotemark:0 noindent:0 tikz:0 "
        "phantomsection:0 listoffigures:0 listoftables:0 bibitem:1 marginnote:1 vref:1 "
        "DeclareOption:2 ProvidesPackage:1 ProvidesClass:1 NeedsTeXFormat:1 newsavebox:1 "
        "hypertarget:1 hyperlink:1 tag:1 fbox:0 linewidth:0 textwidth:0 columnwidth:0 "
        "hfill:0 vfill:0 newpage:0 clearpage:0 xspace:0 newgeometry:1 makebox:0 framebox:0 "
        "parbox:1 fontfamily:1 fontseries:1 fontshape:1 fontencoding:1 usefont:4 "
        "pagecolor:1 thispdfpagelabel:1 hypersetup:1 SetKwInOut:2 DeclareUnicodeCharacter:2 "
        "refstepcounter:1 stepcounter:1 addlinespace:0 bookmark:1 cleartooddpage:0 "
        "cleardoublepage:0"
    ).split()
)
SPACING = frozenset(("vskip", "hskip", "kern", "mskip", "mkern"))
ASSIGNED = frozenset(
    "parindent parskip textwidth textheight oddsidemargin evensidemargin topmargin baselineskip "
    "abovedisplayskip belowdisplayskip itemsep arraycolsep tabcolsep hoffset voffset headheight "
    "footskip columnsep headsep".split()
)
# Environments that contain no text.
NOT_READ = frozenset(
    "verbatim verbatim* Verbatim BVerbatim lstlisting minted alltt comment filecontents "
    "filecontents* tikzpicture picture pspicture asy asydef pgfpicture circuitikz forest "
    "thebibliography sagesilent sageblock luacode pycode xy scope axis CCSXML".split()
)
ENVIRONMENT_ARGUMENTS = {
    "tabular": 1, "tabular*": 2, "tabularx": 2, "tabulary": 2, "longtable": 1, "minipage": 1,
    "multicols": 1, "wrapfigure": 2, "wraptable": 2, "adjustbox": 1, "subfigure": 1,
    "subtable": 1, "list": 2, "column": 1, "spacing": 1, "adjustwidth": 2,
}  # fmt: skip
# Environments whose names are printed as they are, unless \newtheorem gives another name.
STATEMENTS = frozenset(
    "theorem thm lemma lem proposition prop corollary cor definition defn defi remark rem rmk "
    "example exa exercise problem conjecture conj claim fact axiom question solution proof "
    "observation notation assumption hypothesis property".split()
)
# The heading of a proof in babel and polyglossia, because proofs have no \newtheorem.
PROOFS = {
    "bg": "Доказателство", "ca": "Demostració", "cs": "Důkaz", "de": "Beweis", "el": "Απόδειξη",
    "en": "Proof", "es": "Demostración", "fa": "برهان", "fr": "Démonstration", "hi": "प्रमाण",
    "hr": "Dokaz", "hu": "Bizonyítás", "it": "Dimostrazione", "nl": "Bewijs", "pl": "Dowód",
    "pt": "Demonstração", "ro": "Demonstrație", "ru": "Доказательство", "sk": "Dôkaz",
    "sv": "Bevis", "tr": "Kanıt", "uk": "Доведення",
}  # fmt: skip
FIXED = frozenset(
    "begin end item label title text mathrm mathbf frac sqrt left right input include "
    "documentclass usepackage".split()
)
