"""The two phases: group by what identifies people, then leave out items until no group gives labels away."""

from collections.abc import Iterable
from typing import overload

import numpy as np

from foreknow.defenses.publish import Defense, publish
from foreknow.defenses.suppression.item_suppression import ItemSuppression
from foreknow.defenses.suppression.suppressed_items import SuppressedItems
from foreknow.defenses.suppression.time_sharing import Progress
from foreknow.models import Adversary, View


@overload
def publish_items(
    views: View,
    defense: Defense,
    suppression: ItemSuppression,
    adversary: Adversary | None = None,
    progress: Progress = iter,
    *,
    rng: np.random.Generator | None = None,
) -> SuppressedItems: ...


@overload
def publish_items(
    views: Iterable[View],
    defense: Defense,
    suppression: ItemSuppression,
    adversary: Adversary | None = None,
    progress: Progress = iter,
    *,
    rng: np.random.Generator | None = None,
) -> tuple[SuppressedItems, ...]: ...


def publish_items(
    views: View | Iterable[View],
    defense: Defense,
    suppression: ItemSuppression,
    adversary: Adversary | None = None,
    progress: Progress = iter,
    *,
    rng: np.random.Generator | None = None,
) -> SuppressedItems | tuple[SuppressedItems, ...]:
    """Publish a view, or views one after the other, with the items of their records.

    First a defense groups the records, as `publish` does; then items are left out of the groups that fail what is asked of
    labels. A defense that reads no items groups as if there were none; one whose requirement has a `QSDiversity` or a
    `QSCloseness` may leave nothing to be done.

    Parameters
    ----------
    views : View, or iterable of View in the order of time
    defense : Defense
        How to group: phase 1.
    suppression : ItemSuppression
        What to leave out: phase 2. Its ``seconds`` are for each view.
    adversary : Adversary, optional
        Whom the defense assumes, as `publish` has it.
    progress : callable, optional
        As `ItemSuppression` has it.
    rng : numpy.random.Generator, optional
        As `publish` has it.

    Returns
    -------
    SuppressedItems
        Of the view; a tuple of them, one per view, of several.

    Raises
    ------
    TypeError
        If ``suppression`` is of another kind.
    ValueError, Infeasible
        As `publish` and `ItemSuppression` do; then nothing is published.

    Notes
    -----
    Shi, Xiong, Fung, CIKM 2010, section 2.2. With one group per record (k = 1) suppression does all; with groups that satisfy
    it does nothing. Several views are each made safe on their own: what several of them say together of a person's items is
    not looked at.
    """
    if not isinstance(suppression, ItemSuppression):
        raise TypeError(
            f"publish_items: {suppression!r} is no ItemSuppression; give one, as ItemSuppression(QSCloseness(0.4, linking))."
        )
    single = isinstance(views, View)
    releases = publish([views] if isinstance(views, View) else views, defense, adversary, rng=rng)
    published = tuple(suppression(release, progress) for release in releases)
    return published[0] if single else published
