"""Checks of an attack."""

import dataclasses
from collections.abc import Callable
from typing import Literal

import numpy as np

from foreknow.attacks import Attack
from foreknow.models import Adversary, Beliefs, Release, View
from foreknow.models.settings import check_flag
from foreknow.testing import examples
from foreknow.testing.estimator import assert_distributions
from foreknow.testing.examples import is_a_settings_object, made, run

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

    Notes
    -----
    Checked: the attack is a frozen dataclass; it gives beliefs about every release, as distributions, in the order of its
    respondents; nothing is read but ``release.observation``; exchanging the true values within groups, the records that show a
    distorted value, or a counterfeit with a true value changes no belief; the order of records changes no belief; the first
    release meets the prior; later releases change no revised prior and, without hindsight, no posterior; any iterable of
    releases is accepted; two calls agree; releases out of order are refused. An attack may refuse
    distorted values or counterfeits by ValueError. Cost: 30 calls on at most three releases of twelve records.

    Examples
    --------
    >>> from foreknow.attacks import SequentialAttack
    >>> check_attack(SequentialAttack)
    """
    check_flag("check_attack", "hindsight", hindsight)
    attack = made("check_attack", make, examples.adversary())
    run("check_attack", attack, CHECKS, attack)
    if not hindsight:
        run("check_attack", attack, (_later_releases_change_nothing_earlier,), attack)


def _gives_beliefs_about_every_release(attack: Attack) -> None:
    releases = examples.releases()
    beliefs = attack(releases)
    assert isinstance(beliefs, Beliefs), f"it returns a {type(beliefs).__name__}, not Beliefs"
    assert beliefs.times == tuple(release.time for release in releases), "a release has no beliefs"
    assert all(isinstance(note, str) for note in beliefs.notes), "a note is no text"
    for belief, release in zip(beliefs, releases, strict=True):
        named = belief.observation.people.respondents
        assert np.array_equal(named, release.view.people.respondents), "the respondents are in another order"
        for stage in STAGES:
            rows = belief.beliefs(stage)
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


def _order_of_records_changes_no_belief(attack: Attack) -> None:
    turned = [
        Release(View(release.view.frame.iloc[::-1], examples.SCHEMA, release.time), release.group[::-1])
        for release in examples.releases()
    ]
    _compare(attack(turned), attack(examples.releases()), "the order of records changes a belief", tolerance=1e-9)


def _place_of_a_distorted_value_changes_no_belief(attack: Attack) -> None:
    for seed in range(5):
        _compare_unless_refused(
            attack, examples.distorted_releases(seed), "the record that shows a distorted value changes a belief"
        )


def _which_value_is_invented_changes_no_belief(attack: Attack) -> None:
    _compare_unless_refused(
        attack, examples.counterfeit_releases(), "a counterfeit exchanged with a true value changes a belief"
    )


def _refuses_releases_out_of_order(attack: Attack) -> None:
    try:
        attack(examples.releases()[::-1])
    except ValueError:
        return
    raise AssertionError("releases out of the order of time are accepted")


def _later_releases_change_no_revised_prior(attack: Attack) -> None:
    whole, part = attack(examples.releases()), attack(examples.releases()[:2])
    for time in part.times:
        assert whole.revised(time).equals(part.revised(time)), "a later release changes an earlier revised prior"


def _later_releases_change_nothing_earlier(attack: Attack) -> None:
    whole, part = attack(examples.releases()), attack(examples.releases()[:2])
    for time in part.times:
        assert whole.posterior(time).equals(part.posterior(time)), (
            "a later release changes the beliefs about an earlier one, and hindsight is False"
        )


CHECKS = (
    is_a_settings_object,
    _gives_beliefs_about_every_release,
    _first_release_meets_the_prior,
    _accepts_any_iterable_and_repeats,
    _reads_observations_only,
    _true_values_change_no_belief,
    _order_of_records_changes_no_belief,
    _place_of_a_distorted_value_changes_no_belief,
    _which_value_is_invented_changes_no_belief,
    _later_releases_change_no_revised_prior,
    _refuses_releases_out_of_order,
)


def _compare_unless_refused(
    attack: Attack, releases: tuple[tuple[Release, ...], tuple[Release, ...]], what: str
) -> None:
    """Compare beliefs after two series of releases with equal observations, unless the attack refuses them by ValueError."""
    one, other = releases
    try:
        beliefs = attack(one)
    except ValueError:
        return
    _compare(beliefs, attack(other), what)


def _compare(one: Beliefs, other: Beliefs, what: str, tolerance: float = 0.0) -> None:
    """Compare beliefs of all stages, respondent by respondent."""
    for a, b in zip(one, other, strict=True):
        rows = {name: row for row, name in enumerate(b.observation.people.respondents)}
        order = [rows[name] for name in a.observation.people.respondents]
        for stage in STAGES:
            assert np.allclose(a.beliefs(stage), b.beliefs(stage)[order], rtol=0, atol=tolerance), what
