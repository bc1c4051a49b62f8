"""Checks of an attack."""

import dataclasses
from collections.abc import Callable
from typing import Literal

import numpy as np

from foreknow.attacks import Attack
from foreknow.models import Adversary, Beliefs, Release
from foreknow.models.tables.view import View
from foreknow.testing import examples
from foreknow.testing.estimator import assert_distributions
from foreknow.testing.running import run

STAGES: tuple[Literal["prior", "revised", "posterior"], ...] = ("prior", "revised", "posterior")


def check_attack(make: Callable[[Adversary], Attack], *, hindsight: bool = False) -> None:
    """Check that an attack behaves as those of foreknow do.

    Parameters
    ----------
    make : function of an Adversary to an Attack
        The adversary has a prior and transitions of order 1. An attack without one ignores it:
        ``lambda adversary: ForegroundAttack(support=1)``.
    hindsight : bool
        True if later releases may change the beliefs about earlier ones.

    Raises
    ------
    AssertionError
        Names the check that failed.

    Notes
    -----
    Checked: beliefs about every release, as distributions; nothing is read but ``release.observation``, and exchanging the true
    values within groups changes no belief; the first release meets the prior; any iterable of releases is accepted; two calls
    agree; releases out of order and a value of another kind are refused. Cost: 12 calls on three releases of twelve records.

    Examples
    --------
    >>> from foreknow.attacks import SequentialAttack
    >>> check_attack(SequentialAttack)
    """
    attack = make(examples.adversary())
    run("check_attack", attack, CHECKS, attack)
    if not hindsight:
        run("check_attack", attack, (_later_releases_change_nothing_earlier,), attack)


def _gives_beliefs_about_every_release(attack: Attack) -> None:
    releases = examples.releases()
    beliefs = attack(releases)
    assert isinstance(beliefs, Beliefs), f"it returns a {type(beliefs).__name__}, not Beliefs"
    assert beliefs.times == tuple(release.time for release in releases), "a release has no beliefs"
    for belief, release in zip(beliefs, releases, strict=True):
        for stage in STAGES:
            rows = belief.at(stage)
            assert rows.shape == (len(release.view), len(examples.DOMAIN)), f"the {stage} has the shape {rows.shape}"
            assert_distributions(rows)


def _first_release_meets_the_prior(attack: Attack) -> None:
    first = attack(examples.releases()).releases[0]
    assert np.allclose(first.revised, first.prior), "the revised prior of the first release is not the prior"


def _accepts_any_iterable_and_repeats(attack: Attack) -> None:
    _compare(attack(iter(examples.releases())), attack(list(examples.releases())), "two calls differ")
    assert len(attack([])) == 0, "without releases there are beliefs"


def _reads_observations_only(attack: Attack) -> None:
    @dataclasses.dataclass(frozen=True)
    class Observed:
        observation: object

    observed = [Observed(release.observation) for release in examples.releases()]
    try:
        beliefs = attack(observed)  # type: ignore[arg-type]
    except AttributeError as read:
        raise AssertionError(f"it reads more of a release than its observation: {read}") from read
    _compare(beliefs, attack(examples.releases()), "it reads more of a release than its observation")


def _true_values_change_no_belief(attack: Attack) -> None:
    for seed in range(5):
        rng, exchanged = np.random.default_rng(seed), []
        for release in examples.releases():
            values, labels = release.view.frame["result"].to_numpy().copy(), release.group
            for label in np.unique(labels):
                rows = np.flatnonzero(labels == label)
                values[rows] = rng.permutation(values[rows])
            exchanged.append(
                Release(View(release.view.frame.assign(result=values), examples.SCHEMA, release.time), labels)
            )
        _compare(attack(exchanged), attack(examples.releases()), "true values exchanged within groups change a belief")


def _refuses_releases_out_of_order(attack: Attack) -> None:
    try:
        attack(examples.releases()[::-1])
    except ValueError:
        return
    raise AssertionError("releases out of the order of time are accepted")


def _refuses_what_is_no_release(attack: Attack) -> None:
    for wrong in (examples.history(), 3, [1, 2], examples.releases()[0]):
        try:
            attack(wrong)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            continue
        except Exception as failure:
            raise AssertionError(
                f"called with a {type(wrong).__name__}, it raises {failure!r}, no TypeError"
            ) from failure
        raise AssertionError(f"called with a {type(wrong).__name__}, it raises nothing")


def _later_releases_change_nothing_earlier(attack: Attack) -> None:
    whole, part = attack(examples.releases()), attack(examples.releases()[:2])
    for time in part.times:
        same = whole.posterior(time).equals(part.posterior(time))
        assert same, "a later release changes the beliefs about an earlier one, and hindsight is False"


CHECKS = (
    _gives_beliefs_about_every_release,
    _first_release_meets_the_prior,
    _accepts_any_iterable_and_repeats,
    _reads_observations_only,
    _true_values_change_no_belief,
    _refuses_releases_out_of_order,
    _refuses_what_is_no_release,
)


def _compare(one: Beliefs, other: Beliefs, what: str) -> None:
    """Compare beliefs, respondent by respondent."""
    for a, b in zip(one, other, strict=True):
        rows = {name: row for row, name in enumerate(b.observation.people.respondents)}
        order = [rows[name] for name in a.observation.people.respondents]
        assert np.array_equal(a.at("posterior"), b.at("posterior")[order]), what
