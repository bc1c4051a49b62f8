"""Following one public call opens few files."""

import numpy as np
import pytest
from commands import ROLES, records, run, write
from entered_files import entered_files

from foreknow.attacks import JointAttack
from foreknow.defenses import DistinctDiversity, KAnonymity, Mondrian, publish
from foreknow.evaluation import exams
from foreknow.models import Adversary

MOST_ENTERED = {"joint attack": 25, "publish": 18, "foreknow attack": 73}
"""Largest number of files that a call enters."""


@pytest.fixture(scope="module")
def history():
    return exams(views=3, records=40, rng=np.random.default_rng(1))


@pytest.fixture(scope="module")
def defense():
    return Mondrian(KAnonymity(3) & DistinctDiversity(2))


def test_files_of_the_joint_attack(history, defense):
    views, prior, transitions = history
    attack, releases = JointAttack(Adversary(prior, transitions)), publish(views, defense)
    entered = entered_files(lambda: attack(releases))
    assert len(entered) <= MOST_ENTERED["joint attack"], entered


def test_files_of_publish(history, defense):
    entered = entered_files(lambda: publish(history.history, defense))
    assert len(entered) <= MOST_ENTERED["publish"], entered


def test_files_of_the_attack_command(tmp_path):
    table = write(records(), tmp_path / "visits.csv")
    options = [table, *ROLES, "--id", "id", "--time", "week"]
    run("publish", *options, "--out", tmp_path / "release")
    groups = tmp_path / "release" / "private" / "groups.csv"
    folders = iter((tmp_path / "first", tmp_path / "second"))
    entered = entered_files(lambda: run("attack", *options, "--groups", groups, "--out", next(folders)))
    assert len(entered) <= MOST_ENTERED["foreknow attack"], entered
