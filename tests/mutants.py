"""Mutants of a source file: one random operator of Cosmic Ray at each place and of each kind.

Not mutated: annotations, decorators, what is raised, texts with values (f-strings), ``strict`` of ``zip`` and ``if TYPE_CHECKING``.
"""

import ast
import random
from typing import NamedTuple

import cosmic_ray.plugins
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code

SETS = (("Add", "Sub", "Mul", "Div", "FloorDiv", "Mod", "Pow"), ("BitOr", "BitAnd", "BitXor"), ("Is", "IsNot"))
"""Operators that replace one another; others would stop most calls with a TypeError. Equality and order are the fourth set."""


def _tells(name):
    """Return whether mutants of an operator of Cosmic Ray tell something about tests."""
    kind, *ends = name.split("_")
    if kind == "core/RemoveDecorator" or cosmic_ray.plugins.get_operator(name).arguments():
        return False
    return "Unary" in kind or len({next((each for each in SETS if end in each), None) for end in ends}) < 2


CLASSES = {name: cosmic_ray.plugins.get_operator(name) for name in cosmic_ray.plugins.operator_names() if _tells(name)}


class Mutant(NamedTuple):
    """A place of a file, and the operator of Cosmic Ray that is applied there."""

    path: str
    line: int
    column: int
    operator: str
    occurrence: int

    def source(self, original):
        """Text of the mutated file."""
        return mutate_code(original, CLASSES[self.operator](), self.occurrence)


def mutants(root, path, seed):
    """Mutants of a file in the order of their places; the same ones for the same text and seed."""
    text, rng, choices = (root / path).read_text(encoding="utf-8"), random.Random(f"{seed} {path}"), {}
    excluded = [span for node in ast.walk(ast.parse(text)) for span in _excluded(node)]
    for mutant in _all_mutants(path, text):
        place = mutant.line, mutant.column
        if not any(start <= place < end for start, end in excluded):
            choices.setdefault((*place, mutant.operator.split("_")[0]), []).append(mutant)
    return [rng.choice(choices[place]) for place in sorted(choices)]


def _all_mutants(path, text):
    operators, seen = {name: operator() for name, operator in CLASSES.items()}, dict.fromkeys(CLASSES, -1)
    for node in ast_nodes(get_ast(text)):
        for name, operator in operators.items():
            for (line, column), _ in operator.mutation_positions(node):
                seen[name] += 1
                yield Mutant(path, line, column, name, seen[name])


def _excluded(node):
    """Spans of parts of a node that are not mutated."""
    parts = [getattr(node, name, None) for name in ("annotation", "returns", "exc")]
    parts += [*getattr(node, "decorator_list", ()), *getattr(node, "type_params", ())]
    if isinstance(node, ast.JoinedStr | ast.TypeAlias) or (isinstance(node, ast.If) and _is_for_types(node.test)):
        parts.append(node)
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "zip":
        parts += [keyword.value for keyword in node.keywords]
    for part in parts:
        if part is not None:
            yield (part.lineno, part.col_offset), (part.end_lineno, part.end_col_offset)


def _is_for_types(test):
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


def statement_of(text, line):
    """First and last line of the smallest statement, or header of a compound one, around a line; None if it runs at import."""
    found, within = (line, line), False
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt) and node.lineno <= line <= node.end_lineno:
            body = getattr(node, "body", None)
            within |= isinstance(node, ast.FunctionDef) and line >= body[0].lineno
            last = body[0].lineno - 1 if body and line < body[0].lineno else node.end_lineno
            found = (node.lineno, max(line, last))
    return found if within else None
