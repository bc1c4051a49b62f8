"""Groups made against draws of uncertain knowledge: the bound holds under each draw, or on average."""

import numpy as np
import pytest

from foreknow.defenses import (
    BKAA,
    UHRA,
    BTPrivacy,
    FullDomain,
    JSimilarity,
    JSReduce,
    KAnonymity,
    KPrimacy,
    Mondrian,
    PosteriorBound,
    publish,
)
from foreknow.defenses.algorithms.clustering import prior_clusters
from foreknow.defenses.publish import AssumedAdversary
from foreknow.defenses.requirements.summary import DrawnPrior
from foreknow.evaluation import exams, verify
from foreknow.models import Adversary, Averaged, DirichletChain, Omega
from foreknow.models.problem import jensen_shannon

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
            for draw in prior.draws:
                found = levels(requirement, release, draw)
                checked += len(found)
                assert (found <= BOUND + 1e-9).all()
        assert checked

    def test_the_worst_case_includes_draws_to_which_the_releases_leave_no_weight(self):
        history, prior, law = exams(4, 60, rng=6)
        others = exams(4, 60, rng=7).history
        corpus = [others.of([name]) for name in others[0].people.respondents[:10]]
        steps = [[int(view.sensitive[0]) for view in one] for one in corpus]
        chain = DirichletChain.fit(
            [values for values in steps if len(values) > 1], concentration=0.1, values=law.values
        )
        rng = np.random.default_rng(5)
        each = [Adversary(prior, chain.sample(rng=rng), estimator=Omega()) for _ in range(8)]
        adversary = Averaged(each, groups="worst")
        releases = publish(history, JSReduce(3, 0.8, 0.6, patience=20), adversary, rng=1)
        found = list(zip(releases, priors(adversary, releases), strict=True))
        assert min(prior.weights.min() for _, prior in found) < 1e-6
        for release, prior in found:
            for draw in prior.draws:
                assert (levels(JSimilarity(0.6), release, draw) <= 0.6 + 1e-9).all()

    def test_clusters_of_the_worst_case_read_draws_to_which_the_releases_leave_no_weight(self):
        sure, uncertain = [[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.5], [0.5, 0.5]]
        weights, first = np.array([1.0, 0.0]), np.array([0.5, 0.5])
        for groups, expected in (("mean", [0, 0]), ("worst", [0, 1])):
            prior = DrawnPrior.of(np.array([uncertain, sure]), weights, first, groups)
            assert prior_clusters(prior, 0.5).tolist() == expected

    def test_the_worst_case_leaves_out_draws_without_weight_before_any_release(self, simulation):
        each = averaged(simulation, "worst").adversaries
        groups = [
            [release.group for release in publish(simulation.history, JSReduce(3, 1.0, BOUND, patience=20), one, rng=1)]
            for one in (Averaged(each, [1, 0, 0, 1], groups="worst"), Averaged([each[0], each[3]], groups="worst"))
        ]
        for one, other in zip(*groups, strict=True):
            assert np.array_equal(one, other)

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
            for draw in prior.draws:
                assert (levels(requirement, release, draw) <= 0.9 + 1e-9).all()

    def test_parts_and_functions_of_a_drawn_prior_are_plain_arrays(self):
        draws = np.random.default_rng(1).dirichlet(np.ones(3), (4, 5))
        prior = DrawnPrior.of(draws, np.full(4, 0.25), np.full(4, 0.25), "mean")
        for plain in (prior[1:3], prior[:, 0], prior * 2, prior[np.arange(5)]):
            assert type(plain) is np.ndarray
        assert prior.copy().draws is draws
        assert np.array_equal(np.asarray(prior.rows([2, 0])), prior[[2, 0]])

    def test_mondrian_reads_the_draws(self, simulation):
        adversary, requirement = averaged(simulation, "worst"), PosteriorBound(0.66)
        defense = Mondrian(KAnonymity(3) & requirement)
        releases = publish(simulation.history, defense, adversary, rng=1)
        alone = publish(simulation.history, defense, adversary.adversaries[0], rng=1)
        largest = []
        for groups in (releases, alone):
            found = zip(groups, priors(adversary, groups), strict=True)
            largest.append(max(levels(requirement, one, draw).max() for one, prior in found for draw in prior.draws))
        assert largest[0] <= 0.66 + 1e-9 < largest[1]

    def test_the_worst_case_suppresses_more(self, simulation):
        suppressed = {}
        for groups in ("mean", "worst"):
            adversary = averaged(simulation, groups, draws=6)
            releases = publish(simulation.history, JSReduce(3, 1.0, 0.3, patience=20), adversary, rng=1)
            suppressed[groups] = sum(int((release.group < 0).sum()) for release in releases)
        assert suppressed["worst"] > suppressed["mean"]
