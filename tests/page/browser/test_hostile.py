"""Names are data: whatever is written in a file, nothing of it runs, and nothing of it becomes an element."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.cli.support import call
from tests.page.browser.tab import LINKS_STAY, Tab

RUN = "window.ran=1"
NAMES = {
    "script": f"<script>{RUN}</script>",
    "closing": f"</script></style></title><script>{RUN}</script>",
    "comment": f"<!--<script>{RUN}//--><!--",
    "image": f"<img src=x onerror={RUN}>",
    "attribute": f'" onmouseover="{RUN}" x=\'',
    "address": f"javascript:{RUN}",
    "template": "${" + RUN + "}{{" + RUN + "}}`" + RUN + "`",
    "svg": f"<svg onload={RUN}><a xlink:href='javascript:{RUN}'>",
    "entity": f"&lt;script&gt;{RUN}&lt;/script&gt;&#x3c;",
    "prototype": "__proto__",
    "direction": "a\u202eb\u2066c\u200fd\u200be",
    "invisible": "a\u2060b\ufeffc",
    "surrogate": "👩‍🚀 日本語 \U000e0041",
    "path": "../../%2e%2e/#!about/?x=1&y=2",
    "long": "x" * 5_000,
}
_PAIR = re.compile(r"\\ud[89ab]..\\ud[c-f]..")
MARKUP = "script:not([id]), img, svg, iframe, object, embed, base, form:not([method=dialog]), [onmouseover], [onerror]"


def declaration() -> str:
    """Every name as a kernel, as the name of a higher-order operator, of a guard's kernel and in a schema's default."""

    def schema(number: int, name: str) -> str:
        default = name[:100] if name.isprintable() and name.isascii() else ""
        return f"demo::op{number}(Tensor x, str y={json.dumps(default)}) -> Tensor"

    operators = [
        {
            "func": schema(number, name),
            "dispatch": {
                "CPU": name,
                "CompositeImplicitAutograd": name,
                "AutogradCPU": f"{name}2",
                "QuantizedCPU": name,
            },
        }
        for number, name in enumerate(NAMES.values())
    ]
    higher = [{"name": name, "dispatch": {"CPU": name, "Autograd": name}} for name in NAMES.values()]
    guards = [{"op": "demo::*", "key": "CUDA", "kernel": name} for name in NAMES.values()]
    fallbacks = {"PrivateUse1": NAMES["closing"], "AutocastPrivateUse1": NAMES["image"]}
    text = json.dumps(
        {
            "dispatch": 1,
            "operators": operators,
            "higher_order_operators": higher,
            "guards": guards,
            "fallbacks": fallbacks,
        }
    )
    return _PAIR.sub(lambda found: str(json.loads(f'"{found[0]}"')), text)  # YAML knows no pairs of surrogates


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    source = folder / f"a'\"<img src=x onerror={RUN}>&\x1b[31m.json"
    source.write_text(declaration(), encoding="utf-8")
    page = folder / "page.html"
    result = call("page", str(source), "-o", str(page))
    assert result.code == 0, result.err
    return page


def test_nothing_of_a_name_runs(tab: Tab, hostile: Path) -> None:
    tab.open(hostile)
    addresses = [
        f"!{view}" for view in ("start", "changes", "findings", "coverage", "fallbacks", "higher-order", "about")
    ]
    links = tab.evaluate("page.entries.map(entry => page.link(entry.name, 'CPU').slice(1))")
    assert len(links) == 2 * len(NAMES)
    calls = "Object.keys(page.data.support.calls).filter(call => call.startsWith('1,'))"
    links += tab.evaluate(f"{calls}.map(call => page.linkTo('support', call).slice(1))")
    assert len(links) == 3 * len(NAMES)
    tags = set()
    for address in [*addresses, *links]:
        tab.go(address)
        assert tab.text("h1") != "This view has an error", tab.text("main")
        assert tab.evaluate(f"document.querySelectorAll({json.dumps(MARKUP)}).length") == 0, address
        assert tab.evaluate(LINKS_STAY), address
        tags |= set(tab.evaluate("[...new Set([...document.body.querySelectorAll('*')].map(e => e.localName))]"))
    assert tab.evaluate("window.ran") is None
    assert tags.isdisjoint({"img", "svg", "iframe", "object", "link", "meta", "base", "video"})
    assert tab.troubles() == []


def test_names_are_shown_as_they_are_written(tab: Tab, hostile: Path) -> None:
    tab.open(hostile, "!higher-order")
    names = [row["Operator"] for row in tab.rows("main table")]
    assert {NAMES[name] for name in ("script", "closing", "comment", "image", "address", "entity", "path")} <= set(
        names
    )
    assert "a\\u202eb\\u2066c\\u200fd\\u200be" in names
    assert "a\\u2060b\\ufeffc" in names
    for number in (0, len(names) - 1):
        tab.go("!higher-order")
        tab.click(f"main tbody tr:nth-child({number + 1}) a")
        tab.wait("document.body.dataset.view === 'operator'")
        assert tab.text("h1") == names[number]


def test_an_address_is_data_too(tab: Tab, hostile: Path) -> None:
    tab.open(hostile)
    for text in (
        f"<img src=z onerror={RUN}>",
        f"javascript:{RUN}2",
        "!__proto__",
        "!<svg/onload=x>",
        "a/b/c",
        "\u202e",
    ):
        for address in (text, quote(text)):
            tab.go(address)
            assert tab.text("h1").startswith("No such"), address
    tab.go(quote("<script>alert(1)</script>"))
    assert tab.texts("main p code") == ["<script>alert(1)</script>"]
    assert tab.evaluate("window.ran") is None
    assert tab.troubles() == []
