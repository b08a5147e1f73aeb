"""Kernels and places as the page shows them: the short text, the whole one, and the address of the source."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import quote

from dispatch_cli.answers.table.wording import kernel_label
from dispatch_cli.model.span import OWN, Origin, Span
from dispatch_cli.page.pool import Pool
from dispatch_cli.render.words import is_of_pytorch, place_cell, short_kernel

_SOURCE = re.compile(
    r"[/ ](?:__w/pytorch/pytorch|site-packages)/((?:aten|torch|c10)/(?!csrc/autograd/generated/)(?:[\w.-]+/)*)$",
    re.ASCII,
)
"""Folder of PyTorch's repository at the end of a kernel's text; not one that its build made."""
_VERSION = re.compile(r"\d+\.\d+\.\d+", re.ASCII)
_OUTSIDE = re.compile(r"[/\\~]|[A-Za-z]:|(?:.*[/\\])?\.\.(?:[/\\]|$)")


class ShownKernel(NamedTuple):
    """A kernel as `kernel_label` takes it."""

    kernel: str
    fallthrough: bool
    core_fallback: bool
    span: Span | None


class Texts:
    """Kernels and places, each once.

    kernels: the number of what stands in front, and the rest. fronts: of the short text, of the whole one, and of the
    address in PyTorch's repository, or None. places: the text, the whole text, and the address, or None; the last ones
    are left out where they say no more.
    """

    def __init__(self, torch: str | None, url: str | None, files: Iterable[str], folders: tuple[str, ...]) -> None:
        version = _VERSION.match(torch or "")
        self._pytorch = version and f"https://github.com/pytorch/pytorch/blob/v{version[0]}/"
        self._url, self._files, self._folders = url, frozenset(files), folders
        self.kernels, self.fronts, self.places = Pool(), Pool(), Pool()

    def kernel(self, row: ShownKernel) -> int:
        """The number of a kernel."""
        return self.kernels.build(row, self._kernel)

    def _kernel(self, row: ShownKernel) -> tuple[int, str]:
        whole, label = row.kernel, kernel_label(row, True)
        rest = short_kernel(whole)
        if not label.endswith(rest):
            return self.fronts.add((label, whole, None)), ""
        front = whole.removesuffix(rest)
        folder = _SOURCE.search(front)
        url = None if folder is None or self._pytorch is None else f"{self._pytorch}{folder[1]}"
        return self.fronts.add((label.removesuffix(rest), front, url)), rest

    def place(self, span: Span | None, origin: Origin = OWN) -> int:
        """The number of a place, or of the embedded state that has what has none; -1 for neither."""
        if span is None:
            return self.places.add((place_cell(span, origin).text,)) if origin.state else -1
        text = str(span)
        short = re.split(r"[/\\]", text)[-1] if is_of_pytorch(text) else text
        url = self.address(span)
        return self.places.add((short, text, url) if url else (short, text) if short != text else (short,))

    def address(self, span: Span) -> str | None:
        """The address of a place in the project's repository; None where it is not known to be in that."""
        file = without(self._folders, span.file)
        if self._url is None or file not in self._files or _OUTSIDE.match(file):
            return None
        return f"{self._url}/blob/main/{quote(file.removeprefix('./'), errors='surrogateescape')}#L{span.line}"


def without(folders: tuple[str, ...], name: str) -> str:
    """A name of a file without the folder above it."""
    return next((name.removeprefix(f"{folder}/") for folder in folders if name.startswith(f"{folder}/")), name)
