"""torchgen's YAML: ``native_functions.yaml``, ``derivatives.yaml`` and the YAML of backends outside PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dispatch_cli.extract.sources import Sources
    from dispatch_cli.model.extracted import Extraction


def extract_torchgen(
    sources: Sources,
    codegen_backends: tuple[str, ...] | None = None,
    base_operators: Callable[[], Iterable[str]] | None = None,
) -> Extraction:
    """Registrations in torchgen's files among *sources*.

    codegen_backends: the backends that the build had, such as ``("CPU", "CUDA")``; those of every build count without
        being named. None: not known, so that kernels of other backends have the condition ``codegen backend CUDA``.
    base_operators: gives the schemas of PyTorch's operators, with namespace, for the YAML of a backend when no
        ``native_functions.yaml`` is among the sources.
    """
    from dispatch_cli.extract.torchgen.run import TorchgenRun  # only when there are such files
    from dispatch_cli.model.garbage import no_collection

    with no_collection():
        return TorchgenRun(sources, codegen_backends, base_operators).extract()
