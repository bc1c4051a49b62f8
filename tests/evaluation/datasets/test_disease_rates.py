"""Rates of the chain against the published ones, computed by other means."""

import numpy as np
import pytest

from foreknow.evaluation.datasets.exams import ALZHEIMER, HIV, LIVER, RESULTS, SEPSIS, exam_transitions

WEEKS_PER_YEAR = 52.1775
ENDS = ("deceased", "discharged")

# Rates per day, worked by hand, with the assumed first row: infection, SIRS, sepsis, severe, shock, deceased, discharged.
SEPSIS_DAILY = np.array(
    [
        [0.85, 0.05, 0.02, 0.00, 0.00, 0.001, 0.079],
        [0.00, 0.80, 0.05, 0.01, 0.002, 0.003, 0.135],
        [0.00, 0.20, 0.65, 0.09, 0.00, 0.005, 0.055],
        [0.00, 0.10, 0.16, 0.68, 0.026, 0.009, 0.025],
        [0.00, 0.03, 0.07, 0.211, 0.61, 0.079, 0.00],
        [0.00, 0.00, 0.00, 0.00, 0.00, 1.00, 0.00],
        [0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 1.00],
    ]
)
# Annual rates of liver disease: mild, moderate, compensated, decompensated, carcinoma, deceased, discharged.
LIVER_ANNUAL = np.array(
    [
        [0.957, 0.041, 0, 0, 0, 0, 0.002],
        [0, 0.926, 0.073, 0, 0.001, 0, 0],
        [0, 0, 0.945, 0.040, 0.015, 0, 0],
        [0, 0, 0, 0.822, 0.068, 0.110, 0],
        [0, 0, 0, 0, 0.140, 0.860, 0],
        [0, 0, 0, 0, 0, 1, 0],
        [0, 0, 0, 0, 0, 0, 1],
    ]
)
# Annual rates of Alzheimer's disease: mild, moderate, severe, deceased, discharged.
ALZHEIMER_ANNUAL = np.array(
    [
        [0.774, 0.158, 0.013, 0.055, 0],
        [0.070, 0.501, 0.214, 0.215, 0],
        [0, 0, 0.520, 0.480, 0],
        [0, 0, 0, 1, 0],
        [0, 0, 0, 0, 1],
    ]
)
ANNUAL = {"liver": (LIVER, LIVER_ANNUAL), "Alzheimer": (ALZHEIMER, ALZHEIMER_ANNUAL)}


def block(weeks, stages):
    """The chain between a disease's stages and the two ends."""
    places = [RESULTS.index(name) for name in (*stages, *ENDS)]
    return exam_transitions(weeks).probabilities[np.ix_(places, places)]


def clipped_generator(annual):
    """By eigenvectors: the matrix's logarithm, and the same without its negative rates."""
    values, vectors = np.linalg.eig(annual)
    logarithm = np.real(vectors @ np.diag(np.log(values)) @ np.linalg.inv(vectors))
    rates = np.where(np.eye(len(annual)) == 1, 0, np.maximum(logarithm, 0))
    return logarithm, rates - np.diag(rates.sum(axis=1))


def exponential(generator):
    """The power series, of a matrix small enough for it."""
    term = total = np.eye(len(generator))
    for power in range(1, 40):
        term = term @ generator / power
        total = total + term
    return total


def test_there_are_19_results_with_the_papers_numbers_of_stages():
    assert (len(LIVER), len(HIV), len(ALZHEIMER), len(SEPSIS)) == (5, 4, 3, 5)
    assert (*LIVER, *HIV, *ALZHEIMER, *SEPSIS, *ENDS) == RESULTS
    assert len(set(RESULTS)) == 19


def test_a_week_of_sepsis_is_seven_days():
    week = SEPSIS_DAILY @ SEPSIS_DAILY @ SEPSIS_DAILY @ SEPSIS_DAILY @ SEPSIS_DAILY @ SEPSIS_DAILY @ SEPSIS_DAILY
    np.testing.assert_allclose(block(1, SEPSIS), week, atol=1e-12)


def test_a_week_of_sepsis_worked_by_hand():
    printed = [
        [0.279, 0.074, 0.036, 0.004, 0.018, 0.589],
        [0.303, 0.139, 0.086, 0.008, 0.029, 0.434],
        [0.291, 0.163, 0.142, 0.019, 0.052, 0.333],
        [0.228, 0.152, 0.160, 0.046, 0.221, 0.193],
    ]
    np.testing.assert_allclose(block(1, SEPSIS)[1:5, 1:], printed, atol=5.1e-4)  # printed to three decimals


@pytest.mark.parametrize(
    ("stage", "following", "probability"),
    [
        ("sepsis", "sepsis", 0.65),
        ("severe sepsis", "severe sepsis", 0.68),
        ("septic shock", "septic shock", 0.61),
        ("sepsis", "severe sepsis", 0.09),
        ("severe sepsis", "septic shock", 0.026),
        ("sepsis", "deceased", 0.005),
        ("severe sepsis", "deceased", 0.009),
        ("septic shock", "deceased", 0.079),
    ],
)
def test_a_day_of_sepsis_is_what_rangel_frausto_printed(stage, following, probability):
    day = exam_transitions(1 / 7).probabilities
    assert day[RESULTS.index(stage), RESULTS.index(following)] == pytest.approx(probability, abs=1e-12)


@pytest.mark.parametrize(
    ("stage", "months", "printed"),
    [
        ("HIV antibody-negative", 2.2, 0.0993),
        ("HIV asymptomatic", 52.6, 0.00436),
        ("pre-AIDS", 62.9, 0.00365),
        ("AIDS", 23.6, 0.00970),
    ],
)
def test_hiv_stages_last_as_long_as_longini_says(stage, months, printed):
    place = RESULTS.index(stage)
    leaving = 1 - exam_transitions(1).probabilities[place, place]
    assert leaving == pytest.approx(printed, rel=2e-3)  # worked by hand to three digits
    assert -1 / np.log1p(-leaving) == pytest.approx(months * WEEKS_PER_YEAR / 12)


@pytest.mark.parametrize("disease", ANNUAL)
@pytest.mark.parametrize("weeks", [0.5, 1, 26])
def test_chronic_stages_follow_the_repaired_generator(disease, weeks):
    stages, annual = ANNUAL[disease]
    _, generator = clipped_generator(annual)
    np.testing.assert_allclose(block(weeks, stages), exponential(generator * weeks / WEEKS_PER_YEAR), atol=1e-10)


@pytest.mark.parametrize("disease", ANNUAL)
def test_a_year_has_the_published_rates_but_for_what_was_clipped(disease):
    stages, annual = ANNUAL[disease]
    logarithm, generator = clipped_generator(annual)
    # exp(Q') - exp(Q) is the integral over s in [0, 1] of exp(s Q') (Q' - Q) exp((1 - s) Q). In the norm of the largest
    # absolute row sum the first factor is 1, and the last at most exp of Q's logarithmic norm: twice what was clipped.
    change = np.abs(generator - logarithm).sum(axis=1).max()
    difference = np.abs(block(WEEKS_PER_YEAR, stages) - annual).sum(axis=1).max()
    assert difference <= change * np.exp(change)


@pytest.mark.parametrize(
    ("stage", "following", "probability"),
    [
        ("decompensated cirrhosis", "hepatocellular carcinoma", 0.068),
        ("decompensated cirrhosis", "deceased", 0.110),
        ("hepatocellular carcinoma", "deceased", 0.860),
        ("severe Alzheimer", "deceased", 0.480),
    ],
)
def test_rates_that_nothing_clips_come_back_exactly(stage, following, probability):
    year = exam_transitions(WEEKS_PER_YEAR).probabilities
    assert year[RESULTS.index(stage), RESULTS.index(following)] == pytest.approx(probability, abs=1e-10)


@pytest.mark.parametrize("weeks", [0.1, 1, 2.5, 26, 600])
def test_every_chain_ends_and_keeps_diseases_apart(weeks):
    chain = exam_transitions(weeks).probabilities
    np.testing.assert_allclose(chain.sum(axis=1), 1)
    assert (chain >= 0).all()
    np.testing.assert_array_equal(chain[17:], np.eye(19)[17:])
    for stages in (LIVER, HIV, ALZHEIMER, SEPSIS):
        rows = [RESULTS.index(name) for name in stages]
        elsewhere = [place for place in range(17) if place not in rows]
        assert not chain[np.ix_(rows, elsewhere)].any()


def test_one_week_and_three_more_are_four():
    one, three, four = (exam_transitions(weeks).probabilities for weeks in (1, 3, 4))
    np.testing.assert_allclose(one @ three, four, atol=1e-12)


def test_a_moment_more_changes_little():
    week, longer = exam_transitions(1).probabilities, exam_transitions(1 + 1e-6).probabilities
    np.testing.assert_allclose(week, longer, atol=1e-5)


@pytest.mark.parametrize("weeks", [0, -1, float("nan"), float("inf")])
def test_a_time_that_does_not_pass_is_refused(weeks):
    with pytest.raises(ValueError, match=f"weeks_per_step is {weeks}"):
        exam_transitions(weeks)
