"""The conclusions from an error text: facts, and steps for a user of the operator.

General rules about kinds of keys, over what the text shows, and else over what the compared state says.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.engine.keys.autograd import autograd_key_of
from dispatch_cli.model.universe import AUTOGRAD, META, UNDEFINED
from dispatch_cli.report.error_facts import ErrorCase, ErrorFact, ErrorStep, FactKind, StepKind
from dispatch_cli.report.messages.kinds import TextKind
from dispatch_cli.report.printed_version import Fit

DENSE, SPARSE, CSR, QUANTIZED = "Dense", "Sparse", "SparseCsr", "Quantized"
VENDORS = {"HIP": "CUDA", "CUDA": "HIP"}
"""Backends of builds that exclude one another: AMD's and NVIDIA's."""
IN_BUILDS = ("CUDA", "HIP", "MPS", "XPU")
"""The backends that are part of builds of PyTorch itself; others come with a package of their own."""
RAISING_FALLBACKS = ("MPS", "XPU")
"""The backends of PyTorch with a fallback that raises, and which a variable of the environment lets go to the CPU."""
VMAP = ("FuncTorchBatched", "BatchedNestedTensor", "Batched")
MATH_BITS = ("Conjugate", "Negative", "ZeroTensor")
READS_DATA, SIZE_OF_DATA = "data_dependent_output", "dynamic_output_shape"
"""Tags of operators that need the data of tensors."""


def facts(case: ErrorCase) -> tuple[ErrorFact, ...]:
    """What is so, the most certain first."""
    return tuple(_facts(case))


def steps(case: ErrorCase) -> tuple[ErrorStep, ...]:
    """What helps who calls the operator, the best first."""
    kinds = {fact.kind: fact for fact in _facts(case)}
    return tuple(dict.fromkeys(_steps(case, kinds)))


def _facts(case: ErrorCase) -> Iterator[ErrorFact]:
    place, key = case.place, case.place.key
    if key == UNDEFINED:
        yield ErrorFact(place, FactKind.TAKES_NO_TENSORS if case.takes_none else FactKind.NO_TENSORS, case.lists)
        return
    if _is_backend(case):
        if case.kernels is not None and (case.in_text or case.built):
            real = case.kernels if any(one != META for one in case.kernels) else ()
            only = FactKind.ONLY_AT_BUT_META if case.meta and META not in real else FactKind.ONLY_AT
            yield ErrorFact(place, only if real else FactKind.NOWHERE, real, in_text=case.in_text)
        yield ErrorFact(place, FactKind.MAKES if case.makes else FactKind.TENSORS, (key,))
    else:
        yield _of_call(case)
    if key == META and READS_DATA in case.tags:
        yield ErrorFact(place, FactKind.NO_DATA, (key,), in_text=False)
        return
    if key == META and SIZE_OF_DATA in case.tags:
        yield ErrorFact(place, FactKind.SIZE_OF_DATA, (key,), in_text=False)
    if _is_backend(case) and key != META:
        yield from _reason(case)
    if case.here:
        kind = FactKind.HERE_DECLARED if case.declared else FactKind.HERE
        if case.displacing:
            yield ErrorFact(place, FactKind.DISPLACED, case.displacing, probable=True, in_text=False)
        else:
            yield ErrorFact(place, kind, (key,), in_text=False)


def _is_backend(case: ErrorCase) -> bool:
    """Whether the key is one that tensors of a device bring, and no part of a call above the kernels."""
    return case.place.key != UNDEFINED and autograd_key_of(case.universe, case.place.key) is not None


def _of_call(case: ErrorCase) -> ErrorFact:
    """What a key is that comes before those of backends."""
    place = case.place
    if case.kind is TextKind.NO_AUTOGRAD:
        return ErrorFact(place, FactKind.NO_GRADIENT, (place.key,))
    if case.kind is TextKind.NO_BATCHING_RULE:
        return ErrorFact(place, FactKind.LOOPS if case.loops else FactKind.CAN_NOT_LOOP, (place.key,))
    below = (place.backend,) if place.backend is not None else ()
    return ErrorFact(place, FactKind.NOT_REACHED, (place.key, *below))


def _reason(case: ErrorCase) -> Iterator[ErrorFact]:
    """Why there is no kernel at a backend key, as far as it can be concluded."""
    kinds = case.other_kinds()
    if kinds:
        yield ErrorFact(case.place, FactKind.OTHER_LAYOUT, kinds, in_text=case.in_text)
    if case.place.backend is None or case.place.functionality != DENSE:
        if not case.here:
            kind = FactKind.NO_BACKEND if _may_lack_backend(case) else FactKind.NOT_WRITTEN
            keys = (case.place.backend,) if kind is FactKind.NO_BACKEND and case.place.backend else (case.place.key,)
            yield ErrorFact(case.place, kind, keys, probable=True)
    elif case.kernels is None:
        yield from _unknown(case, case.place.backend)
    elif not kinds and case.place.key not in case.kernels:
        others = case.devices(DENSE)
        if case.elsewhere and not others and not case.here and (case.pytorchs or case.autograd):
            yield ErrorFact(case.place, FactKind.ELSEWHERE, case.elsewhere, probable=True, in_text=False)
        elif case.autograd and not others:
            yield ErrorFact(case.place, FactKind.AUTOGRAD_ONLY, ())
        elif others or case.here or not case.pytorchs:
            yield _missing_device(case, case.place.backend, others)


def _unknown(case: ErrorCase, backend: str) -> Iterator[ErrorFact]:
    """The same for dense tensors, where it is not known which kernels there are: only the usual reason."""
    if case.kind is not TextKind.NO_KERNEL or backend == "CPU":
        return
    built = backend in IN_BUILDS
    if _may_lack_backend(case) and not case.factory and not case.built:
        yield ErrorFact(case.place, FactKind.NO_BACKEND, (backend,), probable=True)
    elif case.factory or (case.makes and case.pytorchs):
        kind = FactKind.PYTORCH_NOT_BUILT if built else FactKind.NOT_LOADED
        yield ErrorFact(case.place, kind, (backend,), probable=True)
    elif built and not case.pytorchs:
        yield ErrorFact(case.place, FactKind.NOT_BUILT, (backend,), probable=True)


def _may_lack_backend(case: ErrorCase) -> bool:
    """Whether the call creates a tensor on a device of which nothing shows that it is there: no kernel, no tensor."""
    backend = case.place.backend
    return case.makes and case.pytorchs and not case.here and backend not in (None, "CPU") and not case.other_kinds()


def _missing_device(case: ErrorCase, backend: str, others: tuple[str, ...]) -> ErrorFact:
    """Why there is no kernel for dense tensors of a device, where others have some."""
    kind = FactKind.PYTORCH_NOT_BUILT if case.pytorchs else FactKind.NOT_BUILT
    keys: tuple[str, ...] = (backend,)
    if case.factory and backend != "CPU":
        kind = kind if backend in IN_BUILDS else FactKind.NOT_LOADED
    elif _may_lack_backend(case):
        kind = FactKind.NO_BACKEND
    elif case.pytorchs and not case.makes:  # there are tensors of the device, so PyTorch was built for it
        kind, keys = FactKind.NOT_WRITTEN, (case.place.key,)
    elif not others and not case.pytorchs:
        kind, keys = FactKind.NO_EXTENSION, ()
    elif VENDORS.get(backend) in others and not case.pytorchs:
        kind, keys = FactKind.OTHER_VENDOR, (VENDORS[backend], backend)
    elif backend == "CPU" or (case.pytorchs and not case.here):
        kind, keys = FactKind.NOT_WRITTEN, (case.place.key,)
    return ErrorFact(case.place, kind, keys, probable=True)


def _steps(case: ErrorCase, kinds: dict[FactKind, ErrorFact]) -> Iterator[ErrorStep]:
    place = case.place
    if FactKind.TAKES_NO_TENSORS in kinds:
        yield ErrorStep(place, StepKind.ASK_AUTHOR)
    if FactKind.NO_TENSORS in kinds:
        yield ErrorStep(place, StepKind.NOT_EMPTY, case.lists)
    if FactKind.HERE_DECLARED in kinds:
        yield ErrorStep(place, StepKind.LOAD_DECLARED)
    build = FactKind.PYTORCH_NOT_BUILT in kinds
    newer = FactKind.HERE in kinds and case.fit is not Fit.NEWER and not (build and case.factory)
    if newer and case.fit is Fit.OLDER and not build:
        yield ErrorStep(place, StepKind.UPGRADE, sure=True)
    yield from _of_build(case, kinds)
    if FactKind.NOT_WRITTEN in kinds and case.pytorchs and not case.makes and case.devices(DENSE) == ("CPU",):
        yield ErrorStep(place, StepKind.ONE_DEVICE)
    if place.key in RAISING_FALLBACKS and case.pytorchs and not build:  # not built, there is no fallback either
        yield ErrorStep(place, StepKind.DEVICE_FALLBACK, (place.key,))
    if _is_backend(case) and place.key != META:
        yield from _of_layout(case)
        devices = tuple(one for one in case.devices(place.functionality) if one != place.backend)
        if devices and FactKind.OTHER_VENDOR not in kinds:
            move = StepKind.MAKE_ON if case.makes else StepKind.MOVE
            yield ErrorStep(place, move, ("CPU",) if "CPU" in devices else devices)
    if newer and (build if case.fit is Fit.OLDER else not build):
        yield ErrorStep(place, StepKind.UPGRADE, sure=True)
    elif case.pytorchs and (
        FactKind.NOT_WRITTEN in kinds
        or FactKind.NO_BACKEND in kinds
        or (FactKind.DISPLACED in kinds and case.fit is Fit.OLDER)
    ):
        yield ErrorStep(place, StepKind.UPGRADE)
    yield from _around(case, kinds)
    if FactKind.DISPLACED in kinds:
        yield ErrorStep(place, StepKind.GIVE_REGISTRATIONS)
    if case.kernels is None and case.kind is TextKind.NO_KERNEL and _is_backend(case) and place.key != META:
        yield ErrorStep(place, StepKind.WHOLE_TEXT)


def _of_build(case: ErrorCase, kinds: dict[FactKind, ErrorFact]) -> Iterator[ErrorStep]:
    """What to install or to import."""
    place = case.place
    for kind, fact in kinds.items():
        match kind:
            case FactKind.NO_BACKEND:
                found = StepKind.INSTALL_PYTORCH if fact.keys[0] in IN_BUILDS else StepKind.IMPORT_BACKEND
                yield ErrorStep(place, found, fact.keys)
            case FactKind.NOT_LOADED:
                yield ErrorStep(place, StepKind.IMPORT_BACKEND, fact.keys)
            case FactKind.PYTORCH_NOT_BUILT:
                yield ErrorStep(place, StepKind.INSTALL_PYTORCH, fact.keys)
            case FactKind.NOT_BUILT | FactKind.OTHER_VENDOR:
                yield ErrorStep(place, StepKind.INSTALL_BUILD, fact.keys[-1:])
            case FactKind.ELSEWHERE:
                yield ErrorStep(place, StepKind.ONLY_ON, fact.keys)
            case FactKind.AUTOGRAD_ONLY:
                yield ErrorStep(place, StepKind.WITH_AUTOGRAD)
            case FactKind.NO_EXTENSION:
                device = (place.backend,) if place.backend is not None and place.backend != "CPU" else ()
                yield ErrorStep(place, StepKind.LOAD_EXTENSION, device)
            case _:
                pass


def _of_layout(case: ErrorCase) -> Iterator[ErrorStep]:
    """The tensors as the kernels take them that are there; where nothing is known of kernels, as most take them."""
    there = {DENSE} if case.kernels is None else {*case.other_kinds()}
    match case.place.functionality:
        case _ if case.makes:
            found = []
        case "Sparse" | "SparseCsr" | "MkldnnCPU":
            found = [StepKind.TO_SPARSE] * (case.place.functionality == CSR and SPARSE in there)
            found += [StepKind.TO_DENSE] * (DENSE in there)
        case "Quantized":
            found = [StepKind.DEQUANTIZE] * (DENSE in there)
        case "NestedTensor":
            found = [StepKind.PAD, StepKind.UNPACK]
        case "Dense":
            found = [StepKind.QUANTIZE] * (QUANTIZED in there) or [StepKind.TO_SPARSE] * (SPARSE in there)
        case _:
            found = []
    if case.place.functionality == SPARSE:
        found = [*found, StepKind.NO_SPARSE_GRADIENT]
    yield from (ErrorStep(case.place, kind) for kind in found)


def _around(case: ErrorCase, kinds: dict[FactKind, ErrorFact]) -> Iterator[ErrorStep]:
    """What to leave out of the call, where the key is none of a device, or Meta."""
    place, key = case.place, case.place.key
    if key == META:
        if case.module is not None:
            yield ErrorStep(place, StepKind.IMPORT_MODULE, (case.module,))
        if not case.fake:  # only meta tensors are what weights are before they are loaded
            yield ErrorStep(place, StepKind.GIVE_DATA)
        yield ErrorStep(place, StepKind.KEEP_OUT)
    elif FactKind.NO_GRADIENT in kinds:
        yield ErrorStep(place, StepKind.NO_GRAD)
    elif key in case.universe.covered_by(AUTOGRAD):
        yield ErrorStep(place, StepKind.INFERENCE_MODE)
    elif key.startswith("Autocast"):
        yield ErrorStep(place, StepKind.NO_AUTOCAST, (key.removeprefix("Autocast"),))
    elif key in VMAP:
        yield ErrorStep(place, StepKind.SLOW_VMAP if FactKind.LOOPS in kinds else StepKind.NO_VMAP)
    elif key in MATH_BITS:
        yield ErrorStep(place, StepKind.RESOLVE, (key,))
    elif key == "Named":
        yield ErrorStep(place, StepKind.DROP_NAMES)
