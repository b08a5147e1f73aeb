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

from dispatch_cli.extract.cpp.run import extract_cpp
from dispatch_cli.extract.sources import ReadSettings, Sources
from dispatch_cli.model.conditions.condition import Atom
from dispatch_cli.model.sources.extracted import Extraction, SourceKind

VARIABLE = "DISPATCH_CLI_SOURCES"


class PerGlob(NamedTuple):
    """Settings of the files that match. when: what holds where they are in the build."""

    glob: str
    defines: tuple[tuple[str, str], ...] = ()
    when: tuple[str, ...] = ()


class Project(NamedTuple):
    """name: of the archive. python: whether the recording has Python registrations.

    undefines: macros that the recorded build does not define. files: settings of some files.
    excluded: globs of files that are in no build: tests, and templates of generated files.
    facts: which other conditions hold in the recorded build.
    """

    name: str
    python: bool = True
    undefines: frozenset[str] = frozenset()
    files: tuple[PerGlob, ...] = ()
    excluded: tuple[str, ...] = ()
    facts: tuple[tuple[str, bool], ...] = ()

    def settings_of(self, file: str) -> ReadSettings:
        """Settings for reading a file, by its path in the project."""
        files = [pattern for pattern in self.files if fnmatch(file, pattern.glob)]
        return ReadSettings(
            defines=tuple({name: text for file in files for name, text in file.defines}.items()),
            undefines=self.undefines,
            when=tuple(Atom(text) for file in files for text in file.when),
        )


def _only(when: str, *globs: str) -> tuple[PerGlob, ...]:
    return tuple(PerGlob(glob, when=(when,)) for glob in globs)


def _true(*atoms: str) -> tuple[tuple[str, bool], ...]:
    return tuple((atom, True) for atom in atoms)


def _false(*atoms: str) -> tuple[tuple[str, bool], ...]:
    return tuple((atom, False) for atom in atoms)


_VLLM = PerGlob("*", (("TORCH_EXTENSION_NAME", "_C"),)), PerGlob("moe/*", (("TORCH_EXTENSION_NAME", "_moe_C"),))
PROJECTS = (
    Project(
        "pytorch-2.6.0",
        python=False,
        files=(
            *_only("Metal", "aten/src/ATen/native/metal/*"),
            *_only("MPS", "aten/src/ATen/mps/*", "aten/src/ATen/native/mps/*"),
            *_only("XPU", "aten/src/ATen/native/mkldnn/xpu/*"),
            *_only("Vulkan", "aten/src/ATen/native/vulkan/*"),
            *_only("MIOpen", "aten/src/ATen/miopen/*"),
        ),
        excluded=("*_test.cpp", "*/test/*", "*/templates/*"),
        facts=(
            *_true("AT_MKLDNN_ENABLED()", "AT_MKL_ENABLED()", "AT_CUDNN_ENABLED()", "defined(USE_CUDA)"),
            *_true("defined(USE_XNNPACK)", "defined(CUDART_VERSION)", "CUDART_VERSION >= 12030"),
            *_false("defined(USE_VULKAN_API)", "defined(IS_IOS_NNAPI_BIND)", "defined(C10_MOBILE)"),
            *_false("register_ts_ltc_eager_fallback is called"),
        ),
    ),
    Project(
        "torchvision-0.21.0",
        files=(*_only("MPS", "torchvision/csrc/ops/mps/*"), *_only("FFmpeg", "torchvision/csrc/io/video_reader/*")),
    ),
    Project("torchaudio-2.6.0", files=_only("import of torchaudio_sox", "src/libtorchaudio/sox/*")),
    Project(
        "xformers-0.0.29.post3",
        files=_only("ROCm", "xformers/csrc/attention/hip_*"),
        facts=(
            *_false("defined(USE_ROCM)", "torch.version.hip"),
            *_true(
                "from ... import _C_flashattention3", "_C_flashattention3 is not None", "get_python_lib() is called"
            ),
        ),
    ),
    Project(
        "vllm-0.8.2",
        python=False,
        undefines=frozenset({"USE_ROCM"}),
        files=(*_VLLM, *_only("CPU", "cpu/*"), *_only("ROCm", "rocm/*")),
    ),
    Project(
        "torchao-0.9.0",
        files=(
            *_only("experimental", "experimental/*"),
            *_only("import of a module", "prototype/quantized_training/*", "dtypes/uintx/uint4_layout.py"),
        ),
        facts=_true("TORCH_VERSION_AT_LEAST_2_4", "TORCH_VERSION_AT_LEAST_2_5"),
    ),
)
"""With what the recorded builds are: CUDA, on Linux. Each condition of files is false in its build."""


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
            archive.extractall(root := Path(temporary, project.name.partition("-")[0]), filter="data")
        yield root


# Reading a project as ``extract`` does.


SUFFIXES = {
    SourceKind.PYTHON: {".py"},
    SourceKind.CPP: {".cpp", ".cc", ".c", ".cu", ".mm", ".h", ".hpp", ".cuh"},
}


def sources_of(project: Project, root: Path) -> Sources:
    """The files of a project that are in the recorded build, with their settings."""

    def name(path: Path) -> str:
        return path.relative_to(root).as_posix()

    files: dict[SourceKind, list[str]] = {SourceKind.PYTHON: [], SourceKind.CPP: []}
    for path in sorted(root.rglob("*")):
        for kind, suffixes in SUFFIXES.items():
            if path.suffix in suffixes and not any(fnmatch(name(path), glob) for glob in project.excluded):
                files[kind].append(str(path))

    def settings(file: str) -> ReadSettings:
        return project.settings_of(name(Path(file)))

    return Sources(files, headers=frozenset(files[SourceKind.CPP]), settings=settings)


def extract(project: Project, sources: Sources) -> list[Extraction]:
    """Extractions of its sources; Python only if the recording has Python."""
    extractions = [extract_cpp(sources)]
    if project.python:
        from dispatch_cli.extract.python.reading import extract_python

        extractions.append(extract_python(sources))
    return extractions
