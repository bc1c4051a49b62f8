"""Pages of the API reference: one for each package and one for each public name, written to docs/api before the build."""

import inspect
import re
import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer

from site_extensions.member_sections import member_sections, rst_blocks
from site_extensions.public_names import DOCS, PACKAGES, choices, page_name, public_names, public_object

API = DOCS / "api"
INLINE = re.compile(r"\$(?P<formula>[^$\n]+)\$|`(?P<code>[^`]*)`|\[(?P<text>[^\]]*)\]\((?P<target>[^)]*)\)")


def first_line(full_name: str) -> str:
    """First line of the docstring of a public name."""
    found = public_object(full_name)
    text = documentation(full_name) if not callable(found) else inspect.getdoc(found) or ""
    return text.strip().split("\n\n")[0].replace("\n", " ")


def documentation(full_name: str) -> str:
    """Docstring below the assignment of a constant, in the module that defines it."""
    package, _, name = full_name.rpartition(".")
    for module in [*sorted(set(sys.modules) - {package}, key=len), package]:
        if module.startswith(package) and name in vars(sys.modules[module]):
            lines = ModuleAnalyzer.for_module(module).find_attr_docs().get(("", name))
            if lines:
                return "\n".join(lines)
    return ""


def rst_of(markdown: str) -> str:
    """Markdown as reStructuredText: formulas, links to pages, and code, which becomes a link to a name if there is one."""
    return INLINE.sub(lambda found: _inline(**found.groupdict()), markdown.replace(r"\|", "|"))


def _inline(formula: str | None, code: str | None, text: str | None, target: str | None) -> str:
    if formula is not None:
        return f":math:`{formula}`"
    return _link(text, target) if text is not None and target is not None else _code(code or "")


def _code(text: str) -> str:
    return f"`{text}`" if text.partition(".")[0] in public_names() else f"``{text}``"


def _link(text: str, target: str) -> str:
    words = re.sub(r"`+([^`]*)`+", r"\1", text)
    page = target.partition("#")[0]
    if not page.endswith(".md"):
        return words
    found = (DOCS / "reference" / page).resolve().relative_to(DOCS.parent).with_suffix("")
    return f":doc:`{words} </{found.as_posix()}>`"


def page_of(full_name: str, rows: Mapping[str, Any]) -> str:
    """Text of the page of one public name."""
    package, _, name = full_name.rpartition(".")
    found = public_object(full_name)
    lines = [name, "=" * len(name), "", f".. currentmodule:: {package}", ""]
    if name in rows:
        page, cells = rows[name]
        lines += [f"{first_line(full_name)}", "", ".. admonition:: When to use it", "   :class: tip", ""]
        lines += [f"   - **{head.capitalize()}**: {rst_of(cell)}" for head, cell in cells.items() if cell]
        lines += ["", f"   Compare it with the others: :doc:`/docs/reference/{page.stem}`.", ""]
    lines += member_parts(name)
    if isinstance(found, type):
        lines += [f".. autoclass:: {full_name}", "   :members:", "   :special-members: __call__", ""]
    elif callable(found):
        lines += [f".. autofunction:: {full_name}", ""]
    else:
        lines += [f".. py:data:: {name}", "", *(f"   {line}" for line in documentation(full_name).splitlines()), ""]
        if isinstance(found, Mapping):
            lines += [f"   - ``{key!r}``: {_value(value)}" for key, value in found.items()]
    return "\n".join(lines) + "\n"


def member_parts(name: str) -> list[str]:
    """Formula and picture of a member of a family, and the heading of its reference."""
    if name not in member_sections():
        return []
    section = member_sections()[name]
    return [
        *("Formula", "-------", "", *rst_blocks(section.text, rst_of)),
        *("Picture", "-------", "", f".. image:: {section.picture}", f"   :alt: {section.description}", ""),
        *(rst_of(section.caption.strip("*")), "", "Reference", "---------", ""),
    ]


def _value(value: Any) -> str:
    name = getattr(value, "__name__", None)
    return f"`{name}`" if name else str(value).replace("*", r"\*").replace("|", r"\|")


def package_page(package: str) -> str:
    """Text of the page of a package: its docstring's first line, and a table of its names."""
    module = import_module(package)
    lines = [package, "=" * len(package), "", (module.__doc__ or "").strip().split("\n\n")[0], ""]
    lines += [f".. py:module:: {package}", "", ".. list-table::", "   :widths: 28 72", "   :class: names", ""]
    for name in sorted(module.__all__, key=lambda name: (name.lower(), name)):
        lines += [f"   * - :py:obj:`~{package}.{name}`", f"     - {first_line(f'{package}.{name}')}"]
    lines += ["", ".. toctree::", "   :hidden:", ""]
    lines += [
        f"   {page_name(f'{package}.{name}')}" for name in sorted(module.__all__, key=lambda name: (name.lower(), name))
    ]
    return "\n".join(lines) + "\n"


def index_page() -> str:
    """Text of the first page of the API reference."""
    title = "API reference"
    lines = [
        title,
        "=" * len(title),
        "",
        "All public names, by package. A name in code letters is a link to its page.",
        "",
    ]
    lines += [".. toctree::", "   :maxdepth: 1", ""]
    return "\n".join(lines + [f"   {package}" for package in PACKAGES]) + "\n"


def write_pages(_: Sphinx) -> None:
    """Write all pages; a page that has not changed keeps its time, so that Sphinx does not read it again."""
    rows = choices()
    pages = {"index": index_page()} | {package: package_page(package) for package in PACKAGES}
    pages |= {page_name(full_name): page_of(full_name, rows) for full_name in public_names().values()}
    API.mkdir(exist_ok=True)
    for name, text in pages.items():
        path = API / f"{name}.rst"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in API.glob("*.rst"):
        if path.stem not in pages:
            path.unlink()


@cache
def side_bar(page: str) -> dict[str, str]:
    """Title, its page and the names of the side bar of a page of the reference: its family, or else its package.

    It stands in place of the table of contents of the site, which takes a fifth of the build where it has hundreds of pages.
    """
    package, _, name = (page, "", "") if page in PACKAGES else page.removesuffix("-function").rpartition(".")
    rows = choices()
    family, title, names = f"docs/api/{package}", package, sorted(import_module(package).__all__, key=str.lower)
    if name in rows:
        stem = rows[name][0].stem
        family, title = f"docs/reference/{stem}", stem.replace("-", " ").capitalize()
        names = [each for each, (path, _) in rows.items() if path.stem == stem]
    return {"family": family, "family_title": title, "names_of_family": "".join(_entry(each, page) for each in names)}


def _entry(name: str, page: str) -> str:
    target = page_name(public_names()[name])
    state = " current active" if target == page else ""
    return f'<li class="toctree-l1{state}"><a class="reference internal" href="{target}.html">{name}</a></li>'


def add_names(_: Sphinx, page: str, __: str, context: dict[str, Any], ___: Any) -> None:
    """Give the template of the side bar the names beside the page's own."""
    if page.startswith("docs/api/foreknow."):
        context |= side_bar(page.removeprefix("docs/api/"))
        context["sidebars"] = ["family-names.html"]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("builder-inited", write_pages)
    app.connect("html-page-context", add_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
