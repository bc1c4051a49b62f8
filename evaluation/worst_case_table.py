"""Worst case of published releases: the most that any of several attacks gains, and which attack."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

from foreknow.attacks import Attack
from foreknow.evaluation.arguments import check_releases
from foreknow.evaluation.experiment import Comparison, check_named
from foreknow.evaluation.risk.beliefs_and_truth import LeftOut
from foreknow.models import Beliefs, History, Release
from foreknow.models.progress import Progress, check_progress, stepping
from foreknow.models.settings import check_flag


def worst_case(
    releases: Iterable[Release] | Mapping[str, Iterable[Release]],
    attacks: Mapping[str, Attack],
    *,
    by_release: bool = False,
    leaving_out: LeftOut = None,
    sure: float = 0.9,
    least: float = 2.0**-20,
    progress: Progress = iter,
) -> pd.DataFrame:
    """Largest gain, total risk, log score and share of sure and right beliefs that any attack reaches, and the attack.

    Parameters
    ----------
    releases : iterable of Release, or mapping of defense to iterable of Release
        Publications, with their original records in ``release.view``.
    attacks : mapping of name to Attack
        Every publication meets the same attacks.
    by_release : bool
        True for a row per release; False for a row over all releases.
    leaving_out : CompromisedRecords or collection of respondents, optional
        See `adversary_gain`.
    sure, least
        See `disclosures` and `log_score`.
    progress : callable, optional
        Function of the pairs of a defense and an attack that returns an iterable of the same length, as ``rich.progress.track``.
        One item is taken before each attack.

    Returns
    -------
    DataFrame
        As `Comparison.worst_case`; ``defense`` only with a mapping.

    Raises
    ------
    TypeError
        If an argument is of another kind.
    ValueError
        If there is no publication or no attack; if a number is out of range; if an attack refuses the releases.

    Notes
    -----
    Which attack is best is chosen with the truth known, for each row and measure. An adversary without the truth does not know
    the choice, and the largest of several noisy means is biased upwards: compare few attacks on few records with care. The
    worst case is that of the attacks given; other attacks may gain more. Cost: that of the attacks, and O(n m) per attack and
    release.

    Examples
    --------
    >>> import numpy as np
    >>> from foreknow.attacks import SnapshotAttack
    >>> from foreknow.models import Adversary, GivenPrior, Numeric, RandomWorlds, Schema, UniformPrior, View
    >>> frame = pd.DataFrame({"id": ["A", "B"], "age": [20, 21], "result": ["ill", "well"]})
    >>> view = View(frame, Schema({"age": Numeric()}, "result", ("ill", "well")))
    >>> prior = GivenPrior(pd.DataFrame({"ill": [0.8, 0.2], "well": [0.2, 0.8]}, index=["A", "B"]))
    >>> attacks = {"nothing": SnapshotAttack(Adversary(UniformPrior())), "prior": SnapshotAttack(Adversary(prior))}
    >>> worst_case([Release(view, [0, 0])], attacks)[["gain", "gain_attack", "right_share"]].round(3)
        gain gain_attack  right_share
    0  0.882       prior          1.0
    """
    check_flag("worst_case", "by_release", by_release)
    check_named("worst_case", "attacks", attacks, '{"snapshot": SnapshotAttack(adversary)}')
    published = _publications(releases)
    if not attacks or not published:
        missing = "releases" if attacks else "attacks"
        raise ValueError(f"worst_case: {missing} is empty; give at least one, as in worst_case(releases, attacks).")
    check_progress("worst_case", progress, "pairs")
    step = stepping(progress, [(name, attack) for name in published for attack in attacks])
    tables = [
        _comparison(name, each, attacks, leaving_out, step).worst_case(by_release=by_release, sure=sure, least=least)
        for name, each in published.items()
    ]
    table = pd.concat(tables, ignore_index=True)
    return table if isinstance(releases, Mapping) else table.drop(columns="defense")


def _publications(releases: Any) -> dict[str, tuple[Release, ...]]:
    """Publications by the name of the defense; one sequence of releases has the name "releases"."""
    if isinstance(releases, Mapping):
        return {name: check_releases("worst_case", each) for name, each in releases.items()}
    listed = check_releases("worst_case", releases)
    return {"releases": listed} if listed else {}


def _comparison(
    name: str,
    releases: tuple[Release, ...],
    attacks: Mapping[str, Attack],
    leaving_out: LeftOut,
    step: Callable[[], None],
) -> Comparison:
    """Beliefs of every attack on one publication, beside the original records."""
    beliefs: dict[tuple[str, str], Beliefs] = {}
    for attack, run in attacks.items():
        step()
        beliefs[name, attack] = run(releases)
    return Comparison(History([release.view for release in releases]), {name: releases}, beliefs, leaving_out)
