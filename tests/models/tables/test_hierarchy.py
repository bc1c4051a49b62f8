"""Generalization hierarchies: construction, files, graphs and the order of categorical values."""

import networkx as nx
import numpy as np
import pytest

from foreknow.models import Categorical, Hierarchy

ROWS = [
    ("flu", "airways", "body", "*"),
    ("ulcer", "stomach", "body", "*"),
    ("cold", "airways", "body", "*"),
    ("grief", "mood", "mind", "*"),
]
TREE = Hierarchy(ROWS)


def test_leaves_are_in_the_order_of_the_traversal():
    assert TREE.leaves == ("flu", "cold", "ulcer", "grief")
    assert TREE.height == 3


def test_levels_are_equal_where_labels_are():
    levels = TREE.levels()
    assert levels.shape == (4, 4)
    for level in range(4):
        for i in range(4):
            for j in range(4):
                assert (levels[level, i] == levels[level, j]) == (TREE.rows[i][level] == TREE.rows[j][level])


def test_generalize_is_the_lowest_common_ancestor():
    graph = TREE.tree
    assert nx.is_arborescence(graph)
    for first in TREE.leaves:
        for second in TREE.leaves:
            ancestor = nx.lowest_common_ancestor(graph, (0, first), (0, second))
            assert TREE.generalize([first, second]) == ancestor[1]
    assert TREE.generalize(["flu", "cold", "ulcer"]) == "body"


def test_a_label_may_be_repeated_upwards():
    tree = Hierarchy([("a", "a", "*"), ("b", "x", "*"), ("c", "x", "*")])
    assert tree.generalize(["a"]) == "a"
    assert tree.generalize(["b", "c"]) == "x"


def test_flat_has_only_the_root():
    tree = Hierarchy.flat([3, "b"])
    assert tree.leaves == ("3", "b")
    assert tree.generalize([3, "b"]) == "*"
    assert tree.height == 1


def test_it_is_a_value():
    assert Hierarchy(ROWS) == TREE
    assert hash(Hierarchy(ROWS)) == hash(TREE)


class TestRead:
    def write(self, folder, text):
        path = folder / "hierarchy.csv"
        path.write_text(text, encoding="utf-8-sig")
        return path

    def test_an_arx_file(self, tmp_path):
        path = self.write(tmp_path, "1;1-2;*\n2;1-2;*\n3;3-4;*\n\n4; 3-4 ;*\n")
        tree = Hierarchy.read(path)
        assert tree.leaves == ("1", "2", "3", "4")
        assert tree.generalize([3, 4]) == "3-4"
        assert tree.generalize([2, 3]) == "*"

    def test_another_separator(self, tmp_path):
        path = self.write(tmp_path, 'a,"x, y",*\nb,"x, y",*\n')
        assert Hierarchy.read(str(path), separator=",").generalize(["a", "b"]) == "x, y"

    @pytest.mark.parametrize(
        ("text", "match"),
        [
            ("a;x;*\nb;y;*\na;x;*\n", "the value 'a' has two rows; keep one"),
            ("a;x;p;*\nb;x;q;*\n", "'x' generalizes to 'p' and to 'q' at level 2; .*Rename one"),
            ("a;x\nb;y\n", r"the hierarchy has 2 roots \(x, y\); add a column with one root"),
            ("a;x;*\nb;*\n", r"the row \('b', '\*'\) has 2 labels and needs 3: .*Repeat a label"),
            ("", "a hierarchy needs at least one value"),
        ],
    )
    def test_what_is_no_tree_is_one_clear_error(self, tmp_path, text, match):
        with pytest.raises(ValueError, match=r"hierarchy\.csv: .*" + match):
            Hierarchy.read(self.write(tmp_path, text))

    @pytest.mark.parametrize(
        ("encoding", "match"),
        [
            (
                "latin-1",
                r"hierarchy.csv .*: byte 8 \(0xe9, in line 2\) is not utf-8; .*encoding='latin-1'.* save the file as UTF-8",
            ),
            ("utf-16", r"hierarchy.csv .*: byte 0 \(0xff, in line 1\) is not utf-8"),
            ("cp437", r"byte 8 \(0x82, in line 2\)"),
        ],
    )
    def test_another_encoding_is_one_clear_error(self, tmp_path, encoding, match):
        path = tmp_path / "hierarchy.csv"
        path.write_bytes("a;x;*\nbb\u00e9;x;*\n".encode(encoding))
        with pytest.raises(ValueError, match=match):
            Hierarchy.read(path)
        assert Hierarchy.read(path, encoding=encoding).leaves == ("a", "bb\u00e9")

    def test_an_unknown_encoding_is_one_clear_error(self, tmp_path):
        with pytest.raises(ValueError, match="encoding is 'foo', and Python has no encoding of text by this name"):
            Hierarchy.read(self.write(tmp_path, "a;*\n"), encoding="foo")

    @pytest.mark.parametrize("separator", ["", ";;", 1, '"'])
    def test_a_separator_is_one_character(self, tmp_path, separator):
        with pytest.raises(ValueError, match=r"separator|delimiter"):
            Hierarchy.read(self.write(tmp_path, "a;*\n"), separator)

    def test_a_cell_that_never_ends_names_the_file(self, tmp_path):
        with pytest.raises(ValueError, match=r"hierarchy\.csv: field larger than field limit"):
            Hierarchy.read(self.write(tmp_path, "a" * 200_000))

    def test_no_file(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            Hierarchy.read(tmp_path / "nowhere.csv")


def test_rows_of_one_label_lack_a_root():
    with pytest.raises(ValueError, match=r"the row \('a',\) has 1 label and needs 2: .* up to the root"):
        Hierarchy([("a",), ("b",)])


def test_generalizing_a_value_it_does_not_have_names_it():
    with pytest.raises(ValueError, match="grippe"):
        TREE.generalize(["grippe"])


def test_a_graph_and_its_rows_are_the_same_tree():
    graph = nx.DiGraph((row[level + 1], row[level]) for row in ROWS for level in range(3))
    assert Hierarchy.from_graph(graph) == TREE


def test_in_a_graph_values_nearer_to_the_root_are_filled_up():
    graph = nx.DiGraph([("*", "airways"), ("airways", "flu"), ("airways", "cold"), ("*", 7)])
    tree = Hierarchy.from_graph(graph)
    assert set(tree.rows) == {("flu", "airways", "*"), ("cold", "airways", "*"), ("7", "7", "*")}
    assert tree.generalize([7, "flu"]) == "*"


@pytest.mark.parametrize(
    "edges",
    [
        [("a", "b"), ("b", "c"), ("c", "a")],
        [("*", "a"), ("a", "a")],
        [("p", "a"), ("q", "b")],
        [("a", "*"), ("b", "*")],
        [("*", "p"), ("*", "q"), ("p", "a"), ("q", "a")],
        [],
    ],
)
def test_a_graph_that_is_no_tree_is_one_clear_error(edges):
    with pytest.raises(
        ValueError, match=r"is no tree: each label has one parent, all are below one root, .*reverse them all"
    ):
        Hierarchy.from_graph(nx.DiGraph(edges))


def test_labels_of_a_graph_that_read_alike_are_one_clear_error():
    with pytest.raises(ValueError, match="the value '1' has two rows"):
        Hierarchy.from_graph(nx.DiGraph([("*", 1), ("*", "1")]))


@pytest.mark.parametrize(
    "rows",
    [
        [("a", "b", "a", "*")],
        [("a", "*", "x", "*"), ("b", "*", "x", "*")],
    ],
)
def test_a_label_above_itself_is_one_clear_error(rows):
    with pytest.raises(
        ValueError, match=r"has a cycle: in the row of 'a', '.' stands above another label and below it"
    ):
        Hierarchy(rows)


@pytest.mark.parametrize("steps", [("x", "y"), ("x", "x", "y"), ("x", "y", "z")])
def test_a_cycle_over_several_rows_is_an_error(steps):
    rows = [(leaf, *steps[at:], *steps[:at], "*") for at, leaf in enumerate("abc"[: len(steps)])]
    with pytest.raises(ValueError, match=r"has a cycle|stands for|one parent per label"):
        Hierarchy(rows)


@pytest.mark.parametrize(
    "rows",
    [
        [("a", "a", "a", "*"), ("b", "x", "x", "*")],
        [("a", "*"), ("*", "*")],
    ],
)
def test_labels_on_several_levels_that_do_not_lead_back_are_fine(rows):
    assert set(Hierarchy(rows).rows) == set(rows)


@pytest.mark.parametrize(
    "rows", [[("a", "x", "y", "*"), ("b", "b", "x", "*")], [("a", "b", "*"), ("d", "b", "*"), ("b", "c", "*")]]
)
def test_a_label_of_two_meanings_is_one_clear_error(rows):
    with pytest.raises(ValueError, match="a published label must mean one thing"):
        Hierarchy(rows)


class TestCategorical:
    def test_values_that_read_alike_are_one_clear_error(self):
        with pytest.raises(ValueError, match="lists 1 and '1', which are indistinguishable"):
            Categorical((1, "1", "2"))

    def test_codes_follow_the_tree(self):
        kind = Categorical(("grief", "cold", "flu"), TREE)
        assert kind.values == ("flu", "cold", "grief")
        assert kind.tree.leaves == ("flu", "cold", "grief")
        assert kind.bounds == (0.0, 2.0)

    def test_without_a_tree_values_keep_their_order(self):
        kind = Categorical(("z", "a"))
        assert kind.values == ("z", "a")
        assert np.array_equal(kind.tree.levels()[1], [0, 0])

    @pytest.mark.parametrize(
        ("values", "hierarchy", "match"),
        [
            (("flu", "gout"), TREE, "no row for 'gout'; .*Add the row"),
            (("flu", "flu"), None, "lists 'flu' and 'flu', which are indistinguishable"),
            ((), None, "needs at least one"),
        ],
    )
    def test_bad_values_are_one_clear_error(self, values, hierarchy, match):
        with pytest.raises(ValueError, match=match):
            Categorical(values, hierarchy)
