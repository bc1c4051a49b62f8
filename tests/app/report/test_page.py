"""The page of a report as text: escaped values, its policy, its size, and the file."""

import base64
import hashlib
import importlib.util
import json
import re
import stat
from html.parser import HTMLParser

import pandas as pd
import pytest
from hostile_report import ATTRIBUTE, SCRIPT, hostile

from foreknow.app.report import page as page_file
from foreknow.app.report.page import calibration_rows, json_in_html, vega_bundle


@pytest.fixture(scope="module")
def html():
    return hostile().html


class Page(HTMLParser):
    """Names of all elements, the texts of scripts, and the captions and headings of tables."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.scripts, self.headings, self.text = [], [], [], ""
        self.attributes, self.is_script = [], False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.is_script = tag == "script"
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag == "script":
            self.scripts.append((dict(attrs), ""))
        if tag == "th":
            self.headings.append(dict(attrs).get("scope"))

    def handle_endtag(self, tag):
        self.is_script = self.is_script and tag != "script"

    def handle_data(self, data):
        if self.is_script:
            attributes, text = self.scripts[-1]
            self.scripts[-1] = (attributes, text + data)
        else:
            self.text += data


def test_values_are_text_alone(html):
    found = Page(html)
    assert len(found.scripts) == 3
    assert "img" not in found.elements
    assert not [name for _, name, _ in found.attributes if name.startswith("on")]
    assert SCRIPT in found.text
    assert ATTRIBUTE in found.text


def test_data_are_json_with_the_values(html):
    data = json.loads(Page(html).scripts[0][1])
    assert data["explorer"]["values"] == [ATTRIBUTE, SCRIPT]
    assert sorted(name for name, _ in data["explorer"]["people"]) == sorted([SCRIPT, ATTRIBUTE])


def test_identifiers_are_shown_on_request_alone():
    """The values are the identifiers here; the names of people are not."""
    data = json.loads(Page(hostile(names=False).html).scripts[0][1])
    assert [name for name, _ in data["explorer"]["people"]] == ["Person 1", "Person 2"]


def test_json_in_html():
    text = json_in_html({"a": "</script><!--&\u2028"})
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == {"a": "</script><!--&\u2028"}


def test_the_policy_allows_the_two_scripts_and_no_network(html):
    found = Page(html)
    policy = next(
        value for tag, name, value in found.attributes if tag == "meta" and name == "content" and "src" in value
    )
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe-eval" not in policy
    allowed = set(re.findall(r"'sha256-([^']*)'", policy))
    texts = [text for attributes, text in found.scripts if "type" not in attributes]
    assert {base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts} == allowed


def test_nothing_is_loaded(html):
    loading = [
        (tag, value) for tag, name, value in Page(html).attributes if name in ("src", "srcset", "action", "data")
    ]
    links = [value for tag, name, value in Page(html).attributes if name == "href"]
    assert loading == []
    assert all(link.startswith("#") for link in links)


def test_tables_are_tables(html):
    found = Page(html)
    assert found.elements.count("caption") == found.elements.count("table") > 8
    assert set(found.headings) <= {"row", "col"}
    targets = [value for _, name, value in found.attributes if name == "id"]
    assert len(set(targets)) == len(targets)
    links = {value for tag, name, value in found.attributes if name == "href"}
    assert {link.removeprefix("#") for link in links} <= set(targets)
    for name in (
        "risk",
        "people",
        "explorer",
        "leak",
        "influence",
        "calibration",
        "utility",
        "stricter",
        "assumed",
        "appendix",
    ):
        assert name in targets


def test_numbers_of_the_page_are_those_of_the_contents():
    made = hostile()
    text = " ".join(Page(made.html).text.split())
    one = made.contents.headlines["informed"]
    assert f"{one.exposed:,} of {one.respondents:,}" in text
    assert made.verdict.heading in text
    assert made.verdict.numbers in text


def test_beliefs_of_each_size_have_one_row_for_each_tenth_and_adversary():
    """Beliefs of .10 and .14 are one tenth, with means by the numbers of beliefs; 1 is in the last tenth."""
    columns = ["adversary", "believed", "observed", "beliefs", "observed_low", "observed_high"]
    rows = [("x", 0.1, 0.0, 3, 0.0, 0.4), ("x", 0.14, 0.4, 1, 0.2, 0.8), ("x", 1.0, 1.0, 2, 0.9, 1.0)]
    rows.append(("y", 0.3, 0.5, 4, 0.1, 0.9))
    made = calibration_rows(pd.DataFrame(rows, columns=columns))
    assert made[["adversary", "believed", "beliefs"]].values.tolist() == [
        ["x", "10–20%", 4], ["x", "90–100%", 2], ["y", "30–40%", 4],
    ]  # fmt: skip
    assert made.iloc[0][["observed", "observed_low", "observed_high"]].tolist() == pytest.approx([0.1, 0.05, 0.5])
    contents = hostile().contents
    curves = contents.calibration
    assert calibration_rows(curves)["beliefs"].sum() == curves["beliefs"].sum()
    assert "Right, by the curve" in Page(hostile().html).text


def test_the_bundle_has_no_closing_tag():
    assert "</script" not in vega_bundle().lower()


class TestSave:
    def test_it_is_for_its_owner_and_replaces_nothing_unasked(self, tmp_path):
        made = hostile()
        path = made.save(tmp_path / "new" / "report.html")
        assert path.read_text(encoding="utf-8") == made.html
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with pytest.raises(ValueError, match="already there"):
            made.save(path)
        assert made.save(str(path), overwrite=True) == path
        assert [each.name for each in path.parent.iterdir()] == ["report.html"]

    @pytest.mark.parametrize("name", ["report.txt", "folder.html"])
    def test_other_paths(self, tmp_path, name):
        (tmp_path / "folder.html").mkdir()
        with pytest.raises(ValueError, match="name a file"):
            hostile().save(tmp_path / name)

    def test_in_a_notebook_it_is_a_frame(self):
        made = hostile()
        shown = made._repr_html_()
        assert shown.startswith("<iframe")
        assert "<script" not in shown
        assert repr(made).startswith("Report('Over the default bound of 0%: ")


@pytest.mark.parametrize("missing", ["altair", "jinja2", "vl_convert"])
def test_a_missing_package_is_named_with_the_way_out(monkeypatch, missing):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == missing else real(name))
    with pytest.raises(ModuleNotFoundError, match=r"pip install '\.\[report\]'"):
        page_file.check_packages()
