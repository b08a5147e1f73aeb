"""Small files of torchgen, and what is extracted from them."""

from __future__ import annotations

from pathlib import Path

from dispatch_cli.extract.sources import Sources
from dispatch_cli.extract.torchgen import extract_torchgen
from dispatch_cli.model.extracted import ExtractedDefinition, ExtractedKernel, Extraction, SourceKind

NAMES = {
    SourceKind.NATIVE_FUNCTIONS: "native_functions.yaml",
    SourceKind.DERIVATIVES: "derivatives.yaml",
    SourceKind.BACKEND_YAML: "backend.yaml",
}
PYTORCH = """\
- func: empty.memory_format(SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor
  dispatch:
    CPU: empty_cpu
"""
"""What makes a file PyTorch's own."""


class Found:
    """What is extracted from texts of the three kinds."""

    def __init__(self, folder: Path, backends: tuple[str, ...] | None = None, **texts: str) -> None:
        files = {}
        for kind, name in NAMES.items():
            text = texts.get(kind.name.lower())
            if text is not None:
                path = folder / name
                path.write_text(text, encoding="utf-8")
                files[kind] = [str(path)]
        self.extraction: Extraction = extract_torchgen(Sources(files), backends)

    @property
    def kernels(self) -> dict[tuple[str, str], ExtractedKernel]:
        """By operator without namespace, and key."""
        found = [one for one in self.extraction.found if isinstance(one, ExtractedKernel)]
        return {(str(one.operator).partition("::")[2], str(one.key)): one for one in found}

    def keys(self, operator: str) -> set[str]:
        """The keys of an operator's kernels."""
        return {key for name, key in self.kernels if name == operator}

    @property
    def definitions(self) -> dict[str, ExtractedDefinition]:
        found = [one for one in self.extraction.found if isinstance(one, ExtractedDefinition)]
        return {str(one.name): one for one in found}

    @property
    def said(self) -> list[tuple[int, str]]:
        """Line and reason of what is not understood, then code and message of the problems."""
        problems = [(one.span.line if one.span else 0, one.message) for one in self.extraction.problems]
        return [(one.at.line, one.why) for one in self.extraction.not_understood] + problems
