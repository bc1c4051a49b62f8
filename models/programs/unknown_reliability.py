"""PyMC model of a source of compromised records whose reliability is unknown."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.beliefs import Beliefs
from foreknow.models.knowledge.compromised_records import CompromisedRecords, claim_labels
from foreknow.models.settings import check_positive, check_shape
from foreknow.models.tables.columns import coordinate

if TYPE_CHECKING:
    import pymc as pm


def compromised_model(
    claims: "pd.DataFrame | CompromisedRecords", beliefs: Beliefs, reliability: tuple[float, float] = (1.0, 1.0)
) -> "pm.Model":
    """Return the law of the claims of a source of compromised records with unknown reliability.

    Each claim is right with the probability ``r ~ Beta(*reliability)``, the same for all. A right claim names the
    respondent's true value; a wrong one names any other value, each with the same probability. The true value has the
    probabilities p that an attack on the releases gives it. Then claim i names value s with probability::

        q[i, s] = r p[i, s] + (1 - r) (1 - p[i, s]) / (m - 1)

    Parameters
    ----------
    claims : DataFrame or CompromisedRecords
        Columns respondent, value and time, one row per claim. Repeated rows count once. A column confidence, as
        `CompromisedRecords` has, is not read: the model learns the reliability.
    beliefs : Beliefs
        Beliefs of an attack on these respondents at these times. They must not use the claims.
    reliability : tuple of float
        Parameters of the Beta distribution of r: prior counts of right and of wrong claims.

    Returns
    -------
    pymc.Model
        With the variables

        - ``reliability``: r;
        - ``claimed``, observed, dim ``claim``: the claimed value's position in the domain, ``Categorical(q[i])``. The
          coordinate of a claim is its respondent and time: ``"1042 at 3"``;
        - ``right``, dim ``claim``: the probability that the claim is right, given r;
        - ``belief``, dims ``claim, value``: the belief in each value of the claim's respondent, given the claim and r.

        The arrays that depend on claims and beliefs are `pymc.Data`: ``codes`` and ``attack_belief``.

    Notes
    -----
    Exact, given the beliefs: true values and the correctness of claims are summed over. Claims are independent given r. That
    is an approximation for claims about one respondent at several times, where values are correlated. Wrong claims are
    uniform: a source that names common values, or the values of the release, needs another model. Cost of a density: O(c m).

    For claims that the releases decide (p is 0 or 1) the posterior of r is ``Beta(a + confirmed, b + contradicted)``.

    Examples
    --------
    ``foreknow.models.CompromisedRecords`` takes the confidence as given; this model learns it::

        model = compromised_model(records.frame, attack(releases))
        trace = pm.sample(model=model)
        arviz.summary(trace, var_names=["reliability", "right"])
    """
    import pymc as pm
    import pytensor.tensor

    pt: Any = pytensor.tensor
    check_shape("reliability", reliability, (2,), "the two parameters of a Beta distribution, as (1.0, 1.0)")
    for count in reliability:
        check_positive("compromised_model", "reliability", count, "a parameter of a Beta distribution")
    frame = claims.frame if isinstance(claims, CompromisedRecords) else claims
    labels, claimed, attack_belief = _claim_arrays(frame, beliefs)
    domain = beliefs.releases[0].observation.people.schema.values
    others = len(domain) - 1
    with pm.Model(coords={"claim": labels, "value": [coordinate(value) for value in domain]}) as model:
        r = pm.Beta("reliability", *map(float, reliability))
        wrong = (1 - r) / others
        prior = pm.Data("attack_belief", attack_belief, dims=("claim", "value"))
        codes = pm.Data("codes", claimed, dims="claim")
        named = pt.eye(len(domain))[codes]
        pm.Categorical("claimed", p=r * prior + wrong * (1 - prior), observed=codes, dims="claim")
        joint = prior * (r * named + wrong * (1 - named))
        belief = pm.Deterministic("belief", joint / joint.sum(axis=1, keepdims=True), dims=("claim", "value"))
        pm.Deterministic("right", (belief * named).sum(axis=1), dims="claim")
    return model


def _claim_arrays(claims: pd.DataFrame, beliefs: Beliefs) -> tuple[list[str], IntArray, FloatArray]:
    """Label and claimed value of each claim, and the belief of the attack in each value then: shapes ``(c,)`` and ``(c, m)``."""
    records = CompromisedRecords(claims.assign(confidence=0.5))
    frame = records.frame
    if not len(frame) or not len(beliefs):
        raise ValueError(
            f"there are {len(frame)} claims and {len(beliefs)} releases; compromised_model needs at least one of each."
        )
    labels = claim_labels(frame)
    if len(set(labels)) < len(labels):
        raise ValueError(
            "there are two different claims about one respondent at one time; a source names one value. Keep one, or make them two "
            "sources, each with a model of its own."
        )
    records.check_times(beliefs.times)
    m = len(beliefs.releases[0].observation.people.schema.values)
    if m < 2:
        raise ValueError(
            "the sensitive domain has one value, so that every claim is right. Give a schema with all values."
        )
    codes, belief = np.zeros(len(frame), dtype=np.int64), np.zeros((len(frame), m))
    for release in beliefs:
        at = np.flatnonzero([time == release.observation.time for time in frame["time"].tolist()])
        about = records.at(release.observation.time, release.observation.people)
        codes[at], belief[at] = about.values, release.posterior.probabilities[about.rows]
    return labels, codes, belief
