"""The kernel prior against its formula in plain Python, record by record."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from strategies import history_of, view_of

from foreknow.models import Categorical, Hierarchy, History, Numeric, Schema, View
from foreknow.models.knowledge import kernel_prior
from foreknow.models.knowledge import kernel_prior as kernel_grid
from foreknow.models.knowledge.kernel_prior import KernelPrior

DOMAIN = ("a", "b", "c")
JOBS = {
    "nurse": ("nurse", "health", "service", "*"),
    "doctor": ("doctor", "health", "service", "*"),
    "cook": ("cook", "kitchen", "service", "*"),
    "smith": ("smith", "metal", "craft", "*"),
}
ATTRIBUTES = {
    "age": Numeric(20, 60),
    "sex": Categorical(("f", "m", "x")),
    "job": Categorical(tuple(JOBS), Hierarchy(JOBS.values())),
    "ward": Numeric(7, 7),
}
SCHEMA = Schema(ATTRIBUTES, "result", DOMAIN)
CELLS = {
    "age": st.integers(20, 60),
    "sex": st.sampled_from("fmx"),
    "job": st.sampled_from(list(JOBS)),
    "ward": st.just(7),
}

bandwidths = st.fixed_dictionaries({name: st.sampled_from([1e-6, 0.2, 1 / 3, 0.5, 1, 1.5, 40]) for name in CELLS})


@st.composite
def corpora(draw, most=8):
    """One to three views of a few people with few different cells, so that some are alike."""
    kinds = draw(st.lists(st.fixed_dictionaries(CELLS), min_size=1, max_size=4))
    views = []
    for time in range(draw(st.integers(1, 3))):
        ids = draw(st.lists(st.integers(0, most), min_size=1, max_size=most, unique=True))
        rows = [
            {"id": i, **draw(st.sampled_from(kinds)), "result": draw(st.sampled_from(DOMAIN[:2] if i else DOMAIN))}
            for i in ids
        ]
        views.append(View(pd.DataFrame(rows), SCHEMA, time))
    return History(views)


def records_of(history):
    return pd.concat([view.frame for view in history]).to_dict("records")


def distance(name, v, w):
    if name == "age":
        return abs(v - w) / 40
    if name == "sex":
        return 0 if v == w else 1
    if name == "job":
        return next(height for height in range(4) if JOBS[v][height] == JOBS[w][height]) / 3
    return 0


def kernel(q, t, bandwidth):
    product = 1
    for name in ATTRIBUTES:
        x = distance(name, q[name], t[name]) / bandwidth[name]
        product *= 3 / (4 * bandwidth[name]) * (1 - x**2) if abs(x) < 1 else 0
    return product


def reference(person, records, bandwidth, leave_one_out=False):
    """The formula, and the frequencies of the corpus, or uniform, where no record has weight."""
    seen = [t for t in records if not (leave_one_out and t["id"] == person["id"])]
    for weights in ([kernel(person, t, bandwidth) for t in seen], [1] * len(seen)):
        if sum(weights) > 0:
            sums = [sum(w for w, t in zip(weights, seen, strict=True) if t["result"] == s) for s in DOMAIN]
            return [total / sum(weights) for total in sums]
    return [1 / 3] * 3


class TestFormula:
    @given(corpus=corpora(), asked=corpora(), bandwidth=bandwidths, leave_one_out=st.booleans())
    def test_is_the_sum_over_all_records(self, corpus, asked, bandwidth, leave_one_out):
        prior = KernelPrior.fit(corpus, bandwidth, leave_one_out)
        for view in (*asked, *corpus):
            expected = [
                reference(person, records_of(corpus), bandwidth, leave_one_out)
                for person in view.frame.to_dict("records")
            ]
            assert np.allclose(prior(view.people), expected, rtol=1e-9, atol=0)

    def test_by_hand(self):
        """Ages 20, 24, 50, 60 in a domain of width 40; at 50, 50 weighs 1 and 60 weighs 1 - (0.25 / 0.5)^2 = 3/4."""
        ages = [20, 24, 50, 60]
        frame = pd.DataFrame({"id": range(4), "age": ages, "result": list("aaab")})
        view = View(frame, Schema({"age": Numeric()}, "result", ("a", "b")))
        rows = KernelPrior.fit(History([view]), 0.5)(view.people)
        assert np.allclose(rows, [[1, 0], [1, 0], [4 / 7, 3 / 7], [3 / 7, 4 / 7]])

    def test_the_inequality_is_strict(self):
        """The sexes lie at distance 1: with bandwidth 1 apart, above it 1 : 1 - 1/4."""
        frame = pd.DataFrame({"id": range(2), "sex": ["f", "m"], "result": ["a", "b"]})
        view = View(frame, Schema({"sex": Categorical(("f", "m"))}, "result", ("a", "b")))
        assert KernelPrior.fit(History([view]), 1)(view.people).tolist() == [[1, 0], [0, 1]]
        mixed = KernelPrior.fit(History([view]), {"sex": 2})(view.people)
        assert np.allclose(mixed, [[4 / 7, 3 / 7], [3 / 7, 4 / 7]])

    @pytest.mark.parametrize("bandwidth", [1e-300, 5e-324])
    def test_the_sharpest_bandwidth_gives_the_frequencies_among_exact_matches(self, bandwidth):
        view = view_of("ABCDE", "aabbc", ages=[30, 30, 30, 40, 40])
        rows = KernelPrior.fit(History([view]), bandwidth)(view.people)
        assert np.allclose(rows, [[2 / 3, 1 / 3, 0]] * 3 + [[0, 1 / 2, 1 / 2]] * 2)

    def test_the_widest_bandwidth_gives_the_frequencies_of_the_corpus(self):
        """Weights lie between 1 - 1e-6 and 1, so no frequency moves by more than that."""
        view = view_of("ABCDE", "aabbc", ages=[0, 30, 30, 40, 99])
        rows = KernelPrior.fit(History([view]), 1000)(view.people)
        assert np.abs(rows - [0.4, 0.4, 0.2]).max() < 2e-6

    def test_a_respondent_far_from_all_has_the_frequencies_of_the_corpus(self):
        corpus = History([view_of("ABC", "aab", ages=[20, 21, 22])])
        assert np.allclose(KernelPrior.fit(corpus, 0.1)(view_of("D", "c", ages=[80]).people), [[2 / 3, 1 / 3, 0]])

    def test_attributes_in_another_order_are_found_by_name(self):
        two = {"age": Numeric(0, 99), "sex": Categorical(("f", "m"))}
        frame = pd.DataFrame({"id": range(3), "age": [20, 30, 40], "sex": list("fmm"), "result": list("abc")})
        view, turned = (
            View(frame, Schema(kinds, "result", DOMAIN)) for kinds in (two, dict(reversed(list(two.items()))))
        )
        prior = KernelPrior.fit(History([view]), 0.2)
        assert np.array_equal(prior(view.people), prior(turned.people))


class TestLeaveOneOut:
    @given(corpus=corpora(), bandwidth=bandwidths)
    def test_is_the_prior_of_the_corpus_without_that_person(self, corpus, bandwidth):
        assume(len(corpus.respondents) > 1)
        prior = KernelPrior.fit(corpus, bandwidth, leave_one_out=True)
        for respondent in corpus.respondents:
            without = KernelPrior.fit(corpus.of(set(corpus.respondents) - {respondent}), bandwidth)
            for view in corpus:
                person = view.people[np.array(view.people.rows(respondent), dtype=np.int64)]
                assert np.allclose(prior(person), without(person), rtol=1e-9, atol=0)

    def test_all_views_of_a_person_are_left_out(self):
        history = history_of(("AB", "ab"), ("AC", "ab"), ("A", "c"))
        people = view_of("ABZ", "abc", ages=[20, 21, 20]).people
        rows = KernelPrior.fit(history, 1e-3, leave_one_out=True)(people)
        assert np.allclose(rows, [[0, 1, 0], [2 / 4, 1 / 4, 1 / 4], [2 / 3, 0, 1 / 3]])

    def test_nothing_left_is_no_knowledge(self):
        history = history_of(("A", "a"), ("A", "b"))
        assert np.allclose(KernelPrior.fit(history, 1, leave_one_out=True)(history[0].people), 1 / 3)

    def test_a_small_weight_is_not_lost_beside_large_own_ones(self):
        """B and C stand just inside the bandwidth, with a weight of 2e-15; A's own records weigh 1."""
        schema = Schema({"age": Numeric(0, 1)}, "result", DOMAIN)
        ages = [0, 0.5 * (1 - 1e-15), 0.5 * (1 - 1e-15)]
        view = View(pd.DataFrame({"id": list("ABC"), "age": ages, "result": list("aab")}), schema)
        rows = KernelPrior.fit(History([view]), 0.5, leave_one_out=True)(view.people)
        assert np.allclose(rows[0], [1 / 2, 1 / 2, 0], rtol=1e-12, atol=0)


@pytest.fixture(params=["over a grid", "pair by pair"])
def way(request, monkeypatch):
    """Both ways to sum, without the choice of the cheaper one."""
    monkeypatch.setattr(kernel_prior, "grid_is_cheaper", lambda *_: request.param == "over a grid")


@pytest.mark.usefixtures("way")
class TestWays:
    @settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(corpus=corpora(), asked=corpora(), bandwidth=bandwidths)
    def test_each_is_the_sum_over_all_records(self, corpus, asked, bandwidth):
        """Zeros are exact, too: no record has weight by rounding."""
        prior = KernelPrior.fit(corpus, bandwidth)
        for view in (*asked, *corpus):
            expected = np.array([reference(q, records_of(corpus), bandwidth) for q in view.frame.to_dict("records")])
            found = prior(view.people)
            assert np.allclose(found, expected, rtol=1e-9, atol=0)
            assert np.array_equal(found == 0, expected == 0)

    def test_no_query(self):
        view = view_of("AB", "ab")
        assert KernelPrior.fit(History([view]), 0.5)(view.people[np.zeros(0, dtype=np.int64)]).shape == (0, 3)

    def test_a_larger_table(self):
        """A corpus of 300 respondents, and 20 others, some of ages that are not in the corpus."""
        rng = np.random.default_rng(5)
        frame = pd.DataFrame({"id": range(300), "age": rng.integers(20, 45, 300), "sex": rng.choice(list("fm"), 300)})
        frame = frame.assign(job=rng.choice(list(JOBS), 300), ward=7, result=rng.choice(list(DOMAIN), 300))
        corpus, asked = History([View(frame, SCHEMA)]), frame[:20].assign(age=range(35, 55))
        bandwidth = {"age": 0.3, "sex": 1.2, "job": 0.8, "ward": 1}
        expected = [reference(q, frame.to_dict("records"), bandwidth) for q in asked.to_dict("records")]
        assert np.allclose(KernelPrior.fit(corpus, bandwidth)(View(asked, SCHEMA).people), expected, rtol=1e-9, atol=0)


class TestWhichWay:
    def axes(self, rows, *codes):
        return tuple(kernel_grid.Axis(np.arange(c, dtype=float), np.zeros(rows, dtype=np.int64)) for c in codes)

    def test_a_grid_that_many_records_share_grid_is_cheaper(self):
        """Two attributes of 50 codes and 4 values: 10^4 numbers, times 50 twice, against 2000^2 weights."""
        many = self.axes(2000, 50, 50)
        assert kernel_grid.grid_is_cheaper(many, many, 4)

    def test_a_grid_that_few_records_share_is_not(self):
        few = self.axes(100, 100, 100)
        assert not kernel_grid.grid_is_cheaper(few, few, 4)

    def test_a_grid_that_does_not_fit_is_not(self, monkeypatch):
        many = self.axes(2000, 50, 50)
        monkeypatch.setattr(kernel_grid, "MAX_GRID_CELLS", 9_999)
        assert not kernel_grid.grid_is_cheaper(many, many, 4)

    def test_the_one_s_own_records_left_out_are_never_summed_on_a_grid(self, monkeypatch):
        monkeypatch.setattr(kernel_prior, "grid_is_cheaper", lambda *_: True)
        monkeypatch.setattr(kernel_prior, "grid_sums", None)
        history = history_of(("AB", "ab"), ("AC", "ab"))
        rows = KernelPrior.fit(history, 1e-3, leave_one_out=True)(history[0].people)
        assert np.allclose(rows, [[0, 1, 0], [2 / 3, 1 / 3, 0]])


@pytest.mark.parametrize("leave_one_out", [False, True])
@pytest.mark.parametrize("chunk", [1, 70, 10**6])
def test_any_chunks_give_the_same(monkeypatch, leave_one_out, chunk):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({name: rng.integers(0, 30, 50) for name in ("age", "weight")})
    frame = frame.assign(id=range(50), result=rng.choice(list(DOMAIN), 50))
    view = View(frame, Schema({"age": Numeric(), "weight": Numeric()}, "result", DOMAIN))
    prior = KernelPrior.fit(History([view]), 0.3, leave_one_out)
    monkeypatch.setattr(kernel_prior, "grid_is_cheaper", lambda *_: False)
    whole = prior(view.people)
    monkeypatch.setattr(kernel_prior, "WEIGHTS_PER_CHUNK", chunk)
    assert np.allclose(prior(view.people), whole, rtol=1e-12, atol=0)


class TestErrors:
    CORPUS = History(
        [View(pd.DataFrame([{"id": 1, "age": 30, "sex": "f", "job": "cook", "ward": 7, "result": "a"}]), SCHEMA)]
    )

    @pytest.mark.parametrize(
        ("bandwidth", "match"),
        [
            (0, "the bandwidth of 'age' is 0; it is a positive finite number"),
            (-0.5, r"the bandwidth of 'age' is -0\.5"),
            (float("nan"), "the bandwidth of 'age' is nan"),
            (float("inf"), "the bandwidth of 'age' is inf"),
            ("wide", "the bandwidth of 'age' is 'wide'"),
            ({"age": 1, "sex": 1, "job": 0, "ward": 1}, "the bandwidth of 'job' is 0"),
            (
                {"age": 1, "sex": 1, "ward": 1},
                "names age, sex, ward, and the quasi-identifiers are age, sex, job, ward",
            ),
            ({"height": 1}, "names height, and the quasi-identifiers are age, sex, job, ward"),
        ],
    )
    def test_bad_bandwidths_are_one_clear_error(self, bandwidth, match):
        with pytest.raises(ValueError, match=match):
            KernelPrior.fit(self.CORPUS, bandwidth)

    @pytest.mark.parametrize(
        ("schema", "match"),
        [
            (
                Schema({"age": Numeric()}, "result", DOMAIN),
                "the people have the quasi-identifiers age, or",
            ),
            (Schema(ATTRIBUTES, "result", ("a", "c", "b")), "that are not those of the corpus"),
            (
                Schema({**ATTRIBUTES, "sex": Categorical(("m", "f"))}, "result", DOMAIN),
                "that are not those of the corpus",
            ),
        ],
    )
    def test_people_of_another_schema_are_one_clear_error(self, schema, match):
        people = View(self.CORPUS[0].frame, schema).people
        with pytest.raises(ValueError, match=match):
            KernelPrior.fit(self.CORPUS, 0.5)(people)

    def test_another_range_of_a_number_is_none(self):
        schema = Schema({**ATTRIBUTES, "age": Numeric(0, 99)}, "result", DOMAIN)
        people = View(self.CORPUS[0].frame, schema).people
        assert KernelPrior.fit(self.CORPUS, 0.5)(people).tolist() == [[1, 0, 0]]
