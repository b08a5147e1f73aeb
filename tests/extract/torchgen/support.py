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
"""Text that makes a file PyTorch's own."""


class Found:
    """Extraction of texts of the three kinds."""

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
        kernels = [item for item in self.extraction.found if isinstance(item, ExtractedKernel)]
        return {(str(kernel.operator).partition("::")[2], str(kernel.key)): kernel for kernel in kernels}

    def keys(self, operator: str) -> set[str]:
        """The keys of an operator's kernels."""
        return {key for name, key in self.kernels if name == operator}

    @property
    def definitions(self) -> dict[str, ExtractedDefinition]:
        definitions = [item for item in self.extraction.found if isinstance(item, ExtractedDefinition)]
        return {str(definition.name): definition for definition in definitions}

    @property
    def said(self) -> list[tuple[int, str]]:
        """Line and reason of what is not understood, then code and message of the problems."""
        problems = [(problem.span.line if problem.span else 0, problem.message) for problem in self.extraction.problems]
        return [(gap.at.line, gap.why) for gap in self.extraction.not_understood] + problems
