"""Experiments of the five papers in their own settings, their figures, and the claims that they decide.

A paper is a module with an object ``PAPER``: experiments, whose cells are kept, and figures, which are queries over their rows.
"""

from importlib import import_module

from foreknow.evaluation.papers.figures import Paper

PAPERS = {
    "js-reduce": "js_reduce",
    "bayframe": "bayframe",
    "uhra": "uhra",
    "foreground": "foreground",
    "quasi-sensitive": "quasi_sensitive",
}
"""Names of the papers, and their modules."""


def paper(name: str) -> Paper:
    """The paper of a name of `PAPERS`."""
    found: Paper = import_module(f"{__name__}.{PAPERS[name]}").PAPER
    return found
