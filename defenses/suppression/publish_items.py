"""Two-phase publication: group the records, then remove items until every group satisfies a requirement on labels."""

from collections.abc import Iterable
from typing import overload

import numpy as np

from foreknow.defenses.publish import Defense, publish
from foreknow.defenses.suppression.item_search import Progress
from foreknow.defenses.suppression.item_suppression import ItemSuppression
from foreknow.defenses.suppression.suppressed_items import SuppressedItems
from foreknow.models import Adversary, View
from foreknow.models.settings import as_generator, check_kind


@overload
def publish_items(
    views: View,
    defense: Defense,
    suppression: ItemSuppression,
    adversary: Adversary | None = None,
    progress: Progress = iter,
    *,
    rng: np.random.Generator | int | None = None,
) -> SuppressedItems: ...


@overload
def publish_items(
    views: Iterable[View],
    defense: Defense,
    suppression: ItemSuppression,
    adversary: Adversary | None = None,
    progress: Progress = iter,
    *,
    rng: np.random.Generator | int | None = None,
) -> tuple[SuppressedItems, ...]: ...


def publish_items(
    views: View | Iterable[View],
    defense: Defense,
    suppression: ItemSuppression,
    adversary: Adversary | None = None,
    progress: Progress = iter,
    *,
    rng: np.random.Generator | int | None = None,
) -> SuppressedItems | tuple[SuppressedItems, ...]:
    """Publish one or several views with the items of their records, in two phases.

    Phase 1: a defense groups the records, as `publish` does. Phase 2: items are removed from the groups that fail the
    requirement on labels. A defense that does not read the items groups as if there were none. After a defense whose own
    requirement contains the `QSDiversity` or `QSCloseness` of phase 2, no group fails.

    Parameters
    ----------
    views : View, or iterable of View in the order of time
    defense : Defense
        Phase 1.
    suppression : ItemSuppression
        Phase 2. Its ``seconds`` apply to each view.
    adversary : Adversary, optional
        The adversary that the defense assumes, as in `publish`.
    progress : callable, optional
        As in `ItemSuppression`.
    rng : numpy.random.Generator or int, optional
        Generator or seed of the random order of records and of the groups' numbers, as in `publish`.

    Returns
    -------
    SuppressedItems or tuple of SuppressedItems
        One result for one view; a tuple, one per view, for an iterable.

    Raises
    ------
    TypeError
        If an argument is of the wrong kind.
    ValueError, Infeasible
        As `publish` and `ItemSuppression` raise them. Then nothing is published.

    Notes
    -----
    P. Shi, L. Xiong, B. Fung, CIKM 2010, section 2.2. With one record per group (k = 1) phase 2 does all the work. Each view is
    protected on its own. Not checked: the items of one respondent that several releases show together.
    """
    check_kind(
        "publish_items",
        "suppression",
        suppression,
        ItemSuppression,
        "is an ItemSuppression, as ItemSuppression(QSCloseness(0.4, linking))",
    )
    if adversary is not None:
        check_kind("publish_items", "adversary", adversary, Adversary, "is an Adversary, as Adversary(prior), or None")
    draws = None if rng is None else as_generator("publish_items", rng)
    releases = publish(_as_views(views), defense, adversary, rng=draws)
    published = tuple(suppression(release, progress) for release in releases)
    return published[0] if isinstance(views, View) else published


def _as_views(views: View | Iterable[View]) -> tuple[View, ...]:
    """The views, one or several, as a tuple."""
    listed = (views,) if isinstance(views, View) else tuple(views) if np.iterable(views) else (views,)
    for view in listed:
        check_kind("publish_items", "views", view, View, "is a View, made by View(frame, schema), or a list of views")
    return listed
