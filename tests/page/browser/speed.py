"""Speed of the page in Chromium: opening it, typing a search key by key, opening operators and slots.

usage: python -m tests.page.browser.speed [PAGE.html]

Without a page, that of ``dispatch-cli page --base torch-2.15`` is made. The times are from an event to the frame that
shows what it changed, in milliseconds.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests.cli.support import call
from tests.page.browser.chromium import Chromium, executable, version
from tests.page.browser.tab import Tab

ROUNDS = 10
APART = 0.06
"""Seconds between two changes of the address. Chromium ignores those after the 200th in 10 s (crbug.com/1038223)."""
WORDS = ("add.Tensor", "to.dtype", "convolution_backward", "addtens", "nonzerostat", "aten::linear", "zzz")
_READY = """(function look() {
  if (document.documentElement?.dataset.ready) window.readyAt = performance.now(); else requestAnimationFrame(look);
})()"""
_KEYS = """window.times = [];
const painted = from => requestAnimationFrame(() => { const c = new MessageChannel();
  c.port1.onmessage = () => window.times.push(performance.now() - from); c.port2.postMessage(0) });
addEventListener('keydown', event => painted(event.timeStamp), true);
window.opened = address => new Promise(done => { const from = performance.now(); location.hash = address;
  addEventListener('hashchange', () => requestAnimationFrame(() => { const c = new MessageChannel();
    c.port1.onmessage = () => done(performance.now() - from); c.port2.postMessage(0) }), { once: true }) });"""


def line(name: str, times: list[float]) -> str:
    """The middle, the 95th percentile and the longest of some times."""
    high = statistics.quantiles(times, n=20)[-1]
    return f"{name:<34} {statistics.median(times):7.1f} {high:7.1f} {max(times):7.1f}  {len(times)}"


def opening(browser: Chromium, page: Path) -> list[float]:
    """From the navigation until the first frame that shows the state; each time in a new tab."""
    times = []
    for _ in range(ROUNDS):
        tab = Tab(browser)
        tab.send("Page.addScriptToEvaluateOnNewDocument", source=_READY)
        tab.open(page)
        times.append(float(tab.wait("window.readyAt ?? 0")))
        tab.close()
    return times


def typing(tab: Tab) -> list[float]:
    """Each key of some words, and each key that takes a letter back."""
    tab.evaluate("window.times = []")
    for word in WORDS:
        tab.press("/")
        tab.type(word)
        tab.press(*["Backspace"] * len(word))
        tab.press("Escape")
    return [float(time_) for time_ in tab.wait("window.times")]


def processor(tab: Tab) -> float:
    """Processor time that the page's main thread has taken, in milliseconds: another process does not change it."""
    metrics = tab.send("Performance.getMetrics")["metrics"]
    return 1000 * float(next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration"))


def going(tab: Tab, addresses: list[str]) -> list[float]:
    """From a link to what it shows."""
    times = []
    for address in addresses:
        times.append(float(tab.evaluate(f"opened({address!r})")))
        time.sleep(APART)
    return times


def main() -> None:
    """Print the times."""
    path = executable()
    if path is None:
        sys.exit("needs Chromium")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(sys.argv[1]) if sys.argv[1:] else Path(folder, "page.html")
        if not sys.argv[1:] and call("page", "--base", "torch-2.15", "-o", str(page)).code:
            sys.exit("the page could not be made")
        browser = Chromium(path)
        print(f"{version(path)}, {page.stat().st_size / 1_000_000:.2f} MB")
        print(f"{'milliseconds':<34} {'p50':>7} {'p95':>7} {'max':>7}  n")
        print(line("opening, to the first answer", opening(browser, page)))
        tab = Tab(browser)
        tab.open(page)
        tab.evaluate(_KEYS)
        tab.send("Performance.enable", timeDomain="threadTicks")
        before = processor(tab)
        times = typing(tab)
        print(line("a key of a search", times))
        print(f"{'  its processor time, on average':<34} {(processor(tab) - before) / len(times):7.1f}")
        names = tab.evaluate(
            "page.entries.filter((_, at) => at % 37 === 0).map(entry => page.link(entry.name).slice(1))"
        )
        before = processor(tab)
        print(line("an operator", going(tab, names)))
        print(f"{'  its processor time, on average':<34} {(processor(tab) - before) / len(names):7.1f}")
        print(line("a slot", going(tab, [f"{name}/AutogradCPU" for name in names])))
        print(
            line(
                "coverage of a backend",
                going(tab, [f"!coverage/{key}" for key in ("CPU", "CUDA", "XPU", "MPS", "Meta")]),
            )
        )
        heap = tab.evaluate("performance.memory.usedJSHeapSize")
        print(f"JavaScript heap: {heap / 1_000_000:.0f} MB")
        tab.close()
        browser.close()


if __name__ == "__main__":
    main()
