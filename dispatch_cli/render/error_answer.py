"""The wording of an error answer: its facts, and the steps for a user of the operator, are enums in the report."""

from __future__ import annotations

from dispatch_cli.model.universe import META
from dispatch_cli.render.words import some_of
from dispatch_cli.report.error_facts import MKLDNN, ErrorFact, ErrorPlace, ErrorStep, FactKind, StepKind
from dispatch_cli.report.error_reasons import IN_BUILDS

KINDS_OF_TENSORS = {
    "Dense": "dense",
    "Sparse": "sparse (COO)",
    "SparseCsr": "sparse (compressed, such as CSR)",
    "Quantized": "quantized",
    "NestedTensor": "nested",
    MKLDNN: "oneDNN (MKL-DNN)",
}
PARTS_OF_CALLS = {
    "Autograd": "which records gradients",
    "Autocast": "which autocast adds to a call",
    "FuncTorch": "which torch.func adds to a call",
    "Batched": "which vmap adds to a call",
    "Functionalize": "which functionalization adds to a call",
    "Python": "at which tensor subclasses and modes get a call",
    "Conjugate": "which a lazily conjugated tensor adds to a call",
    "Negative": "which a lazily negated tensor adds to a call",
    "ZeroTensor": "which a zero tensor without memory adds to a call",
    "Named": "which a tensor with named dimensions adds to a call",
}
"""What adds a key to a call, by how its name begins."""
PACKAGES = {"XLA": "torch_xla", "HPU": "habana_frameworks.torch"}
"""The Python package of a backend that is not part of PyTorch."""
VENDORS = {"HIP": "AMD's GPUs (HIP)", "CUDA": "NVIDIA's GPUs (CUDA)"}
RESOLVES = {"Conjugate": "x.resolve_conj()", "Negative": "x.resolve_neg()"}
MANY = 6
"""From this many keys on, only the first are named."""


def fact_text(fact: ErrorFact) -> str:
    """A fact as a sentence."""
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
                "It has kernels only at autograd keys: a call fails where these are excluded, as in inference mode "
                "and below an autograd kernel."
            )
        case FactKind.TENSORS:
            return f"The call was made with {_tensor(place)}."
        case FactKind.MAKES:
            return f"The call creates {_tensor(place)}."
        case FactKind.NO_TENSORS:
            empty = "a list of tensors was empty"
            why = f"{_and(keys)}, {empty}" if keys else f"{empty}, or {place.operator} takes no tensor"
            return f"The call had no tensor among its arguments: {why}."
        case FactKind.TAKES_NO_TENSORS:
            return f"{place.operator} takes no tensor, so no argument of a call chooses the backend."
        case FactKind.ELSEWHERE:
            return (
                f"{place.over} has kernels of it for {_and(keys)}: it is an operator for tensors there, and this build "
                f"is probably one without {_or(keys)}."
            )
        case FactKind.NO_DATA:
            return (
                f"{place.operator} reads the data of a tensor, as `x.item()`, `if x:` and printing do. These tensors "
                "have no data, so it cannot work for them."
            )
        case FactKind.SIZE_OF_DATA:
            return f"The size of the result of {place.operator} depends on the data of a tensor, and there is no data."
        case FactKind.OTHER_LAYOUT:
            kinds = _and(tuple(dict.fromkeys(KINDS_OF_TENSORS.get(one, one) for one in keys)))
            return f"On {_device(place, place.backend or '')} it has kernels for {kinds} tensors."
        case FactKind.DISPLACED:
            return (
                f"Probably a backend or another package registered a kernel for {place.operator} at {_or(keys)}. It "
                f"displaces the math kernel (CompositeImplicitAutograd), which fills {place.key} in {place.over}."
            )
        case FactKind.HERE:
            return f"{place.over} has a {'batching rule' if 'Batched' in place.key else 'kernel'} there."
        case FactKind.HERE_DECLARED:
            return "The files that are given declare a kernel there."
        case FactKind.NO_GRADIENT:
            return (
                "The operator itself ran, and no autograd kernel computes its gradient: there is only that of the "
                "operators that its kernel calls, if any."
            )
        case FactKind.LOOPS:
            return (
                f"vmap has no rule for {place.operator}, so it calls the operator once for each element of the batch. "
                "The result is right, but this is slow."
            )
        case FactKind.CAN_NOT_LOOP:
            return f"vmap has no rule for {place.operator}, and cannot call it in a loop over the batch."
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
            return f"Probably the backend {device} is not loaded: no kernel in this process creates tensors on it."
        case FactKind.NOT_WRITTEN:
            return f"Probably nobody has written {place.operator} for {_tensors(place)} yet."
        case FactKind.NO_BACKEND:
            why = f"this PyTorch was built without {device}" if device in IN_BUILDS else f"{device} is not loaded"
            return f"Probably {why}, or nobody has written {place.operator} for {_tensors(place)} yet."
        case _:
            raise AssertionError(f"no wording for {kind}")


def step_text(step: ErrorStep) -> str:
    """A step as sentences."""
    place, keys = step.place, step.keys
    devices = tuple(_device(place, key) for key in keys)
    match step.kind:
        case StepKind.INSTALL_BUILD:
            return (
                f"Install a build of the package for {_and(devices)} that was made for the installed PyTorch: the two "
                "versions must match."
            )
        case StepKind.LOAD_EXTENSION:
            for_ = f" for {_and(devices)}" if devices else ""
            return (
                f"Install or build the package again{for_}, for the installed PyTorch. A warning at its import may "
                "say why its compiled part was not loaded."
            )
        case StepKind.INSTALL_PYTORCH:
            only = " Builds with MPS are for macOS only." if "MPS" in keys else ""
            return f"Install a build of PyTorch for {_and(devices)}: https://pytorch.org/get-started/locally/.{only}"
        case StepKind.ONLY_ON:
            there = _or(devices)
            return f"Call it with tensors on {there}, in a build for {there}; for other tensors use another operator."
        case StepKind.IMPORT_MODULE:
            return f"Import the Python module that has its fake implementation before the call: `import {keys[0]}`."
        case StepKind.IMPORT_BACKEND:
            package = next((PACKAGES[key] for key in keys if key in PACKAGES), None)
            named = f", `import {package}`," if package else ""
            return f"Import the package of the backend {_and(devices)}{named} before the first tensor is created."
        case StepKind.MOVE:
            calls = " or ".join(f"`x.to('{_type(place, key)}')`" for key in keys[:2])
            return f"Move the tensors to {_or(devices)} for this call: {calls}."
        case StepKind.MAKE_ON:
            return f"Create the tensor on {_or(devices)}: `device='{_type(place, keys[0])}'`."
        case StepKind.UPGRADE if step.sure:
            return f"Install a newer PyTorch: {place.over} has the missing kernel."
        case StepKind.UPGRADE:
            return "Try a newer PyTorch, and a newer package of the backend: kernels are added in each release."
        case StepKind.DEVICE_FALLBACK:
            return (
                f"Set the environment variable PYTORCH_ENABLE_{keys[0]}_FALLBACK=1 before torch is imported: the CPU "
                f"then runs the operators that {keys[0]} cannot, which is slower."
            )
        case StepKind.ONE_DEVICE:
            return (
                f"Check that all tensors of the call, weights too, are on {_device(place, place.backend or '')}: if "
                "some are on another device, PyTorch may choose an operator that does not support it."
            )
        case StepKind.NOT_EMPTY:
            if not keys:
                return "If the argument is an empty list of tensors, skip the call in this case."
            return f"Find out why {_and(keys)} is empty, and skip the call in this case."
        case StepKind.NO_AUTOCAST:
            return (
                f"Turn autocast off around the call: `with torch.autocast('{_type(place, keys[0])}', enabled=False):`."
            )
        case StepKind.RESOLVE:
            return f"Materialize the tensor before the call: `{RESOLVES.get(keys[0], 'x.clone()')}`."
        case _:
            return STEPS[step.kind]


STEPS = {
    StepKind.GIVE_REGISTRATIONS: (
        "To see which registration it is, load it here: `dispatch-cli capture --import PACKAGE -o state.json.gz`, then "
        "`dispatch-cli explain --from-error FILE state.json.gz`; or give your declarations."
    ),
    StepKind.TO_DENSE: "Make the tensor dense before the call: `x.to_dense()`.",
    StepKind.NO_SPARSE_GRADIENT: "If it is the gradient of an embedding, create the embedding with `sparse=False`.",
    StepKind.TO_SPARSE: "Convert the tensor to the layout COO before the call: `x.to_sparse()`.",
    StepKind.DEQUANTIZE: (
        "Dequantize the tensor before the call: `x.dequantize()`; in a module, with a DeQuantStub before this layer."
    ),
    StepKind.QUANTIZE: (
        "Quantize the tensor before the call: `torch.quantize_per_tensor(...)`; in a module, with a QuantStub before "
        "this layer. Or use a layer that is not quantized."
    ),
    StepKind.PAD: "Make it dense before the call: `torch.nested.to_padded_tensor(x, 0)`.",
    StepKind.UNPACK: (
        "Or call it for each part, `x.unbind()`, or use `layout=torch.jagged`, which has more operators."
    ),
    StepKind.GIVE_DATA: (
        "If the tensor should have data: its weights were not loaded, or were offloaded (`device_map`, "
        "`init_empty_weights`). Load them before the call."
    ),
    StepKind.KEEP_OUT: (
        "Under torch.compile or torch.export, exclude the function that calls it: `@torch.compiler.disable`."
    ),
    StepKind.INFERENCE_MODE: (
        "If no gradient is needed, call it under `torch.inference_mode()`, which excludes the autograd keys; "
        "`torch.no_grad()` does not."
    ),
    StepKind.WITH_AUTOGRAD: "Call it outside of `torch.inference_mode()`; you can use `torch.no_grad()` instead.",
    StepKind.NO_GRAD: (
        "If you need no gradient through it, call it under `torch.no_grad()`, or with `x.detach()`. Else compare the "
        "gradient with that of another operator: if its kernel calls no differentiable operators, parameters that are "
        "trained through it get none, or a wrong one."
    ),
    StepKind.NO_VMAP: (
        "Call the operator outside of vmap, with the batch as a dimension of its tensors, or write the loop."
    ),
    StepKind.SLOW_VMAP: (
        "You do not have to change anything. If it is too slow, call the operator outside of vmap, with the batch as a "
        "dimension of its tensors."
    ),
    StepKind.ASK_AUTHOR: "A caller cannot fix this. Show this text to the authors of the operator.",
    StepKind.WHOLE_TEXT: (
        "If this is only a part of the error text, explain all of it: the list after 'is only available for these "
        "backends' shows which backends have a kernel."
    ),
    StepKind.LOAD_DECLARED: (
        "Before the call, load the library that the files describe, in the same version: it registers the missing "
        "kernel."
    ),
    StepKind.DROP_NAMES: "Drop the names before the call: `x.rename(None)`.",
}


def _tensor(place: ErrorPlace) -> str:
    """A tensor that adds the key to a call."""
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
