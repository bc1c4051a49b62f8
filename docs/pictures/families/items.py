"""Releases of symptoms, which several families show."""

from example import Example, with_symptoms

from foreknow import defenses, models
from foreknow.defenses import KAnonymity, Mondrian, publish, publish_items


def item_releases(shown: Example) -> dict[str, models.ItemRelease]:
    """The symptoms of the first release, as they are and under two requirements on labels."""
    view, linking = with_symptoms(shown.history[0])
    release = publish([view], Mondrian(KAnonymity(6)), rng=1)[0]
    found = {"all items published": models.ItemRelease(release, linking, linking.items_of(view))}
    for c in (1.0, 0.6):
        suppression = defenses.ItemSuppression(defenses.QSDiversity(c, 2, linking))
        found[f"({c:g}, 2)-diverse labels"] = publish_items(view, Mondrian(KAnonymity(6)), suppression, rng=1).release
    return found
