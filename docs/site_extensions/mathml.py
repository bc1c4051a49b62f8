"""Formulas as MathML, written at build time: the pages need neither a script nor the network."""

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


def write_inline(translator: HTML5Translator, node: nodes.Element) -> None:
    """Write a formula within a line."""
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def write_block(translator: HTML5Translator, node: nodes.Element) -> None:
    """Write a formula on a line of its own."""
    translator.body.append(f'<div class="formula">{convert(node.astext(), display="block")}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.add_html_math_renderer("mathml", (write_inline, None), (write_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
