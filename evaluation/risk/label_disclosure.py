"""What linking people's items to labels gained: a tidy table, one row per release."""

import numpy as np
import pandas as pd

from foreknow.attacks import LabelBeliefs
from foreknow.attacks.label_beliefs import ROUNDING
from foreknow.models.arrays import FloatArray, IntArray


def label_disclosure(beliefs: LabelBeliefs, sure: float = 0.9) -> pd.DataFrame:
    """How far people's items give away their labels: means over the published respondents.

    Parameters
    ----------
    beliefs : LabelBeliefs
        What `LinkingAttack` returned.
    sure : float
        From which belief in some label on the adversary is sure of a respondent. That there is none is no label.

    Returns
    -------
    DataFrame
        Columns ``time``; ``sure``, the share of respondents of whom the adversary is; ``belief``, the mean belief in the label
        believed most; ``labels``, how many labels stay possible; ``none``, the mean belief in none, which is the share of
        records that link to none; ``distance``, the Euclidean distance from the prior (Definition 4); ``records``, how many are
        averaged; ``suppressed``, whose respondents are left out. NaN where nobody is published.

    Raises
    ------
    TypeError
        If it is given no beliefs.
    """
    if not isinstance(beliefs, LabelBeliefs):
        raise TypeError(
            f"linked takes the beliefs of a LinkingAttack, and got {type(beliefs).__name__}; put what is published into a list and "
            "attack it, as LinkingAttack(linking)([release])."
        )
    rows = []
    for release in beliefs:
        group = release.observation.group
        _, belief = release.likeliest
        labels = (release.posterior[:, :-1] > 0).sum(axis=1)
        distance = np.sqrt(((release.posterior - release.prior) ** 2).sum(axis=1))
        kept = group[group >= 0]
        rows.append(
            {
                "time": release.observation.time,
                "sure": _mean((belief >= sure - ROUNDING).astype(np.float64), kept),
                "belief": _mean(belief, kept),
                "labels": _mean(labels, kept),
                "none": _mean(release.posterior[:, -1], kept),
                "distance": _mean(distance, kept),
                "records": len(kept),
                "suppressed": len(group) - len(kept),
            }
        )
    return pd.DataFrame(rows)


def _mean(each: "FloatArray | IntArray", group: IntArray) -> float:
    """The mean over people of something that everybody in a group shares."""
    return float(each[group].mean()) if len(group) else float("nan")
