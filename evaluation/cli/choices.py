"""From the options of the command line to a defense or an attack: which options each reads, and what it has without them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from foreknow.attacks import ATTACKS, ForegroundAttack
from foreknow.defenses import (
    BKAA,
    MASK,
    UHRA,
    Anatomy,
    BetaLikeness,
    Defense,
    DistinctDiversity,
    FullDomain,
    Injector,
    JSReduce,
    KAnonymity,
    KPrimacy,
    MInvariance,
    Mondrian,
    Requirement,
    TCloseness,
    all_of,
)
from foreknow.evaluation.risk.breaches import over
from foreknow.models import Estimator, SampleSize, Schema

KNOWLEDGE = ("corpus", "classes", "order", "pseudo_count", "revision", "gaps")
"""The options that say what an adversary knows; only defenses that look at beliefs read them, and attacks by an adversary."""

FOREGROUND = ("secret", "attribute_set", "support", "r")
"""The options of the attack that knows nothing beforehand."""

ATTACK_READS = {name: FOREGROUND if name == "foreground" else KNOWLEDGE for name in ATTACKS}
"""Which options each attack reads, beside those that every attack has."""


@dataclass(frozen=True)
class Thresholds:
    """Settings of groups on the command line; None where it was left out."""

    k: int = 3
    l: float | None = None  # noqa: E741
    t: float | None = None
    j: float | None = None
    beta: float | None = None
    m: int | None = None
    leftovers: str | None = None
    patience: int | None = 50
    seed: int | None = None
    deterministic: bool = False
    tolerance: float = 0.0

    @property
    def draws(self) -> dict[str, Any]:
        """Source of the draws of a defense that deals records into buckets: a generator, or nothing."""
        return {"deterministic": True} if self.deterministic else {"rng": generator(self.seed)}

    @property
    def requirement(self) -> Requirement:
        """k-anonymity, and distinct l-diversity, t-closeness and enhanced beta-likeness where they are asked for."""
        parts: list[Requirement] = [KAnonymity(self.k)]
        parts += [DistinctDiversity(int(self.l))] if self.l is not None else []
        parts += [TCloseness(self.t)] if self.t is not None else []
        parts += [BetaLikeness(self.beta)] if self.beta is not None else []
        return all_of(*parts)

    def also(self, *but: str) -> Requirement | None:
        """The requirement beside the thresholds that a defense has of its own, or None; l = 1 requires nothing."""
        parts: list[Requirement] = []
        parts += [DistinctDiversity(int(self.l))] if self.l is not None and self.l > 1 and "l" not in but else []
        parts += [TCloseness(self.t)] if self.t is not None and "t" not in but else []
        parts += [BetaLikeness(self.beta)] if self.beta is not None and "beta" not in but else []
        return all_of(*parts) if parts else None


class Choice(NamedTuple):
    """A defense as the command line offers it.

    Attributes
    ----------
    reads : tuple of str
        The options it reads, beside those that every command has.
    make : callable
        From thresholds to the defense.
    """

    reads: tuple[str, ...]
    make: Callable[[Thresholds], Defense]

    @property
    def believes(self) -> bool:
        """Whether it looks at what an adversary believes."""
        return KNOWLEDGE[0] in self.reads


def generator(seed: int | None, stream: int = 0) -> np.random.Generator:
    """A generator of a seed, which can be found by trying, or without one of 128 bits of the operating system's entropy.

    Generators of one seed and different streams are independent.
    """
    return np.random.default_rng(None if seed is None else [seed, stream])


def _or(number: Any, otherwise: Any) -> Any:
    return otherwise if number is None else number


GROWN = ("k", "l", "t", "beta", "j", "leftovers", "patience", *KNOWLEDGE)
CHOICES: dict[str, Choice] = {
    "js-reduce": Choice(
        GROWN,
        lambda o: JSReduce(
            o.k,
            _or(o.t, 0.5),
            _or(o.j, 0.6),
            also=_with_diversity(o).also("t"),
            leftovers=_or(o.leftovers, "suppress"),
            patience=o.patience,
        ),
    ),
    "bkaa": Choice(
        GROWN,
        lambda o: BKAA(
            o.k,
            _or(o.beta, 5.0),
            _or(o.j, 0.6),
            also=_with_diversity(o).also("beta"),
            leftovers=_or(o.leftovers, "join"),
            patience=o.patience,
        ),
    ),
    "uhra": Choice(
        ("k", "l", "t", "beta", "j", "tolerance", *KNOWLEDGE),
        lambda o: UHRA(o.k, _or(o.t, 0.5), _or(o.j, 0.6), also=_with_diversity(o).also("t"), tolerance=o.tolerance),
    ),
    "k-primacy": Choice(
        ("k", "beta", "j", "tolerance", *KNOWLEDGE),
        lambda o: KPrimacy(o.k, _or(o.beta, 5.0), _or(o.j, 0.6), tolerance=o.tolerance),
    ),
    "mondrian": Choice(("k", "l", "t", "beta"), lambda o: Mondrian(_with_diversity(o).requirement)),
    "full-domain": Choice(("k", "l", "t", "beta"), lambda o: FullDomain(_with_diversity(o).requirement)),
    "anatomy": Choice(("l", "deterministic"), lambda o: Anatomy(_or(o.l, 2), **o.draws)),
    "mask": Choice(("k", "l"), lambda o: MASK(o.k, _or(o.l, 2), rng=generator(o.seed))),
    "injector": Choice(("l", "deterministic"), lambda o: Injector(_or(o.l, 2), **o.draws)),
    "m-invariance": Choice(("m", "deterministic"), lambda o: MInvariance(_or(o.m, 2), **o.draws)),
}
"""Every defense of `DEFENSES` that needs no sensitive set to be named, as the command line makes it."""


DEFENSE_READS = {name: choice.reads for name, choice in CHOICES.items()}
"""Which options each defense reads."""


def foreground_attack(
    schema: Schema,
    sensitive_set: Sequence[str],
    attribute_sets: Sequence[str],
    support: int | None,
    r: float | None,
    estimator: Estimator,
) -> ForegroundAttack:
    """The foreground attack of some options, all text: an attribute set is columns with commas between them.

    Raises
    ------
    ValueError
        If a bound of breaches is given, and no secret value; if it is not finite.
    """
    if r is not None and not sensitive_set:
        raise ValueError(
            f"-r {r:g} is the bound of beliefs in a secret value, and there is none; name one, as --sensitive-set VALUE."
        )
    over(2 if r is None else r, "foreknow attack")
    values = {str(value): value for value in schema.values}
    names = schema.quasi_identifiers
    sets = [[text] if text in names else [name.strip() for name in text.split(",")] for text in attribute_sets]
    return ForegroundAttack(
        sets or "all",
        [values.get(text, text) for text in sensitive_set] or None,
        estimator,
        support=SampleSize() if support is None else support,
    )


def _with_diversity(options: Thresholds) -> Thresholds:
    """The same with l = 2 where l was left out, so that no group shows one value."""
    return replace(options, l=_or(options.l, 2))
