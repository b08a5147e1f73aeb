"""What is so, and what helps who only calls the operator, in words. Facts and steps are enums in the report."""

from __future__ import annotations

from dispatch_cli.model.universe import META
from dispatch_cli.render.words import some_of
from dispatch_cli.report.error_facts import MKLDNN, ErrorFact, ErrorPlace, ErrorStep, FactKind, StepKind

KINDS_OF_TENSORS = {
    "Dense": "dense",
    "Sparse": "sparse (COO)",
    "SparseCsr": "sparse (compressed, such as CSR)",
    "Quantized": "quantized",
    "NestedTensor": "nested",
    MKLDNN: "oneDNN (MKL-DNN)",
}
PARTS_OF_CALLS = {
    "Autograd": "where gradients are recorded",
    "Autocast": "which autocast adds to a call",
    "FuncTorch": "which torch.func adds to a call",
    "Batched": "which vmap adds to a call",
    "Functionalize": "which functionalization adds to a call",
    "Python": "where tensor subclasses and modes get a call",
    "Conjugate": "which a lazily conjugated tensor brings",
    "Negative": "which a lazily negated tensor brings",
    "ZeroTensor": "which a tensor of zeros without memory brings",
    "Named": "which a tensor with named dimensions brings",
}
"""What adds a key to a call, by how its name begins."""
PACKAGES = {"XLA": "torch_xla", "HPU": "habana_frameworks.torch"}
"""What brings a backend that is no part of PyTorch."""
VENDORS = {"HIP": "AMD's GPUs (HIP)", "CUDA": "NVIDIA's GPUs (CUDA)"}
RESOLVES = {"Conjugate": "x.resolve_conj()", "Negative": "x.resolve_neg()"}
MANY = 6
"""Keys of which only the first are named."""


def fact_text(fact: ErrorFact) -> str:
    """What is so, as a sentence."""
    place, keys = fact.place, fact.keys
    first = _device(place, keys[0]) if keys else ""
    build = "This build" if fact.in_text else place.over
    match fact.kind:
        case FactKind.ONLY_AT | FactKind.ONLY_AT_BUT_META if len(keys) > MANY:
            return f"{build} has kernels of {place.operator} at {some_of(keys)}, and none at {_key(place)}."
        case FactKind.ONLY_AT:
            return f"{build} has kernels of {place.operator} at {_and(keys)} only."
        case FactKind.ONLY_AT_BUT_META:
            return f"{build} has kernels of {place.operator} at {_and(keys)} only, and perhaps at Meta."
        case FactKind.NOWHERE:
            return f"{build} has no kernel of {place.operator} for any device."
        case FactKind.AUTOGRAD_ONLY:
            return (
                "It has kernels at the autograd keys alone: a call fails where these are left out, as in inference "
                "mode and below an autograd kernel."
            )
        case FactKind.TENSORS:
            return f"The call was made with {_tensor(place)}."
        case FactKind.MAKES:
            return f"The call is to make {_tensor(place)}."
        case FactKind.NO_TENSORS:
            empty = "a list of tensors was empty"
            why = f"{_and(keys)}, {empty}" if keys else f"{empty}, or {place.operator} takes no tensor"
            return f"The call had no tensor among its arguments: {why}."
        case FactKind.TAKES_NO_TENSORS:
            return f"{place.operator} takes no tensor, so nothing in a call says which backend is to run it."
        case FactKind.ELSEWHERE:
            return (
                f"{place.over} has kernels of it for {_and(keys)}: it is an operator for tensors there, and probably "
                f"this build is one without {_or(keys)}."
            )
        case FactKind.NO_DATA:
            return (
                f"{place.operator} reads the data of a tensor, as `x.item()`, `if x:` and printing do, and there is "
                "none: it can not work for such tensors."
            )
        case FactKind.SIZE_OF_DATA:
            return f"The size of what {place.operator} returns depends on the data of a tensor, and there is none."
        case FactKind.OTHER_LAYOUT:
            kinds = _and(tuple(dict.fromkeys(KINDS_OF_TENSORS.get(one, one) for one in keys)))
            return f"On {_device(place, place.backend or '')} it has kernels for {kinds} tensors."
        case FactKind.HERE:
            return f"{place.over} has a {'batching rule' if 'Batched' in place.key else 'kernel'} there."
        case FactKind.HERE_DECLARED:
            return "The files here declare a kernel there."
        case FactKind.NO_GRADIENT:
            return "The operator itself ran. What is wrong is its gradient: no autograd kernel says how to compute it."
        case FactKind.LOOPS:
            return (
                f"vmap has no rule for {place.operator}, and calls it once for each element of the batch. The result "
                "is right; it is slow."
            )
        case FactKind.CAN_NOT_LOOP:
            return f"vmap has no rule for {place.operator}, and can not call it once for each element of the batch."
        case FactKind.NOT_REACHED:
            what = next((text for head, text in PARTS_OF_CALLS.items() if place.key.startswith(head)), None)
            below = f" for {_device(place, keys[1])}" if len(keys) > 1 else ""
            return f"The call failed at {place.key}{f', {what}' if what else ''}, before it got to a kernel{below}."
        case _:
            return _conclusion(fact.kind, place, first)


def _conclusion(kind: FactKind, place: ErrorPlace, device: str) -> str:
    match kind:
        case FactKind.NOT_BUILT:
            return f"Probably the package that has {place.operator} was built without {device}."
        case FactKind.PYTORCH_NOT_BUILT:
            return f"Probably this PyTorch was built without {device}."
        case FactKind.NO_EXTENSION:
            return "Probably the compiled part of the package, which has the kernels, was not built or not loaded."
        case FactKind.OTHER_VENDOR:
            theirs, ours = VENDORS.get(device, device), VENDORS.get(place.backend or "", place.backend)
            return f"Probably the package was built for {theirs}, and the installed PyTorch uses the key of {ours}."
        case FactKind.NOT_LOADED:
            return f"Probably the backend {device} is not loaded: nothing in this build makes tensors of it."
        case FactKind.NOT_WRITTEN:
            return f"Probably nobody has written {place.operator} for {_tensors(place)} yet."
        case _:
            raise AssertionError(f"no wording for {kind}")


def step_text(step: ErrorStep) -> str:
    """What helps, as sentences."""
    place, keys = step.place, step.keys
    devices = tuple(_device(place, key) for key in keys)
    match step.kind:
        case StepKind.INSTALL_BUILD:
            return (
                f"Install a build of the package for {_and(devices)} that was made for the installed PyTorch: both "
                "versions have to fit."
            )
        case StepKind.LOAD_EXTENSION:
            for_ = f" for {_and(devices)}" if devices else ""
            return (
                f"Install or build the package again{for_}, for the installed PyTorch. A warning where it is imported "
                "may say why its compiled part was not loaded."
            )
        case StepKind.INSTALL_PYTORCH:
            only = " Builds with MPS are for macOS only." if "MPS" in keys else ""
            return f"Install a build of PyTorch for {_and(devices)}: https://pytorch.org/get-started/locally/.{only}"
        case StepKind.ONLY_ON:
            there = _or(devices)
            return f"Call it with tensors on {there}, in a build for {there}; for other tensors use another operator."
        case StepKind.IMPORT_MODULE:
            return f"Import the Python module that has its fake implementation, before the call: `import {keys[0]}`."
        case StepKind.IMPORT_BACKEND:
            package = next((PACKAGES[key] for key in keys if key in PACKAGES), None)
            named = f", `import {package}`," if package else ""
            return f"Import the package that brings {_and(devices)}{named} before the first tensor is made."
        case StepKind.MOVE:
            calls = " or ".join(f"`x.to('{_type(place, key)}')`" for key in keys[:2])
            return f"Move the tensors to {_or(devices)} for this call: {calls}."
        case StepKind.MAKE_ON:
            return f"Make the tensor on {_or(devices)}: `device='{_type(place, keys[0])}'`."
        case StepKind.UPGRADE if step.sure:
            return f"Install a newer PyTorch: {place.over} has what is missing."
        case StepKind.UPGRADE:
            return "Try a newer PyTorch, and a newer package of the backend: kernels are added in each release."
        case StepKind.DEVICE_FALLBACK:
            return (
                f"Set the environment variable PYTORCH_ENABLE_{keys[0]}_FALLBACK=1 before torch is imported: the CPU "
                f"then runs what {keys[0]} can not, which is slower."
            )
        case StepKind.ONE_DEVICE:
            return (
                f"Check that all tensors of the call, weights too, are on {_device(place, place.backend or '')}: with "
                "some of them on another device PyTorch may choose an operator that is not for it."
            )
        case StepKind.NOT_EMPTY:
            if not keys:
                return "If it was given an empty list of tensors, leave the call out in this case."
            return f"Find out why {_and(keys)} is empty, and leave the call out in this case."
        case StepKind.NO_AUTOCAST:
            return (
                f"Turn autocast off around the call: `with torch.autocast('{_type(place, keys[0])}', enabled=False):`."
            )
        case StepKind.RESOLVE:
            return f"Materialize the tensor before the call: `{RESOLVES.get(keys[0], 'x.clone()')}`."
        case _:
            return STEPS[step.kind]


STEPS = {
    StepKind.TO_DENSE: "Make the tensor dense before the call: `x.to_dense()`.",
    StepKind.NO_SPARSE_GRADIENT: "If it is the gradient of an embedding, make the embedding with `sparse=False`.",
    StepKind.TO_SPARSE: "Convert the tensor to the layout COO before the call: `x.to_sparse()`.",
    StepKind.DEQUANTIZE: (
        "Dequantize the tensor before the call: `x.dequantize()`; in a module, by a DeQuantStub before this layer."
    ),
    StepKind.QUANTIZE: (
        "Quantize the tensor before the call: `torch.quantize_per_tensor(...)`; in a module, by a QuantStub before "
        "this layer. Or use the layer that is not quantized."
    ),
    StepKind.PAD: "Make it dense before the call: `torch.nested.to_padded_tensor(x, 0)`.",
    StepKind.UNPACK: (
        "Or call it for each part, `x.unbind()`, or use `layout=torch.jagged`, which has more operators."
    ),
    StepKind.GIVE_DATA: (
        "If the tensor is meant to have data, its weights were not loaded, or were offloaded (`device_map`, "
        "`init_empty_weights`). Load them before the call."
    ),
    StepKind.KEEP_OUT: (
        "Under torch.compile or torch.export, keep the function that calls it out: `@torch.compiler.disable`."
    ),
    StepKind.INFERENCE_MODE: (
        "If no gradient is needed, call it under `torch.inference_mode()`, which leaves the autograd keys out; "
        "`torch.no_grad()` does not."
    ),
    StepKind.WITH_AUTOGRAD: "Call it outside of `torch.inference_mode()`; `torch.no_grad()` does no harm.",
    StepKind.NO_GRAD: (
        "If no gradient has to go through it, call it under `torch.no_grad()`, or with `x.detach()`. Else use another "
        "operator: what is trained through this one gets no gradient, or a wrong one."
    ),
    StepKind.NO_VMAP: (
        "Call the operator outside of vmap, with the batch as a dimension of its tensors, or write the loop."
    ),
    StepKind.SLOW_VMAP: (
        "Nothing has to be changed. If it is too slow, call the operator outside of vmap, with the batch as a "
        "dimension of its tensors."
    ),
    StepKind.ASK_AUTHOR: "A caller can change nothing about it. Show this text to the authors of the operator.",
    StepKind.WHOLE_TEXT: (
        "Explain the whole text of the error, if this is a part: it lists the backends that have a kernel, after "
        "'is only available for these backends'."
    ),
    StepKind.LOAD_DECLARED: (
        "Load the library that the files describe, in that version, before the call: it registers what is missing."
    ),
    StepKind.DROP_NAMES: "Drop the names before the call: `x.rename(None)`.",
}


def _tensor(place: ErrorPlace) -> str:
    """A tensor that brings the key."""
    device = _device(place, place.backend or "")
    if place.key == META:
        return "a meta or fake tensor, which has a shape and no data"
    if place.functionality == "Dense":
        return f"a tensor on {device}"
    kind = KINDS_OF_TENSORS.get(place.functionality)
    if kind is None:
        return f"a tensor of the key {place.key}"
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind} tensor on {device}"


def _tensors(place: ErrorPlace) -> str:
    kind = "" if place.functionality == "Dense" else f"{KINDS_OF_TENSORS.get(place.functionality, place.key)} "
    return f"{kind}tensors on {_device(place, place.backend)}" if place.backend else f"{kind}tensors"


def _device(place: ErrorPlace, backend: str) -> str:
    named = backend == "PrivateUse1" and place.backend_name is not None
    return f"{place.backend_name} (PrivateUse1)" if named else backend


def _type(place: ErrorPlace, backend: str) -> str:
    """The device's name in Python."""
    return place.backend_name or "privateuseone" if backend == "PrivateUse1" else backend.lower()


def _key(place: ErrorPlace) -> str:
    return place.key if place.backend_name is None else f"{place.key}, here named {place.backend_name}"


def _and(names: tuple[str, ...]) -> str:
    return " and ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])} and {names[-1]}"


def _or(names: tuple[str, ...]) -> str:
    return _and(names).replace(" and ", " or ")
