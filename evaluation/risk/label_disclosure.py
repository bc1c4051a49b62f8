"""Disclosure of sensitive labels by linked items. Each measure is a tidy table, one row per release."""

import numpy as np
import pandas as pd

from foreknow.attacks.linking import BELIEF_TOLERANCE, LabelBeliefs
from foreknow.evaluation.arguments import release_table
from foreknow.evaluation.risk.beliefs_and_truth import mean
from foreknow.models.settings import check_kind, check_range

COLUMNS = ("time", "sure_share", "highest_belief", "labels", "none", "distance_from_prior", "measured", "suppressed")


def label_disclosure(beliefs: LabelBeliefs, sure: float = 0.9) -> pd.DataFrame:
    """Disclosure of labels by the respondents' items: means over the published respondents.

    Parameters
    ----------
    beliefs : LabelBeliefs
        Result of `LinkingAttack`.
    sure : float
        Threshold of the belief in a label, from 0 to 1, at which the adversary is sure of a respondent. None is not a label.

    Returns
    -------
    DataFrame
        One row per release, with the columns

        - ``time``;
        - ``sure_share``: fraction of respondents whose likeliest label reaches the threshold;
        - ``highest_belief``: mean belief in the likeliest label;
        - ``labels``: mean number of labels with a belief above 0;
        - ``none``: mean belief in none, which is the fraction of records that link to no label;
        - ``distance_from_prior``: mean Euclidean distance of the posterior from the prior (Definition 4);
        - ``measured``: number of respondents averaged;
        - ``suppressed``: number of suppressed respondents, who are left out.

        The means are NaN in a release without published records.

    Notes
    -----
    P. Shi, L. Xiong, B. Fung, CIKM 2010, section 2.1.
    """
    takes = "takes what a LinkingAttack returns; attack a list of releases, as LinkingAttack(linking)([release])"
    check_kind("label_disclosure", "beliefs", beliefs, LabelBeliefs, takes)
    check_range("label_disclosure", "sure", sure, 0, 1, "a threshold of the belief")
    rows = []
    for release in beliefs:
        group = release.observation.group
        _, belief = release.likeliest
        labels = (release.posterior[:, :-1] > 0).sum(axis=1, dtype=np.float64)
        distance = np.sqrt(((release.posterior - release.prior) ** 2).sum(axis=1))
        kept = group[group >= 0]
        rows.append(
            {
                "time": release.observation.time,
                "sure_share": mean((belief >= sure - BELIEF_TOLERANCE)[kept]),
                "highest_belief": mean(belief[kept]),
                "labels": mean(labels[kept]),
                "none": mean(release.posterior[kept, -1]),
                "distance_from_prior": mean(distance[kept]),
                "measured": len(kept),
                "suppressed": len(group) - len(kept),
            }
        )
    return release_table(rows, COLUMNS)
