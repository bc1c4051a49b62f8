"""Checks of a part of an adversary's knowledge."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from foreknow.attacks import JointAttack, SequentialAttack, SignatureAttack
from foreknow.attacks.attack import Attack
from foreknow.evaluation.arguments import check_releases
from foreknow.models import Adversary, Beliefs, Knowledge, MarkovChain, Presence, Release, UniformPrior, View, Visits
from foreknow.models.adversary import check_own_parts
from foreknow.models.arrays import FloatArray
from foreknow.models.knowledge.parts import overrides
from foreknow.models.settings import check_kind
from foreknow.testing import examples
from foreknow.testing.examples import is_a_settings_object, run

TOLERANCE = 1e-9
"""Largest difference of two beliefs that should be equal."""


class Other(Knowledge):
    """A part that says something of everything, beside the checked one."""

    name = "other than the checked part"

    def step_factor(self, release: int) -> FloatArray:  # noqa: ARG002
        """Stays are twice as likely."""
        return 1 + np.eye(len(examples.DOMAIN))

    def evidence(self, visits: Visits) -> FloatArray:
        """The first value is somewhat likelier."""
        rows = np.ones((len(visits.people), len(visits.people.schema.values)))
        rows[:, 0] = 1.5
        return rows


def check_knowledge(part: Knowledge, releases: Sequence[Release] | None = None) -> None:
    """Check that a part of knowledge behaves as those of foreknow do.

    Parameters
    ----------
    part : Knowledge
        With a name. Its factors are asked for about the releases.
    releases : sequence of Release, optional
        Releases for which the part is meant; by default three with the values ``a``, ``b`` and ``c`` and the quasi-identifiers
        ``age`` and ``weight``.

    Notes
    -----
    Checked: a frozen dataclass with a name that no field of `Adversary` has; a method is overridden; shapes; factors are finite, at
    least 0, and not all 0; two calls agree; the row of a respondent depends neither on the order of the others nor on their
    presence; the order of two parts does not matter; exchanging the true values within groups changes no belief; an attack that
    does not read such parts refuses the adversary. Cost: a few attacks on the releases.

    Examples
    --------
    >>> from foreknow.models import Presence
    >>> check_knowledge(Presence([0.1, 0.1, 0.5]))
    """
    check_kind(
        "check_knowledge", "part", part, Knowledge, "is an object of a class that extends Knowledge, with a name"
    )
    given = examples.releases() if releases is None else check_releases("check_knowledge", releases)
    checks: tuple[Callable[..., None], ...] = (
        _is_a_settings_object_with_a_name,
        _says_something,
        _factors_are_numbers_of_their_shape,
        _respondents_are_independent,
        _order_of_parts_does_not_matter,
        _true_values_change_no_belief,
        _is_refused_where_it_is_not_read,
    )
    run("check_knowledge", part, checks, part, given)


def _is_a_settings_object_with_a_name(part: Knowledge, releases: Sequence[Release]) -> None:  # noqa: ARG001
    is_a_settings_object(part)
    assert isinstance(part.name, str), f"its name is {part.name!r}"
    assert part.name, "it has no name"
    if not isinstance(part, Presence):
        check_own_parts((part,))


def _says_something(part: Knowledge, releases: Sequence[Release]) -> None:  # noqa: ARG001
    methods = ("prior_factor", "step_factor", "evidence")
    assert any(overrides(part, name) for name in methods), f"it overrides none of {', '.join(methods)}"


def _factors_are_numbers_of_their_shape(part: Knowledge, releases: Sequence[Release]) -> None:
    for method, shape, ask in _questions(part, releases):
        found, again = ask(), ask()
        if found is None:
            continue
        rows = np.asarray(found)
        assert rows.shape == shape, (
            f"the result of {method} has the shape {rows.shape} and must have {shape} for these releases; give check_knowledge "
            "releases= of the domain that the part is made for"
        )
        assert np.isfinite(rows).all(), f"{method} has a factor that is not finite"
        assert (rows >= 0).all(), f"{method} has a factor below 0"
        assert rows.any() or not rows.size, f"all factors of {method} are 0, which attacks refuse"
        assert np.array_equal(rows, again), f"two calls of {method} differ"


def _questions(part: Knowledge, releases: Sequence[Release]) -> list[tuple[str, tuple[int, ...], Callable[[], Any]]]:
    """Name of each method, shape of its result, and a call."""
    found: list[tuple[str, tuple[int, ...], Callable[[], Any]]] = []
    for number, release in enumerate(releases):
        people = release.observation.people
        m, now = len(people.schema.values), Visits.of_now(people, number)
        found.append(("prior_factor", (len(people), m), partial(part.prior_factor, people)))
        found.append(("step_factor", (m, m), partial(part.step_factor, number)))
        visits = [now, *(now.seen_again(number + later) for later in (1, 2))]
        found += [("evidence", (len(people), m), partial(part.evidence, each)) for each in visits]
    return found


def _respondents_are_independent(part: Knowledge, releases: Sequence[Release]) -> None:
    people = releases[0].observation.people
    some = np.random.default_rng(0).permutation(len(people))[: max(len(people) // 2, 1)]
    rest: dict[str, Any] = {
        people.schema.respondent: people.respondents[some],
        people.schema.sensitive: people.schema.values[0],
    }
    fewer = View(people.frame.iloc[some].assign(**rest), people.schema, people.time).people
    for ask in (part.prior_factor, lambda them: part.evidence(Visits.of_now(them, 0).seen_again(1))):
        whole, rows = ask(people), ask(fewer)
        if whole is not None:
            assert np.allclose(np.asarray(rows), np.asarray(whole)[some]), "a row depends on the other respondents"


def _adversary(part: Knowledge) -> Adversary:
    """Adversary with a part; Presence has a field of its own."""
    m = len(examples.DOMAIN)
    known = Adversary(UniformPrior(), MarkovChain(1, np.full((m, m), 1 / m)))
    return replace(known, presence=part) if isinstance(part, Presence) else replace(known, own=(part,))


def _order_of_parts_does_not_matter(part: Knowledge, releases: Sequence[Release]) -> None:
    if isinstance(part, Presence) or releases[0].observation.counts.shape[1] != len(examples.DOMAIN):
        return
    one, other = (replace(_adversary(part), own=parts) for parts in ((part, Other()), (Other(), part)))
    for attack in (SequentialAttack, JointAttack):
        _compare(attack(one)(releases), attack(other)(releases), "the order of two parts changes a belief")


def _true_values_change_no_belief(part: Knowledge, releases: Sequence[Release]) -> None:
    if releases[0].observation.counts.shape[1] != len(examples.DOMAIN):
        return
    exchanged = [_exchanged(release) for release in releases]
    for attack in _attacks(part):
        _compare(attack(releases), attack(exchanged), "exchanging true values within groups changes a belief")


def _attacks(part: Knowledge) -> list[Attack]:
    return [SequentialAttack(_adversary(part)), JointAttack(_adversary(part))]


def _exchanged(release: Release) -> Release:
    """The release with the true values of each group in another order."""
    view, labels, rng = release.view, release.grouping.labels, np.random.default_rng(1)
    values = view.frame[view.schema.sensitive].to_numpy().copy()
    for group in np.unique(labels[labels >= 0]):
        rows = np.flatnonzero(labels == group)
        values[rows] = values[rng.permutation(rows)]
    frame = view.frame.assign(**{view.schema.sensitive: values})
    return Release(View(frame, view.schema, view.time), release.grouping)


def _is_refused_where_it_is_not_read(part: Knowledge, releases: Sequence[Release]) -> None:  # noqa: ARG001
    message = ""
    try:
        SignatureAttack(_adversary(part))
    except ValueError as error:
        message = str(error)
    assert part.name in message, f"SignatureAttack, which reads no such part, says {message!r} and does not name it"


def _compare(one: Beliefs, other: Beliefs, what: str) -> None:
    for first, second in zip(one, other, strict=True):
        off = np.abs(first.posterior.probabilities - second.posterior.probabilities).max(initial=0.0)
        assert off <= TOLERANCE, f"{what}, by {off:.2g}"
