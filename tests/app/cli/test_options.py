"""Options of each command, in the order of its help text."""

import pytest
import typer
from commands import run

from foreknow.app.cli import command_line

pytestmark = pytest.mark.usefixtures("wide")


TABLE = [
    "--qi", "--sensitive", "--id", "--time", "--hierarchy", "--categorical", "--encoding", "--missing-value", "--separator",
    "--equal-values", "--missing", "--duplicates", "--repeated", "--worst", "--per", "--ids", "--merge",
    "--time-format", "--number", "--decimal",
]  # fmt: skip
THRESHOLDS = [
    "-k", "-l", "-t", "--beta", "-j", "-m", "-a", "--size", "--departures", "--lag", "--ends", "--terminal", "--wait", "--priors",
    "--leftovers", "--patience", "--tolerance", "--deterministic",
    "--cells", "--releases", "--epsilon", "--rho", "--gain", "--noise", "--processing", "--clamped",
]  # fmt: skip
ATTACK = [
    "--attack", "--solver", "--estimator", "--sensitive-set", "--attribute-set", "--support", "-r", "--statements", "-k", "-l",
]  # fmt: skip
KNOWLEDGE = ["--classes", "--order", "--pseudo-count", "--revision", "--gaps", "--presence"]
DISK = ["--memory", "--workers", "--scheduler", "--scratch", "--workers-within"]

OPTIONS = {
    "describe": ["--id", "--time", "--sensitive", "--encoding", "--separator", "--missing-value", "--json", "--config"],
    "demo": ["--out", "--overwrite", "--json", "--config"],
    "simulate": ["--out", "--releases", "--records", "--seed", "--overwrite", "--json", "--config"],
    "publish": [
        *TABLE, "--out", *THRESHOLDS, *KNOWLEDGE, *DISK, "--defense", "--seed", "--infeasible", "--bucketized", "--generalized",
        "--quote-formulas", "--no-verify", "--corpus", "--terminal-over", "--pictures", "--from-disk", "--block", "--overwrite",
        "--values", "--public-values", "--series", "--ledger", "--budget", "--again", "--for-experiment", "--json", "--config",
    ],
    "attack": [
        *TABLE, "--published", "--people", "--group", *ATTACK, *KNOWLEDGE, *DISK, "--groups", "--scenario", "--sure",
        "--fail-over", "--seed", "--forward", "--signatures", "--corpus", "--knowledge",
        "--out", "--pictures", "--from-disk", "--overwrite", "--json", "--config",
    ],
    "compare": [
        *TABLE, *THRESHOLDS, *KNOWLEDGE, "--defense", "--sweep", "--scenario", "--sure", "--fail-over", "--solver", "--seed",
        "--corpus", "--out", "--keep", "--overwrite", "--json", "--config",
    ],
    "report": [
        *TABLE, "--out", *ATTACK, *KNOWLEDGE, "--groups", "--names", "--sure", "--fail-over", "--stricter", "--seed", "--corpus",
        "--knowledge", "--overwrite", "--json", "--config",
    ],
    "run": ["--keep", "--out", "--workers", "--overwrite", "--json", "--config"],
    "reproduce": ["--full", "--out", "--adult", "--workers", "--json", "--config"],
    "check": [*DISK, "--sensitive", "--qi", "--group", "--time", "-k", "-l", "-t", "--beta", "--encoding", "--missing-value",
              "--separator", "--equal-values", "--missing", "--time-format", "--out", "--pictures", "--overwrite", "--json",
              "--config"],
}  # fmt: skip


class TestHelp:
    def test_every_command_is_named(self):
        text = run("--help").stdout
        assert all(name in text for name in OPTIONS)

    @pytest.mark.parametrize("command", OPTIONS)
    def test_every_option_is_explained(self, command):
        text = run(command, "--help").stdout
        parameters = typer.main.get_command(command_line.app).loaded(command).params
        options = [name for p in parameters for name in p.opts if p.param_type_name == "option" and name != "--help"]
        assert options == OPTIONS[command]
        words = text.split()
        assert [name for name in options if name not in words] == []
        assert all(p.help for p in parameters if p.param_type_name == "option")

    def test_without_a_command_the_help_is_printed(self):
        assert "Usage" in run(status=2).output
