"""The four patients of Shi, Xiong and Fung (Figure 1), and small tables of items and labels to link."""

from fractions import Fraction

import pandas as pd
from hypothesis import strategies as st

from foreknow.models import Categorical, ExternalKnowledge, Linking, Numeric, Schema, View

DISEASES = {
    "Flu": {"Coughing", "Headache", "Sore throat"},
    "Hepatitis B": {"Loss of appetite", "Vomiting", "Dark urine"},
}
SYMPTOMS = ("Coughing, Headache, Sore throat", "Coughing, Headache", "Headache, Vomiting", "Headache, Sore throat")
KNOWLEDGE = ExternalKnowledge(DISEASES)
LINKING = Linking(KNOWLEDGE, "Symptoms")
FIGURE_1D = (0, 0, 1, 1)
"""The groups of Figure 1(d): Georgia and Texas."""


def patients(time=1):
    """The original table, Figure 1(a)."""
    frame = pd.DataFrame(
        {
            "id": ["Ann", "Bea", "Cleo", "Dora"],
            "Age": [22, 25, 30, 35],
            "Gender": list("MMFF"),
            "State": ["GA", "GA", "TX", "TX"],
            "Symptoms": SYMPTOMS,
        }
    )
    identifiers = {"Age": Numeric(20, 40), "Gender": Categorical(tuple("MF")), "State": Categorical(("GA", "TX"))}
    return View(frame, Schema(identifiers, "Symptoms", SYMPTOMS), time)


def view_of_items(sets, time=1):
    """A view whose records have these sets of items, in the column ``items``."""
    frame = pd.DataFrame({"id": range(len(sets)), "age": range(len(sets)), "result": "x", "items": list(sets)})
    return View(frame, Schema({"age": Numeric()}, "result", ("x",)), time)


@st.composite
def linkable(draw, records=6, labels=140):
    """Sets of items of records and of labels; the number of labels is often near a multiple of 64, the bits of a word."""
    items_of_record = st.frozensets(st.sampled_from("abcdefghz"), max_size=3)
    known = draw(st.lists(st.frozensets(st.sampled_from("abcdef"), min_size=1), min_size=1, max_size=9))
    number = draw(st.sampled_from([number for number in (1, 2, 5, 63, 64, 65, 127, 128, 129, 140) if number <= labels]))
    sets = draw(st.lists(items_of_record, min_size=1, max_size=records))
    return sets, {label: known[label % len(known)] for label in range(number)}


def possible(items, items_of):
    """The labels K(tp) that a record may have, by set inclusion (Definition 2)."""
    return {label for label, known in items_of.items() if set(items) <= set(known)}


def beta(sets, items_of, prevalence=None):
    """The belief in each label, and in None for no label, about a respondent with one of these records (section 2.1)."""
    belief = {}
    for items in sets:
        labels = possible(items, items_of) or {None}
        weight = {label: Fraction((prevalence or {}).get(label, 1)) for label in labels}
        for label in labels:
            belief[label] = belief.get(label, 0) + weight[label] / sum(weight.values()) / len(sets)
    return belief
