"""Formulas as MathML, written at build time: the pages need neither a script nor the network."""

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

SIM = ("<mi>&#x0007E;</mi>", "<mo>&#x0223C;</mo>")
"""The converter writes a tilde for a relation; browsers set no space around it."""


def mathml(formula: str, display: str = "inline") -> str:
    """MathML of a formula in LaTeX."""
    return convert(formula, display=display).replace(*SIM)


def parts(formula: str) -> list[str]:
    """Formulas that stand on one line with wide spaces between them; on a narrow page each has a line of its own."""
    found = [part.strip() for part in formula.split(r"\qquad")]
    return found if all(part.count("{") == part.count("}") for part in found) else [formula]


def write_inline(translator: HTML5Translator, node: nodes.Element) -> None:
    """Write a formula within a line."""
    translator.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def write_block(translator: HTML5Translator, node: nodes.Element) -> None:
    """Write a formula on a line of its own."""
    inner = "".join(f"<div>{mathml(part, 'block')}</div>" for part in parts(node.astext()))
    translator.body.append(f'<div class="formula">{inner}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.add_html_math_renderer("mathml", (write_inline, None), (write_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
