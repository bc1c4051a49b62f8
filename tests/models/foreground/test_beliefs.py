"""Beliefs over draws of the global distribution, against the beliefs of each draw and enumeration."""

import numpy as np
import pandas as pd
import pytest
from oracle import product_posterior
from sampled_evidence import MANY, SMALL

from foreknow.attacks import ForegroundAttack
from foreknow.models import Auto, Exact, ExpectationMaximization, GibbsSampling, PublishedTable, Sinkhorn
from foreknow.models.foreground import global_distribution as beliefs_module
from foreknow.models.foreground.global_distribution import posterior_beliefs, sampled_beliefs


class TestSampledBeliefs:
    @pytest.mark.parametrize(("evidence", "estimator"), [(SMALL, Auto()), (SMALL, Sinkhorn()), (MANY, Exact())])
    @pytest.mark.parametrize("most", [2**24, 1])
    def test_summaries_of_the_beliefs_of_the_draws(self, evidence, estimator, most, monkeypatch):
        """All at once, or one group at a time."""
        monkeypatch.setattr(beliefs_module, "MAX_NUMBERS", most)
        draws = np.random.default_rng(8).dirichlet(np.ones(evidence.counts.shape[1]), size=(50, 2))
        each = np.array([posterior_beliefs(evidence, estimator, draw) for draw in draws])
        found = sampled_beliefs(evidence, estimator, draws)
        assert np.allclose(found.mean, each.mean(axis=0), atol=1e-12)
        assert np.allclose(found.low, np.quantile(each, 0.05, axis=0), atol=1e-12)
        assert np.allclose(found.high, np.quantile(each, 0.95, axis=0), atol=1e-12)

    def test_an_attack_reports_them(self):
        """Against enumeration, for each draw: the sensitive set's probability, or that of the value believed most."""
        frame = pd.DataFrame({"A": list("stststss"), "group": np.repeat([1, 2, 3], [3, 3, 2]), "X": list("xyxyxzyy")})
        table = PublishedTable(frame, sensitive="X")
        for sensitive in ({"x"}, None):
            fit = GibbsSampling(4.0, draws=50, rng=np.random.default_rng(9))
            beliefs = ForegroundAttack(sensitive_set=sensitive, support=1, fit=fit, estimator=Exact())([table])
            (known,) = beliefs.knowledge[0]
            rows = known.fit.draws[:, known.signatures.signature]
            counts = np.array([[2, 1], [1, 2], [0, 2]]) if sensitive else np.array([[2, 1, 0], [1, 1, 1], [0, 2, 0]])
            each = np.concatenate(
                [
                    [product_posterior(draw[people], of_group) for draw in rows]
                    for people, of_group in zip(np.split(np.arange(8), [3, 6]), counts, strict=True)
                ],
                axis=1,
            )
            mean = each.mean(axis=0)
            value = np.zeros(8, int) if sensitive else mean.argmax(axis=1)
            ends = np.quantile(each[:, np.arange(8), value], [0.05, 0.95], axis=0).T
            assert np.allclose(beliefs.intervals[0], ends)
            assert np.allclose(beliefs.releases[0].posterior.probabilities[:, 0], mean[:, 0])
            assert {"low", "high"} <= set(known.frame.columns) or sensitive is None
        assert ForegroundAttack(support=1, fit=ExpectationMaximization())([table]).intervals is None
