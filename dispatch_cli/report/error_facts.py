"""The kinds of facts and steps in the answer to an error text, and the case that they are concluded from."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from dispatch_cli.model.universe import META, UNDEFINED, Universe
from dispatch_cli.report.messages.kinds import TextKind
from dispatch_cli.report.printed_version import Fit


class FactKind(Enum):
    """A kind of fact; the value is the name in machine formats.

    ONLY_AT: the operator has kernels at these backend keys only; ONLY_AT_BUT_META: it is not known of Meta.
    NOWHERE: at no backend key. AUTOGRAD_ONLY: it has them at autograd keys, and at no backend key.
    TENSORS: a tensor brings the key; MAKES: the call is to make such a tensor.
    NO_TENSORS: the call has no tensor; the keys are names of lists, where the operator's schema is known.
    TAKES_NO_TENSORS: the call has none because the operator takes none.
    ELSEWHERE: the compared state has kernels for these other backends, which the text's build lacks.
    NOT_BUILT, PYTORCH_NOT_BUILT: the package that has the operator, or PyTorch, was built without this backend.
    NO_EXTENSION: the package was built without any kernels, or they were not loaded. OTHER_VENDOR: it was built for
    the first backend, and the tensors are of the second. NOT_LOADED: nothing has registered this backend.
    NOT_WRITTEN: the backend is there, and nobody wrote this kernel. NO_BACKEND: that, or this build lacks the backend,
    or its package is not loaded; nothing shows which.
    OTHER_LAYOUT: on this device it has kernels for these kinds of tensors, and not for this one.
    NO_DATA: the operator reads data, which these tensors do not have. SIZE_OF_DATA: the size of its result does.
    DISPLACED: in the compared state the slot has the math kernel, and a kernel at one of these keys would displace it.
    HERE: the compared state has a kernel there; HERE_DECLARED: one that a file of the user declares.
    NOT_REACHED: the call ends at the first key, before it gets to a kernel at the second.
    NO_GRADIENT: the operator runs, and no gradient goes through it. LOOPS: vmap has no rule for it, and would call it
    once for each element of the batch; CAN_NOT_LOOP: nor can it do that.
    """

    ONLY_AT = "only-at"
    ONLY_AT_BUT_META = "only-at-but-meta"
    NOWHERE = "nowhere"
    AUTOGRAD_ONLY = "autograd-only"
    TENSORS = "tensors"
    MAKES = "makes"
    NO_TENSORS = "no-tensors"
    TAKES_NO_TENSORS = "takes-no-tensors"
    ELSEWHERE = "elsewhere"
    NOT_BUILT = "not-built"
    PYTORCH_NOT_BUILT = "pytorch-not-built"
    NO_EXTENSION = "no-extension"
    OTHER_VENDOR = "other-vendor"
    NOT_LOADED = "not-loaded"
    NOT_WRITTEN = "not-written"
    NO_BACKEND = "no-backend"
    OTHER_LAYOUT = "other-layout"
    NO_DATA = "no-data"
    SIZE_OF_DATA = "size-of-data"
    DISPLACED = "displaced"
    HERE = "here"
    HERE_DECLARED = "here-declared"
    NOT_REACHED = "not-reached"
    NO_GRADIENT = "no-gradient"
    LOOPS = "loops"
    CAN_NOT_LOOP = "can-not-loop"


KERNELS_ELSEWHERE = (FactKind.ELSEWHERE, FactKind.PYTORCH_NOT_BUILT)
"""The kernel is written, and the build lacks it: no registration helps."""


class ErrorPlace(NamedTuple):
    """Where a call ended.

    functionality: the kind of tensors that bring the key, or which part of a call it is. backend: their device; None
    for keys of no one device. backend_name: what the text calls PrivateUse1. over: the state that is compared.
    """

    operator: str
    key: str
    functionality: str
    backend: str | None
    backend_name: str | None
    over: str


class ErrorFact(NamedTuple):
    """One fact.

    probable: it is a conclusion, and something else may be the reason. in_text: the text shows it; else it is so in the
    state that is compared.
    """

    place: ErrorPlace
    kind: FactKind
    keys: tuple[str, ...]
    probable: bool = False
    in_text: bool = True


class StepKind(Enum):
    """What a user can do; the value is the name in machine formats."""

    GIVE_REGISTRATIONS = "give-registrations"
    INSTALL_BUILD = "install-build"
    LOAD_EXTENSION = "load-extension"
    INSTALL_PYTORCH = "install-pytorch"
    IMPORT_BACKEND = "import-backend"
    MOVE = "move"
    MAKE_ON = "make-on"
    UPGRADE = "upgrade"
    LOAD_DECLARED = "load-declared"
    DEVICE_FALLBACK = "device-fallback"
    ONE_DEVICE = "one-device"
    TO_DENSE = "to-dense"
    NO_SPARSE_GRADIENT = "no-sparse-gradient"
    TO_SPARSE = "to-sparse"
    DEQUANTIZE = "dequantize"
    QUANTIZE = "quantize"
    PAD = "pad"
    UNPACK = "unpack"
    GIVE_DATA = "give-data"
    KEEP_OUT = "keep-out"
    NOT_EMPTY = "not-empty"
    ASK_AUTHOR = "ask-author"
    ONLY_ON = "only-on"
    IMPORT_MODULE = "import-module"
    WHOLE_TEXT = "whole-text"
    INFERENCE_MODE = "inference-mode"
    WITH_AUTOGRAD = "with-autograd"
    NO_GRAD = "no-grad"
    NO_AUTOCAST = "no-autocast"
    NO_VMAP = "no-vmap"
    SLOW_VMAP = "slow-vmap"
    RESOLVE = "resolve"
    DROP_NAMES = "drop-names"


class ErrorStep(NamedTuple):
    """One step that can help.

    keys: to which device, for which backend; or names of arguments or of a module. sure: the compared
    state has what is missing.
    """

    place: ErrorPlace
    kind: StepKind
    keys: tuple[str, ...] = ()
    sure: bool = False


MKLDNN = "MkldnnCPU"
"""The one key of a kind of CPU tensors that is not per backend."""


class ErrorCase(NamedTuple):
    """What is known of the slot where a call ended.

    kernels: the backend keys with a kernel of the operator; None where that is not known. in_text: the text shows them.
    meta: whether it has one at Meta is not known. autograd: the text shows a kernel at autograd keys.
    pytorchs: the operator is PyTorch's own. here: the compared state has a kernel at the key, where the text says that
    there is none; declared: a file of the user declares it. displacing: the keys whose
    kernels would displace it. built: the compared state is of a build with that backend.
    factory: every backend has the operator, since it makes tensors. makes: it is told where its result is to be.
    fit: how the text fits the version of the compared state. lists: the operator's arguments that are lists of tensors.
    tags: its tags. takes_none: it has no argument that may be a tensor. elsewhere: other backends for whose dense
    tensors the compared state has a kernel, and the text shows none. fake: the text is about fake tensors.
    loops: it is a warning that vmap calls the operator in a loop. module: the Python module that it says to import.
    """

    universe: Universe
    kind: TextKind
    place: ErrorPlace
    kernels: tuple[str, ...] | None
    in_text: bool
    meta: bool
    autograd: bool
    pytorchs: bool
    here: bool
    declared: bool
    displacing: tuple[str, ...]
    built: bool
    factory: bool
    makes: bool
    fit: Fit
    lists: tuple[str, ...]
    tags: tuple[str, ...]
    takes_none: bool
    elsewhere: tuple[str, ...]
    fake: bool
    loops: bool
    module: str | None

    def devices(self, functionality: str) -> tuple[str, ...]:
        """The backends, but Meta, where there is a kernel for tensors of one kind."""
        parts = self.universe.runtime_parts
        found = (parts[key] for key in self.kernels or ())
        return tuple(backend for kind, backend in found if kind == functionality and backend not in (None, META))

    def other_kinds(self) -> tuple[str, ...]:
        """The kinds of tensors for which there are kernels on the same device."""
        key, backend = self.place.key, self.place.backend
        if backend is None:
            return ()
        found = (one for one in self.kernels or () if one != key and device_of(self.universe, one) == backend)
        return tuple(self.universe.runtime_parts[one][0] for one in found)


def device_of(universe: Universe, key: str) -> str | None:
    """The backend of a key's tensors; None for keys of no one device."""
    return "CPU" if key == MKLDNN else None if key == UNDEFINED else universe.runtime_parts[key][1]
