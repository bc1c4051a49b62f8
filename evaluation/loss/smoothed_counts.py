"""Noisy counts smoothed by a chain: what an analyst expects the true counts to be, given all that is published."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from foreknow.attacks import JointAttack
from foreknow.evaluation.arguments import check_releases
from foreknow.models import Adversary, GroupGraph, History, MarkovChain, NoisyRelease
from foreknow.models.joint.problem import JointSolver
from foreknow.models.settings import check_kind

PSEUDO_COUNTS = (0.0, 0.1, 0.5, 1.0)
"""Pseudo-counts with which a chain is fitted to the records, to see if it is the given one."""

SAME = 1e-9
"""Largest difference of the probabilities of two chains that count as one."""


def smoothed_counts(
    releases: Iterable[NoisyRelease],
    adversary: Adversary,
    solver: JointSolver | None = None,
    *,
    hindsight: bool = True,
) -> tuple[NoisyRelease, ...]:
    """Releases with the posterior mean of each count as their processed counts.

    The analyst has the joint law of an adversary, and reads the published counts alone: processing that costs nothing of the
    promise. The table of each release (`NoisyRelease.table`) has the smoothed counts beside the noisy ones, and `query_error`
    scores them.

    Parameters
    ----------
    releases : iterable of NoisyRelease
        In the order of time.
    adversary : Adversary
        Knowledge of the analyst: prior and chain from elsewhere, or learned from the noisy counts (`LearnedKnowledge.fit`).
    solver : JointSolver, optional
        As of `JointAttack`, by default `GroupGraph`.
    hindsight : bool
        True to smooth each count given all releases; False to filter it given the releases up to it. By keyword.

    Returns
    -------
    tuple of NoisyRelease

    Raises
    ------
    TypeError
        If a release is no `NoisyRelease`, or the adversary is Averaged.
    ValueError
        If the chain is one that `MarkovChain.fit` returns for the true records, which are not published: for the pseudo-counts 0,
        .1, .5 and 1.

    Notes
    -----
    The count of a value in a cell is the sum of the beliefs in it about the respondents of the cell; counts of a cell sum to their
    number, which is public. Not checked: that the prior, transitions by class or by release, a chain fitted with another
    pseudo-count or to a part of the records, or other knowledge were not made from the records. Cost: that of the solver.

    Examples
    --------
    One of two respondents has the value a. The noisy counts of it are 3 and 1:

    >>> import pandas as pd
    >>> from foreknow.models import Cells, Noise, NoisyTable, Numeric, Schema, UniformPrior, View
    >>> frame = pd.DataFrame({"id": [1, 2], "age": [20, 40], "result": ["a", "b"]})
    >>> views = [View(frame, Schema({"age": Numeric(0, 99)}, "result", ("a", "b")), time) for time in (1, 2)]
    >>> cells, noise = Cells.equal_counts(views[0].people, 1), Noise("gaussian", 1.0)
    >>> releases = [NoisyRelease(view, NoisyTable(cells, [[a, 1]], noise)) for view, a in zip(views, (3, 1))]
    >>> chain = MarkovChain(1, np.array([[0.9, 0.1], [0.1, 0.9]]))
    >>> [one.made.processed.round(1).tolist() for one in smoothed_counts(releases, Adversary(UniformPrior(), chain))]
    [[[1.4, 0.6]], [[1.2, 0.8]]]
    """
    owner = "smoothed_counts"
    given = check_releases(owner, releases, NoisyRelease)
    check_kind(owner, "adversary", adversary, Adversary)
    _check_not_fitted(owner, given, adversary)
    beliefs = JointAttack(adversary, solver or GroupGraph(), hindsight)(given)  # type: ignore[arg-type]
    found = []
    for release, around in zip(given, beliefs, strict=True):
        means = np.zeros(release.counts.shape)
        np.add.at(means, around.observation.group, around.posterior.probabilities)
        found.append(replace(release, made=replace(release.made, processed=means)))
    return tuple(found)


def _check_not_fitted(owner: str, releases: tuple[NoisyRelease, ...], adversary: Adversary) -> None:
    """Raise ValueError if the chain is the one of the true records."""
    chain, views = adversary.transitions, [release.view for release in releases]
    if not isinstance(chain, MarkovChain):
        return
    for pseudo_count in PSEUDO_COUNTS:
        try:
            fitted = MarkovChain.fit(History(views), chain.order, pseudo_count, gaps=adversary.gaps)
        except ValueError:  # no respondent has enough records
            return
        same = fitted.probabilities.shape == chain.probabilities.shape
        if same and np.abs(fitted.probabilities - chain.probabilities).max() <= SAME:
            raise ValueError(
                f"{owner}: the chain is that of the true records, by MarkovChain.fit with pseudo_count={pseudo_count:g}, and would "
                "publish what the noise hides. Take a chain of a public corpus, or LearnedKnowledge.fit(releases)."
            )
