"""The ledger: amounts that are spent, refused and remembered, whatever fails or is killed."""

import errno
import json
import os
import subprocess
import sys
from contextlib import suppress

import killed_runs
import numpy as np
import pyarrow.parquet as pq
import pytest
from failing_cases import failing
from read_only_runs import without_override
from strategies import history_of

from foreknow.app import ledger as module
from foreknow.app.ledger import ABOUT, Ledger
from foreknow.models import Categorical, Numeric, Schema

SCHEMA = Schema({"age": Numeric(0, 99), "sex": Categorical(("f", "m"))}, "illness", ("flu", "gout"))
SERIES = Ledger.series_of("visits", SCHEMA)
REPEATED = "draws its noise anew and spends once more: set again=True"


@pytest.fixture
def ledger(tmp_path):
    return Ledger.create(tmp_path / "kept" / "ledger.parquet", "rho", 0.5, SERIES)


def spend(ledger, respondents, time, amount=0.125, again=False):
    with ledger.spend({time: respondents}, amount, again):
        pass


def totals(ledger):
    """Releases and amount of each respondent."""
    return {row.respondent: (row.releases, row.amount) for row in ledger.spent().itertuples()}


def states(ledger):
    return dict(zip(ledger.releases["time"], ledger.releases["state"], strict=True))


def edited(path, **changes):
    """Write a ledger with another header."""
    table = pq.read_table(path)
    about = json.loads(table.schema.metadata[ABOUT]) | changes
    pq.write_table(table.replace_schema_metadata({ABOUT: json.dumps(about)}), path)


class TestSpends:
    def test_amounts_of_a_respondent_add_up(self, ledger):
        spend(ledger, ["Ann", "Bob"], 1)
        spend(ledger, ["Cid", "Bob"], 2, 0.25)
        assert totals(ledger) == {"Ann": (1, 0.125), "Bob": (2, 0.375), "Cid": (1, 0.25)}
        assert ledger.spent()["left"].tolist() == [0.375, 0.125, 0.25]
        releases = ledger.releases
        assert releases[["time", "amount", "respondents"]].to_numpy().tolist() == [["1", 0.125, 2], ["2", 0.25, 2]]
        assert states(ledger) == {"1": "published", "2": "published"}

    def test_an_amount_is_on_disk_before_the_release_is_written(self, ledger):
        with ledger.spend({1: ["Ann"]}, 0.125):
            assert totals(Ledger.read(ledger.path)) == {"Ann": (1, 0.125)}
            assert states(ledger) == {"1": "begun"}
        assert states(ledger) == {"1": "published"}

    def test_a_spend_counts_without_its_block(self, ledger):
        ledger.spend({1: ["Ann"]}, 0.125)
        assert states(ledger) == {"1": "begun"}
        assert totals(ledger) == {"Ann": (1, 0.125)}

    def test_a_release_that_fails_stays_spent_and_frees_the_lock(self, ledger):
        def fail():
            with ledger.spend({1: ["Ann"]}, 0.125):
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            fail()
        assert states(ledger) == {"1": "begun"}
        spend(ledger, ["Ann"], 2)
        assert totals(ledger) == {"Ann": (2, 0.25)}

    def test_several_releases_are_spent_together_or_not(self, ledger):
        with ledger.spend({1: ["Ann", "Bob"], 2: ["Ann"]}, 0.25):
            assert states(ledger) == {"1": "begun", "2": "begun"}
        assert totals(ledger) == {"Ann": (2, 0.5), "Bob": (1, 0.25)}
        with pytest.raises(ValueError, match="1 respondent of 2 would pass the budget"):
            ledger.spend({3: ["Bob"], 4: ["Ann"]}, 0.25)
        assert totals(ledger) == {"Ann": (2, 0.5), "Bob": (1, 0.25)}

    def test_a_budget_holds_the_releases_that_it_was_divided_by(self, tmp_path):
        for releases in (3, 7, 24, 49):
            ledger = Ledger.create(tmp_path / f"{releases}.parquet", "epsilon", 0.7, SERIES)
            spend(ledger, ["early"], "first", 0.7 / releases)
            for time in range(1, releases):
                spend(ledger, ["early", "late"], time, 0.7 / releases)
            with pytest.raises(ValueError, match="1 respondent of 2 would pass"):
                spend(ledger, ["early", "late"], "last", 0.7 / releases)
            assert 0 <= ledger.spent()["left"].min() < 1e-9

    def test_two_releases_at_one_time_count_both(self, ledger):
        with ledger.spend({1: ["Ann"], "1": ["Ann"]}, 0.125):
            pass
        assert totals(ledger) == {"Ann": (2, 0.25)}

    def test_a_release_without_respondents(self, ledger):
        spend(ledger, [], 1)
        assert states(ledger) == {"1": "published"}
        assert totals(ledger) == {}


class TestRefusals:
    def test_the_budget_in_one_error_and_nothing_is_written(self, ledger):
        for time in range(4):
            spend(ledger, ["Ann", "Bob"], time)
        before = ledger.path.read_bytes()
        says = r"2 respondents of 3 would pass the budget of 0.5 rho, the most by a total of 0.625 .* Nothing is spent. Leave"
        with pytest.raises(ValueError, match=says):
            ledger.spend({4: ["Bob", "Ann", "Cid"]}, 0.125)
        assert ledger.path.read_bytes() == before
        spend(ledger, ["Cid"], 4)

    def test_a_time_that_is_spent_unless_asked(self, ledger):
        spend(ledger, ["Ann"], 1)
        ledger.spend({2: ["Ann"]}, 0.125)
        with pytest.raises(ValueError, match=f"release at 1 is published since 20.*{REPEATED}"):
            ledger.spend({1: ["Ann"]}, 0.125)
        with pytest.raises(ValueError, match=f"release at 2 is begun since .*{REPEATED}"):
            ledger.spend({2: ["Ann"]}, 0.125)
        spend(ledger, ["Ann"], 1, again=True)
        assert totals(ledger) == {"Ann": (3, 0.375)}
        assert ledger.releases["time"].tolist() == ["1", "2", "1"]

    def test_another_spelling_is_no_other_respondent(self, ledger):
        for time, one in enumerate([1, 1.0, "1", np.int64(1)]):
            spend(ledger, [one], time)
        assert totals(ledger) == {"1": (4, 0.5)}
        with pytest.raises(ValueError, match="appears twice in the release at 5"):
            ledger.spend({5: [2, "2"]}, 0.125)
        with pytest.raises(ValueError, match="release at 3 is published"):
            ledger.spend({3.0: ["Ann"]}, 0.125)

    def test_a_second_publication(self, ledger):
        with ledger.spend({1: ["Ann"]}, 0.125):
            with pytest.raises(ValueError, match="another process publishes with this ledger; wait"):
                Ledger.read(ledger.path).spend({2: ["Ann"]}, 0.125)
            assert totals(ledger) == {"Ann": (1, 0.125)}
        spend(ledger, ["Ann"], 2)

    def test_a_second_ledger_in_the_folder_is_free(self, ledger):
        other = Ledger.create(ledger.path.with_name("other.parquet"), "rho", 1, SERIES)
        with ledger.spend({1: ["Ann"]}, 0.125), other.spend({1: ["Ann"]}, 0.125):
            pass
        assert totals(ledger) == totals(other)

    def test_another_series_or_unit(self, ledger):
        assert Ledger.read(ledger.path, "rho", SERIES) == ledger
        with pytest.raises(ValueError, match="counts rho, and this release spends epsilon; set its noise by rho"):
            Ledger.read(ledger.path, "epsilon")
        domain = Ledger.series_of("visits", Schema(SCHEMA.quasi_identifiers, "illness", ("flu", "lupus")))
        with pytest.raises(ValueError, match="series 'visits', which differs from this one in values; name"):
            Ledger.read(ledger.path, series=domain)
        columns = Ledger.series_of("stays", Schema({"age": Numeric()}, "illness", SCHEMA.values))
        with pytest.raises(ValueError, match="differs from this one in name and quasi_identifiers"):
            Ledger.read(ledger.path, series=columns)

    def test_bounds_and_categories_of_the_data_make_no_other_series(self, ledger):
        known = {"age": Numeric(3, 120), "sex": Categorical(("f",))}
        Ledger.read(ledger.path, series=Ledger.series_of("visits", Schema(known, "illness", SCHEMA.values)))

    def test_a_link_is_the_same_ledger(self, ledger, tmp_path):
        (tmp_path / "link.parquet").symlink_to(ledger.path)
        spend(Ledger.read(tmp_path / "link.parquet"), ["Ann"], 1)
        assert totals(ledger) == {"Ann": (1, 0.125)}
        assert (tmp_path / "link.parquet").is_symlink()

    def test_a_file_that_was_replaced_by_that_of_another_ledger(self, ledger):
        other = Ledger.create(ledger.path.with_name("other.parquet"), "rho", 1, SERIES)
        other.path.replace(ledger.path)
        with pytest.raises(ValueError, match="another ledger than the one that was read"):
            ledger.spend({1: ["Ann"]}, 0.125)

    def test_no_ledger_is_created_over_another_file(self, ledger):
        with pytest.raises(ValueError, match="already there, and a new ledger would forget"):
            Ledger.create(ledger.path, "rho", 0.5, SERIES)

    def test_wrong_arguments(self, ledger, tmp_path):
        path = tmp_path / "new.parquet"
        for arguments, says in [
            ((tmp_path / "new.csv", "rho", 1, SERIES), "ends in .parquet"),
            ((path, "delta", 1, SERIES), "one of 'rho', 'epsilon'"),
            ((path, "rho", 0, SERIES), "budget is 0"),
            ((path, "rho", np.inf, SERIES), "budget is inf"),
            ((path, "rho", 1, "visits"), "result of Ledger.series_of"),
            ((path, "rho", True, SERIES), "budget is True"),
            ((3, "rho", 1, SERIES), "path of a .parquet file"),
        ]:
            with pytest.raises((TypeError, ValueError), match=says):
                Ledger.create(*arguments)
        assert not path.exists()
        for arguments, says in [
            (({1: ["Ann"]}, 0), "amount is 0"),
            (({1: ["Ann"]}, np.nan), "amount is nan"),
            (({1: "Ann"}, 0.1), "list of respondents"),
            ((["Ann"], 0.1), "maps the time of each release"),
            (({1: ["Ann"]}, 0.1, 1), "True or False"),
        ]:
            with pytest.raises((TypeError, ValueError), match=says):
                ledger.spend(*arguments)
        assert totals(ledger) == {}


class TestFiles:
    def test_another_reader_finds_all(self, ledger):
        spend(ledger, ["Ann"], 1)
        table = pq.read_table(ledger.path)
        assert table.to_pydict() == {"respondent": ["Ann"], "releases": [1], "amount": [0.125]}
        about = json.loads(table.schema.metadata[b"foreknow.ledger"])
        assert about.pop("releases")[0]["state"] == "published"
        assert about == {"version": 1, "unit": "rho", "budget": 0.5, "series": SERIES}

    @pytest.mark.skipif(os.name == "nt", reason="modes are of POSIX")
    def test_files_are_private(self, ledger):
        spend(ledger, ["Ann"], 1)
        assert ledger.path.parent.stat().st_mode & 0o777 == 0o700
        assert {path.name: path.stat().st_mode & 0o777 for path in ledger.path.parent.iterdir()} == {
            "ledger.parquet": 0o600, ".ledger.parquet.lock": 0o600,
        }  # fmt: skip

    def test_no_ledger(self, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"there is no ledger .*Ledger.create"):
            Ledger.read(tmp_path / "ledger.parquet")

    def test_another_version(self, ledger):
        edited(ledger.path, version=2)
        with pytest.raises(ValueError, match="of version 2, and this foreknow reads 1; update"):
            Ledger.read(ledger.path)

    def test_other_files(self, ledger, tmp_path):
        spend(ledger, ["Ann"], 1)
        for changes in ({"releases": []}, {"budget": None}, {"releases": None}, {"unit": "delta"}, {"series": 3}):
            edited(ledger.path, **{**json.loads(pq.read_schema(ledger.path).metadata[ABOUT]), **changes})
            with pytest.raises(ValueError, match=r"cannot be read as a ledger.*latest backup"):
                Ledger.read(ledger.path)
            edited(ledger.path, unit="rho", budget=0.5, series=SERIES, releases=[{"respondents": 1}])
        history_of(("AB", "ab")).save(tmp_path / "h.parquet")
        for other in (tmp_path / "h.parquet", tmp_path):
            with pytest.raises(ValueError, match="cannot be read as a ledger"):
                Ledger.read(other)

    def test_a_torn_file_is_one_error_whatever_is_left(self, ledger):
        spend(ledger, [f"respondent {number}" for number in range(300)], 1)
        whole = ledger.path.read_bytes()

        def refused(length):
            ledger.path.write_bytes(whole[:length])
            with pytest.raises(ValueError, match="cannot be read as a ledger"):
                ledger.spend({2: ["Ann"]}, 0.125)

        assert not failing(refused, range(0, len(whole), 7))

    def test_a_changed_byte_of_the_rows_is_found(self, ledger):
        spend(ledger, [f"respondent {number}" for number in range(300)], 1)
        whole, expected = ledger.path.read_bytes(), totals(ledger)
        footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")

        def same_or_refused(place):
            ledger.path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
            with suppress(ValueError):
                assert totals(ledger) == expected or place >= footer

        assert footer > 500
        assert not failing(same_or_refused, range(0, len(whole), 3))


class TestDisks:
    """No block begins without a ledger that is written."""

    @pytest.mark.parametrize("place", ["write_table", "replace", "fsync"])
    def test_no_space_is_left(self, ledger, monkeypatch, place):
        spend(ledger, ["Ann"], 1)
        before = ledger.path.read_bytes()

        def without_space(*_, **__):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(module.pq if place == "write_table" else module.os, place, without_space)
        with pytest.raises(ValueError, match=r"No space left on device.: nothing may be published.*Free space"):
            ledger.spend({2: ["Ann"]}, 0.125)
        monkeypatch.undo()
        assert ledger.path.read_bytes() == before
        assert sorted(path.name for path in ledger.path.parent.iterdir()) == [".ledger.parquet.lock", "ledger.parquet"]
        spend(ledger, ["Ann"], 2)

    def test_no_space_is_left_when_the_release_is_published(self, ledger, monkeypatch):
        def without_space(*_, **__):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        def publish():
            with ledger.spend({1: ["Ann"]}, 0.125):
                monkeypatch.setattr(module.pq, "write_table", without_space)

        with pytest.raises(ValueError, match='the release is published, and stays "begun"'):
            publish()
        monkeypatch.undo()
        assert states(ledger) == {"1": "begun"}
        spend(ledger, ["Ann"], 2)

    @pytest.mark.skipif(os.name == "nt", reason="permissions are those of POSIX")
    def test_a_folder_that_cannot_be_written_to(self, ledger):
        program = (
            "import os, sys\n"
            "from foreknow.app.ledger import Ledger\n"
            "folder = os.path.dirname(sys.argv[1])\n"
            "if os.access(folder, os.W_OK): sys.exit('permissions do not count')\n"
            "ledger = Ledger.read(sys.argv[1])\n"
            "create = lambda: Ledger.create(folder + '/new.parquet', 'rho', 1, {})\n"
            "for call in (lambda: ledger.spend({1: ['Ann']}, 0.125), create):\n"
            "    try:\n"
            "        call()\n"
            "    except ValueError as error:\n"
            "        print(error)\n"
        )
        ledger.path.parent.chmod(0o555)
        made = subprocess.run(
            [sys.executable, "-c", program, str(ledger.path)],
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=without_override if os.geteuid() == 0 else None,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        ledger.path.parent.chmod(0o700)
        if "permissions do not count" in made.stderr:
            pytest.skip("permissions do not count for this user")
        lines = made.stdout.splitlines()
        assert len(lines) == 2, made.stderr
        assert all("cannot be written (Permission denied): nothing may be published" in line for line in lines)
        assert totals(ledger) == {}


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals and forks are of POSIX")
def test_killed_runs_tear_nothing_and_forget_nothing(tmp_path):
    command = [sys.executable, killed_runs.__file__, "ledger", str(tmp_path), str(tmp_path), "50"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    made = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert made.returncode == 0, made.stderr
    found = json.loads(made.stdout)
    assert found["killed"] == 50
    assert found["begun"] > 0
    assert [path.name for path in tmp_path.glob(".*.writing")] == []
