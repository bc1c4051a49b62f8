"""Transition rates of diseases, and the Markov chain over their stages that `exams` draws from.

JS-reduce, section 7.1, has five stages of liver disease, four of HIV, three of Alzheimer's disease and five of sepsis, and
prints neither their names nor a rate. The stages and rates here are from the medical literature. Numbers that no paper prints
are assumed, and marked as such. A rate is the same at every age, gender and weight.
"""

import numpy as np
import scipy

from foreknow.models.arrays import FloatArray
from foreknow.models.knowledge.markov_chain import MarkovChain
from foreknow.models.settings import MAX_FLOAT, is_number

LIVER = (
    "mild hepatitis C",
    "moderate hepatitis C",
    "compensated cirrhosis",
    "decompensated cirrhosis",
    "hepatocellular carcinoma",
)
HIV = ("HIV antibody-negative", "HIV asymptomatic", "pre-AIDS", "AIDS")
ALZHEIMER = ("mild Alzheimer", "moderate Alzheimer", "severe Alzheimer")
SEPSIS = ("infection without SIRS", "SIRS", "sepsis", "severe sepsis", "septic shock")
ENDS = ("deceased", "discharged")
RESULTS = (*LIVER, *HIV, *ALZHEIMER, *SEPSIS, *ENDS)
"""Sensitive domain: 17 stages, in the order of severity within each disease, and the two ends, which are final."""

WEEKS_PER_YEAR = 52.1775
DAYS_PER_WEEK = 7

type Rates = dict[str, dict[str, float]]
"""Probabilities of the other stages after one step, by stage; the remainder is the probability of staying."""

# Per year. Siebert et al., Gut 52 (2003), but for decompensated cirrhosis to carcinoma, HEP-SIM (BMJ Open).
# Assumed: remission is a discharge; decompensated patients die as those with diuretic-sensitive ascites; transplants
# (.022 a year) are left out; there is no other cause of death.
LIVER_PER_YEAR: Rates = {
    "mild hepatitis C": {"moderate hepatitis C": 0.041, "discharged": 0.002},
    "moderate hepatitis C": {"compensated cirrhosis": 0.073, "hepatocellular carcinoma": 0.001},
    "compensated cirrhosis": {"decompensated cirrhosis": 0.040, "hepatocellular carcinoma": 0.015},
    "decompensated cirrhosis": {"hepatocellular carcinoma": 0.068, "deceased": 0.110},
    "hepatocellular carcinoma": {"deceased": 0.860},
}

# Per year. NACC-UDS: Spackman et al., Current Alzheimer Research (2012), PMC3690579. Mild to moderate and moderate to
# severe are the remainders of its printed rates (stay .774 and .501). Assumed: the severe stage ends only in death.
ALZHEIMER_PER_YEAR: Rates = {
    "mild Alzheimer": {"moderate Alzheimer": 0.158, "severe Alzheimer": 0.013, "deceased": 0.055},
    "moderate Alzheimer": {"mild Alzheimer": 0.070, "severe Alzheimer": 0.214, "deceased": 0.215},
    "severe Alzheimer": {"deceased": 0.480},
}

# Mean months in each stage. Longini et al., Statistics in Medicine 8:831 (1989). Assumed: waiting is exponential.
HIV_MONTHS = {"HIV antibody-negative": 2.2, "HIV asymptomatic": 52.6, "pre-AIDS": 62.9, "AIDS": 23.6}

# Per day. Rangel-Frausto et al., Clinical Infectious Diseases 27:185-190 (1998), abstract; it also prints that .65 of
# sepsis, .68 of severe sepsis and .61 of septic shock stay.
SEPSIS_PER_DAY: Rates = {
    "sepsis": {"severe sepsis": 0.09, "deceased": 0.005},
    "severe sepsis": {"septic shock": 0.026, "deceased": 0.009},
    "septic shock": {"deceased": 0.079},
}

# Per day, all assumed: the split of the remainder of the printed rows, and the two rows that are not printed.
SEPSIS_PER_DAY_ASSUMED: Rates = {
    "infection without SIRS": {"SIRS": 0.05, "sepsis": 0.02, "deceased": 0.001, "discharged": 0.079},
    "SIRS": {"sepsis": 0.05, "severe sepsis": 0.01, "septic shock": 0.002, "deceased": 0.003, "discharged": 0.135},
    "sepsis": {"SIRS": 0.20, "discharged": 0.055},
    "severe sepsis": {"SIRS": 0.10, "sepsis": 0.16, "discharged": 0.025},
    "septic shock": {"SIRS": 0.03, "sepsis": 0.07, "severe sepsis": 0.211},
}


def exam_transitions(weeks_per_step: float = 1.0) -> MarkovChain:
    """Markov chain over the exam results, for a step of some weeks.

    For the chronic diseases it is ``expm(Q_year * weeks / 52.1775 + Q_hiv * weeks)``, where Q_year generates the annual rates and
    Q_hiv leaves each stage at the rate 1 over its mean duration. For sepsis it is the daily matrix to the power ``7 * weeks``; a
    fraction of a day is taken from the generator of the daily matrix.

    Parameters
    ----------
    weeks_per_step : float
        Weeks between two records of a respondent, more than 0. With 1 a chronic disease hardly changes within 24 views; 26 is
        half a year.

    Returns
    -------
    MarkovChain
        Of order 1 over `RESULTS`. Deceased and discharged are absorbing.

    Raises
    ------
    ValueError
        If ``weeks_per_step`` is not a positive number.

    Notes
    -----
    The logarithm of a printed matrix has negative rates where a transition of several steps is printed as 0: the annual table has
    no death from cirrhosis, although carcinoma follows it and kills. Negative rates are set to 0 and the diagonal is reset.
    Therefore 52.1775 weeks give the annual rates exactly from decompensated cirrhosis, carcinoma and severe Alzheimer, and to
    within .022 from other stages (mild Alzheimer stays .752, printed .774).

    Examples
    --------
    >>> chain = exam_transitions()
    >>> float(chain.probabilities[RESULTS.index("AIDS"), RESULTS.index("deceased")].round(4))
    0.0097
    """
    if not (is_number(weeks_per_step, 0, MAX_FLOAT) and weeks_per_step > 0):
        raise ValueError(
            f"weeks_per_step is {weeks_per_step!r}; it is the time between two records and must be a positive number. "
            "Write 1 for weekly records."
        )
    weekly = _generator(_matrix(LIVER_PER_YEAR, ALZHEIMER_PER_YEAR)) / WEEKS_PER_YEAR + _hiv_generator()
    sepsis = _matrix(SEPSIS_PER_DAY, SEPSIS_PER_DAY_ASSUMED)
    # Each factor leaves the stages of the other diseases unchanged, so the product is the chain of all diseases.
    chain = scipy.linalg.expm(weekly * weeks_per_step) @ _power(sepsis, DAYS_PER_WEEK * weeks_per_step)
    return MarkovChain(1, np.clip(chain, 0.0, None))


def _matrix(*tables: Rates) -> FloatArray:
    """Transition matrix of one step over all results; a result without rates is kept."""
    matrix = np.zeros((len(RESULTS), len(RESULTS)))
    for table in tables:
        for stage, rates in table.items():
            for following, probability in rates.items():
                matrix[RESULTS.index(stage), RESULTS.index(following)] = probability
    return matrix + np.diag(1.0 - matrix.sum(axis=1))


def _hiv_generator() -> FloatArray:
    """Generator of Longini's stages in sequence, in rates per week."""
    generator = np.zeros((len(RESULTS), len(RESULTS)))
    for stage, following in zip(HIV, (*HIV[1:], "deceased"), strict=True):
        weeks = HIV_MONTHS[stage] * WEEKS_PER_YEAR / 12
        generator[RESULTS.index(stage), RESULTS.index(following)] = 1 / weeks
    return generator - np.diag(generator.sum(axis=1))


def _generator(matrix: FloatArray) -> FloatArray:
    """Logarithm of a transition matrix, with negative rates set to 0."""
    rates = np.clip(np.real(scipy.linalg.logm(matrix)), 0.0, None)
    np.fill_diagonal(rates, 0.0)
    return np.asarray(rates - np.diag(rates.sum(axis=1)))


def _power(matrix: FloatArray, exponent: float) -> FloatArray:
    whole, rest = divmod(round(exponent, 9), 1.0)
    power = np.linalg.matrix_power(matrix, int(whole))
    return np.asarray(power @ scipy.linalg.expm(_generator(matrix) * rest)) if rest else power
