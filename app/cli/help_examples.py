"""Examples below the help texts of the commands: complete commands, as they are typed."""

COLUMNS = "records.csv has the columns id, week, age, city and diagnosis:"
"""Line above examples that read records."""

EXAMPLES = {
    "describe": ("  foreknow describe records.csv",),
    "demo": ("  foreknow demo --out demo-output",),
    "simulate": ("  foreknow simulate exams --releases 4 --records 500 --out visits.csv",),
    "publish": (
        COLUMNS,
        "  foreknow publish records.csv --qi age --qi city --sensitive diagnosis \\",
        "    --defense mondrian -k 5 -l 2 --out release",
    ),
    "attack": (
        COLUMNS,
        "  foreknow attack records.csv --qi age --qi city --sensitive diagnosis \\",
        "    --groups release/private/groups.csv --out risk",
        "  foreknow attack release/public/published.csv --published \\",
        "    --qi age --qi city --sensitive diagnosis",
    ),
    "check": (
        "  foreknow check release",
        "  foreknow check release/public/published.csv --sensitive diagnosis -k 5 -l 2",
    ),
    "compare": (
        COLUMNS,
        "  foreknow compare records.csv --qi age --qi city --sensitive diagnosis \\",
        "    --defense mondrian --sweep k=3,6,12",
    ),
    "report": (
        COLUMNS,
        "  foreknow report records.csv --qi age --qi city --sensitive diagnosis \\",
        "    --groups release/private/groups.csv --out report.html",
    ),
}
"""Lines of the examples of each command, at most 78 characters wide."""


def example_text(command: str) -> str:
    """The examples of a command, with their heading after an empty line, without which Typer removes the common indentation."""
    return "\n".join(("", "For example:", *EXAMPLES[command]))
