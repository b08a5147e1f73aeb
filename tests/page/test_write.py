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

from tests.cli.support import ROOT, call
from tests.page.support import page_of

HOSTILE = "tests/page/hostile.yaml"


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
    assert "</script><script>document.title='owned'</script>" in [
        text for _, text in data_of(shared(HOSTILE))["kernels"]
    ]


@pytest.mark.slow
def test_a_page_says_what_it_was_made_from_and_names_no_folder_of_the_machine(tmp_path: Path) -> None:
    universe = tmp_path / "secret" / "u.json"
    universe.parent.mkdir()
    universe.write_bytes((ROOT / "dispatch_cli/universes/torch-2.13.json").read_bytes())
    (tmp_path / "base.yaml").write_text("dispatch: 1\noperators:\n- func: a::c() -> ()\n", encoding="utf-8")
    own, kernel = tmp_path / "own.yaml", f"{tmp_path}/kernel"
    own.write_text(
        f"dispatch: 1\nextends: [base.yaml]\noperators:\n- func: a::b(Tensor x) -> Tensor\n"
        f"  dispatch: {{CPU: '{kernel}'}}\nhigher_order_operators:\n- name: h\n  dispatch: {{CPU: '{kernel}'}}\n",
        encoding="utf-8",
    )
    data = data_of(printed(str(own), "--universe", str(universe)))
    assert data["about"]["universe"] == "torch-2.13"
    assert data["commands"]["about"][0] == "dispatch-cli page own.yaml --universe u.json"
    assert ["own.yaml"] in data["views"]["about"][1][2][2]
    assert str(tmp_path) not in json.dumps(data)
    assert str(ROOT) not in json.dumps(data_of(printed(str(ROOT / "examples/extension"))))


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


def test_a_kernel_of_which_not_all_is_known_is_left_out_and_named(tmp_path: Path) -> None:
    (tmp_path / "f.cpp").write_text(
        'TORCH_LIBRARY(my, m) { m.def("f(Tensor x) -> Tensor"); m.impl("f", KEY, &f); m.impl("f", OTHER, &f); }\n'
    )
    title, blocks = data_of(printed(str(tmp_path / "f.cpp"), "--base", "none"))["views"]["own"]
    assert title == "Operators of these files"
    assert "Left out: a kernel for my::f, of which not all is known (f.cpp:1:56: " in str(blocks[0])
    assert ", and 1 more kernel; " in str(blocks[0])
