"""Notes on beliefs on disk: approximations, contradictions, convergence, repeated evidence."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np

from foreknow.app.disk.partition import published_records
from foreknow.attacks import JointAttack, SequentialAttack
from foreknow.attacks.belief_notes import approximation_notes, law_notes, overconfidence_notes
from foreknow.models import Posterior
from foreknow.models.settings import counted


class Doubts(NamedTuple):
    """Groups in whose beliefs there is doubt.

    Attributes
    ----------
    doubtful : int
        Number of groups that contradict the knowledge or did not converge.
    approximated : int
        Number of groups that `Auto` approximates by `Sinkhorn`.
    error : float
        Largest estimated error of a belief in these.
    """

    doubtful: int
    approximated: int
    error: float


def doubts_of(posterior: Posterior) -> Doubts:
    """Numbers of groups of a posterior in which there is doubt."""
    errors = np.zeros(0) if posterior.error is None else posterior.error
    large = errors[errors > 0]
    return Doubts(int((posterior.status != 0).sum()), len(large), float(large.max(initial=0.0)))


def added(doubts: Iterable[Doubts]) -> Doubts:
    """Numbers of groups of several blocks, and the largest error."""
    doubtful, approximated, error = zip(Doubts(0, 0, 0.0), *doubts, strict=True)
    return Doubts(sum(doubtful), sum(approximated), max(error))


def attack_notes(
    attack: SequentialAttack | JointAttack, found: Doubts, groups: int, repeated: float = 0.0
) -> tuple[str, ...]:
    """Sentences that name what the beliefs of an attack approximate, as the notes of the beliefs in memory.

    Parameters
    ----------
    attack : SequentialAttack or JointAttack
    found : Doubts
    groups : int
        Number of all groups.
    repeated : float
        Share of repeated pairs (`repeated_share`), for a `SequentialAttack` with transitions.
    """
    law = law_notes(attack.solver, type(attack.solver).__name__) if isinstance(attack, JointAttack) else []
    verb = "contradicts" if found.doubtful == 1 else "contradict"
    doubts = [
        f"{found.doubtful:,} of {counted(groups, 'group')} {verb} the adversary's knowledge, or the beliefs in them did not "
        "converge. Transitions or priors of 0 are the usual reason of a contradiction; a pseudo-count avoids them."
    ]
    approximated = approximation_notes(found.approximated, found.error)
    return (*law, *overconfidence_notes(repeated), *approximated, *(doubts if found.doubtful else []))


def repeated_share(connection: duckdb.DuckDBPyConnection, records: Path, releases: int) -> float:
    """Share of the pairs of group members that shared a group at their previous publication, as `repeated_pairs`.

    Parameters
    ----------
    connection : DuckDBPyConnection
    records : Path
        Folder of the parts of the records.
    releases : int

    Notes
    -----
    Exact: pairs are counted in whole numbers. Cost: a sort of all records by respondent, on disk.
    """
    if releases < 2:
        return 0.0
    pairs, repeated = connection.execute(
        f"WITH published AS ({published_records(records, releases)}), "
        "followed AS (SELECT key, lag(key) OVER (PARTITION BY respondent ORDER BY key) AS earlier FROM published), "
        "met AS (SELECT key, count(*)::HUGEINT AS number FROM followed WHERE earlier IS NOT NULL GROUP BY key, earlier), "
        "whole AS (SELECT sum(number) AS number FROM met GROUP BY key) "
        "SELECT (SELECT sum(number * (number - 1)) FROM whole), (SELECT sum(number * (number - 1)) FROM met)"
    ).fetchall()[0]
    return float(repeated / pairs) if pairs else 0.0
