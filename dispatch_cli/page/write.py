"""The page as one file of HTML: data, scripts and style are in it, and nothing else is loaded."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Iterator
from html import escape
from importlib.resources import files
from typing import Any, NamedTuple

_POLICY = "default-src 'none'; script-src {scripts}; style-src {style}; base-uri 'none'; form-action 'none'"
_ENDS = re.compile(r"</script|</style|<!--", re.IGNORECASE)
_LINE = 1 << 16
"""Characters of the data in a line."""
_NO_FILES = ("texts", "places", "words", "keys", "key_names", "coverage", "plans", "decisions", "listed")
"""Parts of the data that name no file, or only by number."""
_DECLARED = ("kernel", "operator", "name", "schema", "when", "tags", "kernels", "plan", "marks", "called")
"""Fields of what files declare, which stays as it is, and of numbers."""


def html(data: dict[str, Any], folders: tuple[str, ...] = ()) -> Iterator[str]:
    """The page. folders: those that are left out in front of the names of files, the longest first.

    The data is packed, so that no text in it can be read as HTML. Scripts and style are allowed by their digests alone.
    """
    model, view = _script("model"), _script("view")
    style = _asset("page.css")
    packed = _packed(data, folders)
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


def _packed(data: dict[str, Any], folders: tuple[str, ...]) -> str:
    if folders:
        data = _without_folders(data, folders)
    text = json.dumps(data, separators=(",", ":"), check_circular=False)
    return base64.b64encode(zlib.compress(text.encode("ascii"), 9)).decode("ascii")


class _Above(NamedTuple):
    """Folders above files: anywhere in a text, and in the place that ends a kernel's name, as in ``f at x.cpp:3``."""

    anywhere: re.Pattern[str]
    of_kernel: re.Pattern[str]


def _without_folders(data: dict[str, Any], folders: tuple[str, ...]) -> dict[str, Any]:
    """The data with the names of files cut: of places, in sentences, in the places of kernels. Other names stay."""
    folders = tuple(dict.fromkeys(name for folder in folders for name in (folder, escape(folder))))
    names = rf"(?:{'|'.join(map(re.escape, folders))})/"
    above = _Above(re.compile(rf"(?<![\w./~-]){names}"), re.compile(rf"(?<= at ){names}(?=.*:\d+$)"))
    places = {file for file, _, _ in data["places"]}
    return {
        **{name: part if name in _NO_FILES else _cut(part, above, _DECLARED) for name, part in data.items()},
        "about": _cut(data["about"], above, ()),
        "texts": [
            (above.anywhere if number in places else above.of_kernel).sub("", text)
            for number, text in enumerate(data["texts"])
        ],
    }


def _cut(value: Any, above: _Above, declared: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        return above.anywhere.sub("", value)
    if isinstance(value, dict):
        return {
            name: _kept(item, above) if name in declared else _cut(item, above, declared)
            for name, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_cut(item, above, declared) for item in value]
    return value


def _kept(value: Any, above: _Above) -> Any:
    return above.of_kernel.sub("", value) if isinstance(value, str) else value


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
