"""Newton directions: products with the covariance matrix of the groups' cells, and linear systems in it.

The derivative of the expected numbers of records by the log-odds of the signatures is the covariance matrix of the signatures'
numbers, summed over the groups (`foreknow.models.foreground.conditional_bernoulli`). No matrix is built: conjugate gradients need
products only. SciPy's ``cg`` solves one system to one tolerance; here each component of the evidence is a system of its own, and
directions of non-positive curvature must be reported.
"""

from collections.abc import Callable

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled
from foreknow.models.foreground.conditional_bernoulli.cell_covariances import cell_covariances
from foreknow.models.foreground.evidence import Evidence

type Product = Callable[[FloatArray], FloatArray]
"""A symmetric matrix of shape (s, s), as a function that multiplies a vector of shape ``(s,)`` by it."""

MAX_PRODUCTS = 500
"""Largest number of products with the matrix in one linear system."""

FLAT_CURVATURE_RATIO = 1e-12
"""Ratio of curvature to that of the diagonal matrix ``weight`` at or below which a direction counts as flat or concave."""


def conjugate_gradients(
    weight: FloatArray, residual: FloatArray, product: Product, component: IntArray, components: int
) -> tuple[FloatArray, BoolArray]:
    """Solve ``weight * x - product(x) = residual`` by truncated conjugate gradients, separately in each component.

    A component is solved when its remaining error is small relative to its residual. It also stops at a direction along which
    the matrix is not positive. This direction, an ascent direction of ``residual``, is then added, and x is no solution.

    Parameters
    ----------
    weight, residual : float array, shape (s,)
        The weight is positive; it is the preconditioner.
    product : Product
        It joins no two components; this is not checked.
    component : int array, shape (s,)
        From 0 to ``components - 1``.
    components : int

    Returns
    -------
    x : float array, shape (s,)
    is_concave : bool array, shape (components,)
        True where only positive curvature was met, so that the log-likelihood is concave along x.

    Notes
    -----
    Approximate: to a hundredth of the residual, and closer the smaller the residual is. T. Steihaug, SIAM Journal on Numerical
    Analysis 20, 1983. Cost: at most `MAX_PRODUCTS` products.
    """

    def inner(one: FloatArray, other: FloatArray) -> FloatArray:
        return np.bincount(component, one * other, minlength=components)

    x, remaining = np.zeros(len(residual)), residual.copy()
    direction = remaining / weight
    size = first = inner(remaining, direction)
    tolerated = np.minimum(0.01, np.sqrt(first)) ** 2 * first
    active: BoolArray = size > tolerated
    is_concave = np.ones(components, dtype=np.bool_)
    for _ in range(MAX_PRODUCTS):
        image = weight * direction - product(direction)
        curvature = inner(direction, image)
        flat = active & (curvature <= FLAT_CURVATURE_RATIO * inner(direction, weight * direction))
        x += np.where(flat[component], direction, 0.0)
        active, is_concave = active & ~flat, is_concave & ~flat
        step = np.where(active, size / np.where(active, curvature, 1.0), 0.0)
        x += step[component] * direction
        remaining -= step[component] * image
        following = inner(remaining, remaining / weight)
        active &= following > tolerated
        if not active.any():
            break
        ratio = (following / np.where(size > 0, size, 1.0))[component]
        direction = np.where(active[component], remaining / weight + ratio * direction, 0.0)
        size = following
    return x, is_concave


def covariance_product(evidence: Evidence, first: FloatArray) -> Product:
    """Product with the covariance matrix of the signatures' numbers of records that have the first of two values.

    Parameters
    ----------
    evidence : Evidence
        Of two values.
    first : float array, shape (s,)
        Probability of the first value, for each signature.

    Returns
    -------
    Product
        Takes a direction of the log-odds to the derivative of the expected numbers along it, both of shape ``(s,)``. Cost of a
        product: three expectation steps.
    """
    cells, table = evidence.cells, np.append(first, evidence.rest[0])

    def product(direction: FloatArray) -> FloatArray:
        extended = np.append(direction, 0.0)
        of_rows = _row_covariances(
            cells.row, cells.size, cells.starts, cells.holders, cells.multiplicity, table, extended
        )
        return of_rows[:-1]

    return product


@compiled
def _row_covariances(
    row: IntArray,
    size: IntArray,
    starts: IntArray,
    holders: IntArray,
    multiplicity: IntArray,
    first: FloatArray,
    direction: FloatArray,
) -> FloatArray:
    """Derivative of the expected number of each row's records with the first value along a direction of the log-odds."""
    total = np.zeros(len(first))
    for group in range(len(holders)):
        begin, end = starts[group], starts[group + 1]
        rows = row[begin:end]
        of_cells = np.zeros(len(rows))
        cell_covariances(first[rows], size[begin:end], holders[group], direction[rows], of_cells)
        for i in range(len(rows)):
            total[rows[i]] += multiplicity[group] * of_cells[i]
    return total
