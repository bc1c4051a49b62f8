"""Checks of a defense."""

from collections.abc import Callable

import numpy as np

from foreknow.defenses import Defense, publish
from foreknow.models import Grouping, Release, View
from foreknow.testing import examples
from foreknow.testing.running import run


def check_defense(make: Callable[[], Defense]) -> None:
    """Check that a defense behaves as those of foreknow do.

    Parameters
    ----------
    make : function without parameters to a Defense
        Called anew for each check, so that a defense that draws begins with the same generator:
        ``lambda: Anatomy(2, rng=np.random.default_rng(1))``. Views have 30 records, two numeric quasi-identifiers and three
        sensitive values, each in a third of the records.

    Raises
    ------
    AssertionError
        Names the check that failed.

    Notes
    -----
    Checked: the result is a `Grouping` with one label per record; suppressed records are said in its notes; neither view nor prior
    are modified; two defenses made alike group alike; renaming respondents changes nothing; a view of one record is published or
    refused with ValueError; `publish` runs it over three views. Not checked: that groups satisfy what the defense promises; use
    `foreknow.evaluation.verify`. Cost: ten calls on 30 records.

    Examples
    --------
    >>> from foreknow.defenses import KAnonymity, Mondrian
    >>> check_defense(lambda: Mondrian(KAnonymity(3)))
    """
    run("check_defense", make(), CHECKS, make)


def _prior(view: View) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    return examples.PriorByName()(view.people)


def _returns_one_label_per_record(make: Callable[[], Defense]) -> None:
    view = examples.view()
    grouping = make()(view, _prior(view), ())
    assert isinstance(grouping, Grouping), f"it returns a {type(grouping).__name__}, not a Grouping"
    assert grouping.labels.shape == (len(view),), f"{len(view)} records have {grouping.labels.shape} labels"
    Release(view, grouping)


def _says_what_is_suppressed(make: Callable[[], Defense]) -> None:
    view = examples.view()
    grouping = make()(view, _prior(view), ())
    said = any("suppressed" in note for note in grouping.notes)
    assert said or (grouping.labels >= 0).all(), "records are suppressed, and no note says so"


def _modifies_nothing(make: Callable[[], Defense]) -> None:
    view = examples.view()
    prior, frame, values = _prior(view), view.frame.copy(), view.sensitive.copy()
    given = prior.copy()
    make()(view, given, ())
    assert np.array_equal(given, prior), "the prior was modified"
    assert view.frame.equals(frame), "the view was modified"
    assert np.array_equal(view.sensitive, values), "the sensitive values were modified"


def _repeats(make: Callable[[], Defense]) -> None:
    view = examples.view()
    one, other = (make()(view, _prior(view), ()).labels for _ in range(2))
    assert np.array_equal(one, other), "two defenses made alike group differently"


def _names_do_not_matter(make: Callable[[], Defense]) -> None:
    view = examples.view()
    renamed = View(view.frame.assign(id=[f"q{i}" for i in range(len(view))][::-1]), examples.SCHEMA, view.time)
    one, other = make()(view, _prior(view), ()), make()(renamed, _prior(view), ())
    assert np.array_equal(one.labels, other.labels), "the groups depend on the names of respondents"


def _refuses_a_small_view_by_ValueError(make: Callable[[], Defense]) -> None:
    view = examples.view(records=1)
    try:
        make()(view, _prior(view), ())
    except ValueError:
        return
    except Exception as failure:
        raise AssertionError(f"a view of one record raises {failure!r}, no ValueError") from failure


def _publishes_a_history(make: Callable[[], Defense]) -> None:
    history = examples.history()
    releases = publish(history, make(), examples.adversary(), infeasible="suppress", rng=np.random.default_rng(1))
    assert [release.time for release in releases] == list(history.times), "a view is not published"


CHECKS = (
    _returns_one_label_per_record,
    _says_what_is_suppressed,
    _modifies_nothing,
    _repeats,
    _names_do_not_matter,
    _refuses_a_small_view_by_ValueError,
    _publishes_a_history,
)
