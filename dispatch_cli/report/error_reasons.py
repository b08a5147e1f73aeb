"""What follows from an error text for its reader: what is so, and what helps who only calls the operator.

General rules about kinds of keys, over what the text shows, and else over what the compared state says.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.engine.keys.autograd import autograd_key_of
from dispatch_cli.model.universe import AUTOGRAD, META, UNDEFINED
from dispatch_cli.report.error_facts import ErrorCase, ErrorFact, FactKind, ErrorStep, StepKind
from dispatch_cli.report.messages.kinds import TextKind

DENSE, SPARSE, QUANTIZED = "Dense", "Sparse", "Quantized"
VENDORS = {"HIP": "CUDA", "CUDA": "HIP"}
"""Backends of builds that exclude one another: AMD's and NVIDIA's."""
READS_DATA, SIZE_OF_DATA = "data_dependent_output", "dynamic_output_shape"
"""Tags of operators that meta tensors can not have a kernel of, or hardly."""


def facts(case: ErrorCase) -> tuple[ErrorFact, ...]:
    """What is so, the most certain first."""
    return tuple(_facts(case))


def _facts(case: ErrorCase) -> Iterator[ErrorFact]:
    if case.place.key == UNDEFINED:
        yield ErrorFact(case.place, FactKind.NO_TENSORS, case.lists)
        return
    if _is_backend(case):
        real = tuple(key for key in case.kernels or () if key != META)
        if case.kernels is not None and (case.in_text or case.built):
            kind = FactKind.ONLY_AT if real else FactKind.NOWHERE
            yield ErrorFact(case.place, kind, case.kernels if real else (), in_text=case.in_text)
        yield ErrorFact(case.place, FactKind.TENSORS, (case.place.key,))
    else:
        yield from _of_call(case)
    if case.place.key == META and READS_DATA in case.tags:
        yield ErrorFact(case.place, FactKind.NO_DATA, (case.place.key,), in_text=False)
    elif case.place.key == META and SIZE_OF_DATA in case.tags:
        yield ErrorFact(case.place, FactKind.SIZE_OF_DATA, (case.place.key,), in_text=False)
    if _is_backend(case) and case.place.key != META:
        yield from _reason(case)
    if case.here and READS_DATA not in case.tags:
        yield ErrorFact(case.place, FactKind.HERE, (case.place.key,), in_text=False)


def _is_backend(case: ErrorCase) -> bool:
    """Whether the key is one that tensors of a device bring, and no part of a call above the kernels."""
    return case.place.key != UNDEFINED and autograd_key_of(case.universe, case.place.key) is not None


def _of_call(case: ErrorCase) -> Iterator[ErrorFact]:
    """What a key is that comes before the backends'."""
    if case.kind is TextKind.NO_AUTOGRAD:
        yield ErrorFact(case.place, FactKind.NO_GRADIENT, (case.place.key,))
    elif case.kind is TextKind.NO_BATCHING_RULE:
        yield ErrorFact(case.place, FactKind.LOOPS, (case.place.key,))
    elif case.place.backend is not None:
        yield ErrorFact(case.place, FactKind.NOT_REACHED, (case.place.key, case.place.backend))
    else:
        yield ErrorFact(case.place, FactKind.NOT_REACHED, (case.place.key,))


def _reason(case: ErrorCase) -> Iterator[ErrorFact]:
    """Why there is no kernel at a backend key, as far as it can be concluded."""
    kinds = case.other_kinds()
    if kinds:
        yield ErrorFact(case.place, FactKind.OTHER_LAYOUT, kinds, in_text=case.in_text)
    others = tuple(one for one in case.devices(case.place.functionality) if one != case.place.backend)
    if case.place.backend is None or case.place.functionality != DENSE:
        if case.pytorchs and not case.here:
            yield ErrorFact(case.place, FactKind.NOT_WRITTEN, (case.place.key,), probable=True)
    elif not kinds and case.kernels is not None and not case.devices(DENSE).count(case.place.backend):
        yield _missing_device(case, case.place.backend, others)


def _missing_device(case: ErrorCase, backend: str, others: tuple[str, ...]) -> ErrorFact:
    """Why there is no kernel for dense tensors of a device."""
    if case.factory and backend != "CPU":
        return ErrorFact(case.place, FactKind.NOT_LOADED, (backend,), probable=True)
    if not others:
        return ErrorFact(case.place, FactKind.NO_EXTENSION, (), probable=True)
    if VENDORS.get(backend) in others:
        return ErrorFact(case.place, FactKind.OTHER_VENDOR, (VENDORS[backend], backend), probable=True)
    if backend == "CPU" or (case.pytorchs and not case.here and not case.built):
        return ErrorFact(case.place, FactKind.NOT_WRITTEN, (case.place.key,), probable=True)
    kind = FactKind.PYTORCH_NOT_BUILT if case.pytorchs else FactKind.NOT_BUILT
    return ErrorFact(case.place, kind, (backend,), probable=True)


def steps(case: ErrorCase) -> tuple[ErrorStep, ...]:
    """What helps who calls the operator, the best first."""
    kinds = {fact.kind: fact for fact in _facts(case)}
    return tuple(dict.fromkeys(_steps(case, kinds)))


def _steps(case: ErrorCase, kinds: dict[FactKind, ErrorFact]) -> Iterator[ErrorStep]:
    if FactKind.NO_TENSORS in kinds:
        yield ErrorStep(case.place, StepKind.NOT_EMPTY, case.lists)
    if FactKind.HERE in kinds and case.older:
        yield ErrorStep(case.place, StepKind.UPGRADE, sure=True)
    if FactKind.NOT_LOADED in kinds:
        own = case.built or case.place.backend in (*VENDORS, "MPS", "XPU")  # of these PyTorch itself has builds
        yield ErrorStep(case.place, StepKind.INSTALL_PYTORCH if own else StepKind.IMPORT_BACKEND, kinds[FactKind.NOT_LOADED].keys)
    if FactKind.PYTORCH_NOT_BUILT in kinds:
        yield ErrorStep(case.place, StepKind.INSTALL_PYTORCH, kinds[FactKind.PYTORCH_NOT_BUILT].keys)
    for kind in (FactKind.NOT_BUILT, FactKind.OTHER_VENDOR):
        if kind in kinds:
            yield ErrorStep(case.place, StepKind.INSTALL_BUILD, kinds[kind].keys[-1:])
    if FactKind.NO_EXTENSION in kinds:
        yield ErrorStep(case.place, StepKind.LOAD_EXTENSION, (case.place.backend,) if case.place.backend not in (None, "CPU") else ())
    if case.place.key == "MPS" and case.pytorchs:
        yield ErrorStep(case.place, StepKind.MPS_FALLBACK)
    if _is_backend(case) and case.place.key != META:
        yield from _of_layout(case)
        devices = tuple(one for one in case.devices(case.place.functionality) if one != case.place.backend)
        if devices:
            yield ErrorStep(case.place, StepKind.MOVE, ("CPU",) if "CPU" in devices else devices)
        if case.pytorchs and FactKind.NOT_WRITTEN in kinds:
            yield ErrorStep(case.place, StepKind.UPGRADE)
    if FactKind.HERE in kinds and not case.older:
        yield ErrorStep(case.place, StepKind.UPGRADE, sure=True)
    yield from _around(case, kinds)


def _of_layout(case: ErrorCase) -> Iterator[ErrorStep]:
    """The tensors as the kernels take them that are there; where nothing is known of kernels, as most take them."""
    there = {DENSE} if case.kernels is None else {*case.other_kinds()}
    match case.place.functionality:
        case "Sparse" | "SparseCsr" | "MkldnnCPU":
            if case.place.functionality == "SparseCsr" and SPARSE in there:
                yield ErrorStep(case.place, StepKind.TO_SPARSE)
            if DENSE in there:
                yield ErrorStep(case.place, StepKind.TO_DENSE)
            if case.place.functionality == SPARSE:
                yield ErrorStep(case.place, StepKind.NO_SPARSE_GRADIENT)
        case "Quantized":
            if DENSE in there:
                yield ErrorStep(case.place, StepKind.DEQUANTIZE)
        case "NestedTensor":
            yield ErrorStep(case.place, StepKind.PAD)
            yield ErrorStep(case.place, StepKind.UNPACK)
        case "Dense":
            if QUANTIZED in there:
                yield ErrorStep(case.place, StepKind.QUANTIZE)
            elif SPARSE in there:
                yield ErrorStep(case.place, StepKind.TO_SPARSE)
        case _:
            pass


def _around(case: ErrorCase, kinds: dict[FactKind, ErrorFact]) -> Iterator[ErrorStep]:
    """What to leave out of the call, where the key is none of a device, or Meta."""
    key = case.place.key
    if key == META:
        yield ErrorStep(case.place, StepKind.GIVE_DATA)
        yield ErrorStep(case.place, StepKind.KEEP_OUT)
    elif FactKind.NO_GRADIENT in kinds:
        yield ErrorStep(case.place, StepKind.NO_GRAD)
    elif key in case.universe.covered_by(AUTOGRAD):
        yield ErrorStep(case.place, StepKind.INFERENCE_MODE)
    elif key.startswith("Autocast"):
        yield ErrorStep(case.place, StepKind.NO_AUTOCAST, (key.removeprefix("Autocast"),))
    elif key in ("FuncTorchBatched", "BatchedNestedTensor", "Batched"):
        yield ErrorStep(case.place, StepKind.NO_VMAP)
    elif key in ("Conjugate", "Negative", "ZeroTensor"):
        yield ErrorStep(case.place, StepKind.RESOLVE, (key,))
    elif key == "Named":
        yield ErrorStep(case.place, StepKind.DROP_NAMES)
