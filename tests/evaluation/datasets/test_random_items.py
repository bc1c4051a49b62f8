"""Random items and knowledge: sizes and number of links, against the distribution they are drawn from."""

import math

import numpy as np
import pytest
from places import ADULT as DATA
from strategies import view_of

from foreknow.evaluation import adult_with_items, random_items, random_knowledge
from foreknow.models import Linking, Numeric


def rng(seed=1):
    return np.random.default_rng(seed)


def view_of_many(records):
    return view_of(range(records), "a" * records, [30] * records)


def test_every_record_has_the_same_number_of_items():
    view = random_items(view_of_many(50), items_per_record=4, vocabulary=7, column="bought", rng=rng())
    sets = [set(text.split(", ")) for text in view.frame["bought"]]
    assert {len(items) for items in sets} == {4}
    assert set().union(*sets) == {f"item {number}" for number in range(1, 8)}
    assert (view.schema, view.time) == (view_of_many(50).schema, 1)


def test_items_are_equally_likely():
    """Each of 10 items belongs to 3 of 10 of 2,000 records; tolerance: 5 standard deviations."""
    view = random_items(view_of_many(2000), items_per_record=3, vocabulary=10, rng=rng())
    counts = view.frame["items"].str.split(", ").explode().value_counts()
    assert len(counts) == 10
    assert abs(counts - 600).max() < 5 * math.sqrt(2000 * 0.3 * 0.7)


def test_sizes_of_labels_follow_poisson():
    """Mean and variance of 4,000 draws of mean 20, in a vocabulary that clips none; tolerance: 5 standard errors."""
    sizes = np.array([len(items) for items in random_knowledge(4000, 20, 200, rng=rng()).items_of.values()])
    assert abs(sizes.mean() - 20) < 5 * math.sqrt(20 / 4000)
    assert abs(sizes.var() - 20) < 5 * math.sqrt((20 + 2 * 20**2) / 4000)


def test_sizes_are_clipped_to_1_and_the_vocabulary():
    few = random_knowledge(200, 0.1, 5, rng=rng()).items_of
    many = random_knowledge(200, 50, 5, rng=rng()).items_of
    assert {len(items) for items in few.values()} <= {1, 2, 3}
    assert {len(items) for items in many.values()} == {5}


def test_labels_of_items_follow_poisson():
    """Mean and variance of 4,000 items with 20 of 300 labels on average; tolerance: 5 standard errors."""
    knowledge = random_knowledge(300, 20, 4000, counted="item", rng=rng()).items_of
    sizes = np.unique([item for items in knowledge.values() for item in items], return_counts=True)[1]
    assert len(sizes) == 4000
    assert abs(sizes.mean() - 20) < 5 * math.sqrt(20 / 4000)
    assert abs(sizes.var() - 20) < 5 * math.sqrt((20 + 2 * 20**2) / 4000)


def test_every_label_has_an_item_and_every_item_a_label():
    few = random_knowledge(200, 0.1, 5, counted="item", rng=rng()).items_of
    many = random_knowledge(5, 50, 200, counted="item", rng=rng()).items_of
    assert len(few) == 200
    assert min(len(items) for items in few.values()) == 1
    assert {len(items) for items in many.values()} == {200}


def test_number_of_labels_that_a_record_links_to():
    """The factorial moments of a Poisson number S are powers of its mean, so r items are in a label's with probability
    mean^r / (U (U - 1) ... (U - r + 1)); the tolerance is 5 standard errors, from the variance over labels."""
    labels, mean, vocabulary, r = 2000, 20, 60, 3
    view = random_items(view_of_many(300), r, vocabulary, rng=rng(2))
    links = Linking(random_knowledge(labels, mean, vocabulary, rng=rng(3)), "items")(view)
    of_labels = np.array([links.probabilities([record])[0, :-1] > 0 for record in range(300)]).mean(axis=0)
    expected = mean**r / math.prod(range(vocabulary - r + 1, vocabulary + 1))
    assert abs(of_labels.mean() - expected) < 5 * of_labels.std() / math.sqrt(labels)
    assert links.weight.mean() == pytest.approx(labels * of_labels.mean())


def test_the_same_seed_draws_the_same():
    one, two = (random_knowledge(5, 3, 10, rng=rng()).items_of for _ in range(2))
    assert one == two


@pytest.mark.parametrize(("per_record", "vocabulary"), [(4, 3), (-1, 3), (1, 0)])
def test_a_record_cannot_have_more_items_than_there_are(per_record, vocabulary):
    with pytest.raises(ValueError, match=f"items_per_record is {per_record}"):
        random_items(view_of_many(2), per_record, vocabulary, rng=rng())


def test_a_column_is_not_overwritten():
    with pytest.raises(ValueError, match="has a column 'age'"):
        random_items(view_of_many(2), column="age", rng=rng())


@pytest.mark.parametrize(
    "setting", [{"labels": 0}, {"vocabulary": 0}, {"mean_items": -1}, {"mean_items": np.nan}, {"counted": "both"}]
)
def test_settings_of_knowledge_are_in_their_range(setting):
    with pytest.raises(ValueError, match=f"{next(iter(setting))} is"):
        random_knowledge(rng=rng(), **setting)


@pytest.fixture(scope="module")
def experiment():
    if not (DATA / "adult.data").is_file():
        pytest.skip(f"UCI Adult is not at {DATA}")
    (view,), linking = adult_with_items(DATA, rng=rng())
    return view, linking


@pytest.mark.slow
def test_the_papers_experiment(experiment):
    """3,000 records, 8 quasi-identifiers, 9 items each, 3,000 labels of some 100 items, of which a record links to some 7."""
    view, linking = experiment
    assert (len(view), len(view.schema.quasi_identifiers), len(linking.knowledge)) == (3000, 8, 3000)
    assert view.schema.quasi_identifiers["age"] == Numeric(17, 90)
    assert view.frame["id"].is_monotonic_increasing
    assert view.frame["id"].is_unique
    assert set(linking.items_of(view).sizes.tolist()) == {9}
    assert np.mean([len(items) for items in linking.knowledge.items_of.values()]) == pytest.approx(100, abs=1)
    expected = 3000 * 100**9 / math.prod(range(192, 201))
    assert linking(view).weight.mean() == pytest.approx(expected, rel=0.15)


@pytest.mark.parametrize("records", [0, 50_000])
def test_the_number_of_records_is_at_most_that_of_the_table(records, experiment):
    with pytest.raises(ValueError, match=rf"records is {records}; the table has 45222"):
        adult_with_items(DATA, records, rng=rng())
