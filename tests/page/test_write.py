"""The file of a page: what is in it, what is not, and what its policy allows."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli.checks.listing import OF_CHECK
from tests.cli.support import ROOT, call
from tests.page.support import needs_node, page_of, script_of

HOSTILE = "tests/page/hostile.yaml"


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def printed(*arguments: str) -> str:
    """A page of its own, as the command prints it."""
    result = call("page", *arguments)
    assert result.code == 0, result.err
    return result.out


def shared(*arguments: str) -> str:
    """The page of all tests with equal arguments, from its file."""
    return page_of(*arguments).read_bytes().decode()


def data_of(page: str) -> Any:
    match = re.search(r'id="data">([^<]*)<', page)
    assert match is not None
    return json.loads(zlib.decompress(base64.b64decode(match[1])))


def digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_the_policy_allows_the_scripts_and_the_style_of_the_page_alone() -> None:
    page = shared(HOSTILE)
    match = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    assert match is not None
    policy = dict(part.split(" ", 1) for part in match[1].split("; "))
    scripts = re.findall(r"<script id=\"\w+\">(.*?)</script>", page, re.DOTALL)
    styles = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    assert len(scripts) == 2 and len(styles) == 1
    assert policy == {
        "default-src": "'none'",
        "script-src": " ".join(map(digest, scripts)),
        "style-src": digest(styles[0]),
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert page.index("Content-Security-Policy") < min(page.index("<script"), page.index("<style"))
    assert len(re.findall(r"<script\b", page)) == 3  # the third is data
    markup = re.sub(r"(<script[^>]*>|<style>).*?(?=</script>|</style>)", "", page, flags=re.DOTALL)
    assert re.search(r"\son\w+\s*=|\sstyle=|javascript:|https?://", markup) is None
    assert re.search(r"\beval\(|innerHTML|outerHTML|insertAdjacentHTML|document\.write|new Function", page) is None


def test_no_text_of_a_file_is_in_the_markup() -> None:
    hostile, harmless = (shared(file).partition('id="data">') for file in (HOSTILE, "examples/add.yaml"))
    assert hostile[0] == harmless[0]
    assert hostile[2].partition("<")[2] == harmless[2].partition("<")[2]
    assert "</script><script>document.title='owned'</script>" in data_of(shared(HOSTILE))["texts"]


def test_a_page_says_what_it_was_made_from(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(
        "dispatch: 1\noperators:\n- func: a::b(Tensor x) -> Tensor\n  dispatch: {CPU: k}\n", encoding="utf-8"
    )
    page = printed(str(own), "--universe", "torch-2.13")
    about = data_of(page)["about"]
    assert about["universe"] == "torch-2.13"
    assert about["arguments"] == ["own.yaml", "--universe", "torch-2.13"]
    digest = hashlib.sha256(own.read_bytes()).hexdigest()
    assert {"name": "own.yaml", "sha256": digest, "settings": False} in about["files"]


def test_no_folder_of_the_machine_is_in_a_page(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_bytes((ROOT / "examples/stale.yaml").read_bytes())
    own = tmp_path / "own.yaml"
    own.write_text("dispatch: 1\nextends: [base.yaml]\n", encoding="utf-8")
    for arguments in ((str(own),), (str(ROOT / "examples/extension"),)):
        text = json.dumps(data_of(printed(*arguments)))
        assert str(tmp_path) not in text
        assert str(ROOT) not in text


def test_no_folder_above_an_options_file_is_in_a_page(tmp_path: Path) -> None:
    universe = tmp_path / "secret" / "u.json"
    universe.parent.mkdir()
    universe.write_bytes((ROOT / "dispatch_cli/universes/torch-2.13.json").read_bytes())
    own = tmp_path / "own.yaml"
    own.write_text("dispatch: 1\noperators:\n- func: a::b(Tensor x) -> Tensor\n", encoding="utf-8")
    data = data_of(printed(str(own), "--universe", str(universe)))
    assert data["about"]["arguments"] == ["own.yaml", "--universe", "u.json"]
    assert str(tmp_path) not in json.dumps(data)


def test_a_kernel_that_is_named_as_a_folder_keeps_its_name(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    kernel = f"{tmp_path}/secret"
    own.write_text(
        f"dispatch: 1\noperators:\n- func: a::b(Tensor x) -> Tensor\n  dispatch: {{CPU: '{kernel}'}}\n"
        f"higher_order_operators:\n- name: h\n  dispatch: {{CPU: '{kernel}'}}\n",
        encoding="utf-8",
    )
    data = data_of(printed(str(own)))
    assert kernel in data["texts"] and "own.yaml" in data["texts"]
    assert kernel in [row["kernel"] for row in data["higher_order"]["rows"]]
    assert f"{own}" not in json.dumps(data)


def test_a_page_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    out.write_text("before", encoding="utf-8")
    assert call("page", "examples/broken.yaml", "-o", str(out)).code == 2
    assert out.read_text(encoding="utf-8") == "before"
    result = call("page", "examples/stale.yaml", "-o", str(out))
    assert (result.code, result.out) == (0, "")
    assert re.search(r"page\.html: \d+ operators?, \d\.\d MB\n$", result.err)
    assert out.read_bytes().decode() == shared("examples/stale.yaml")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_an_input_is_not_overwritten(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_bytes((ROOT / "examples/stale.yaml").read_bytes())
    result = call("page", str(own), "-o", str(own))
    assert result.code == 2
    assert "is an input of this command" in result.err


OPERATORS = OF_CHECK + 20
"""Each has a CPU kernel over a composite one, which a check warns of."""


@pytest.mark.slow
@needs_node
def test_an_operator_whose_findings_are_not_listed_says_so(tmp_path: Path) -> None:
    file, page = tmp_path / "big.yaml", tmp_path / "big.html"
    lines = (
        f"  - func: big::op{number}(Tensor x) -> Tensor\n    dispatch: {{CPU: k, CompositeImplicitAutograd: m}}\n"
        for number in range(OPERATORS)
    )
    file.write_text("dispatch: 1\noperators:\n" + "".join(lines), encoding="utf-8")
    assert call("page", str(file), "-o", str(page)).code == 0
    with script_of(page) as script:
        names = [f"big::op{number}" for number in range(OPERATORS)]
        assert all(script.ask("foundBy", name)["findings"] == 1 for name in names)
        cut = [name for name in names if not script.ask("findingsOf", name)]
        assert len(cut) == script.ask("unlisted") == 20
        assert script.ask("unlistedOf", cut[0]) == 1
        assert script.ask("command", "operator-findings", cut[0]).endswith(f"--op {cut[0]}")
