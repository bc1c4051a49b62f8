"""The page in Chromium, opened from disk without a network: it draws, answers, and fits a phone."""

import shutil

import pytest
from hostile_report import SCRIPT, hostile

from foreknow.app import report
from foreknow.defenses import DistinctDiversity, KAnonymity, Mondrian, publish
from foreknow.evaluation import exams

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the path; install one to test the page"),
]

WIDTHS = {"phone": 360, "desktop": 1280}


@pytest.fixture(scope="module")
def browser():
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A report on small simulated exams, and its file."""
    defense = Mondrian(KAnonymity(3) & DistinctDiversity(2))
    releases = publish(exams(views=3, records=60, rng=1).history, defense, rng=1)
    found = report(releases, defense=defense, stricter=1, draws=20, rng=1)
    return found, found.save(tmp_path_factory.mktemp("report") / "report.html")


class Opened:
    """A page in the browser, with everything that it asked for and complained of."""

    def __init__(self, browser, path, width, unfolded=True):
        self.page = browser.new_page(viewport={"width": width, "height": 800})
        self.page.set_default_timeout(15_000)
        self.complaints, self.requests, self.width = [], [], width
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.complaints.append(dialog.message), dialog.dismiss()))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.context.set_offline(True)
        self.page.goto(path.as_uri())
        self.page.wait_for_function("document.body.dataset.drawn === 'true'")
        assert self.page.locator(".chart").count() == self.page.locator(".chart svg").count() > 3
        if unfolded:
            self.page.evaluate(
                "document.querySelectorAll('details.part, #explorer details').forEach((one) => { one.open = true; })"
            )

    def check(self):
        """No complaint, no request but the file itself, and nothing wider than the window."""
        assert self.complaints == []
        assert len(self.requests) == 1
        assert self.page.evaluate("document.documentElement.scrollWidth") <= self.width

    def rows(self):
        """Cells of the table of the chosen person: (release, value, in the group, then, in hindsight)."""
        rows, release = [], None
        for row in self.page.query_selector_all("#beliefs tbody tr"):
            heading = row.query_selector("th")
            release = heading.inner_text() if heading else release
            rows.append((release, *(cell.inner_text() for cell in row.query_selector_all("td"))))
        return rows


def expected_rows(contents, respondent):
    """Rows of the explorer from the beliefs themselves, as sets: values with a belief of 1 % or in the group."""
    rows = set()
    for forward, hindsight in zip(contents.forward, contents.details.hindsight, strict=True):
        seen = forward.observation
        found = seen.people.rows(respondent)
        for row in found:
            counts = seen.counts[seen.group[row]]
            true = contents_value(contents, respondent, seen.time)
            for code, value in enumerate(seen.people.schema.values):
                beliefs = [each.posterior.probabilities[row, code] for each in (forward, hindsight)]
                if counts[code] or max(beliefs) >= 0.01:
                    shown = f"{value} (true)" if value == true else str(value)
                    of = f"{counts[code]} of {counts.sum()}"
                    rows.add((str(seen.time), shown, of, *(f"{round(1000 * belief) / 10:.1f}%" for belief in beliefs)))
    return rows


def contents_value(contents, respondent, time):
    """True value, by the data of the explorer."""
    place = contents.explorer.respondents.index(respondent)
    for t, _, own, _ in contents.explorer.people[place][1]:
        if contents.explorer.times[t] == str(time):
            return contents.details.hindsight.releases[0].observation.people.schema.values[own]
    raise AssertionError(time)


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_choosing_a_person_shows_the_beliefs(browser, made, width):
    contents, opened = made[0].contents, Opened(browser, made[1], width)
    opened.check()
    page = opened.page
    for place in (0, 7, len(contents.explorer.people) - 1):
        page.select_option("#person", str(place))
        assert page.inner_text("#chosen") == contents.explorer.people[place][0]
        assert set(opened.rows()) == expected_rows(contents, contents.explorer.respondents[place])
    assert page.locator("#chart-explored svg path").count() > 3
    opened.check()
    page.close()


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_settings_and_utility_fit_the_window(browser, made, width):
    """No column is beyond the edge, and each cell of a card has its name."""
    opened = Opened(browser, made[1], width)
    for section in ("stricter", "utility"):
        table = opened.page.locator(f"#{section} .scroll")
        assert table.evaluate("(one) => one.scrollWidth <= one.clientWidth")
        assert table.locator("tbody td").first.evaluate("(one) => one.dataset.label") in table.inner_text()
    opened.page.close()


def test_the_axis_has_all_releases_in_their_order(browser, made):
    """Also for a person without a record at the first release, and for the one who is chosen after them."""
    contents, opened = made[0].contents, Opened(browser, made[1], WIDTHS["desktop"])
    later = next(place for place, (_, records) in enumerate(contents.explorer.people) if records[0][0] > 0)
    for place in (later, 0):
        opened.page.select_option("#person", str(place))
        opened.page.wait_for_function("document.querySelectorAll('#chart-explored .mark-symbol path').length > 0")
        labels = opened.page.locator("#chart-explored .role-axis-label text").all_text_contents()
        assert labels[: len(contents.explorer.times)] == list(contents.explorer.times)
    opened.page.close()


def test_by_keyboard_search_and_links(browser, made):
    opened = Opened(browser, made[1], 1280)
    page = opened.page
    page.fill("#find", "person 12")
    assert page.inner_text("#chosen") == "Person 12"
    page.fill("#find", "nothing like this")
    assert page.inner_text("#found") == "There is no such person."
    page.fill("#find", "")
    page.focus("#next")
    page.keyboard.press("Enter")
    assert page.inner_text("#chosen") == "Person 13"
    page.focus("a[data-choose='2']")
    page.keyboard.press("Enter")
    assert page.inner_text("#chosen") == "Person 3"
    page.focus("#verdict summary")
    page.keyboard.press("Space")
    assert page.locator("#verdict details[open]").count() == 1
    opened.check()
    page.close()


def test_what_is_not_folded_is_four_screens(browser, made):
    """At 1,280 pixels, of a screen of 1,100; a link to a folded part opens it, and its chart has the width of the page."""
    opened = Opened(browser, made[1], WIDTHS["desktop"], unfolded=False)
    page = opened.page
    assert page.evaluate("document.documentElement.scrollHeight") < 4 * 1100
    assert not page.is_visible("#chart-risk")
    page.evaluate("location.hash = '#risk'")
    page.wait_for_function("document.querySelector('#chart-risk svg').getBoundingClientRect().width > 600")
    opened.check()
    page.close()


def test_printed_it_has_its_definitions_and_no_controls(browser, made):
    opened = Opened(browser, made[1], 700)
    page = opened.page
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    assert not page.is_visible("#person")
    assert page.is_visible("#beliefs")
    opened.check()
    page.close()


def test_markup_in_values_is_only_text(browser, tmp_path):
    opened = Opened(browser, hostile().save(tmp_path / "hostile.html"), WIDTHS["phone"])
    opened.check()
    shown = {opened.page.inner_text("#chosen")}
    opened.page.click("#next")
    shown.add(opened.page.inner_text("#chosen"))
    assert SCRIPT in shown
    assert SCRIPT in opened.page.inner_text("#people")
    opened.check()
    opened.page.close()


def test_a_large_history_fits_and_is_written_in_time(browser, tmp_path, monkeypatch):
    """100,000 records in each of 12 releases, attacked by the snapshot attack: under 5 MB, and 3 s of computing."""

    from foreknow.app.report import contents as contents_file
    from foreknow.app.report.adversaries import Inference
    from foreknow.app.report.contents import ReportSettings, report_contents
    from foreknow.app.report.report import Report
    from foreknow.attacks import SnapshotAttack
    from foreknow.models import Adversary, MaxEntropy, Omega

    history, prior, transitions = exams(views=12, records=100_000, rng=1)
    releases = publish(history, Mondrian(KAnonymity(10) & DistinctDiversity(2)), rng=1)
    adversary = Adversary(prior, transitions, estimator=Omega())
    beliefs = SnapshotAttack(adversary)(releases)
    monkeypatch.setattr(contents_file, "JointAttack", lambda *_, **__: lambda _: beliefs)
    adversaries = [Inference(name, adversary, beliefs, beliefs) for name in ("informed", "learned")]
    settings = ReportSettings(stricter=0)
    contents = report_contents(releases, adversaries, settings, solver=MaxEntropy(), learned=lambda _: adversary)
    path = Report(contents).save(tmp_path / "large.html")
    assert path.stat().st_size < 5_000_000
    for width in WIDTHS.values():
        opened = Opened(browser, path, width)
        opened.check()
        assert "random sample" in opened.page.inner_text("#explorer-who")
        opened.page.close()
