"""The address of a project's repository, which links to places in its files begin with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from dispatch_cli.declarations.limits import MAX_PROJECT_BYTES
from dispatch_cli.declarations.project import FILE
from dispatch_cli.declarations.source import SourceError, read_plain
from dispatch_cli.declarations.toml_reader import TomlError, parse_toml

_PLAIN = re.compile(r"[\x21-\x7e]+")
_HOST = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+")
_PATH = re.compile(r"(?:/[\w~-][\w.~-]*)+", re.ASCII)
_KNOWN = re.compile(r"(?:www\.)?(?:github\.com|gitlab\.com|codeberg\.org)|(?:github|gitlab)\.[a-z0-9.-]+")
"""Hosts whose addresses of files are known; a project's other addresses are of its pages."""
_LABELS = ("source", "sourcecode", "repository", "github", "homepage")
"""Labels of addresses in ``[project.urls]``, without blanks and signs, the best first."""


def checked_url(text: str) -> str:
    """The address in one form. Errors: ValueError, with why it is none."""
    if not _PLAIN.fullmatch(text):  # of some signs nothing is left when it is split
        raise ValueError("it has blanks, or signs that no address has")
    parts = urlsplit(text)
    host = (parts.hostname or "").lower()
    if parts.scheme != "https":
        raise ValueError("it does not begin with https://")
    if "@" in parts.netloc:
        raise ValueError("it has a user name")
    if parts.netloc.lower() != host or not _HOST.fullmatch(host):
        raise ValueError("its host is no plain name without a port")
    path = parts.path.rstrip("/").removesuffix(".git")
    if parts.query or parts.fragment or "?" in text or "#" in text:
        raise ValueError("it has something behind its path")
    if not _PATH.fullmatch(path):
        raise ValueError("its path is not that of a repository")
    return f"https://{host}{path}"


def project_url() -> str | None:
    """The repository that the ``pyproject.toml`` of the working directory names; None where it names none."""
    try:
        project = parse_toml(read_plain(FILE, MAX_PROJECT_BYTES).decode()).get("project")
    except (SourceError, TomlError, ValueError):  # it is for others to say what is wrong with it
        return None
    urls = project.get("urls") if isinstance(project, Mapping) else None
    named = (
        {re.sub(r"[\W_]", "", label).lower(): url for label, url in urls.items()} if isinstance(urls, Mapping) else {}
    )
    for url in (named[label] for label in _LABELS if isinstance(named.get(label), str)):
        try:
            address = checked_url(url)
        except ValueError:
            continue
        if _KNOWN.fullmatch(urlsplit(address).netloc):
            return address
    return None
