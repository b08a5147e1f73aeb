"""The page as one file of HTML: data, scripts and style are in it, and nothing else is loaded."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

_POLICY = "default-src 'none'; script-src {scripts}; style-src {style}; base-uri 'none'; form-action 'none'"
_ENDS = re.compile(r"</script|</style|<!--", re.IGNORECASE)
_LINE = 1 << 16
"""Characters of the data in a line."""


def html(data: dict[str, Any]) -> Iterator[str]:
    """The page.

    The data is packed, so that no text in it can be read as HTML. Scripts and style are allowed by their digests alone.
    """
    model, view = _script("model"), _script("view")
    style = _asset("page.css")
    packed = _packed(data)
    scripts = " ".join(map(_digest, (model, view)))
    policy = _POLICY.format(scripts=scripts, style=_digest(style))
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>dispatch-cli</title>\n<style>{style}</style>\n</head>\n<body>\n{_asset('body.html')}\n"
        '<script type="application/octet-stream" id="data">\n'
    )
    for start in range(0, len(packed), _LINE):
        yield f"{packed[start : start + _LINE]}\n"
    yield f'</script>\n<script id="model">{model}</script>\n<script id="view">{view}</script>\n</body>\n</html>\n'


def _packed(data: dict[str, Any]) -> str:
    text = json.dumps(data, separators=(",", ":"), check_circular=False)
    return base64.b64encode(zlib.compress(text.encode("ascii"), 9)).decode("ascii")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _script(kind: str) -> str:
    """The scripts whose names begin so, one after the other."""
    folder = files("dispatch_cli.page").joinpath("assets")
    names = sorted(path.name for path in folder.iterdir() if path.name.startswith(kind) and path.name.endswith(".js"))
    # the file with the plain name comes first: a point sorts before letters
    return "".join(map(_asset, names))


def _asset(name: str) -> str:
    text = files("dispatch_cli.page").joinpath("assets", name).read_text(encoding="utf-8")
    assert name.endswith(".html") or _ENDS.search(text) is None, f"{name} would end its element"
    return text
