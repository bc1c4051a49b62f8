"""Checks of a defense."""

import inspect
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from foreknow.defenses import Defense, Requirement, publish, summarize_groups, summarize_records
from foreknow.defenses.requirements.requirement import check_requirement
from foreknow.evaluation import verify
from foreknow.models import Adversary, Grouping, MarkovChain, Release, UniformPrior, View
from foreknow.models.arrays import FloatArray
from foreknow.models.notes import Note
from foreknow.testing import examples
from foreknow.testing.examples import is_a_settings_object, made, run


def check_defense(make: Callable[[], Defense], *, promises: Requirement | None = None) -> None:
    """Check that a defense behaves as those of foreknow do.

    Parameters
    ----------
    make : function without parameters to a Defense
        Called anew for each check, so that a defense that draws begins with the same generator:
        ``lambda: Anatomy(2, rng=np.random.default_rng(1))``. Views have 30 records, two numeric quasi-identifiers and three
        sensitive values, each in a third of the records.
    promises : Requirement, optional
        What every published group satisfies. `foreknow.evaluation.verify` checks requirements of foreknow, the requirement itself
        all others.

    Notes
    -----
    Checked: a defense that is no function is a frozen dataclass; the result is a `Grouping` with one label per record; suppressed
    records are named in its notes; neither view nor prior are modified; two defenses made alike return equal groupings; renaming
    respondents changes nothing; the prior changes nothing unless the defense declares what it ``reads``; a view of one record,
    or of fewer records than ``smallest``, is published or refused with ValueError; groups satisfy what ``promises`` requires;
    `publish` runs it over three views, all but the last ``lag`` ones; where respondents leave, each ghost carries on a place of the
    release before, with its quasi-identifiers. Cost: 15 calls on 30 records.

    Examples
    --------
    >>> from foreknow.defenses import KAnonymity, Mondrian
    >>> check_defense(lambda: Mondrian(KAnonymity(3)), promises=KAnonymity(3))
    """
    if promises is not None:
        check_requirement("check_defense", promises)
    run("check_defense", made("check_defense", make), CHECKS, make)
    if promises is not None:
        run("check_defense", made("check_defense", make), (_keeps_its_promise,), make, promises)


def _prior(view: View) -> FloatArray:
    return examples.PriorByName()(view.people)


def _grouping(defense: Defense, view: View, prior: FloatArray) -> Grouping:
    """Result of a call; the respondents of the view are those of the views to come as well."""
    coming: Any = (view.people,) * int(getattr(defense, "lag", 0))
    return defense(view, prior, (), **({"coming": coming} if coming else {}))


def _is_a_settings_object(make: Callable[[], Defense]) -> None:
    defense = make()
    assert callable(defense), f"it is a {type(defense).__name__}, which cannot be called"
    if not inspect.isroutine(defense):
        is_a_settings_object(defense)


def _returns_one_label_per_record(make: Callable[[], Defense]) -> None:
    view = examples.view()
    grouping = _grouping(make(), view, _prior(view))
    assert isinstance(grouping, Grouping), f"it returns a {type(grouping).__name__}, not a Grouping"
    assert grouping.labels.shape == (len(view),), f"{len(view)} records have {grouping.labels.shape} labels"
    Release(view, grouping)


def _notes_what_is_suppressed(make: Callable[[], Defense]) -> None:
    view = examples.view()
    grouping = _grouping(make(), view, _prior(view))
    counted = sum(note.of.get("records", 0) for note in grouping.notes if isinstance(note, Note))
    in_words = any(not isinstance(note, Note) for note in grouping.notes)
    assert in_words or counted >= (grouping.labels < 0).sum(), "records are suppressed, and no note has their number"


def _modifies_nothing(make: Callable[[], Defense]) -> None:
    view = examples.view()
    prior, frame, values = _prior(view), view.frame.copy(), view.sensitive.copy()
    given = prior.copy()
    _grouping(make(), view, given)
    assert np.array_equal(given, prior), "the prior was modified"
    assert view.frame.equals(frame), "the view was modified"
    assert np.array_equal(view.sensitive, values), "the sensitive values were modified"


def _repeats(make: Callable[[], Defense]) -> None:
    view = examples.view()
    one, other = (_grouping(make(), view, _prior(view)) for _ in range(2))
    for name in ("labels", "values", "counterfeits", "notes"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), f"two defenses made alike return other {name}"


def _names_do_not_matter(make: Callable[[], Defense]) -> None:
    view = examples.view()
    renamed = View(view.frame.assign(id=[f"q{i}" for i in range(len(view))][::-1]), examples.SCHEMA, view.time)
    one, other = _grouping(make(), view, _prior(view)), _grouping(make(), renamed, _prior(view))
    assert np.array_equal(one.labels, other.labels), "the groups depend on the names of respondents"


def _declares_that_it_reads_the_prior(make: Callable[[], Defense]) -> None:
    view, defense = examples.view(), make()
    if not getattr(defense, "reads", None):
        uniform = np.full((len(view), len(examples.DOMAIN)), 1 / len(examples.DOMAIN))
        one, other = (_grouping(make(), view, prior) for prior in (_prior(view), uniform))
        assert np.array_equal(one.labels, other.labels), (
            "the groups depend on the prior, and the defense has no reads = READS (publish then asks for an adversary)"
        )


def _refuses_a_small_view_by_ValueError(make: Callable[[], Defense]) -> None:
    smallest = int(getattr(make(), "smallest", 1))
    for records in {1, max(smallest - 1, 1)}:
        view = examples.view(records=records)
        try:
            _grouping(make(), view, _prior(view))
        except ValueError:
            continue
        except Exception as failure:
            raise AssertionError(f"a view of {records} records raises {failure!r}, no ValueError") from failure
        assert records >= smallest, f"a view of {records} records is published, and smallest is {smallest}"


def _keeps_its_promise(make: Callable[[], Defense], promises: Requirement) -> None:
    view = examples.view()
    prior = _prior(view)
    release = Release(view, _grouping(make(), view, prior))
    try:
        holds = verify(release, promises, prior)["holds"].all()
    except TypeError:  # a requirement of another package, which verify does not define
        holds = promises.bind(view, prior)(
            summarize_groups(summarize_records(view, prior, members=True), release.group)
        ).all()
    assert holds, f"a group does not satisfy {promises!r}"


def _publishes_a_history(make: Callable[[], Defense]) -> None:
    history = examples.history()
    releases = publish(history, make(), examples.adversary(), infeasible="suppress", rng=np.random.default_rng(1))
    shown = history.times[: len(history.times) - int(getattr(make(), "lag", 0))]
    assert [release.time for release in releases] == list(shown), "a view is not published"


def _ghosts_carry_on_places(make: Callable[[], Defense]) -> None:
    views = [examples.view(records, time) for time, records in enumerate((30, 24, 20), 1)]
    assumed = Adversary(UniformPrior(), MarkovChain(1, examples.STEP))
    releases = publish(views, make(), assumed, infeasible="suppress", rng=np.random.default_rng(1))
    for before, release in pairwise(releases):
        if release.grouping.places is not None:
            people, group = before.everyone
            known = people[group >= 0].frame
            found = release.grouping.places.frame
            assert set(found.index) <= set(known.index), "a ghost carries on a place that is not in the release before"
            assert found.equals(known.loc[found.index]), "a ghost has other quasi-identifiers than its place"


CHECKS = (
    _is_a_settings_object,
    _returns_one_label_per_record,
    _notes_what_is_suppressed,
    _modifies_nothing,
    _repeats,
    _names_do_not_matter,
    _declares_that_it_reads_the_prior,
    _refuses_a_small_view_by_ValueError,
    _publishes_a_history,
    _ghosts_carry_on_places,
)
