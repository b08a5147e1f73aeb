"""Tasks of readers, done in the page with keys and clicks. The command line gives the expected answers."""

from __future__ import annotations

import json
import shlex
from typing import Any

import yaml

from tests.cli.support import call
from tests.page.browser.tab import Tab
from tests.page.support import page_of

OVERRIDE = "examples/scenarios/01_composite_override.yaml"


def answer(*arguments: str) -> Any:
    """The JSON that a command prints."""
    return json.loads(call(*arguments, "--format", "json").out)


def lines(*arguments: str) -> list[str]:
    """The lines of text that a command prints."""
    return call(*arguments).out.splitlines()


def find(tab: Tab, letters: str) -> None:
    """Open the first operator that some letters find."""
    tab.press("/")
    tab.type(letters)
    tab.press("Enter")


def slot(key: str) -> str:
    return f".operator-view a[data-slots='{key}']"


def commands(tab: Tab) -> list[str]:
    return [line for line in tab.texts("main .command code") if line]


def test_why_a_slot_does_not_hold_the_math_kernel(tab: Tab) -> None:
    """Scenario 1: why to.dtype fails at AutogradPrivateUse1. Trying the way out is for explore: the page says so."""
    name, key = "aten::to.dtype", "AutogradPrivateUse1"
    tab.open(page_of(OVERRIDE))
    find(tab, "to.dtype")
    assert tab.text("h1") == name
    tab.click(slot(key))
    explained = answer("explain", name, key, OVERRIDE)
    printed = lines("explain", name, key, OVERRIDE)
    assert tab.text("h1") == f"{name} at {key}"
    facts = dict(
        zip(tab.texts(".slot-view dl:first-of-type dt"), tab.texts(".slot-view dl:first-of-type dd"), strict=True)
    )
    assert facts["Rule"].startswith(f"{explained['answer']['rule_number']} ")
    assert facts["Above" if explained["above"] else "Below"].startswith(
        (explained["above"] or explained["below"])["key"]
    )
    rules = tab.rows(".slot-view table")
    assert [rule["Looks at"] for rule in rules] == [", ".join(rule["looks_at"]) for rule in explained["rules"]]
    assert [rule["#"].lstrip("> ") for rule in rules] == [str(number) for number in range(1, 11)]
    (fired,) = [rule for rule in rules if rule["#"].startswith(">")]
    assert fired["#"].lstrip("> ") == str(explained["answer"]["rule_number"])
    assert "gives way to PrivateUse1" in [rule["Outcome"] for rule in rules]
    advice = tab.texts(".slot-view .advice")
    assert len(advice) == len(explained["advice"])
    assert set(advice) <= set(printed)
    registered = [
        [edit["key"] for edit in change["edits"] if edit["action"] != "remove"]
        for advised in explained["advice"]
        for change in advised["changes"]
    ]
    tab.click(".slot-view details summary")
    fix = tab.evaluate("document.querySelector('.slot-view details pre').textContent")
    (changed,) = yaml.safe_load(fix)["operators"]
    assert changed["name"] == name and [*changed["dispatch"]] in registered
    tab.evaluate(
        "window.copied_text = null; navigator.clipboard.writeText = async text => { window.copied_text = text }"
    )
    tab.click(".slot-view details button")
    assert tab.evaluate("window.copied_text") == fix + "\n"
    assert commands(tab)[-1] == f"dispatch-cli explain {name} {key} {OVERRIDE}"
    assert "dispatch-cli explore" in go_and_read(tab, "!start")


def go_and_read(tab: Tab, fragment: str) -> str:
    tab.go(fragment)
    return tab.text("main")


def test_what_the_files_change(tab: Tab) -> None:
    tab.open(page_of(OVERRIDE))
    tab.press("2")
    tab.wait("document.querySelector('h1').innerText === 'What the files change'")
    (table,) = answer("table", OVERRIDE)["operators"]
    changed = [row["key"] for row in table["entries"] if row["before"]]
    assert changed == ["PrivateUse1", "AutogradPrivateUse1"]
    printed = lines(*shlex.split(tab.text("main .command code"))[1:])
    assert printed[0] in tab.text("main") and all(key in tab.text("main") for key in changed)
    (registration,) = tab.rows("main table")
    assert (registration["Key"], registration["Change"]) == ("PrivateUse1", "added")
    assert [row["Operator"] for row in tab.rows("main table", last=True)] == [table["operator"]]
    tab.click("main tbody a")
    assert tab.evaluate(_SLOTS % ".slot.changed") == changed


def test_from_a_finding_to_what_is_registered(tab: Tab) -> None:
    tab.open(page_of(OVERRIDE))
    tab.press("3")
    printed = "\n".join(lines("check-invariants", "--severity", "info", "--full", OVERRIDE))
    findings = answer("check-invariants", OVERRIDE)["findings"]
    findings.sort(key=lambda finding: printed.index(f"{finding['severity']}[{finding['check']}]: {finding['message']}"))
    assert [finding["severity"] for finding in findings] == ["error", "error", "info"]
    tab.wait(f"document.querySelectorAll('main article').length === {len(findings)}")
    texts = tab.texts("main article")
    for finding, text in zip(findings, texts, strict=True):
        assert finding["message"] in text and finding["code"] in text
        assert "{file}:{line}:{column}".format(**finding["declared_at"]) in text
    about = next(row for row in findings if row["operator"])
    tab.click(f"main article:nth-of-type({findings.index(about) + 1}) a")
    assert tab.text("h1") == f"{about['operator']} at {about['key']}"
    registered = answer("explain", about["operator"], about["key"], OVERRIDE)["registrations"]
    shown = tab.rows(".slot-view table", last=True)
    assert [row["Registered at"] for row in shown] == [entry["key"] for entry in registered]
    assert f"{OVERRIDE}:" in " ".join(row["Declared at"] for row in shown)


_SLOTS = "[...document.querySelectorAll('%s')].flatMap(e => e.dataset.slots.split(' '))"
