"""The projects, and how their builds are set up."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

VARIABLE = "DISPATCH_CLI_SOURCES"


class PerGlob(NamedTuple):
    """Settings of the files that match; the last that match win."""

    glob: str
    defines: tuple[tuple[str, str], ...] = ()


class Project(NamedTuple):
    """name: of the archive. python: whether the recording has Python registrations.

    defines, undefines: what the recorded build has. excluded: files that are not in it, as globs.
    other_builds: what is left out of the comparison of extras, because another build has it, with the reason.
    """

    name: str
    python: bool = True
    defines: tuple[tuple[str, str], ...] = ()
    undefines: frozenset[str] = frozenset()
    globs: tuple[PerGlob, ...] = ()
    excluded: tuple[str, ...] = ()

    def defines_of(self, file: str) -> tuple[tuple[str, str], ...]:
        """The macros of a file, by its path in the project."""
        found = dict(self.defines)
        for one in self.globs:
            if fnmatch(file, one.glob):
                found.update(one.defines)
        return tuple(found.items())


TESTS_AND_TEMPLATES = ("*_test.cpp", "*/test/*", "*/templates/*")
PROJECTS = (
    Project("pytorch-2.6.0", python=False, excluded=TESTS_AND_TEMPLATES),
    Project("torchvision-0.21.0"),
    Project("torchaudio-2.6.0"),
    Project("xformers-0.0.29.post3"),
    Project(
        "vllm-0.8.2",
        python=False,
        undefines=frozenset({"USE_ROCM"}),
        globs=(
            PerGlob("*", (("TORCH_EXTENSION_NAME", "_C"),)),
            PerGlob("moe/*", (("TORCH_EXTENSION_NAME", "_moe_C"),)),
        ),
        excluded=("cpu/*", "rocm/*"),
    ),
    Project("torchao-0.9.0"),
)
"""The conditions of the recorded builds: CUDA, on Linux."""


def available() -> Path | None:
    """The folder with the archives; None where the variable is not set."""
    folder = os.environ.get(VARIABLE)
    return Path(folder) if folder else None


@contextmanager
def unpacked(project: Project, folder: Path | None = None) -> Iterator[Path]:
    """The root of a project's sources: in *folder*, where they are already, or in a temporary one."""
    if folder is not None:
        yield folder / project.name
        return
    archives = available()
    assert archives is not None, f"{VARIABLE} is not set"
    with TemporaryDirectory() as temporary:
        with tarfile.open(archives / f"{project.name}.src.tar.xz") as archive:
            archive.extractall(temporary, filter="data")
        yield Path(temporary) / project.name
