"""Scratch repositories."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

_SET = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.com",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}


def git(folder: Path, *arguments: str, **variables: str) -> str:
    """Output of git."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env={**kept, **_SET, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def repository(folder: Path, *options: str) -> Path:
    """An empty repository with the branch main."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main", "--template=", *options)
    return folder


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write files into the working tree; one that begins with ``->`` is a link."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text.startswith("->"):
            path.symlink_to(text[2:])
        else:
            path.write_text(text, encoding="utf-8")


def commit(folder: Path, files: Mapping[str, str], tag: str | None = None) -> None:
    """Write files and commit everything."""
    write(folder, files)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "a change")
    if tag is not None:
        git(folder, "tag", tag)
