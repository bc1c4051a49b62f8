"""Privacy-MaxEnt: the paper's closed form, a general solver on small tables, and statements of all kinds."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import LinearConstraint, minimize

from foreknow.attacks import ConditionalProbability, PrivacyMaxEntAttack
from foreknow.models import Categorical, Grouping, Numeric, Release, Schema, Status, View

SCHEMA = Schema({"age": Numeric(0, 99), "sex": Categorical(("f", "m"))}, "ill", ("a", "b", "c"), "id")


def table(seed, records=10, suppressed=1):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "id": [f"p{i}" for i in range(records)],
            "age": rng.choice([20, 30, 40], records),
            "sex": rng.choice(list("fm"), records),
            "ill": rng.choice(list("abc"), records, p=[0.5, 0.3, 0.2]),
        }
    )
    group = np.sort(rng.integers(0, 3, records))
    group = np.unique(group, return_inverse=True)[1]
    group[records - suppressed :] = -1
    return Release(View(frame, SCHEMA, 1), np.unique(group, return_inverse=True)[1] - 1 if suppressed else group)


def possible_share(release, value, chosen, rng):
    """A share that some table of the release has: that of a random assignment of each group's values."""
    values = release.view.sensitive.copy()
    for j in range(release.groups):
        rows = np.flatnonzero(release.group == j)
        values[rows] = rng.permutation(values[rows])
    return (values[chosen] == value).mean()


def by_general_solver(release, constraints):
    """Maximum entropy over P(q, s, b) of the published records, by trust-constr; constraints are (rows, value, low, high)."""
    rows = np.flatnonzero(release.group >= 0)
    pairs = [(i, s) for i in rows for s in range(3) if release.counts[release.group[i], s]]
    matrix, low, high = [], [], []

    def add(chosen, least, most):
        matrix.append([float(pair in chosen) for pair in pairs])
        low.append(least)
        high.append(most)

    for i in rows:
        add({(i, s) for s in range(3)}, 1, 1)
    for j in range(release.groups):
        # The count of the last value follows from the others.
        for s in np.flatnonzero(release.counts[j])[:-1]:
            add({(i, s) for i in rows if release.group[i] == j}, release.counts[j, s], release.counts[j, s])
    for chosen, value, least, most in constraints:
        add({(i, value) for i in chosen}, least * len(chosen), most * len(chosen))
    start = np.array(
        [release.counts[release.group[i], s] / (release.group == release.group[i]).sum() for i, s in pairs]
    )

    def entropy(x):
        x = np.maximum(x, 1e-12)
        return (x * np.log(x)).sum(), np.log(x) + 1

    found = minimize(
        entropy,
        start,
        jac=True,
        hess=lambda x: np.diag(1 / np.maximum(x, 1e-12)),
        method="trust-constr",
        bounds=[(1e-10, 1)] * len(pairs),
        constraints=LinearConstraint(np.array(matrix), low, high),
        options={"gtol": 1e-10, "xtol": 1e-12, "barrier_tol": 1e-10, "maxiter": 3000},
    )
    beliefs = np.zeros((len(release.group), 3))
    for (i, s), p in zip(pairs, found.x, strict=True):
        beliefs[i, s] = p
    return beliefs


class TestWithoutKnowledge:
    @pytest.mark.parametrize("seed", range(5))
    def test_the_closed_form_of_the_paper(self, seed):
        """P(q, s, b) = P(q, b) P(s, b) / P(b), so that P(s | q, b) is the group's frequency."""
        release = table(seed)
        found = PrivacyMaxEntAttack()([release]).releases[0].posterior.probabilities
        ages, sexes = release.view.people.quasi_identifiers.T
        values, published = release.view.sensitive, release.group >= 0
        n = published.sum()
        for i in np.flatnonzero(published):
            in_group = release.group == release.group[i]
            same = in_group & (ages == ages[i]) & (sexes == sexes[i])
            p_q, p_b = same.sum() / n, in_group.sum() / n
            p_s = np.array([(in_group & (values == s)).sum() for s in range(3)]) / n
            np.testing.assert_allclose(found[i], p_q * p_s / p_b / p_q, atol=1e-12)

    def test_statements_that_are_true_anyway_change_nothing(self):
        release = table(1)
        everyone = (release.view.sensitive[release.group >= 0] == 0).mean()
        wide = [ConditionalProbability("a", {}, everyone), ConditionalProbability("b", {"sex": "f"}, 0, 1)]
        found, plain = (PrivacyMaxEntAttack(statements)([release]).posterior(1) for statements in (wide, []))
        np.testing.assert_allclose(found, plain, atol=1e-8)


@pytest.mark.filterwarnings("ignore:Singular Jacobian")
class TestGeneralSolver:
    """SciPy's interior-point method. It warns where a statement follows from the counts of a group."""

    @pytest.mark.parametrize("seed", range(1, 7))
    def test_equalities(self, seed):
        """Statements that a table of the release satisfies; both solvers find the same maximum."""
        release, rng = table(seed), np.random.default_rng(seed)
        frame, published = release.view.frame, release.group >= 0
        women = np.flatnonzero((frame["sex"] == "f") & published)
        young = np.flatnonzero((frame["age"] <= 30) & published)
        # Halfway to the shares of the groups, so that the solution is inside.
        shares = (release.counts / release.counts.sum(axis=1, keepdims=True))[release.group]
        p = (possible_share(release, 0, women, rng) + shares[women, 0].mean()) / 2
        q = (possible_share(release, 1, young, rng) + shares[young, 1].mean()) / 2
        first = (ConditionalProbability("a", {"sex": "f"}, p), (women, 0, p, p))
        second = (ConditionalProbability("b", {"age": (0, 30)}, q), (young, 1, q, q))
        for several in ([first], [second]):
            self.compare(release, several)

    @pytest.mark.slow
    @pytest.mark.parametrize("seed", range(2, 7))
    def test_inequalities(self, seed):
        release = table(seed)
        frame, published = release.view.frame, release.group >= 0
        men = np.flatnonzero((frame["sex"] == "m") & published)
        shares = (release.counts / release.counts.sum(axis=1, keepdims=True))[release.group]
        a, b = shares[men, 0].mean(), shares[men, 1].mean()
        most = (ConditionalProbability("a", {"sex": "m"}, 0, a * 0.9), (men, 0, 0, a * 0.9))
        within = (ConditionalProbability("b", {"sex": "m"}, b * 0.5, b * 1.01), (men, 1, b * 0.5, b * 1.01))
        self.compare(release, [most])
        self.compare(release, [most, within])

    @staticmethod
    def compare(release, several):
        attack = PrivacyMaxEntAttack([statement for statement, _ in several])
        beliefs = attack([release])
        expected = by_general_solver(release, [constraint for _, constraint in several])
        if any("cannot be met" in note for note in beliefs.notes):
            pytest.skip("the release rules the statement out")
        published = release.group >= 0
        np.testing.assert_allclose(
            beliefs.releases[0].posterior.probabilities[published], expected[published], atol=2e-4
        )
        for chosen, value, low, high in (constraint for _, constraint in several):
            mean = beliefs.releases[0].posterior.probabilities[chosen, value].mean()
            assert low - 1e-6 <= mean <= high + 1e-6


class TestStatements:
    FRAME = pd.DataFrame({"id": list("ABCD"), "age": [20, 30, 20, 30], "sex": list("fmfm"), "ill": list("abaa")})
    RELEASE = Release(View(FRAME, SCHEMA, 1), [0, 0, 1, 1])

    def test_a_pair(self):
        """By hand: among women P(b) = p, and of the women only A can have b, so that A has it with probability 2 p."""
        for p in (0.05, 0.2, 0.45):
            beliefs = PrivacyMaxEntAttack([ConditionalProbability("b", {"sex": "f"}, p)])([self.RELEASE]).posterior(1)
            np.testing.assert_allclose(beliefs.loc[["A", "B"], "b"], [2 * p, 1 - 2 * p], atol=1e-7)

    @pytest.mark.parametrize(("p", "expected"), [(0, [0, 1]), (0.5, [1, 0])])
    def test_certain_statements(self, p, expected):
        beliefs = PrivacyMaxEntAttack([ConditionalProbability("b", {"sex": "f"}, p)])([self.RELEASE])
        np.testing.assert_allclose(beliefs.posterior(1).loc[["A", "B"], "b"], expected, atol=1e-5)
        assert beliefs.notes == ()

    def test_what_the_groups_rule_out_is_named(self):
        """At most half of the women have b."""
        beliefs = PrivacyMaxEntAttack([ConditionalProbability("b", {"sex": "f"}, 0.9)])([self.RELEASE])
        (note,) = beliefs.notes
        assert "P('b' | sex='f') = 0.9) cannot be met" in note
        assert "differs by 0.4" in note
        assert (beliefs.releases[0].posterior.status & Status.CONTRADICTED).all()
        assert beliefs.posterior(1).loc["A", "b"] == pytest.approx(1, abs=1e-4)
        np.testing.assert_allclose(beliefs.posterior(1).sum(axis=1), 1)

    def test_a_statement_about_nobody_is_named(self):
        beliefs = PrivacyMaxEntAttack([ConditionalProbability("b", {"age": (50, 60)}, 0.9)])([self.RELEASE])
        assert "no published record matches" in beliefs.notes[0]
        np.testing.assert_allclose(beliefs.posterior(1).loc["A"], [0.5, 0.5, 0])

    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            ({}, "ABCD"),
            ({"sex": "f"}, "AC"),
            ({"sex": ["f", "m"]}, "ABCD"),
            ({"age": 20}, "AC"),
            ({"age": (25, 35), "sex": {"m"}}, "BD"),
        ],
    )
    def test_records_that_match(self, given, expected):
        matches = ConditionalProbability("a", given, 0.5).matches(self.RELEASE.view.people)
        assert "".join(self.FRAME["id"][matches]) == expected

    def test_counterfeits_match_no_statement(self):
        """Three values for two members: the counterfeit has what they leave."""
        view = View(self.FRAME.iloc[:2], SCHEMA, 1)
        release = Release(view, Grouping(np.array([0, 0]), counterfeits=np.array([[0, 2]])))
        beliefs = PrivacyMaxEntAttack([ConditionalProbability("c", {}, 0)])([release]).posterior(1)
        np.testing.assert_allclose(beliefs, [[0.5, 0.5, 0]] * 2, atol=1e-6)

    @pytest.mark.parametrize(
        ("statement", "match"),
        [
            (("d", {}, 0.5), "is not in the sensitive domain, a, b, c"),
            (("a", {"town": 1}, 0.5), "'town' is no quasi-identifier; there are age, sex"),
            (("a", {"sex": "F"}, 0.5), "the condition of 'sex' names 'F'; it must be one of f, m"),
            (("a", {"sex": [["f"]]}, 0.5), r"the condition of 'sex' names \['f'\]"),
            (
                ("a", {"age": "young"}, 0.5),
                "the condition of 'age' is 'young'; of a numeric attribute it is a number, or a pair",
            ),
            (("a", {"age": (30, 20)}, 0.5), r"the condition of 'age' is \(30, 20\)"),
        ],
    )
    def test_statements_that_do_not_fit_the_release(self, statement, match):
        with pytest.raises(ValueError, match=match):
            PrivacyMaxEntAttack([ConditionalProbability(*statement)])([self.RELEASE])

    @pytest.mark.parametrize(
        ("statement", "match"),
        [
            (("a", "sex", 0.5), "given is 'sex'; it maps names"),
            (("a", {}, 1.5), "low is 1.5; it is a number from 0 to 1"),
            (("a", {}, 0.5, "1"), "high is '1'; it is a number from 0 to 1"),
            (("a", {}, 0.5, 0.4), "low must not be above high"),
        ],
    )
    def test_wrong_statements(self, statement, match):
        with pytest.raises((TypeError, ValueError), match=f"ConditionalProbability: .*{match}"):
            ConditionalProbability(*statement)

    @pytest.mark.parametrize("wrong", ["P(a) = 1", {"a": 1}, [1]])
    def test_wrong_lists(self, wrong):
        with pytest.raises(TypeError, match=r"PrivacyMaxEntAttack: statement.* is .*ConditionalProbability"):
            PrivacyMaxEntAttack(wrong)
