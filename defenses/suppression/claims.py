"""What is asked of the labels that a group can be linked to, laid out for compiled code."""

from typing import NamedTuple

import numpy as np

from foreknow.defenses.requirements.qs_closeness import QSCloseness
from foreknow.defenses.requirements.qs_diversity import QSDiversity
from foreknow.defenses.requirements.requirement import AllOf, Requirement
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.quasi_sensitive.linking import Links

type LabelRequirement = QSDiversity | QSCloseness


class Claims(NamedTuple):
    """Any number of (c, l)-diversities, and of t-closenesses; all must hold.

    Attributes
    ----------
    c : float array, shape (a,)
    l : int array, shape (a,)
    as_printed : bool array, shape (a,)
    t : float array, shape (b,)
    prior : float array, shape (b, e + 1)
    """

    c: FloatArray
    l: IntArray  # noqa: E741
    as_printed: BoolArray
    t: FloatArray
    prior: FloatArray


def claims_of(parts: tuple[LabelRequirement, ...], links: Links) -> Claims:
    """The claims of some requirements; ``links`` are of all records of the view with all their items, which priors are of."""
    diverse = [part for part in parts if isinstance(part, QSDiversity)]
    close = [part for part in parts if isinstance(part, QSCloseness)]
    priors = [links.prior(part.prior) for part in close]
    return Claims(
        np.array([part.c for part in diverse], dtype=np.float64),
        np.array([part.l for part in diverse], dtype=np.int64),
        np.array([part.as_printed for part in diverse], dtype=np.bool_),
        np.array([part.t for part in close], dtype=np.float64),
        np.array(priors, dtype=np.float64).reshape(len(close), len(links.knowledge) + 1),
    )


def parts_of(owner: str, requirement: Requirement) -> tuple[LabelRequirement, ...]:
    """The parts of a requirement on labels.

    Raises
    ------
    TypeError
        If it is another, or has a part that is.
    ValueError
        If its parts are about different links.
    """
    parts = requirement.parts if isinstance(requirement, AllOf) else (requirement,)
    known = tuple(part for part in parts if isinstance(part, QSDiversity | QSCloseness))
    if len(known) < len(parts):
        wrong = next(part for part in parts if not isinstance(part, QSDiversity | QSCloseness))
        raise TypeError(
            f"{owner}: {wrong!r} is not about items; give a QSDiversity or a QSCloseness, or several joined by &, and leave the "
            "others to the defense that groups."
        )
    if any(part.linking != known[0].linking for part in known):
        raise ValueError(
            f"{owner}: the parts of {requirement!r} link items to labels in different ways; give all of them one Linking."
        )
    return known
