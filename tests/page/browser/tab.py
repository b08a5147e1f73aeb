"""A tab of Chromium as a person uses it: open, look, type, click; and what went wrong in it."""

from __future__ import annotations

import base64
import json
import time
from pathlib import Path
from typing import Any, NamedTuple

from tests.page.browser.chromium import SECONDS, Chromium, DevToolsError

_KEYS = {
    "Enter": 13,
    "Escape": 27,
    "Tab": 9,
    "Backspace": 8,
    "ArrowUp": 38,
    "ArrowDown": 40,
    "ArrowLeft": 37,
    "ArrowRight": 39,
    "Home": 36,
    "End": 35,
    "PageUp": 33,
    "PageDown": 34,
}
_TEXTS = {"Enter": "\r"}
_SHIFT = 8

_LEFT = "navigated or closed"
"""End of the error for a page that was left while it was asked."""


class Trouble(NamedTuple):
    """Something that a page must not do: an error, a dialog, a violation of its policy, a request, a message."""

    kind: str
    text: str


LINKS_STAY = (
    "[...document.links].map(link => link.getAttribute('href'))"
    ".every(to => to.startsWith('#') || to.startsWith('https://github.com/pytorch/pytorch/blob/v'))"
)
"""Links lead to parts of the page, or to PyTorch's own sources."""


class Tab:
    """One tab, with storage of its own."""

    def __init__(self, browser: Chromium, width: int = 1280, height: int = 800) -> None:
        self._browser = browser
        self._context = browser.send("Target.createBrowserContext")["browserContextId"]
        target = browser.send("Target.createTarget", url="about:blank", browserContextId=self._context)["targetId"]
        self._session = browser.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Audits"):
            self.send(f"{domain}.enable")
        self._troubles: list[Trouble] = []
        self._opened = ""
        self.size(width, height)

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The answer to a command of the protocol."""
        return self._browser.send(method, self._session, **parameters)

    def close(self) -> None:
        self._browser.send("Target.disposeBrowserContext", browserContextId=self._context)

    def size(self, width: int, height: int, phone: bool = False) -> None:
        """The size of the page on the screen, in CSS pixels."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)

    def media(self, media: str = "", **features: str) -> None:
        """Set what the reader prefers, such as ``prefers_color_scheme="dark"``. media: ``print`` for paper."""
        settings = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.send("Emulation.setEmulatedMedia", media=media, features=settings)

    def open(self, path: Path, fragment: str = "") -> None:
        """Open a page from the disk, and wait until it shows its state. fragment: what follows ``#`` in the address."""
        self._collect()
        self._opened = path.absolute().as_uri()
        self.send("Page.navigate", url="about:blank")  # so that the same file is loaded anew
        self.send("Page.navigate", url=self._opened + (f"#{fragment}" if fragment else ""))
        self.wait(
            f"location.href.startsWith({json.dumps(self._opened)}) && document.documentElement?.dataset.ready === 'yes'"
        )

    def go(self, fragment: str) -> None:
        """Go to another address within the page, as a link does."""
        self.evaluate(f"location.hash = {json.dumps(fragment)}")
        self.settle()

    def evaluate(self, script: str) -> Any:
        """The value of an expression in the page; a promise is waited for."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise DevToolsError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def wait(self, script: str, seconds: float = SECONDS) -> Any:
        """Wait until an expression is true in the page, which may be left for another, and give its value."""
        until = time.monotonic() + seconds
        while True:
            try:
                value = self.evaluate(script)
            except DevToolsError as error:
                if _LEFT not in str(error):
                    raise
                value = None
            if value:
                return value
            if time.monotonic() > until:
                raise DevToolsError(f"not in {seconds:g} s: {script}")
            time.sleep(0.01)

    def text(self, selector: str) -> str:
        """The text of an element as it is shown."""
        element = f"document.querySelector({json.dumps(selector)})"
        self.wait(f"{element} !== null")
        return str(self.evaluate(f"{element}.innerText"))

    def texts(self, selector: str) -> list[str]:
        """The texts of all elements that a selector finds, as they are shown."""
        return list(self.evaluate(f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.innerText)"))

    def rows(self, selector: str, last: bool = False) -> list[dict[str, str]]:
        """The rows of the first or last table that a selector finds: the text of each cell by its column's header."""
        script = """(table => {
          const heads = [...table.tHead.rows[0].cells].map(cell => cell.innerText);
          const named = (cell, at) => [heads[at], cell.innerText.trim()];
          return [...table.tBodies[0].rows].map(row => [...row.cells].map(named));
        })([...document.querySelectorAll(%s)].at(%d))"""
        self.wait(f"document.querySelector({json.dumps(selector)}) !== null")
        return [dict(row) for row in self.evaluate(script % (json.dumps(selector), -int(last)))]

    def press(self, *keys: str) -> None:
        """Press keys one after another: a character, or a name such as ``ArrowDown`` or ``Shift+Tab``."""
        for key in keys:
            shift = key.startswith("Shift+")
            name = key.removeprefix("Shift+")
            code = _KEYS.get(name, ord(name.upper()) if len(name) == 1 and name.isalnum() else 0)
            text = _TEXTS.get(name, name if len(name) == 1 else "")
            shared = {"key": name, "windowsVirtualKeyCode": code, "modifiers": _SHIFT if shift else 0}
            self.send("Input.dispatchKeyEvent", type="keyDown", **shared, **({"text": text} if text else {}))
            self.send("Input.dispatchKeyEvent", type="keyUp", **shared)
        self.settle()

    def settle(self) -> None:
        """Wait until the page shows what its address asks for."""
        self.wait("document.body.dataset.address === location.hash")

    def type(self, text: str) -> None:
        """Type a text, key by key."""
        self.press(*text)

    def click(self, selector: str) -> None:
        """Click the middle of the first element that a selector finds, after scrolling to it."""
        element = f"document.querySelector({json.dumps(selector)})"
        self.wait(f"{element} !== null")
        box = self.evaluate(
            f"(e => {{ e.scrollIntoView({{block: 'center', inline: 'center', behavior: 'instant'}});"
            f" const r = e.getClientRects()[0]; return r && [r.x + r.width / 2, r.y + r.height / 2] }})({element})"
        )
        if not box:
            raise DevToolsError(f"nothing to click on: {selector}")
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            buttons = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
            self.send("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], **buttons)
        self.settle()

    def screenshot(self, whole: bool = False) -> bytes:
        """A picture of what is on the screen, or of the whole page, as PNG."""
        return base64.b64decode(self.send("Page.captureScreenshot", captureBeyondViewport=whole)["data"])

    def troubles(self) -> list[Trouble]:
        """Everything since the tab was opened that a page must not do."""
        self.evaluate("new Promise(done => setTimeout(done, 0))")
        self._collect()
        return self._troubles

    def _collect(self) -> None:
        for event in self._browser.happened(self._session):
            trouble = _trouble(event, self._opened)
            if trouble is not None:
                self._troubles.append(trouble)


def _trouble(event: dict[str, Any], opened: str) -> Trouble | None:
    values = event["params"]
    match event["method"]:
        case "Runtime.exceptionThrown":
            details = values["exceptionDetails"]
            return Trouble("error", details.get("exception", {}).get("description", details["text"]))
        case "Page.javascriptDialogOpening":
            return Trouble("dialog", values["message"])
        case "Runtime.consoleAPICalled":
            return Trouble("message", json.dumps([arg.get("value") for arg in values["args"]]))
        case "Log.entryAdded":
            return Trouble("log", values["entry"]["text"])
        case "Audits.issueAdded" if values["issue"]["code"] == "ContentSecurityPolicyIssue":
            return Trouble("policy", json.dumps(values["issue"]["details"]))
        case "Network.requestWillBeSent":
            url = values["request"]["url"]
            own = url.partition("#")[0] in (opened, "about:blank") and values.get("type") == "Document"
            return None if own else Trouble("request", url)
    return None
