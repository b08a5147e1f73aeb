"""Conclusions about a slot where a call ended: facts, and steps for who calls the operator.

General rules about kinds of keys, over what the text shows, and else over what the loaded state says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from dispatch_cli.answers.errors.case import MKLDNN, Case
from dispatch_cli.answers.errors.messages import NO_AUTOGRAD, NO_BATCHING_RULE, NO_KERNEL, NOT_ON_DEVICE
from dispatch_cli.answers.errors.printed import TextVersion
from dispatch_cli.answers.shared.selection import some_of
from dispatch_cli.model.universe import AUTOGRAD, META, UNDEFINED

DENSE, SPARSE, CSR, QUANTIZED, NESTED = "Dense", "Sparse", "SparseCsr", "Quantized", "NestedTensor"
KINDS_OF_TENSORS = {
    DENSE: "dense",
    SPARSE: "sparse (COO)",
    CSR: "sparse (compressed, such as CSR)",
    QUANTIZED: "quantized",
    NESTED: "nested",
    MKLDNN: "oneDNN (MKL-DNN)",
}
IN_BUILDS = ("CUDA", "HIP", "MPS", "XPU")
"""The backends that are part of builds of PyTorch itself; others come with a package of their own."""
RAISING_FALLBACKS = ("MPS", "XPU")
"""The backends of PyTorch with a fallback that raises, and which a variable of the environment lets go to the CPU."""
PACKAGES = {"XLA": "torch_xla", "HPU": "habana_frameworks.torch"}
"""The Python package of a backend that is not part of PyTorch."""
READS_DATA = "data_dependent_output"
"""The tag of operators that need the data of tensors."""
MANY = 6
"""Number of keys from which on only the first are named."""


class Proof(Enum):
    """The ground of a fact; the value is the name in machine formats.

    TEXT: the text shows it. STATE: it is so in the loaded state. LIKELY: the usual reason; another is possible.
    """

    TEXT = "text"
    STATE = "state"
    LIKELY = "likely"


class Fact(NamedTuple):
    """A fact about the slot, in words.

    keys: the keys or devices that it is about. kind: its name in machine formats. only-at: the operator has kernels at
    these backend keys only; some-at: at these, and perhaps at others; nowhere: at none. tensors: a tensor brings the
    key; makes: the call is to make such a tensor; no-tensors: the call has none. not-built, pytorch-not-built: the
    operator's package, or PyTorch, was built without this backend. no-extension: the compiled part of the package is
    missing. not-loaded: nothing has registered this backend. left-out: the build has selected operators. not-written:
    nobody wrote this kernel. other-layout: on this device there are kernels for these kinds of tensors only. no-data:
    the operator reads data, which these tensors lack. here: the state has a kernel there. not-reached: the call ends at
    the first key, before it gets to the second. handled: another error came while this one was handled. versions: the
    embedded versions that define the operator.
    """

    kind: str
    keys: tuple[str, ...]
    proof: Proof
    text: str


NOT_BUILT = "pytorch-not-built"
"""The kernel is written, and this PyTorch lacks it: no registration helps."""


def facts(case: Case) -> Iterator[Fact]:
    """Facts, most certain first."""
    if case.key == UNDEFINED:
        yield _no_tensors(case)
        return
    if case.is_backend:
        if case.kernels is not None and (case.in_text or case.built):
            yield _kernels(case)
        kind, verb = ("makes", "creates") if case.makes else ("tensors", "was made with")
        yield Fact(kind, (case.key,), Proof.TEXT, f"The call {verb} {_tensor(case)}.")
    elif case.text.kind not in (NO_AUTOGRAD, NO_BATCHING_RULE):
        yield _of_call(case)
    if case.key == META and READS_DATA in case.tags:
        reads = f"{case.operator} reads the data of a tensor, as `x.item()`, `if x:` and printing do. These tensors "
        yield Fact("no-data", (META,), Proof.STATE, f"{reads}have no data, so it cannot work for them.")
        return
    if case.is_backend and case.key != META:
        yield from _reason(case)
    if case.here:
        yield _here(case)


def _no_tensors(case: Case) -> Fact:
    why = (
        "a list of tensors was empty, all tensors were undefined (None), they were in a list of lists, where the "
        f"dispatcher does not look for them, or {case.operator} takes no tensor"
    )
    return Fact("no-tensors", (), Proof.TEXT, f"The call had no tensor among its arguments: {why}.")


def _kernels(case: Case) -> Fact:
    """The keys of backends at which there is a kernel."""
    build, proof = ("This build", Proof.TEXT) if case.in_text else (case.over, Proof.STATE)
    kernels = case.kernels or ()
    if case.partial:
        text = (
            f"The part of the table or list that the text shows has kernels of {case.operator} at {some_of(kernels)}."
        )
        return Fact("some-at", kernels, proof, text)
    if all(key == META for key in kernels):
        return Fact("nowhere", (), proof, f"{build} has no kernel of {case.operator} for any device.")
    if len(kernels) > MANY:
        key = case.key if case.backend_name is None else f"{case.key}, here named {case.backend_name}"
        text = f"{build} has kernels of {case.operator} at {some_of(kernels)}, and none at {key}."
    else:
        meta = ", and perhaps at Meta" if case.meta and META not in kernels else ""
        text = f"{build} has kernels of {case.operator} at {_and(kernels)} only{meta}."
    return Fact("only-at", kernels, proof, text)


def _of_call(case: Case) -> Fact:
    """The part of a call that a key stands for which comes before those of backends."""
    key = (case.key,)
    below = "" if case.backend is None else f" for {_device(case, case.backend)}"
    text = f"The call failed at {case.key}, before it got to a kernel{below}."
    return Fact("not-reached", key if case.backend is None else (*key, case.backend), Proof.TEXT, text)


def _reason(case: Case) -> Iterator[Fact]:
    """The reason why there is no kernel at a backend key, as far as it can be concluded."""
    kinds = case.other_kinds()
    if kinds:
        names = _and(tuple(dict.fromkeys(KINDS_OF_TENSORS.get(kind, kind) for kind in kinds)))
        text = f"On {_device(case, case.backend or '')} it has kernels for {names} tensors."
        yield Fact("other-layout", kinds, Proof.TEXT if case.in_text else Proof.STATE, text)
    likely = _likely_reason(case, kinds)
    if likely is not None:
        yield _likely(case, likely)


def _likely_reason(case: Case, kinds: tuple[str, ...]) -> str | None:
    """The usual reason, by the kind of its fact; None where nothing tells it. kinds: other tensors with kernels."""
    backend, others = case.backend, case.devices(DENSE)
    creates = case.makes and case.pytorchs and backend not in (None, "CPU")
    if creates and not (case.here or kinds or case.factory):
        return None  # the device may be missing: nothing shows a kernel or a tensor
    if backend is None or case.functionality != DENSE:
        return None if case.here else "not-written"
    if case.own and not case.in_text:
        return "not-written"  # the files that define it have no such kernel
    if case.kernels is None:
        is_told = case.text.kind == NO_KERNEL
    else:
        is_told = not kinds and case.key not in case.kernels and (bool(others) or _lacks_all(case))
    if not is_told:
        return None
    if (case.factory or creates) and backend != "CPU":
        return NOT_BUILT if backend in IN_BUILDS else "not-loaded"
    if case.pytorchs:  # there are tensors of the device, so PyTorch was built for it
        if case.kernels is not None:
            return None if case.here else "not-written"
        return "left-out" if backend == "CPU" and case.here else None
    if not others and (case.kernels is not None or backend == "CPU"):
        return "no-extension"
    if backend == "CPU":
        return "not-written"
    return "not-built" if case.kernels is not None or backend in IN_BUILDS else None


def _lacks_all(case: Case) -> bool:
    """True if a whole table without a kernel for dense tensors tells the reason.

    It does not for an operator of PyTorch that the state lacks too, and for one that has kernels at autograd keys.
    """
    return not case.partial and (case.here or not (case.pytorchs or case.autograd))


def _likely(case: Case, kind: str) -> Fact:
    """A conclusion that may be wrong, and says so."""
    backend = case.backend or ""
    device = _device(case, backend)
    keys: tuple[str, ...] = (backend,)
    match kind:
        case "not-built":
            text = f"the package that has {case.operator} was built without {device}"
        case "pytorch-not-built":
            text = f"this PyTorch was built without {device}"
        case "no-extension":
            text = "the compiled part of the package, which has the kernels, was not built or not loaded"
        case "left-out":
            text = (
                f"this build leaves {case.operator} out, as one for phones with the operators of one model does, or "
                "this PyTorch is older than the kernel"
            )
        case "not-loaded":
            text = f"the backend {device} is not loaded: no kernel in this process creates tensors on it"
        case _:
            keys = (case.key,)
            text = f"nobody has written {case.operator} for {_tensors(case)} yet"
    return Fact(kind, keys, Proof.LIKELY, f"Probably {text}.")


def _here(case: Case) -> Fact:
    """The state has what the text says is missing."""
    what = "batching rule" if "Batched" in case.key else "kernel"
    text = "The files that are given declare a kernel there." if case.declared else f"{case.over} has a {what} there."
    return Fact("here", (case.key,), Proof.STATE, text)


def steps(case: Case, shown: Sequence[Fact], newer: str | None, version: TextVersion) -> tuple[str, ...]:
    """Steps for who calls the operator, the best first.

    shown: its facts. newer: the first PyTorch, newer than the text as far as that is known, with the missing kernel.
    """
    is_older = version.older_than_all or version.nearest is not None
    return tuple(dict.fromkeys(_steps(case, [fact.kind for fact in shown], newer, is_older)))


def _steps(case: Case, kinds: Sequence[str], newer: str | None, is_older: bool) -> Iterator[str]:
    if "no-tensors" in kinds:
        yield "Find out which list of tensors is empty, or which tensor is undefined, and skip the call in this case."
    if "here" in kinds and case.declared:
        yield (
            "Before the call, load the library that the files describe, in the same version: it registers the missing "
            "kernel."
        )
    not_built = NOT_BUILT in kinds
    upgrade = None
    if newer is not None and not case.factory and "no-data" not in kinds:
        missing = "a batching rule there" if "Batched" in case.key else "the missing kernel"
        if is_older:
            upgrade = f"Install a newer PyTorch: {newer} has {missing}."
        else:
            upgrade = f"Install a newer PyTorch, if yours is older than {newer}: {newer} has {missing}."
    if upgrade is not None and is_older and not not_built:
        yield upgrade
    yield from _of_build(case, kinds)
    dense = case.devices(DENSE)
    on_device = case.text.kind == NO_KERNEL and case.functionality == DENSE and case.backend not in ("CPU", META)
    if on_device and case.pytorchs and not case.makes and (case.kernels is None or "CPU" in dense):
        yield (
            f"Check that all tensors of the call, weights too, are on {_device(case, case.backend or '')}: if some are "
            "on another device, PyTorch may choose an operator that does not support it."
        )
    if case.key in RAISING_FALLBACKS and case.text.kind == NOT_ON_DEVICE:
        if not case.pytorchs:
            yield f"Install a build of the package with {case.operator} that has a kernel for {case.key}."
        yield (
            f"Set the environment variable PYTORCH_ENABLE_{case.key}_FALLBACK=1 before torch is imported: the CPU then "
            f"runs the operators that {case.key} cannot, if they have a kernel for it, which is slower."
        )
    if case.is_backend and case.key != META:
        yield from _of_layout(case)
        yield from _of_device(case)
    if upgrade is not None and (not_built or not is_older):
        yield upgrade
    elif upgrade is None and case.pytorchs and not case.built and "not-written" in kinds:
        yield "Try a newer PyTorch, and a newer package of the backend: kernels are added in each release."
    yield from _around(case)
    if case.kernels is None and case.text.kind == NO_KERNEL and case.is_backend and case.key != META:
        yield (
            "If this is only a part of the error text, explain all of it: the list after 'is only available for these "
            "backends' shows which backends have a kernel."
        )


def _of_build(case: Case, kinds: Sequence[str]) -> Iterator[str]:
    """The packages and builds to install or to import."""
    backend = case.backend or ""
    device = _device(case, backend)
    for kind in kinds:
        match kind:
            case "pytorch-not-built" if "MPS" in case.devices(DENSE):
                yield f"This is a build for macOS, where there is no {device}: use the device 'mps' or 'cpu'."
            case "pytorch-not-built":
                only = " Builds with MPS are for macOS only." if backend == "MPS" else ""
                yield f"Install a build of PyTorch for {backend}: https://pytorch.org/get-started/locally/.{only}"
                if backend == "CUDA":
                    yield (
                        "In a C++ program with a libtorch for CUDA: linkers leave torch_cuda out, of which it calls no "
                        "function. Link it with `-Wl,--no-as-needed`, on Windows with "
                        "`/INCLUDE:?warp_size@cuda@at@@YAHXZ`."
                    )
            case "left-out":
                yield f"In a build with selected operators, add {case.operator} to the list that it was built from."
            case "not-loaded":
                package = f", `import {PACKAGES[backend]}`," if backend in PACKAGES else ""
                yield f"Import the package of the backend {device}{package} before the first tensor is created."
            case "not-built":
                yield (
                    f"Install a build of the package for {device} that was made for the installed PyTorch: the two "
                    "versions must match."
                )
            case "no-extension":
                for_ = "" if backend in ("", "CPU") else f" for {device}"
                yield (
                    f"Install or build the package again{for_}, for the installed PyTorch. A warning at its import may "
                    "say why its compiled part was not loaded."
                )
            case _:
                pass


def _of_layout(case: Case) -> Iterator[str]:
    """The tensors as the kernels take them that are there; where nothing is known of kernels, as most take them."""
    there = {DENSE} if case.kernels is None else {*case.other_kinds()}
    if case.makes:
        pass
    elif case.functionality in (SPARSE, CSR, MKLDNN):
        if DENSE in there:
            yield "Make the tensor dense before the call: `x.to_dense()`."
    elif case.functionality == QUANTIZED and DENSE in there:
        yield (
            "Dequantize the tensor before the call: `x.dequantize()`; in a module, with a DeQuantStub before this "
            "layer."
        )
    elif case.functionality == NESTED:
        yield "Make it dense before the call: `torch.nested.to_padded_tensor(x, 0)`."
        yield "Or call it for each part, `x.unbind()`, or use `layout=torch.jagged`, which has more operators."
    elif case.functionality == DENSE and QUANTIZED in there:
        yield (
            "Quantize the tensor before the call: `torch.quantize_per_tensor(...)`; in a module, with a QuantStub "
            "before this layer. Or use a layer that is not quantized."
        )
    if case.functionality == SPARSE:
        yield "If it is the gradient of an embedding, create the embedding with `sparse=False`."


def _of_device(case: Case) -> Iterator[str]:
    """Other devices, where there is a kernel."""
    devices = tuple(device for device in case.devices(case.functionality) if device != case.backend)
    if not devices:
        return
    to = ("CPU",) if "CPU" in devices else devices
    if case.makes:
        yield f"Create the tensor on {_or(to)}: `device='{_type(case, to[0])}'`."
    else:
        calls = " or ".join(f"`x.to('{_type(case, device)}')`" for device in to[:2])
        yield f"Move the tensors to {_or(tuple(_device(case, device) for device in to))} for this call: {calls}."


def _around(case: Case) -> Iterator[str]:
    """Parts of the call to leave out, where the key is none of a device, or Meta."""
    if case.key == META:
        module = case.text.detail("module")
        if module is not None:
            yield f"Import the Python module that has its fake implementation before the call: `import {module}`."
        yield "Under torch.compile, not torch.export: exclude the function that calls it, `@torch.compiler.disable`."
        if not case.pytorchs:
            yield (
                "Use a newer release of its package, which may have a fake implementation, or give it one yourself: "
                f"`@torch.library.register_fake('{case.operator}')`."
            )
        if case.text.detail("fake") is None:  # only meta tensors are what weights are before they are loaded
            yield (
                "Else, if the tensor should have data: its weights were not loaded, or were offloaded (`device_map`, "
                "`init_empty_weights`). Load them before the call."
            )
    elif case.key in case.universe.covered_by(AUTOGRAD) and case.text.kind != NO_AUTOGRAD:
        yield (
            "If no gradient is needed, call it under `torch.inference_mode()`, which excludes the autograd keys; "
            "`torch.no_grad()` does not."
        )
    elif case.key.startswith("Autocast"):
        device = _type(case, case.key.removeprefix("Autocast"))
        yield f"Turn autocast off around the call: `with torch.autocast('{device}', enabled=False):`."


def _tensor(case: Case) -> str:
    """A tensor that adds the key to a call."""
    device = _device(case, case.backend or "")
    if case.key == META:
        return "a meta or fake tensor, which has a shape and no data"
    if case.functionality == DENSE:
        return f"a tensor on {device}"
    kind = KINDS_OF_TENSORS.get(case.functionality)
    if kind is None:
        return f"a tensor of the key {case.key}"
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind} tensor on {device}"


def _tensors(case: Case) -> str:
    kind = "" if case.functionality == DENSE else f"{KINDS_OF_TENSORS.get(case.functionality, case.key)} "
    return f"{kind}tensors on {_device(case, case.backend)}" if case.backend else f"{kind}tensors"


def _device(case: Case, backend: str) -> str:
    named = backend == "PrivateUse1" and case.backend_name is not None
    return f"{case.backend_name} (PrivateUse1)" if named else backend


def _type(case: Case, backend: str) -> str:
    """The device's name in Python."""
    return case.backend_name or "privateuseone" if backend == "PrivateUse1" else backend.lower()


def _and(names: tuple[str, ...]) -> str:
    return " and ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])} and {names[-1]}"


def _or(names: tuple[str, ...]) -> str:
    return _and(names).replace(" and ", " or ")
