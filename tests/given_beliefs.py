"""Beliefs of given numbers about a small history, without an attack."""

import numpy as np
import pandas as pd

from foreknow.models import Beliefs, History, Numeric, Posterior, Release, Schema, View
from foreknow.models.beliefs import ReleaseBeliefs


def given_beliefs(truths, posteriors, priors=None, labels=None, ids=None, errors=None):
    """Beliefs and the history they are about: per release the true codes, the posteriors ``(n, m)`` and the priors.

    By default, respondents are numbered from 0, each release is one group, and priors are uniform.
    """
    m = np.shape(posteriors[0])[1]
    schema = Schema({"age": Numeric(0, 9)}, "result", tuple("abcdefghij"[:m]))
    views, held = [], []
    for time, (true, posterior) in enumerate(zip(truths, posteriors, strict=True), start=1):
        names = list(range(len(true))) if ids is None else list(ids[time - 1])
        frame = pd.DataFrame({"id": names, "age": 1, "result": [schema.values[code] for code in true]})
        views.append(View(frame, schema, time))
        group = np.zeros(len(true), dtype=int) if labels is None else np.asarray(labels[time - 1])
        seen = Release(views[-1], group).observation
        before = np.full(np.shape(posterior), 1 / m) if priors is None else np.asarray(priors[time - 1], dtype=float)
        error = None if errors is None else np.asarray(errors[time - 1], dtype=float)
        after = Posterior(np.asarray(posterior, dtype=float), np.zeros(len(seen.counts), dtype=int), error)
        held.append(ReleaseBeliefs(seen, before, before, after))
    return Beliefs(tuple(held)), History(views)


def dependent_beliefs(rng, respondents=60, releases=4, rate=0.3, believed=0.3):
    """Beliefs of one number about respondents who keep one value in all releases."""
    true = (rng.random(respondents) >= rate).astype(int)
    rows = np.tile([believed, 1 - believed], (respondents, 1))
    return given_beliefs([true] * releases, [rows] * releases)
