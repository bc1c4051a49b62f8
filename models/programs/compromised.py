"""Compromised records whose source may be wrong, as a PyMC model: releases tell how reliable it is."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.beliefs import Beliefs, ReleaseBeliefs, coordinate
from foreknow.models.knowledge.compromised_records import CompromisedRecords
from foreknow.models.tables.required_columns import check_columns

if TYPE_CHECKING:
    import pymc as pm


class Claimed(NamedTuple):
    """The claims of one source, as arrays.

    Attributes
    ----------
    labels : list of str
        Who, and when.
    codes : int array, shape (c,)
        Which value, as a position in the sensitive domain.
    believed : float array, shape (c, m)
        What was believed of each claim's respondent after the release of its time.
    """

    labels: list[str]
    codes: IntArray
    believed: FloatArray


def compromised_model(
    claims: "pd.DataFrame | CompromisedRecords", beliefs: Beliefs, reliability: tuple[float, float] = (1.0, 1.0)
) -> "pm.Model":
    """Return the law of what a source of compromised records claims, if nobody knows how often it is right.

    Each claim is right with the probability ``r ~ Beta(*reliability)``, the same for all. A right claim names the
    respondent's true value, a wrong one any of the others, equally likely. The true value is believed in with what an
    attack on the releases says::

        q[i, s] = r p[i, s] + (1 - r) (1 - p[i, s]) / (m - 1)

    is then the probability that the claim i names value s.

    Parameters
    ----------
    claims : DataFrame or CompromisedRecords
        Columns respondent, value and time, one row per claim. A claim repeated word for word counts once. A column
        confidence, as `CompromisedRecords` has, is allowed and not read: reliability is what is to be learned.
    beliefs : Beliefs
        What an attack believes of these respondents at these times. It must not know the claims.
    reliability : tuple of float
        Of the Beta distribution of r: before any claim, right and wrong ones are worth that many.

    Returns
    -------
    pymc.Model
        With the variables

        - ``reliability``: r;
        - ``claimed``, observed, dim ``claim``: the claimed value's position in the domain, ``Categorical(q[i])``. A
          claim's coordinate says who and when: ``"1042 at 3"``;
        - ``right``, dim ``claim``: the probability that the claim is right, given r;
        - ``belief``, dims ``claim, value``: the belief in each value of the claim's respondent, given the claim and r.

    Raises
    ------
    ValueError
        If there are no claims, a column is missing, a claimed value is not in the domain, or that has one value; if a claim
        is about a time without a release, or somebody who is not in it; if a respondent has two different claims at one
        time; or a parameter of the Beta distribution is not positive.

    Notes
    -----
    Exact, given the beliefs: true values and whether a claim is right are summed over. Claims are taken to be
    independent given r; claims about one respondent at several times are not quite, where the values follow each other.
    Claims are wrong at random: a source that names what is common, or what is written in the release, is another model.
    Cost of a density: O(c m).

    Of claims that the releases decide (p is 0 or 1) r is known in closed form: ``Beta(a + confirmed, b + contradicted)``.

    Examples
    --------
    ``foreknow.models.CompromisedRecords`` takes the confidence for given; this learns it::

        model = compromised_model(records.frame, attack(releases))
        trace = pm.sample(model=model)
        arviz.summary(trace, var_names=["reliability", "right"])
    """
    import pymc as pm

    if np.ndim(reliability) != 1 or len(reliability) != 2:
        raise ValueError(
            f"reliability is {reliability!r}; it is the two parameters of a Beta distribution, as (1.0, 1.0)."
        )
    if not all(np.isfinite(worth) and worth > 0 for worth in reliability):
        raise ValueError(f"reliability is {reliability}; the parameters of a Beta distribution are positive.")
    claimed = _claimed(claims.frame if isinstance(claims, CompromisedRecords) else claims, beliefs)
    domain = beliefs.releases[0].observation.people.schema.values
    codes, believed = claimed.codes, claimed.believed
    others = len(domain) - 1
    named = np.eye(len(domain))[codes]
    with pm.Model(coords={"claim": claimed.labels, "value": [coordinate(value) for value in domain]}) as model:
        r = pm.Beta("reliability", *reliability)
        wrong = (1 - r) / others
        likelihood = r * believed + wrong * (1 - believed)
        pm.Categorical("claimed", p=likelihood, observed=codes, dims="claim")
        joint = believed * (r * named + wrong * (1 - named))
        belief = pm.Deterministic("belief", joint / joint.sum(axis=1, keepdims=True), dims=("claim", "value"))
        pm.Deterministic("right", (belief * named).sum(axis=1), dims="claim")
    return model


def _claimed(claims: pd.DataFrame, beliefs: Beliefs) -> Claimed:
    check_columns(claims, ("respondent", "value", "time"))
    claims = claims[["respondent", "value", "time"]].drop_duplicates()
    if not len(claims):
        raise ValueError("there are no claims, so nothing can be learned of their source; give at least one.")
    releases = {release.observation.time: release for release in beliefs}
    believed: dict[str, FloatArray] = {}
    for respondent, time in zip(claims["respondent"], claims["time"], strict=True):
        label = f"{respondent} at {time}"
        if label in believed:
            raise ValueError(
                f"there are two different claims about respondent {respondent!r} at {time!r}; a source names one value. Keep "
                "one, or make them two sources, each with a model of its own."
            )
        if time not in releases:
            raise ValueError(
                f"a claim is about respondent {respondent!r} at {time!r}, and there is no release of that time; there are "
                f"{', '.join(map(repr, releases))}. Correct the time, or leave the claim out."
            )
        believed[label] = _believed(releases[time], respondent)
    return Claimed([*believed], _codes(claims, releases[time]), np.array([*believed.values()]))


def _believed(release: ReleaseBeliefs, respondent: Any) -> FloatArray:
    """What is believed of somebody after a release: float array, shape ``(m,)``."""
    rows = release.observation.people.rows(respondent)
    if not rows:
        raise ValueError(
            f"a claim is about respondent {respondent!r} at {release.observation.time!r}, who has no record in that release. "
            "Correct the respondent or the time, or leave the claim out."
        )
    return np.asarray(release.posterior.probabilities[rows[0]])


def _codes(claims: pd.DataFrame, release: ReleaseBeliefs) -> IntArray:
    """The positions of the claimed values in the sensitive domain."""
    schema = release.observation.people.schema
    if len(schema.values) < 2:
        raise ValueError(
            f"the sensitive domain is {schema.values!r}; with one value every claim is right. Give a schema with all values."
        )
    codes = schema.codes(claims["value"])
    if np.isnan(codes).any():
        value = claims["value"].iloc[int(np.isnan(codes).argmax())]
        raise ValueError(
            f"a claim names the value {value!r}, which is not in the sensitive domain "
            f"({', '.join(map(str, schema.values[:8]))}{', ...' if len(schema.values) > 8 else ''}). Correct it."
        )
    return codes.astype(np.int64)
