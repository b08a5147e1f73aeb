"""Conclusions about a slot where a call ended: what the text shows and the loaded state has there, facts, and steps.

General rules about kinds of keys, over what the text shows, and else over what the loaded state says.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from enum import Enum
from typing import NamedTuple

from dispatch_cli.answers.errors.messages import MESSAGES, NO_AUTOGRAD, NO_KERNEL, NOT_ON_DEVICE
from dispatch_cli.answers.errors.printed import PrintedTable, TextVersion
from dispatch_cli.answers.errors.read import ErrorText
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.state import State
from dispatch_cli.model.names import OperatorName, some_of
from dispatch_cli.model.universe import (
    AUTOGRAD,
    BACKEND_SELECT,
    META,
    UNDEFINED,
    UNNAMED_BACKEND,
    Universe,
    autograd_key_of,
)

EMPTY = OperatorName("aten::empty", "memory_format")
FACTORIES = frozenset({EMPTY, OperatorName("aten::empty_strided")})
"""Operators with kernels of every backend: they make its tensors."""
PIN_MEMORY = OperatorName("aten::_pin_memory")
"""Operator that is called for the device of its argument, and not of its tensor."""
MKLDNN = "MkldnnCPU"
"""The one key of a kind of CPU tensors that is not per backend."""
NO_KERNEL_RULES = (Rule.MISSING, Rule.FALLBACK, Rule.AMBIGUOUS, Rule.NOT_KNOWN)
"""The rules by which a slot has no kernel of the operator, or none that is known."""
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
OUTSIDE = ("PrivateUse1", "HPU", "XLA", "IPU", "VE", "MAIA")
"""The backends whose kernels packages outside of PyTorch bring."""
FOR_THE_CPU = re.compile(r"_caffe2::|image::(?!\w*cuda)|video_reader::|torchtext::|torchaudio(?:_sox::|::sox)")
"""Begins the names of operators of packages that are written for the CPU alone."""
LAYERS = re.compile(r"aten::.*(?:conv|linear|addmm|batch_norm|lstm|gru|prelu|embedding)")
"""The names of operators that are layers of models."""
DROPOUT = re.compile(r"aten::(?:bernoulli_\.float|(?:\w+_)?dropout)")
"""Begins the names of operators of dropout in training mode."""
OF_PHONES = ("Vulkan", "Metal")
"""Devices of one key, which PyTorch does not count as backends."""
RAISING_FALLBACKS = ("MPS", "XPU")
"""The backends of PyTorch with a fallback that raises, and which a variable of the environment lets go to the CPU."""
PACKAGES = {
    "DML": "torch_directml",
    "HPU": "habana_frameworks.torch",
    "XLA": "torch_xla",
    "musa": "torch_musa",
    "npu": "torch_npu",
}
"""The Python package of a backend that is not part of PyTorch, by its key or its name."""
OF_EVERY_BACKEND = frozenset({"copy_", "_copy_from", "fill_.Scalar", "add.out"})
"""Operators of PyTorch that packages of backends have, beside those that make tensors."""
FUNCTIONAL = frozenset({"add.Tensor", "add_.Tensor", "add.out", "mul.Tensor", "mul_.Tensor", "mul.out", "cat", "_cat"})
"""Operators of PyTorch that a module which is quantized has to call in another way."""
CHOSEN = re.compile(r"aten::(?:_?slow_conv|thnn_conv|\w*convolution|\w*batch_norm|\w*(?:lstm|gru|rnn))")
"""Begins the names of operators that PyTorch chooses by the devices of the tensors: others are for GPUs."""
REFUSING_RULES = "BatchRulesDynamic"
"""PyTorch's file of batching rules that only raise: they are of operators whose result depends on data."""
READS_DATA, SIZED_BY_DATA = "data_dependent_output", "dynamic_output_shape"
"""The tags of operators that need the data of tensors: of those that return values, or results of a size."""
SIZED_AT_META = ("aten::_ctc_loss", "aten::index", "aten::linalg_lstsq")
"""Operators with the second tag whose kernels at Meta need no data, or could do without."""
MANY = 6
"""Number of keys from which on only the first are named."""


class Case(NamedTuple):
    """Knowledge of the slot where a call ended.

    functionality: the kind of tensors that bring the key, or which part of a call it is. backend: their device; None
    for keys of no one device. backend_name: the name of PrivateUse1 in the text. over: the names of the loaded state.
    own: the given files define the operator. kernels: the backend keys with a kernel of the operator; None where that
    is not known. in_text: the text shows them. fallen: where there are none, the backends with a fallback, which may
    have moved the call to the CPU. pytorchs: the operator is PyTorch's own. rule: the rule of its slot in the state;
    None where the state lacks the operator. declared: a file of the user has that kernel. built: the state is of a
    build with that backend. factory: every backend has the operator. makes: the call is told where its result is to be.
    refuses: the batching rule of the state only raises. changes: the call may be in place. tags: its tags.
    """

    universe: Universe
    text: ErrorText
    operator: str
    key: str
    functionality: str
    backend: str | None
    backend_name: str | None
    over: str
    own: bool
    kernels: tuple[str, ...] | None
    in_text: bool
    fallen: tuple[str, ...]
    pytorchs: bool
    rule: Rule | None
    declared: bool
    built: bool
    factory: bool
    makes: bool
    refuses: bool
    changes: bool
    tags: tuple[str, ...]

    @property
    def reproduced(self) -> bool:
        """True if the state holds at the slot what the text says; of a fallback that raises, that it is there."""
        called = self.text.kind != NOT_ON_DEVICE or self.rule is not Rule.MISSING
        return called and self.rule in MESSAGES[self.text.kind].rules

    @property
    def is_sized_by_data(self) -> bool:
        """True if the size of a result depends on data, so that meta tensors are refused in every version."""
        is_tagged = SIZED_BY_DATA in self.tags and self.operator.partition(".")[0] not in SIZED_AT_META
        traced = {"fake", "faking", "compiling", "exporting"} & self.text.names.keys()
        return self.key == META and is_tagged and not traced

    @property
    def here(self) -> bool:
        """True if the state has a kernel there, where the text says that there is none.

        A kernel that calls other operators says nothing of a backend whose own kernels are elsewhere.
        """
        others = self.backend in OUTSIDE or self.key in OF_PHONES
        is_composite = self.rule is Rule.DEFAULT or (self.rule is Rule.MATH and self.is_backend)
        is_default = is_composite and others and not self.declared
        return self.rule is not None and self.rule not in NO_KERNEL_RULES and not is_default

    @property
    def is_renamed(self) -> bool:
        """True if the text has a name of PrivateUse1; the key of a fork has capital letters, and may be another one."""
        return self.backend_name is not None and not self.backend_name.isupper()

    @property
    def is_backend(self) -> bool:
        """True for a key that tensors of a device bring, and that is no part of a call above the kernels."""
        return self.key != UNDEFINED and autograd_key_of(self.universe, self.key) is not None

    def devices(self, functionality: str) -> tuple[str, ...]:
        """The backends, but Meta, where there is a kernel for tensors of one kind."""
        parts = (self.universe.runtime_parts[key] for key in self.kernels or ())
        return tuple(backend for kind, backend in parts if kind == functionality and backend not in (None, META))

    def other_kinds(self) -> tuple[str, ...]:
        """The kinds of tensors for which there are kernels on the same device."""
        if self.backend is None:
            return ()
        others = (key for key in self.kernels or () if key != self.key)
        same = (key for key in others if device_of(self.universe, key) == self.backend)
        return tuple(self.universe.runtime_parts[key][0] for key in same)


def case_of(
    state: State, name: OperatorName, key: str, text: ErrorText, shown: PrintedTable, backend: str | None
) -> Case:
    """The case of a text about a slot. backend: the text's name of PrivateUse1."""
    dispatcher = state.dispatcher
    universe, known = dispatcher.universe, name in dispatcher
    own = str(name) in {str(operator) for operator in state.own_operators()} and not is_pytorchs(state, name)
    definition = dispatcher.operator(name).definition if known else None
    table = dispatcher.table(name) if known else None
    entry = None if table is None else table[key]
    rule = dispatcher.operator(name).live[key].rule if known else None
    rules, kernels = shown.lines, shown.kernels(universe)
    in_text = kernels is not None
    if not in_text and table is not None and rule in MESSAGES[text.kind].rules:
        rules = {slot: table[slot].rule for slot in universe.runtime if autograd_key_of(universe, slot) is not None}
        kernels = tuple(slot for slot, of in rules.items() if of not in NO_KERNEL_RULES)
    moved = shown.fallbacks(universe) if key == "CPU" and is_pytorchs(state, name) else set()
    # a default kernel calls others, which tensors of another kind than dense mostly lack
    other = {
        slot
        for slot, of in rules.items()
        if of is Rule.DEFAULT and universe.runtime_parts.get(slot, (DENSE,))[0] != DENSE
    }
    kernels = kernels and tuple(
        slot for slot in kernels if slot not in other and device_of(universe, slot) not in moved
    )
    base, _, overload = str(name).partition(".")
    in_place = re.compile(rf"{re.escape(base)}_(?:\.|$)")
    declared = entry is not None and (not state.over or (entry.kernel is not None and entry.kernel.span is not None))
    return Case(
        universe=universe,
        text=text,
        operator=str(name),
        key=key,
        functionality=UNDEFINED if key == UNDEFINED else universe.runtime_parts[key][0],
        backend=device_of(universe, key),
        backend_name=backend or (None if universe.backend_name == UNNAMED_BACKEND else universe.backend_name),
        over=" with ".join(state.over) if state.over and not own else "The state of the given files",
        own=own,
        kernels=kernels,
        in_text=in_text,
        fallen=tuple(sorted(moved)) if kernels in ((), (META,)) else (),
        pytorchs=is_pytorchs(state, name),
        rule=rule,
        declared=declared,
        built=is_built(state, device_of(universe, key)),
        factory=name in FACTORIES,
        makes=(table is not None and BACKEND_SELECT in table.active) or name == PIN_MEMORY,
        refuses=entry is not None and entry.kernel is not None and REFUSING_RULES in entry.kernel.debug,
        changes=base.endswith("_") or (overload.endswith("out") and any(map(in_place.match, dispatcher.names()))),
        tags=() if definition is None else definition.tags,
    )


def device_of(universe: Universe, key: str) -> str | None:
    """The backend of a key's tensors; None for keys of no one device."""
    return "CPU" if key == MKLDNN else None if key == UNDEFINED else universe.runtime_parts[key][1]


def is_built(state: State, backend: str | None) -> bool:
    """True if the state has a backend: it can make tensors of it."""
    is_there = backend in state.dispatcher.universe.backends and EMPTY in state.dispatcher
    return is_there and state.dispatcher.table(EMPTY)[backend or ""].rule is Rule.KERNEL


def is_pytorchs(state: State, name: OperatorName) -> bool:
    """True for an operator of PyTorch, and not of a library or a file, by its namespace.

    prim is TorchScript's; the others named here are in some builds or versions only.
    """
    own = {str(name), *map(str, state.own_operators())}
    names = (other for other in state.dispatcher.names() if other not in own) if state.over else ()
    of_pytorch = re.match(r"(?:aten|prim|prepacked|xnnpack|(?:metal|vulkan)(?:_prepack)?|c10d_functional)::", str(name))
    return of_pytorch is not None or any(other.startswith(f"{name.namespace}::") for other in names)


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
    these backend keys only; nowhere: at none. tensors: a tensor brings the key; makes: the call is to make such a
    tensor; no-tensors: no key of a backend was left for the call. not-built, pytorch-not-built: the operator's package,
    or PyTorch, was built without this backend. no-extension: the compiled part of the package is missing. not-loaded:
    nothing has registered kernels of this backend. left-out: the build has selected operators. not-written: nobody
    wrote this kernel. other-layout: on this device there are kernels for these kinds of tensors only. no-data: the
    operator reads data, which these tensors lack. here: the state has a kernel there. handled: another error came while
    this one was handled. versions: the embedded versions that define the operator.
    """

    kind: str
    keys: tuple[str, ...]
    proof: Proof
    text: str


NOT_BUILT, NO_DATA = "pytorch-not-built", "no-data"
NO_REGISTRATION_HELPS = frozenset({NOT_BUILT, NO_DATA, "misused", "hip", "of_fallback"})
"""The kernel is written, and this PyTorch lacks it; the operator reads data that is missing; or the call is wrong."""
LIKELY = {
    "not-built": "the package that has {operator} was built without {device}",
    NOT_BUILT: "this PyTorch was built without {device}",
    "no-extension": "the package was built without it, as for another GPU, or the part that has it is not loaded",
    "left-out": "this build leaves {operator} out, as one for phones with the operators of one model does, or this "
    "PyTorch is older than the kernel",
    "not-loaded": "the kernels of {device} are not loaded in this process, made for another PyTorch, or not written",
    "not-written": "nobody has written {operator} for {tensors} yet",
}
"""The usual reasons why a kernel is missing, by the kind of the fact."""


def facts(case: Case) -> Iterator[Fact]:
    """Facts, most certain first."""
    if case.key == UNDEFINED:
        why = "a list of tensors was empty, all were undefined or None, or they were in a list of lists"
        yield Fact("no-tensors", (), Proof.TEXT, f"The call got no tensor: {why}.")
        return
    if case.is_backend:
        is_known = case.kernels is not None and (case.in_text or case.built)
        if is_known and not case.fallen and case.key not in (case.kernels or ()):
            yield _kernels(case)
        kind, verb = ("makes", "creates") if case.makes else ("tensors", "was made with")
        if case.operator == str(PIN_MEMORY):
            verb = "pins memory of the CPU, for"
        whose = ", a backend whose kernels a package outside of PyTorch brings" if case.backend in OUTSIDE else ""
        yield Fact(kind, (case.key,), Proof.TEXT, f"The call {verb} {_tensor(case)}{whose}.")
    if "Batched" in case.key and (case.refuses or READS_DATA in case.tags):
        why = f"What {case.operator} returns depends on data, and under vmap a tensor has the data of a whole batch"
        yield Fact(NO_DATA, (case.key,), Proof.STATE, f"{why}: a rule can only refuse.")
        return
    if case.key == META and READS_DATA in case.tags:
        reads = f"{case.operator} reads the data of a tensor, as `x.item()`, `if x:` and printing do"
        lacks = "These tensors have no data, so it cannot work for them, nor have a fake implementation (abstract impl)"
        yield Fact(NO_DATA, (META,), Proof.STATE, f"{reads}. {lacks}.")
        return
    if case.is_sized_by_data:
        why = f"The size of what {case.operator} returns depends on data, which meta tensors do not have"
        yield Fact(NO_DATA, (META,), Proof.STATE, f"{why}: no version of PyTorch runs it for them by default.")
        return
    reasons = [*_reason(case)] if case.is_backend and case.key != META else []
    yield from reasons
    is_default = case.rule is Rule.DEFAULT and not case.declared and case.key != META
    if case.here and not is_default and all(reason.kind != NOT_BUILT for reason in reasons):
        yield _here(case)


def _kernels(case: Case) -> Fact:
    """The keys of backends at which there is a kernel."""
    build, proof = ("This build", Proof.TEXT) if case.in_text else (case.over, Proof.STATE)
    kernels = case.kernels or ()
    if all(key == META for key in kernels):
        return Fact("nowhere", (), proof, f"{build} has no kernel of {case.operator} for any device.")
    key = f"{case.key}, here named {case.backend_name}" if case.is_renamed else case.backend_name or case.key
    there = some_of(kernels) if len(kernels) > MANY else _and(kernels)
    text = f"{build} has kernels of {case.operator} at {there}, and none at {key}."
    return Fact("only-at", kernels, proof, text)


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
    is_known = case.built or case.own  # of other builds and packages the text proves nothing
    if case.fallen or backend == "HIP" or (backend == "XPU" and case.operator.startswith("torchvision::")):
        return None
    creates = case.makes and case.pytorchs and backend not in (None, "CPU")
    if creates and not (case.here or kinds or case.factory):
        return None  # the device may be missing: nothing shows a kernel or a tensor
    if backend is None or case.functionality != DENSE:
        if backend is None and case.factory and not case.here:
            return NOT_BUILT
        return None if case.here or kinds or not is_known else "not-written"
    if case.own and not case.in_text:
        return "not-written"  # the files that define it have no such kernel
    if case.kernels is None:
        if case.text.kind != NO_KERNEL:
            return None
    elif kinds or case.key in case.kernels:
        return None
    if (case.factory or creates) and backend != "CPU":
        return NOT_BUILT if backend in IN_BUILDS else "not-loaded"
    if backend == "PrivateUse1" and case.operator.removeprefix("aten::") in OF_EVERY_BACKEND:
        return "not-loaded"
    if case.pytorchs:  # there are tensors of the device, so PyTorch was built for it
        if case.kernels is not None:
            return None if case.here or not is_known or _is_elsewhere(case) else "not-written"
        return "left-out" if backend == "CPU" and case.here else None
    if not others and (case.kernels is not None or backend == "CPU"):
        return "no-extension"
    if backend in ("CPU", *OUTSIDE) or FOR_THE_CPU.match(case.operator):
        return "not-written" if case.own else None
    return "not-built" if case.kernels is not None or backend in IN_BUILDS else None


def _likely(case: Case, kind: str) -> Fact:
    """A conclusion that may be wrong, and says so."""
    device = _device(case, case.backend or case.key)
    keys = (case.key if kind == "not-written" else case.backend or case.key,)
    text = LIKELY[kind].format(operator=case.operator, device=device, tensors=_tensors(case))
    return Fact(kind, keys, Proof.LIKELY, f"Probably {text}.")


def _here(case: Case) -> Fact:
    """The state has what the text says is missing."""
    what = "batching rule" if "Batched" in case.key else "kernel"
    calls = ", which gives shapes only" if case.key == META else ""
    who = "The files that are given declare" if case.declared else f"{case.over} has"
    return Fact("here", (case.key,), Proof.STATE, f"{who} a {what} there{calls}.")


def details(case: Case, kinds: Collection[str], newer: str | None, version: TextVersion) -> Iterator[tuple[str, str]]:
    """Conditions for the advice on slots in `messages.txt`, and names for its sentences.

    kinds: those of the facts. newer: the first PyTorch, newer than the text as far as that is known, with the missing
    kernel.
    """
    backend, kind, functionality = case.backend or case.key, case.text.kind, case.functionality
    is_backend = case.is_backend and case.key != META
    is_dense = functionality == DENSE
    of_kind = case.devices(functionality if case.backend else DENSE)
    devices = tuple(device for device in of_kind if device != case.backend and is_backend)
    not_on_cpu = kind == NOT_ON_DEVICE and case.kernels is not None and "CPU" not in of_kind
    to = ("CPU",) if "CPU" in devices else () if kind == NOT_ON_DEVICE else devices
    there = {DENSE} if case.kernels is None else {*case.other_kinds()}
    # what makes a dense tensor is in every build; of a quantized one, the kernel of empty_strided refuses it
    if newer is not None and not (case.factory and functionality in (DENSE, QUANTIZED)) and NO_DATA not in kinds:
        yield "newer", newer
        kernel = "the missing kernel, which gives shapes only" if case.key == META else "the missing kernel"
        yield "missing", "a batching rule there" if "Batched" in case.key else kernel
    elif (case.backend in OUTSIDE and "not-loaded" not in kinds) or (
        case.pytorchs and (kind == NOT_ON_DEVICE or (is_backend and not (case.built or case.here or case.factory)))
    ):
        yield "unwritten", ""
    if case.fallen:
        yield from (("of_fallback", ""), ("only_on", _or(tuple(_device(case, device) for device in case.fallen))))
    if to and case.makes:
        yield from (("created_on", _or(to)), ("created_by", _type(case, to[0])))
    elif to:
        yield "moved_to", _or(tuple(_device(case, device) for device in to))
        yield "moved_by", " or ".join(f"`x.to('{_type(case, device)}')`" for device in to[:2])
    elif is_backend and case.kernels and not (case.other_kinds() or case.makes or case.here):
        parts = (case.universe.runtime_parts[key] for key in case.kernels if key != META)
        tensors = {
            f"{KINDS_OF_TENSORS.get(of, of)} tensors on {_device(case, device)}" for of, device in parts if device
        }
        if tensors:
            yield "only_for", _or(tuple(sorted(tensors)))
    if functionality == QUANTIZED and case.operator.removeprefix("aten::") in FUNCTIONAL:
        method = case.operator.removeprefix("aten::").partition(".")[0].strip("_")
        yield "functional", "cat([x, y])" if method == "cat" else f"{method}(x, y)"
    if (package := PACKAGES.get(backend) or PACKAGES.get(case.backend_name or "")) is not None:
        yield "package", package
    if step := re.match(r"aten::_(foreach|fused)_", case.operator):
        yield "option", step[1]
    yield from (("device", _device(case, backend)), ("backend", backend))
    of_kernels = {case.universe.runtime_parts[key][0] for key in case.kernels or ()}
    is_of_sparse = bool(case.kernels) and of_kernels <= {SPARSE, CSR}
    of_call = is_backend and not case.makes
    below = case.kernels is None or case.key in {autograd_key_of(case.universe, slot) for slot in case.kernels}
    is_gradient = case.makes or "of_gradient" in case.text.names
    is_sync = case.operator == "c10d::broadcast_"  # of the parameters of a module, by FSDP and DDP
    is_eager = not {"fake", "compiling", "exporting", "faking", "item"} & case.text.names.keys()
    is_asked = "no_weights" not in case.text.names if case.is_sized_by_data else kind == NO_KERNEL or is_sync
    conditions = {
        **dict.fromkeys((kind.replace("-", "_") for kind in kinds), True),
        "declared": case.declared,
        "changes": case.changes,
        "vision_on_xpu": backend == "XPU" and case.operator.startswith("torchvision::"),
        "older": version.older_than_all or version.nearest is not None,
        "on_mac": "MPS" in case.devices(DENSE),
        "for_cuda": backend == "CUDA",
        "of_mac": backend == "MPS",
        "other_than_cpu": case.backend not in (None, "CPU"),
        "of_pytorch": case.pytorchs,
        "to_cpu": is_backend and functionality == QUANTIZED and backend != "CPU",
        "outside": case.backend in OUTSIDE,
        "of_layer": LAYERS.match(case.operator),
        "sized": case.is_sized_by_data,
        "of_phones": case.key in OF_PHONES,
        "of_dropout": DROPOUT.match(case.operator),
        "eager_meta": case.key == META and (is_sync or case.operator.startswith("aten::")) and is_eager and is_asked,
        "elsewhere": kind == NO_KERNEL and _is_elsewhere(case),
        "hip": case.key == "HIP" and case.makes,
        "on_cpu": of_call and (is_dense or case.key in OF_PHONES) and backend != "CPU" and case.kernels is None,
        "raising": kind == NOT_ON_DEVICE and case.key in RAISING_FALLBACKS and not not_on_cpu,
        "whole_module": not_on_cpu,
        "sparse": of_call and functionality in (SPARSE, CSR, MKLDNN),
        "quantized": is_backend and functionality == QUANTIZED,
        "nested": (of_call and functionality == NESTED) or case.key == autograd_key_of(case.universe, f"{NESTED}CPU"),
        "dense": of_call and is_dense,
        "coo": is_backend and functionality == SPARSE and not case.factory and is_gradient,
        "misused": of_call and is_dense and (QUANTIZED in there or is_of_sparse),
        "only_sparse": of_call and is_dense and is_of_sparse,
        "compressed": functionality == CSR and (case.makes or SPARSE in there),
        "made_sparse": case.makes and functionality in (SPARSE, CSR, MKLDNN),
        "dense_there": DENSE in there,
        "quantized_there": QUANTIZED in there,
        "at_meta": case.key == META,
        "at_autograd": case.key in case.universe.covered_by(AUTOGRAD) and kind != NO_AUTOGRAD and below,
    }
    yield from ((name, "") for name, holds in conditions.items() if holds)


def _is_elsewhere(case: Case) -> bool:
    """True for an operator of the CPU that PyTorch chose although a tensor is on a GPU: another one is on the CPU.

    On MPS convolutions in three dimensions came later, so that a text about these proves nothing.
    """
    only_cpu = case.kernels is None or case.devices(DENSE) == ("CPU",)
    is_own = case.key == "CUDA" or (case.key in IN_BUILDS and "conv2d" in case.operator)
    return is_own and only_cpu and not case.here and CHOSEN.match(case.operator) is not None


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
    if backend != "PrivateUse1" or case.backend_name is None:
        return backend
    return f"{case.backend_name} (PrivateUse1)" if case.is_renamed else case.backend_name


def _type(case: Case, backend: str) -> str:
    """The device's name in Python."""
    return case.backend_name or "privateuseone" if backend == "PrivateUse1" else backend.lower()


def _and(names: tuple[str, ...]) -> str:
    return " and ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])} and {names[-1]}"


def _or(names: tuple[str, ...]) -> str:
    return _and(names).replace(" and ", " or ")
