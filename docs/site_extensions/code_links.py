"""Links from names in code letters to the API reference, and a check that each name in a docstring exists."""

import re
from typing import Any

from docutils import nodes
from sphinx.addnodes import desc_signature, pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.logging import getLogger
from sphinx.util.nodes import make_refnode

from site_extensions.public_names import EXTERNAL, is_importable, names_of_modules, public_names, public_object

LOGGER = getLogger(__name__)
PUBLIC = public_names()
WIDE = ("docs/reference/", "docs/glossary")
"""Pages whose tables have text in each column: they scroll rather than become narrow."""

FILE_ENDS = (".csv", ".html", ".json", ".md", ".parquet", ".png", ".toml")
"""Ends of names of files, as `certificate.json`, which name no attribute."""


def resolve(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, contnode: nodes.TextElement
) -> nodes.Element | None:
    """Link to a public name of another package, or text for a name that exists without a page; None is a warning."""
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"].partition("(")[0].lstrip("~.")
    parts = target.split(".")
    for start, part in enumerate(parts):
        if part in PUBLIC:
            return link(app, env, node["refdoc"], ".".join(parts[start:]), contnode)
    if node["reftype"] == "class":  # a type in words, as "float array, shape (n, m)"
        return contnode
    if parts[0] == "foreknow":
        known = is_importable(target)
    else:
        known = parts[0] in EXTERNAL or parts[0] in names_of_modules() or _is_near(node, parts)
    return contnode if known else None


def _is_near(node: pending_xref, parts: list[str]) -> bool:
    """True if the name is an attribute of the documented class."""
    documented = node["refdoc"].rpartition("/")[2].removesuffix("-function")
    if documented not in PUBLIC.values():
        return False
    found = public_object(documented)
    return parts[0] in {*dir(found), *getattr(found, "__dataclass_fields__", {})}


def link(app: Sphinx, env: BuildEnvironment, page: str, name: str, content: nodes.Node) -> nodes.Element:
    """Reference to the page of a public name, whose formula and picture are above its docstring, or to an attribute of one."""
    head, _, attribute = name.partition(".")
    objects = env.domains["py"].data["objects"]
    full_name = PUBLIC[head] + (f".{attribute}" if attribute else "")
    found = objects.get(full_name) or objects[PUBLIC[head]]
    anchor = found.node_id if attribute else ""
    return make_refnode(app.builder, page, found.docname, anchor, content, PUBLIC[head])


def link_code(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Make links of the public names in code letters, outside of headings and links.

    In docstrings a name between single backticks is a link already, and one between double backticks is an argument or a column.
    """
    env, title = app.env, app.env.titles.get(page)
    if page.startswith(WIDE):
        for table in doctree.findall(nodes.table):
            table["classes"].append("wide")
    if page.startswith("docs/api/"):
        link_types(app, doctree, page)
        return
    for literal in list(doctree.findall(nodes.literal)):
        text = literal.astext().removesuffix("()")
        name = text.partition("(")[0]
        if name.partition(".")[0] not in PUBLIC or not name.replace(".", "").isidentifier():
            continue
        if name.endswith(FILE_ENDS):
            continue
        if title is not None and title.astext() == name:
            continue
        if not _within(literal, (nodes.reference, nodes.title, pending_xref)):
            literal.replace_self(link(app, env, page, name, literal.deepcopy()))


def link_types(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Make links of the classes in the types of parameters, as "tuple of Release"."""
    for emphasis in list(doctree.findall(nodes.emphasis)):
        words = re.split(r"\b([A-Z]\w+)\b", emphasis.astext())
        if len(words) == 1 or _within(emphasis, (nodes.reference, nodes.title, pending_xref, desc_signature)):
            continue
        parts = [
            link(app, app.env, page, word, nodes.emphasis("", word)) if word in PUBLIC else nodes.emphasis("", word)
            for word in words
        ]
        emphasis.replace_self(parts)


def _within(node: nodes.Node, kinds: tuple[type[nodes.Node], ...]) -> bool:
    parent: Any = node.parent
    while parent is not None:
        if isinstance(parent, kinds):
            return True
        parent = parent.parent
    return False


def check_complete(_: Sphinx, env: BuildEnvironment) -> None:
    """Warn of each public name that has no entry in the reference."""
    objects = env.domains["py"].data["objects"]
    for full_name in sorted(set(PUBLIC.values()) - set(objects)):
        LOGGER.warning("the public name %s has no page in the API reference", full_name)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("missing-reference", resolve)
    app.connect("env-check-consistency", check_complete)
    app.connect("doctree-resolved", link_code)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
