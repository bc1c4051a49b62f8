"""Options of a command of `foreknow` on a page: the directive ``foreknow-command`` writes them as the program has them."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from typing import Any

import typer
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from foreknow.app.cli.command_line import app

FLAG = re.compile(r"(?<![\w/-])(--?[a-z][\w-]*)")
"""Option within a text."""

MARKS = re.compile(r"([\\`*_<>\[\]{}|#$~&])")
"""Characters with a meaning in Markdown."""


ARGUMENT = re.compile(r"\{([^}.]+)[.]*\}|\[(\[\w+\])\.\.\.\](?=\.\.\.)")
"""Argument in a usage, in braces or, if it is optional, in brackets around its own."""

KIND = re.compile(r" <[^>]*>$")
"""Type in Python after the name of an argument."""


def markdown_of(text: str) -> str:
    """Help text as Markdown: options are code, and no other character is markup."""
    parts = FLAG.split(text)
    return "".join(f"`{part}`" if place % 2 else MARKS.sub(r"\\\1", part) for place, part in enumerate(parts))


@cache
def command_of(name: str) -> Any:
    """The command of a name, with its parameters."""
    program: Any = typer.main.get_command(app)
    return program.loaded(name)


@cache
def command_text(name: str) -> str:
    """Markdown of a command: its usage, its help text, and each argument and option below the heading that it has in --help."""
    command = command_of(name)
    context = command.make_context(f"foreknow {name}", [], resilient_parsing=True)
    usage = ARGUMENT.sub(r"\1\2", " ".join([context.command_path, *command.collect_usage_pieces(context)]))
    lines = [f"````{{program}} foreknow {name}", "````", "", "```text", usage, "```", ""]
    lines += [line for text in command.help.split("\n\n") for line in (markdown_of(text), "")]
    if command.epilog:
        lines += ["```text", command.epilog, "```", ""]
    return "\n".join([*lines, *_options(command.params, context)])


def _options(parameters: list[Any], context: Any) -> Iterator[str]:
    """Lines of the parameters, those of one heading together."""
    kept = [each for each in parameters if each.name not in ("help", "config", "as_json")]
    panels = list(dict.fromkeys(["Arguments", "Options", *map(_panel, kept)]))
    for panel, group in groupby(sorted(kept, key=lambda each: panels.index(_panel(each))), _panel):
        yield from (f"````{{rubric}} {panel}", "````", "")
        for each in group:
            names, text = each.get_help_record(context)
            names = KIND.sub("", names).replace(" / ", ", ")
            yield from (f"````{{option}} {names}", markdown_of(text), "````", "")


def _panel(parameter: Any) -> str:
    """Heading of a parameter in --help."""
    return parameter.rich_help_panel or ("Arguments" if parameter.param_type_name == "argument" else "Options")


class CommandOptions(SphinxDirective):
    """The text of the command that the argument names."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Nodes of the text."""
        return self.parse_text_to_nodes(command_text(self.arguments[0]))


def setup(site: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    site.add_directive("foreknow-command", CommandOptions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
