"""FORMAT.md and CHECKS.md are what the code says, and their links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.write_reference import DOCUMENTS, ROOT


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: file.name)
def test_it_is_up_to_date(file: Path) -> None:
    assert file.read_text(encoding="utf-8") == DOCUMENTS[file]()


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: file.name)
def test_its_links_lead_somewhere(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    headings = {name: _anchors(ROOT / name) for name in ("README.md", file.name)}
    links = re.findall(r"\]\(([\w.]*)#?([\w-]*)\)", text)
    for name, anchor in links:
        assert not anchor or anchor in headings[name or file.name]


def _anchors(file: Path) -> set[str]:
    """The anchors that GitHub makes of headings."""
    headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def test_the_readme_leads_to_them() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert all(f"]({file.name})" in readme for file in DOCUMENTS)
