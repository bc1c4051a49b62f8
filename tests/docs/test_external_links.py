"""Links to other sites: each answers. Without a network the test is skipped."""

import re
import socket
import urllib.error
import urllib.request

import pytest
from places import ROOT

LINK = re.compile(r"https?://[^\s)>\"'`\]}]+")
FILES = [
    *ROOT.glob("*.md"),
    *ROOT.glob("docs/*.md"),
    *ROOT.glob("docs/*/*.md"),
    *ROOT.glob("notebooks/*.md"),
    *ROOT.glob("benchmarks/*.md"),
    ROOT / "CITATION.cff",
    ROOT / "pyproject.toml",
]
LINKS = sorted({link.rstrip(".,;") for path in FILES for link in LINK.findall(path.read_text(encoding="utf-8"))})


def has_network() -> bool:
    try:
        socket.create_connection(("github.com", 443), timeout=3).close()
    except OSError:
        return False
    return True


def answer(link: str) -> int:
    """Status of a page; a site that refuses programs has answered."""
    request = urllib.request.Request(link, headers={"User-Agent": "Mozilla/5.0 (link check)"})
    try:
        with urllib.request.urlopen(request, timeout=20) as page:
            return page.status
    except urllib.error.HTTPError as error:
        return error.code


def test_there_are_links_to_check() -> None:
    assert LINKS


@pytest.mark.slow
@pytest.mark.parametrize("link", LINKS)
def test_each_link_to_another_site_answers(link: str) -> None:
    if not has_network():
        pytest.skip("no network")
    assert answer(link) not in {404, 410}
