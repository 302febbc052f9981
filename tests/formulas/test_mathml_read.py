"""Reading MathML: Presentation to layout trees, Content to operator trees."""

import pytest

from mathsetu.errors import NotationError
from mathsetu.formulas.mathml import read_content, read_presentation
from mathsetu.formulas.notation import write_tree


def slt(inner: str) -> str:
    return write_tree(read_presentation(f"<math>{inner}</math>"))


def opt(inner: str) -> str:
    return write_tree(read_content(f"<math>{inner}</math>"))


X, Y, TWO = "<mi>x</mi>", "<mi>y</mi>", "<mn>2</mn>"


@pytest.mark.parametrize(
    ("mathml", "tree"),
    [
        ("<mi>x</mi>", "[V!x]"),
        ("<mi>𝑥</mi>", "[V!x]"),
        ("<mi>ℝ</mi>", "[V!ℝ]"),
        ("<mi></mi>", "[W!]"),
        ("<mi></mi><mo>=</mo><mn>1</mn>", "[=[N!1]]"),
        ("<mi>?</mi>", "[V!&quest;]"),
        ("<mi>?f</mi>", "[&quest;f]"),
        ("<mn>3.14</mn>", "[N!3.14]"),
        ("<mo>−</mo>", "[-]"),
        ("<mtext> if  any </mtext>", "[T!if any]"),
        ("<merror><mtext>\\foo</mtext></merror>", "[E!\\foo]"),
        ("<mi>f</mi><mo>&ApplyFunction;</mo><mi>x</mi>", "[V!f[V!x]]"),
        ("<mi>a</mi><mspace width='1em'/><mi>b</mi>", "[V!a[V!b]]"),
    ],
)
def test_symbols_get_tangent_labels(mathml: str, tree: str) -> None:
    assert slt(mathml) == tree


@pytest.mark.parametrize(
    ("mathml", "tree"),
    [
        (f"<msup>{X}{TWO}</msup>", "[V!x,a[N!2]]"),
        (f"<msub>{X}{TWO}</msub>", "[V!x,b[N!2]]"),
        (f"<msubsup>{X}<mn>1</mn>{TWO}</msubsup>", "[V!x,a[N!2],b[N!1]]"),
        (f"<mover accent='true'>{X}<mo>¯</mo></mover>", "[V!x,o[¯]]"),
        (f"<munder><mo>lim</mo>{X}</munder>{Y}", "[lim[V!y],u[V!x]]"),
        (f"<msubsup><mo>∫</mo><mn>0</mn><mn>1</mn></msubsup>{X}", "[∫[V!x],o[N!1],u[N!0]]"),
        (f"<msup><msup>{X}{TWO}</msup>{Y}</msup>", "[M!1x1,a[V!y],w[V!x,a[N!2]]]"),
        (f"<msup><mrow>{X}{Y}</mrow>{TWO}</msup>", "[M!1x1,a[N!2],w[V!x[V!y]]]"),
        (
            f"<mmultiscripts>{X}<mn>1</mn><mn>2</mn><mprescripts/><mn>3</mn><none/></mmultiscripts>",
            "[V!x,a[N!2],b[N!1],d[N!3]]",
        ),
    ],
)
def test_scripts_are_children_on_their_edges(mathml: str, tree: str) -> None:
    assert slt(mathml) == tree


def test_fractions_and_roots_have_their_parts_as_children() -> None:
    assert slt(f"<mfrac>{X}{Y}</mfrac>") == "[O!divide,o[V!x],u[V!y]]"
    assert slt(f"<msqrt>{X}{Y}</msqrt>") == "[O!root,w[V!x[V!y]]]"
    assert slt(f"<mroot>{X}{TWO}</mroot>") == "[O!root,c[N!2],w[V!x]]"


@pytest.mark.parametrize(
    ("mathml", "tree"),
    [
        (f"<mrow><mo>(</mo>{X}<mo>)</mo></mrow>", "[M!()1x1,w[V!x]]"),
        (f"<mo>(</mo>{X}<mo>,</mo>{Y}<mo>)</mo>", "[M!()1x2,w[V!x[&comma;],e[V!y]]]"),
        (f"<mo>[</mo>{X}<mo>,</mo>{Y}<mo>)</mo>", "[M!&lsqb;)1x2,w[V!x[&comma;],e[V!y]]]"),
        (f"<mrow><mo>|</mo>{X}<mo>|</mo></mrow>", "[M!||1x1,w[V!x]]"),
        (f"<mrow><mo>‖</mo>{X}<mo>‖</mo></mrow>", "[M!∥∥1x1,w[V!x]]"),
        (f"{X}<mo>)</mo>{Y}", "[V!x[)[V!y]]]"),
        (f"<mo>{{</mo>{X}", "[{[V!x]]"),
        (f"<mfenced>{X}{Y}</mfenced>", "[M!()1x2,w[V!x[&comma;],e[V!y]]]"),
        (
            f"<msup><mrow><mo>(</mo>{X}<mo>+</mo>{Y}<mo>)</mo></mrow>{TWO}</msup>",
            "[M!()1x1,a[N!2],w[V!x[+[V!y]]]]",
        ),
    ],
)
def test_the_content_between_fences_becomes_one_node(mathml: str, tree: str) -> None:
    assert slt(mathml) == tree


def test_a_table_is_read_row_by_row_with_its_fences() -> None:
    rows = "<mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr><mtr><mtd/><mtd>" + X
    table = f"<mtable>{rows}</mtd></mtr></mtable>"
    cells = "w[V!a,e[V!b,e[W!,e[V!x]]]]"
    assert slt(table) == f"[M!2x2,{cells}]"
    assert slt(f"<mrow><mo>(</mo>{table}<mo>)</mo></mrow>") == f"[M!()2x2,{cells}]"


def test_the_label_of_a_row_is_not_a_cell_and_a_row_outside_a_table_is_a_line() -> None:
    row = "<mlabeledtr><mtd><mtext>(1)</mtext></mtd><mtd><mi>a</mi></mtd></mlabeledtr>"
    assert slt(f"<mtable>{row}</mtable>") == "[M!1x1,w[V!a]]"
    assert slt("<mtr><mtd><mi>a</mi><mi>b</mi></mtd></mtr><mi>c</mi>") == "[V!a[V!b[V!c]]]"


@pytest.mark.parametrize(
    ("mathml", "tree"),
    [
        ("<ci>𝑥</ci>", "[V!x]"),
        ("<ci>italic-ϵ</ci>", "[V!ϵ]"),
        ("<ci><mtext>if any</mtext></ci>", "[T!if any]"),
        ("<cn type='integer'>12</cn>", "[N!12]"),
        ("<infinity/>", "[C!infinity]"),
        ("<apply><plus/><ci>a</ci><cn>1</cn></apply>", "[U!plus,0[V!a],1[N!1]]"),
        ("<apply><sin/><ci>a</ci></apply>", "[F!sin,0[V!a]]"),
        ("<apply><ci>→</ci><ci>a</ci><ci>b</ci></apply>", "[F!→,0[V!a],1[V!b]]"),
        ("<apply><root/><ci>a</ci></apply>", "[O!root,0[V!a],1[N!2]]"),
        (
            "<apply><root/><degree><cn>3</cn></degree><ci>a</ci></apply>",
            "[O!root,0[V!a],1[N!3]]",
        ),
        (
            "<apply><csymbol cd='ambiguous'>superscript</csymbol><ci>a</ci><cn>2</cn></apply>",
            "[O!SUP,0[V!a],1[N!2]]",
        ),
        (
            "<apply><csymbol cd='latexml'>delimited-[]</csymbol><ci>a</ci></apply>",
            "[M!D-&lsqb;&rsqb;,0[V!a]]",
        ),
        (
            "<interval closure='open-closed'><ci>a</ci><ci>b</ci></interval>",
            "[O!interval(O-C),0[V!a],1[V!b]]",
        ),
        ("<set><ci>a</ci><ci>b</ci></set>", "[M!S-2,0[V!a],1[V!b]]"),
        ("<list><ci>a</ci></list>", "[M!L-1,0[V!a]]"),
        (
            "<matrix><matrixrow><ci>a</ci><ci>b</ci></matrixrow></matrix>",
            "[M!M-1x2,0[M!R!,0[V!a],1[V!b]]]",
        ),
        (
            "<cerror><csymbol cd='ambiguous'>fragments</csymbol><ci>a</ci></cerror>",
            "[E!,0[O!fragments],1[V!a]]",
        ),
    ],
)
def test_content_gets_tangent_labels(mathml: str, tree: str) -> None:
    assert opt(mathml) == tree


def test_an_operator_with_scripts_is_labelled_by_the_base_of_the_scripts() -> None:
    lower = "<apply><csymbol cd='ambiguous'>subscript</csymbol><sum/><ci>i</ci></apply>"
    assert opt(f"<apply>{lower}<ci>x</ci></apply>") == ("[+!O!sum,0[O!SUB,0[O!sum],1[V!i]],1[V!x]]")
    upper = f"<apply><csymbol cd='ambiguous'>superscript</csymbol>{lower}<ci>n</ci></apply>"
    assert opt(f"<apply>{upper}<ci>x</ci></apply>") == (
        "[+!O!SUB,0[O!SUP,0[O!SUB,0[O!sum],1[V!i]],1[V!n]],1[V!x]]"
    )


def test_a_shared_operand_is_in_both_places() -> None:
    chain = (
        "<apply><and/><apply><lt/><ci>a</ci><ci id='b'>b</ci></apply>"
        "<apply><lt/><share href='#b'/><ci>c</ci></apply></apply>"
    )
    assert opt(chain) == "[U!and,0[O!lt,0[V!a],1[V!b]],1[O!lt,0[V!b],1[V!c]]]"


def test_a_share_with_a_wrong_id_refers_to_the_middle_of_its_chain() -> None:
    chain = (
        "<apply><and/><apply><lt/><ci>a</ci><ci id='b.1'>b</ci></apply>"
        "<apply><lt/><share href='#b'/><ci>c</ci></apply></apply>"
    )
    assert opt(chain) == "[U!and,0[O!lt,0[V!a],1[V!b]],1[O!lt,0[V!b],1[V!c]]]"


def test_both_kinds_of_mathml_are_found_in_one_semantics_element() -> None:
    both = (
        "<math><semantics><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow>"
        "<annotation-xml encoding='MathML-Content'>"
        "<apply><plus/><ci>a</ci><ci>b</ci></apply></annotation-xml>"
        "<annotation encoding='application/x-tex'>a+b</annotation></semantics></math>"
    )
    assert write_tree(read_presentation(both)) == "[V!a[+[V!b]]]"
    assert write_tree(read_content(both)) == "[U!plus,0[V!a],1[V!b]]"


def test_prefixed_names_and_surrounding_markup_are_accepted() -> None:
    mathml = "<p xmlns:m='urn:x'><m:math><m:mi>x</m:mi></m:math></p>"
    assert write_tree(read_presentation(mathml)) == "[V!x]"


def test_the_error_names_the_missing_kind_of_mathml() -> None:
    with pytest.raises(NotationError, match="no Content MathML"):
        read_content("<math><mi>x</mi></math>")
    with pytest.raises(NotationError, match="no Presentation MathML"):
        read_presentation("<math><ci>x</ci></math>")


def test_named_entities_of_html_are_read() -> None:
    assert slt("<mi>&alpha;</mi><mo>&InvisibleTimes;</mo><mo>&lt;</mo><mo>&LT;</mo>") == (
        "[V!α[<[<]]]"
    )
