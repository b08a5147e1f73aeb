"""Pages for several tests: each is written once in a run."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from dispatch_cli import bases
from tests.cli.support import ROOT, call
from tests.once import once


def page_of(*arguments: str) -> Path:
    """The page that ``dispatch-cli page`` writes, for all tests with equal arguments; files are named from the project.

    The files that are named must not change.
    """

    def make(folder: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(ROOT)
            result = call("page", *arguments, "-o", str(folder / "page.html"))
        assert result.code == 0, result.err

    digest = hashlib.sha256("\0".join(arguments).encode("utf-8", "surrogateescape")).hexdigest()
    return once(f"page-{digest[:32]}", make) / "page.html"


SITE_VERSIONS = ("torch-2.15", "torch-2.13", "torch-2.4")
"""Enough for a site: with all versions it takes half a minute."""


def site() -> Path:
    """The folder that ``dispatch-cli page --all-versions`` writes where there are only `SITE_VERSIONS`."""

    def make(folder: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            patch.setattr(bases, "names", lambda: SITE_VERSIONS)
            result = call("page", "--all-versions", "-o", "site")
        assert (result.code, result.out) == (0, ""), result.err

    return once("site", make) / "site"
