"""A small release, with global distributions as if they had been mined from it."""

import numpy as np
import pandas as pd

from foreknow.attacks.foreground import ForegroundBeliefs
from foreknow.models import Categorical, History, Numeric, Posterior, Release, Schema, View
from foreknow.models.beliefs import ReleaseBeliefs
from foreknow.models.foreground.attribute_signatures import attribute_signatures
from foreknow.models.foreground.fit import Fit, FitStatus
from foreknow.models.foreground.global_distribution import GlobalDistribution
from foreknow.models.tables.schema import SensitiveSet

FRAME = pd.DataFrame(
    {
        "id": list("ABCDEFGH"),
        "town": ["Rome", "Rome", "Milan", "Milan", "Milan", "Rome", "Como", "Como"],
        "age": [20, 30, 20, 30, 30, 20, 20, 20],
        "result": list("xyxxyzxz"),
    }
)
SCHEMA = Schema({"town": Categorical(("Como", "Milan", "Rome")), "age": Numeric()}, "result", tuple("xyz"))
VIEW = View(FRAME, SCHEMA, 1)
HISTORY = History([VIEW])
GROUPS = [0, 0, 0, 1, 1, 1, 2, -1]
"""Groups A B C, D E F and G; H, of Como, is suppressed."""


def mined(attributes, probabilities, min_support=1, draws=None, sensitive_set=("x",)):
    """Global distribution of an attribute set with the given probabilities of its signatures, in their order."""
    release = Release(VIEW, np.array(GROUPS))
    signatures = attribute_signatures(VIEW.people, attributes, min_support, release.group >= 0)
    rows = np.array(probabilities, dtype=float)
    rows = np.column_stack([rows, 1 - rows]) if rows.ndim == 1 else rows
    fit = Fit(rows, FitStatus.FINE, 0.0, 1, np.zeros((0, *rows.shape)), draws)
    return GlobalDistribution(
        signatures,
        SensitiveSet.within(SCHEMA.values, sensitive_set, "mined_beliefs"),
        fit,
        np.full(rows.shape[1], 1 / rows.shape[1]),
    )


def beliefs_with(*distributions):
    """Foreground beliefs with some global distributions; their posteriors are uniform."""
    release = Release(VIEW, np.array(GROUPS))
    rows = np.full((8, 3), 1 / 3)
    posterior = Posterior(rows, np.zeros(3, dtype=np.int64))
    around = ReleaseBeliefs(release.observation, rows, rows, posterior)
    return ForegroundBeliefs((around,), (distributions,), (np.zeros(8, dtype=np.int64),))


TOWNS = mined(["town"], [0.8, 0.5, 0.3])  # of Como, Milan and Rome
"""True holders of x: G of G and H in Como, C and D of C, D and E in Milan, A of A, B and F in Rome; H is not published."""
