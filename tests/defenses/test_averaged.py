"""Groups made against draws of uncertain knowledge: the bound holds under each draw, or on average."""

import numpy as np
import pytest

from foreknow.defenses import (
    BKAA,
    UHRA,
    BTPrivacy,
    FullDomain,
    Infeasible,
    JSimilarity,
    JSReduce,
    KAnonymity,
    KPrimacy,
    Mondrian,
    PosteriorBound,
    publish,
)
from foreknow.defenses.assumed_adversary import AssumedAdversary
from foreknow.defenses.requirements.drawn_prior import DrawnPrior
from foreknow.evaluation import exams, verify
from foreknow.models import Adversary, Averaged, DirichletChain, Omega
from foreknow.models.divergence import jensen_shannon

BOUND = 0.5


@pytest.fixture(scope="module")
def simulation():
    return exams(3, 60, rng=4)


def averaged(simulation, groups, draws=4):
    chain = DirichletChain.fit(simulation.history, concentration=0.2)
    rng = np.random.default_rng(5)
    drawn = [chain.sample(rng=rng) for _ in range(draws)]
    return Averaged([Adversary(simulation.prior, one, estimator=Omega()) for one in drawn], groups=groups)


def priors(adversary, releases):
    """Revised prior before each release, of each draw and the weights, as a publisher had them."""
    assumed, found = AssumedAdversary(adversary), []
    for release in releases:
        found.append(assumed.prior(release.view))
        assumed.observe(release.observation)
    return found


REQUIREMENTS = [JSimilarity(BOUND), PosteriorBound(BOUND), BTPrivacy(None, BOUND)]


def levels(requirement, release, prior):
    """Level of the requirement of each group under one draw, by the independent checker."""
    return verify(release, requirement, prior)["level"].to_numpy()


class TestRequirements:
    @pytest.mark.parametrize("requirement", REQUIREMENTS, ids=repr)
    def test_groups_satisfy_under_each_draw_in_the_worst_case(self, simulation, requirement):
        adversary = averaged(simulation, "worst")
        defense = JSReduce(3, 1.0, 1.0, also=requirement, patience=20)
        releases = publish(simulation.history, defense, adversary, rng=1)
        checked = 0
        for release, prior in zip(releases, priors(adversary, releases), strict=True):
            for draw in prior.counted:
                found = levels(requirement, release, draw)
                checked += len(found)
                assert (found <= BOUND + 1e-9).all()
        assert checked

    @pytest.mark.parametrize("requirement", REQUIREMENTS, ids=repr)
    def test_groups_satisfy_on_average(self, simulation, requirement):
        adversary = averaged(simulation, "mean")
        releases = publish(simulation.history, JSReduce(3, 1.0, 1.0, also=requirement, patience=20), adversary, rng=1)
        for release, prior in zip(releases, priors(adversary, releases), strict=True):
            mean = sum(w * levels(requirement, release, d) for w, d in zip(prior.weights, prior.draws, strict=True))
            assert (mean <= BOUND + 1e-9).all()


class TestDefenses:
    @pytest.mark.parametrize("defense", [UHRA(3, 0.9, BOUND), KPrimacy(3, 5, BOUND)], ids=repr)
    @pytest.mark.parametrize("groups", ["mean", "worst"])
    def test_clusters_keep_every_pair_of_priors_together(self, simulation, defense, groups):
        adversary = averaged(simulation, groups)
        releases = publish(simulation.history, defense, adversary, rng=1)
        for release, prior in zip(releases, priors(adversary, releases), strict=True):
            for g in range(release.groups):
                rows = np.flatnonzero(release.group == g)
                a, b = (rows[side] for side in np.triu_indices(len(rows), 1))
                apart = np.array([jensen_shannon(draw[a], draw[b]) for draw in prior.draws])
                largest = apart.max(axis=0) if groups == "worst" else prior.weights @ apart
                assert (largest <= BOUND + 1e-8).all()

    @pytest.mark.parametrize("groups", ["mean", "worst"])
    @pytest.mark.parametrize(
        "defense",
        [JSReduce(3, 0.8, 0.6, patience=20), BKAA(3, 5, 0.6, patience=20), UHRA(3, 0.8, 0.6), KPrimacy(3, 5, 0.6)],
        ids=lambda defense: type(defense).__name__,
    )
    def test_one_draw_makes_the_groups_of_that_adversary(self, simulation, defense, groups):
        one = averaged(simulation, groups, draws=1)
        with_draws = publish(simulation.history, defense, one, rng=1)
        without = publish(simulation.history, defense, one.adversaries[0], rng=1)
        for release, other in zip(with_draws, without, strict=True):
            assert (release.group == other.group).all()

    def test_full_domain_holds_in_the_worst_draw(self, simulation):
        adversary, requirement = averaged(simulation, "worst"), JSimilarity(0.9)
        releases = publish(simulation.history, FullDomain(KAnonymity(3) & requirement), adversary, rng=1)
        for release, prior in zip(releases, priors(adversary, releases), strict=True):
            for draw in prior.counted:
                assert (levels(requirement, release, draw) <= 0.9 + 1e-9).all()

    def test_parts_and_functions_of_a_drawn_prior_are_plain_arrays(self):
        draws = np.random.default_rng(1).dirichlet(np.ones(3), (4, 5))
        prior = DrawnPrior.of(draws, np.full(4, 0.25), "mean")
        for plain in (prior[1:3], prior[:, 0], prior * 2, prior[np.arange(5)]):
            assert type(plain) is np.ndarray
        assert prior.copy().draws is draws
        assert np.array_equal(np.asarray(prior.rows([2, 0])), prior[[2, 0]])

    def test_mondrian_reads_the_draws(self, simulation):
        adversary = averaged(simulation, "worst")
        defense = Mondrian(KAnonymity(3) & JSimilarity(0.0))
        with pytest.raises(Infeasible):
            publish(simulation.history, defense, adversary, rng=1)

    def test_the_worst_case_suppresses_at_least_as_much(self, simulation):
        suppressed = {}
        for groups in ("mean", "worst"):
            adversary = averaged(simulation, groups, draws=6)
            releases = publish(simulation.history, JSReduce(3, 1.0, 0.3, patience=20), adversary, rng=1)
            suppressed[groups] = sum(int((release.group < 0).sum()) for release in releases)
        assert suppressed["worst"] >= suppressed["mean"]
