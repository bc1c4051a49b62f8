"""Groups as cells of records of one signature, and signatures as connected components."""

import itertools
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from strategies import evidences

from foreknow.models import Evidence


class TestEvidence:
    """Groups as cells of records of one signature, and signatures as connected components."""

    @given(evidences(groups=5))
    def test_cells_hold_every_group_of_two_values(self, evidence):
        cells, written = evidence.cells, Counter()
        for kind, (begin, end) in enumerate(itertools.pairwise(cells.starts)):
            pairs = sorted(zip(cells.row[begin:end].tolist(), cells.size[begin:end].tolist(), strict=True))
            written[(int(cells.holders[kind]), *pairs)] += int(cells.multiplicity[kind])
        assert len(written) == len(cells.holders)
        expected, settled = Counter(), np.zeros((evidence.signatures + 1, 2), dtype=int)
        for j, (having, lacking) in enumerate(evidence.counts):
            inside = evidence.row[evidence.group == j].tolist()
            if having and lacking:
                expected[(int(having), *sorted(Counter(inside).items()))] += 1
            else:
                np.add.at(settled, (inside, int(having == 0)), 1)
        assert written == expected
        assert (cells.decided == settled).all()
        for row, cell in enumerate(cells.cell):
            open_ = evidence.group[row] >= 0 and (evidence.counts[evidence.group[row]] > 0).all()
            assert (cell >= 0) == open_
            assert cell < 0 or cells.row[cell] == evidence.row[row]

    @given(evidences(values=3, largest=3, groups=6, signatures=6))
    def test_components_are_joined_by_mixed_groups(self, evidence):
        """By joining labels until nothing changes."""
        label = list(range(evidence.signatures))
        mixed = [j for j, counts in enumerate(evidence.counts) if (counts > 0).sum() > 1]
        for _ in range(evidence.signatures):
            for j in mixed:
                together = [i for i in evidence.signature[evidence.group == j] if i >= 0]
                least = min((label[i] for i in together), default=0)
                label = [least if old in {label[i] for i in together} else old for old in label]
        component = evidence.component
        for one, other in itertools.combinations(range(evidence.signatures), 2):
            assert (component[one] == component[other]) == (label[one] == label[other])
        assert component[-1] == len(set(label))

    @given(evidences(values=3))
    def test_shares_are_means_of_the_groups(self, evidence):
        for i in range(evidence.signatures):
            rows = [
                evidence.counts[j] / evidence.counts[j].sum()
                for j in evidence.group[(evidence.signature == i) & (evidence.group >= 0)]
            ]
            assert np.allclose(evidence.shares[i], np.mean(rows, axis=0) if rows else evidence.rest)
            assert evidence.support[i] == len(rows)

    @pytest.mark.parametrize(
        ("signature", "group", "counts", "rest", "message"),
        [
            (
                [0, -2],
                [0, 0],
                [[1, 1]],
                [0.5, 0.5],
                "Evidence: signature is an array of shape (2,); it is an integer array of shape (n,): 0 to s - 1",
            ),
            (
                [0.0, 1.0],
                [0, 0],
                [[1, 1]],
                [0.5, 0.5],
                "Evidence: signature is an array of shape (2,); it is an integer array",
            ),
            ([0, 1], [0, 0], [[1, 2]], [0.5, 0.5], "group 0 has 2 respondents and the counts [1, 2]"),
            ([0, 1], [0, 0], [[1, 1]], [0.5, 0.4], "the rest's distribution, row 0 sums to 0.9"),
            (
                ["a", "b"],
                [0, 0],
                [[1, 1]],
                [0.5, 0.5],
                "Evidence: signature is an array of shape (2,); it is an integer array",
            ),
            ([0], [0, 0], [[1, 1]], [0.5, 0.5], "got (1, 2), (2,) and (1, 2)"),
            ([0, 1], [0, 0], [[1, 1]], 0.5, "the rest's distribution, row 0 sums to 0.5"),
            (0, 0, [[1, 1]], [0.5, 0.5], "Evidence: signature is an array of shape ()"),
        ],
    )
    def test_bad_arrays(self, signature, group, counts, rest, message):
        with pytest.raises(ValueError, match=re.escape(message)):
            Evidence(np.array(signature), np.array(group), np.array(counts), np.array(rest))
