"""Groups of options that several commands take, each declared once as a dataclass; see `as_command`."""

from dataclasses import dataclass, field
from pathlib import Path

from foreknow.app.cli.adversary_knowledge import Learning
from foreknow.app.cli.files.columns import Columns
from foreknow.app.cli.files.input_files import time_column
from foreknow.app.cli.input_options import (
    Decimal,
    Duplicates,
    DuplicatesChoice,
    EqualValues,
    EqualValuesChoice,
    MissingCells,
    MissingChoice,
    Numbers,
    Separator,
    TimeFormat,
    cleaning,
    separator_character,
)
from foreknow.app.cli.options import (
    Categorical,
    Classes,
    Encoding,
    Gaps,
    GapsChoice,
    Hierarchies,
    Missing,
    Order,
    PseudoCount,
    QuasiIdentifiers,
    Records,
    Respondent,
    Revision,
    RevisionChoice,
    Sensitive,
    Time,
    learning,
)


@dataclass(frozen=True)
class TableOptions:
    """The table of records, the roles of its columns, and the rules by which it is cleaned."""

    records: Records
    qi: QuasiIdentifiers
    sensitive: Sensitive
    id_: Respondent = "id"
    time: Time = None
    hierarchy: Hierarchies = field(default_factory=list)
    categorical: Categorical = field(default_factory=list)
    encoding: Encoding = "utf-8"
    missing_value: Missing = field(default_factory=list)
    separator: Separator = None
    equal_values: EqualValuesChoice = EqualValues["refuse"]
    missing: MissingChoice = MissingCells["refuse"]
    duplicates: DuplicatesChoice = Duplicates["refuse"]
    time_format: TimeFormat = field(default_factory=list)
    number: Numbers = field(default_factory=list)
    decimal: Decimal = None

    @property
    def columns(self) -> Columns:
        """The columns of the tables, with the notation of their files; the column of the time is looked up in the file."""
        mark = separator_character(self.separator)
        return self.columns_at(time_column(self.time, self.records, self.encoding, mark))

    def columns_at(self, time: str) -> Columns:
        """The columns of the tables, with a column of the time."""
        return Columns(
            self.id_,
            time,
            self.sensitive,
            tuple(self.qi),
            tuple(self.hierarchy),
            tuple(self.categorical),
            self.encoding,
            tuple(self.missing_value),
            separator_character(self.separator),
            tuple(self.number),
            cleaning(self.equal_values, self.missing, self.duplicates, self.time_format, self.decimal),
        )

    @property
    def files(self) -> list[Path]:
        """The files that the options name: the records, and the hierarchies."""
        return [self.records, *(Path(text.partition("=")[2]) for text in self.hierarchy)]


@dataclass(frozen=True)
class KnowledgeOptions:
    """Settings by which an adversary learns and revises beliefs."""

    classes: Classes = 3
    order: Order = 1
    pseudo_count: PseudoCount = 0.1
    revision: RevisionChoice = Revision["filter"]
    gaps: GapsChoice = Gaps["ignore"]

    @property
    def learning(self) -> Learning:
        """The settings as the adversary takes them."""
        return learning(self.classes, self.order, self.pseudo_count, self.revision, self.gaps)
