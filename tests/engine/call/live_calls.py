"""Call random operators on a live PyTorch, and say which kernels ran, with which key sets, and how it ended.

usage: PYTHON live_calls.py < ASKED   (run with the Python that has PyTorch)

ASKED: operators, each with a schema, kernels [key, what, goes] in order, and calls, each with tensors, contexts and the
options of a factory (as the package writes them) and perhaps a key set to redispatch with.
custom: whether the operator is made by `torch.library.custom_op`, before those kernels.
what: kernel, fallthrough, python (for the Python dispatcher) or vmap (by `torch.library.register_vmap`).
goes: how the kernel goes on, as a declaration says it; null for the way of most kernels at its key: it redispatches
below its own key, at BackendSelect by the options, at the keys of batched tensors it unwraps and calls anew;
one that computes, or is reached through a composite alias, ends.
Every kernel notes itself. One that ends and every Python handler end the call with an exception, so that nothing of the
way back is seen.
"""

import contextlib
import importlib
import json
import re
import sys
import warnings
from functools import partial
from typing import Any, Callable, Dict, Iterator, List  # noqa: UP035

warnings.simplefilter("ignore")
torch: Any = importlib.import_module("torch")
fake_tensor: Any = importlib.import_module("torch._subclasses.fake_tensor")
core = torch._C
functorch = core._functorch
functorch._set_vmap_fallback_warning_enabled(False)
NAMESPACE = "live_calls"
HERE = "live_calls.py"
MAX_KERNELS = 100
sys.setrecursionlimit(5000)
log: List[Any] = []  # noqa: UP006


class Ended(Exception):
    """The call has come to its end."""


class Raised(Exception):
    """A kernel raises."""


class TooDeep(Exception):
    """Kernels call one another without end."""


fresh = (core._dispatch_tls_local_include_set(), core._dispatch_tls_local_exclude_set())
ids: Dict[str, int] = {}  # noqa: UP006
functionalities: List[str] = []  # noqa: UP006


def key_of(name: str) -> Any:
    return core.DispatchKey(ids[name])


def keys_in(keyset: Any) -> str:
    """The keys of a set, and per-backend functionalities, which are not printed when there is no backend."""
    printed = re.findall(r"\w+", str(keyset).split("(", 1)[1])
    return " ".join(sorted(printed + [key for key in functionalities if keyset.has(key_of(key))]))


def note(*entry: Any) -> None:
    if asleep:
        return
    log.append(list(entry))
    if len(log) > MAX_KERNELS:
        raise TooDeep


def ends(*entry: Any) -> None:
    note(*entry)
    raise Ended


def union(keys: List[str]) -> Any:  # noqa: UP006
    keyset = core.DispatchKeySet(core.DispatchKey.Undefined)
    for key in keys:
        keyset = keyset | core.DispatchKeySet(key_of(key))
    return keyset


# Operators.


LAYOUTS = {
    "strided": torch.strided,
    "sparse": torch.sparse_coo,
    "sparse_csr": torch.sparse_csr,
    "sparse_csc": torch.sparse_csc,
    "sparse_bsr": torch.sparse_bsr,
    "sparse_bsc": torch.sparse_bsc,
    "mkldnn": torch._mkldnn,
    "jagged": torch.jagged,
}


class Unused(torch.Tensor):  # type: ignore[misc, name-defined]
    """Tensors of this class can be made for every device and layout."""

    @staticmethod
    def __torch_dispatch__(*_arguments: Any) -> None:
        raise Ended


def computed(options: Any) -> Any:
    """``computeDispatchKey``: PyTorch's own answer, from the tensor that it makes with these options."""
    with core._ForceDispatchKeyGuard(*fresh):
        tensor = torch.Tensor._make_wrapper_subclass(Unused, (2, 2), **options)
        return core._dispatch_keys(tensor) & core._dispatch_keyset_full_after(core.DispatchKey.BackendSelect)


def given_to(name: str, arguments: Any) -> Any:
    """The options that a kernel was given, by the names and types of the arguments."""
    values = dict(zip([argument.name for argument in operator(name)._schema.arguments], arguments))  # noqa: B905
    types = {"device": torch.device, "layout": torch.layout, "dtype": torch.dtype}
    results = {}
    for option, kind in types.items():
        of_type = [value for value in values.values() if isinstance(value, kind)]
        value = values[option] if option in values else of_type[0] if of_type else None
        if value is not None:
            results[option] = value
    return results


def by_options(name: str, arguments: Any) -> Any:
    """The set with which PyTorch's own kernels at BackendSelect go on: torchgen's ``ComputeBackendSelect``."""
    chosen = computed(given_to(name, arguments))
    tensors = [argument for argument in arguments if isinstance(argument, torch.Tensor)]
    if not any("Tensor" in str(argument.type) for argument in operator(name)._schema.arguments):
        return chosen
    for tensor in tensors:
        chosen = chosen | core._dispatch_keys(tensor)
    chosen = (chosen | core._dispatch_tls_local_include_set()) - core._dispatch_tls_local_exclude_set()
    return chosen & core._dispatch_keyset_full_after(core.DispatchKey.BackendSelect)


def unwrapped(tensor: Any, level: int, kind: str) -> Any:
    """The tensor inside a tensor that the transform at that level has wrapped."""
    if functorch.maybe_get_level(tensor) != level:
        return tensor
    if kind == "Functionalize":
        return functorch._unwrap_functional_tensor(tensor, True)
    return functorch._unwrap_batched(tensor, level)[0] if kind == "Vmap" else functorch._unwrap_for_grad(tensor, level)


def each_tensor(change: Callable[[Any], Any], arguments: Any) -> Any:
    if isinstance(arguments, (list, tuple)):
        return [each_tensor(change, argument) for argument in arguments]
    return change(arguments) if isinstance(arguments, torch.Tensor) else arguments


def call_unwrapped(asked: Any, name: str, slot: str, arguments: Any) -> Any:
    """As batching rules do: unwrap what the innermost transform wraps, and call below it (``gen_vmap_plumbing.py``)."""
    layer = functorch.peek_interpreter_stack()
    if layer is None:
        raise Raised
    kind = layer.key().name
    if kind != "Vmap" and slot in asked["layer_keys"]["Vmap"]:
        raise Raised
    if slot == "BatchedNestedTensor":
        excluded = ["FuncTorchBatched", slot]
    elif slot == "FuncTorchBatched":
        excluded = [slot]
    else:
        excluded = asked["layer_keys"][kind]
    values = each_tensor(lambda tensor: unwrapped(tensor, layer.level(), kind), arguments)
    with core._ExcludeDispatchKeyGuard(union(excluded)):
        return operator(name)(*values)


def go_on(asked: Any, name: str, goes: Any, slot: str, own: Any, keyset: Any, arguments: Any) -> Any:
    """Do what a kernel does of which *goes* is declared. own: the key that it runs at."""
    if goes == "raises":
        raise Raised
    if goes in (False, "other-operators"):
        raise Ended
    if goes == "unwrapped":
        return call_unwrapped(asked, name, slot, arguments)
    if isinstance(goes, dict) and "exclude" in goes:
        with core._ExcludeDispatchKeyGuard(union(goes["exclude"])):
            return operator(name)(*arguments)
    if isinstance(goes, dict):
        return operator(name).redispatch(union([goes["to"]]), *arguments)
    if goes == "below-autograd":
        return operator(name).redispatch(keyset & core._after_autograd_keyset, *arguments)
    after = core._dispatch_keyset_full_after(core._to_functionality_key(own))
    return operator(name).redispatch(keyset & after, *arguments)


def make_kernel(asked: Any, name: str, key: str, schema: str, goes: Any) -> Callable[..., Any]:
    covered = asked["aliases"].get(key)

    def kernel(keyset: Any, *arguments: Any) -> Any:
        rest = keyset.remove(core.DispatchKey.PythonDispatcher)
        top = core._dispatch_key_name(rest.highestPriorityTypeId())
        slot = top
        if keyset.has(core.DispatchKey.PythonDispatcher):
            # the Python dispatcher gives a kernel more keys than it was chosen for
            slot = (
                next((candidate for candidate in reversed(covered) if rest.has(key_of(candidate))), top)
                if covered
                else key
            )
        own = rest.highestPriorityTypeId() if slot == top else key_of(slot)
        note("kernel", key, keys_in(keyset))
        if goes is not None:
            return go_on(asked, name, goes, slot, own, keyset, arguments)
        if key.startswith("Composite") or key.endswith("Decomposition") or slot in asked["computing"]:
            raise Ended
        if key == "BackendSelect" and ("Device" in schema or "Layout" in schema):
            return operator(name).redispatch(by_options(name, arguments), *arguments)
        if slot in ("FuncTorchBatched", "BatchedNestedTensor"):
            return call_unwrapped(asked, name, slot, arguments)
        return go_on(asked, name, True, slot, own, keyset, arguments)

    return kernel


@contextlib.contextmanager
def noting() -> Iterator[None]:
    """Kernels that PyTorch's Python code registers note themselves."""
    impl = torch.library.Library.impl

    def noting_impl(library: Any, op: str, kernel: Any, key: str = "", **options: Any) -> None:
        with_keyset = options.pop("with_keyset", False)

        def noted(keyset: Any, *arguments: Any) -> Any:
            note("kernel", key, keys_in(keyset))
            return kernel(keyset, *arguments) if with_keyset else kernel(*arguments)

        impl(library, op, noted, key, with_keyset=True, **options)

    torch.library.Library.impl = noting_impl
    try:
        yield
    finally:
        torch.library.Library.impl = impl


def define_custom_op(name: str, schema: str) -> None:
    """`torch.library.custom_op`; the user's functions end the call."""

    def ended(*_arguments: Any) -> Any:
        raise Ended

    given = core.parse_schema(name + schema).arguments
    written = [argument.name for argument in given if argument.alias_info and argument.alias_info.is_write]
    with noting():
        custom_operator = torch.library.custom_op(f"{NAMESPACE}::{name}", ended, mutates_args=written, schema=schema)
        custom_operator.register_fake(ended)


def register_vmap(library: Any, name: str) -> None:
    """A batching rule that calls the operator with what it gets."""

    def rule(_info: Any, _in_dims: Any, *arguments: Any) -> Any:
        return operator(name)(*arguments), 0

    own = torch.library.Library(NAMESPACE, "FRAGMENT")
    own.m = library
    with noting():
        torch.library.register_vmap(f"{NAMESPACE}::{name}", rule, lib=own)


def operator(name: str) -> Any:
    return getattr(getattr(torch.ops, NAMESPACE), name).default


def define(asked: Any, library: Any, name: str, schema: str, kernels: Any, custom: bool) -> None:
    if custom:
        define_custom_op(name, schema)
    else:
        library.define(name + schema)
    for key, what, goes in kernels:
        if what == "fallthrough":
            library.impl(name, key, torch.library.fallthrough_kernel, False)
        elif what == "kernel":
            library.impl(name, key, make_kernel(asked, name, key, schema, goes), True)
        elif what == "vmap":
            register_vmap(library, name)
    for key, what, _ in kernels:
        if what == "python":
            operator(name).py_impl(key_of(key))(lambda *_arguments, key=key: ends("python", key))


# Tensors.

fake_modes: Dict[str, Any] = {}  # noqa: UP006
classes: Dict[str, Any] = {}  # noqa: UP006


def is_ours(func: Any) -> bool:
    """Other operators are called by core fallbacks, to clone a tensor for example; they go on as without a handler."""
    return bool(func.namespace == NAMESPACE)


def handler_of(name: str, others: Any = None) -> Any:
    def handle(_cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if is_ours(func) or others is None:
            ends("subclass", name)
        return others(func, types, args, kwargs or {})

    return classmethod(handle)


def fake_handler(entry: List[Any], real: Callable[..., Any]) -> Callable[..., Any]:  # noqa: UP006
    """A handler of fake tensors or of their mode: it notes itself, and does what PyTorch's own one does.

    Where that calls the operator again with the mode on, nothing more is noted. It comes to its end where the mode has
    looked at the tensors.
    """

    def handle(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not is_ours(func) or asleep:
            return real(func, types, args, kwargs or {})
        note(*entry)
        asleep.append(True)
        try:
            return real(func, types, args, kwargs or {})
        finally:
            asleep.clear()

    return handle


def looked_at(self: Any, func: Any, *rest: Any) -> Any:
    """``validate_and_convert_non_fake_tensors``, after which a call of ours is over."""
    problems = validate(self, func, *rest)
    if is_ours(func):
        raise Ended
    return problems


def by_mode(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    real = fake_mode_handler.__get__(self)
    return fake_handler(["mode", "FakeTensorMode", getattr(self, "position", None)], real)(func, types, args, kwargs)


def by_class(_cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    return fake_handler(["subclass", "FakeTensor"], fake_tensor_handler)(func, types, args, kwargs)


asleep: List[bool] = []  # noqa: UP006
fake_tensor_handler = fake_tensor.FakeTensor.__torch_dispatch__
fake_mode_handler = fake_tensor.FakeTensorMode.__torch_dispatch__
validate = fake_tensor.FakeTensorMode.validate_and_convert_non_fake_tensors
render_call = fake_tensor.render_call


def subclass(name: str) -> Any:
    if name not in classes:
        classes[name] = type(name, (torch.Tensor,), {"__torch_dispatch__": handler_of(name)})
    return classes[name]


def fake_mode(name: str) -> Any:
    if name not in fake_modes:
        fake_modes[name] = fake_tensor.FakeTensorMode()
    return fake_modes[name]


SHAPE = (1, 1, 1, 1, 2)
"""Room for some dimensions of batches, each of one element."""


def inner_tensor(words: List[str]) -> Any:  # noqa: UP006
    """A tensor without its wrappers, from its words."""
    device = words[0]
    named = dict(word.split("=") for word in words if "=" in word)
    layout = next((word for word in words if word in LAYOUTS and word != "jagged"), None)
    if "fake" in words or "fake" in named:
        with fake_mode(named.get("fake", "")):
            return torch.empty(2, 2, device=device, requires_grad="requires_grad" in words)
    if "subclass" in named:
        kind = {"layout": LAYOUTS[layout]} if layout else {"dtype": torch.qint8} if "quantized" in words else {}
        return torch.Tensor._make_wrapper_subclass(subclass(named["subclass"]), (2, 2), device=device, **kind)
    if "jagged" in words:
        return torch.nested.nested_tensor([torch.ones(2, 2)], layout=torch.jagged)
    if "nested" in words:
        return torch.nested.nested_tensor([torch.ones(2, 2)])
    if "conj" in words or "neg" in words:
        tensor = torch.ones(SHAPE, dtype=torch.cfloat, device=device)
        return tensor.conj() if "conj" in words else tensor.conj().imag
    if "zerotensor" in words:
        return torch._efficientzerotensor(SHAPE, device=device)
    if "quantized" in words:
        return torch.quantize_per_tensor(torch.ones(SHAPE), 1.0, 0, torch.quint8)
    compressed = layout is not None and layout.startswith("sparse_")
    tensor = torch.ones((1, 2) if compressed else SHAPE, device=device, requires_grad="requires_grad" in words)
    if layout == "mkldnn":
        return tensor.to_mkldnn()
    if layout in ("sparse_bsr", "sparse_bsc"):
        return tensor.to_sparse(layout=LAYOUTS[layout], blocksize=(1, 1))
    return tensor if layout is None else tensor.to_sparse(layout=LAYOUTS[layout])


WRAPPERS = ("functional", "batched", "grad-wrapped")


def make_tensor(text: str) -> Any:
    """The tensor and the wrappers that are still to come, by level."""
    words = text.split()
    if words in (["undefined"], ["none"]):
        return [None, {}]
    wrappers = [word.split("=") for word in words if word.split("=")[0] in WRAPPERS]
    own = [word for word in words if word.split("=")[0] not in WRAPPERS]
    with torch.inference_mode() if "inference" in own else contextlib.nullcontext():
        tensor = inner_tensor(own)
    later = {}
    for kind, *level in wrappers:
        if level:
            later[int(level[0])] = kind
        elif kind == "functional":
            tensor = torch._to_functional_tensor(tensor)
        else:  # of a transform that is over
            with layer("vmap" if kind == "batched" else "grad") as number:
                tensor = wrap(kind, tensor, number)
    return [tensor, later]


def wrap(kind: str, tensor: Any, level: int) -> Any:
    if kind == "batched":
        return functorch._add_batch_dim(tensor, 0, level)
    if kind == "grad-wrapped":
        return functorch._wrap_for_grad(tensor, level)
    return functorch._wrap_functional_tensor(tensor, level)


# Contexts.


@contextlib.contextmanager
def layer(kind: str) -> Iterator[int]:
    enter: Any
    enter, leave = {
        "vmap": (lambda: functorch._vmap_increment_nesting(1, "error"), functorch._vmap_decrement_nesting),
        "grad": (functorch._grad_increment_nesting, functorch._grad_decrement_nesting),
        "jvp": (functorch._jvp_increment_nesting, functorch._jvp_decrement_nesting),
        "functionalize": (lambda: functorch._func_increment_nesting(True), functorch._func_decrement_nesting),
    }[kind]
    level = enter()
    try:
        with torch.enable_grad() if kind == "grad" else contextlib.nullcontext():  # as torch.func.grad does
            yield level
    finally:
        leave()


@contextlib.contextmanager
def functionalization() -> Iterator[None]:
    torch._enable_functionalization(reapply_views=True)
    try:
        yield
    finally:
        torch._disable_functionalization()


@contextlib.contextmanager
def autocast(device: str, enabled: bool) -> Iterator[None]:
    before = torch.is_autocast_enabled(device)
    torch.set_autocast_enabled(device, enabled)
    try:
        yield
    finally:
        torch.set_autocast_enabled(device, before)


def mode(name: str, position: int) -> Any:
    python_dispatch = importlib.import_module("torch.utils._python_dispatch")
    base = python_dispatch.TorchDispatchMode
    name, _, instance = name.partition("=")
    if name == "FakeTensorMode":
        fake = fake_mode(instance)
        fake.position = position
        return fake
    if name == "FunctionalTensorMode":
        base = importlib.import_module("torch._subclasses.functional_tensor").FunctionalTensorMode

    def handle(_self: Any, func: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if is_ours(func):
            ends("mode", name, position)
        return func(*args, **(kwargs or {}))

    return type(name, (base,), {"__torch_dispatch__": handle})()


def guards(keys: List[str], make: Callable[[Any], Any]) -> Any:  # noqa: UP006
    stack = contextlib.ExitStack()
    for key in keys:
        stack.enter_context(make(key_of(key)))
    return stack


def context(text: str, position: int) -> Any:
    python = importlib.import_module("torch._dispatch.python")
    word, _, value = text.partition("=")
    if text.startswith("autocast "):
        return autocast(text.split()[1], not text.endswith(" off"))
    if word == "mode":
        return mode(value, position)
    if word == "include":
        return guards(value.split(","), core._IncludeDispatchKeyGuard)
    if word == "exclude":
        return guards(value.split(","), lambda key: core._ExcludeDispatchKeyGuard(core.DispatchKeySet(key)))
    if text in ("vmap", "grad", "jvp", "functionalize"):
        return layer(text)
    managers: Dict[str, Callable[[], Any]] = {  # noqa: UP006
        "inference_mode": torch.inference_mode,
        "inference_mode(False)": partial(torch.inference_mode, False),
        "no_grad": torch.no_grad,
        "enable_grad": torch.enable_grad,
        "below_autograd": core._AutoDispatchBelowAutograd,
        "below_ADInplaceOrView": core._AutoDispatchBelowADInplaceOrView,
        "enable_functionalization": functionalization,
        "suspend_functionalization": python.suspend_functionalization,
        "python_dispatcher": python.enable_python_dispatcher,
        "no_python_dispatcher": python.no_python_dispatcher,
        "pre_dispatch": python.enable_pre_dispatch,
    }
    return managers[text]()


# Calls.


def keys_of(tensor: Any, text: str) -> str:
    """The keys of a tensor; of an undefined one, those that an operator is called with."""
    if text == "none":
        return ""
    if text != "undefined":
        return keys_in(core._dispatch_keys(tensor))
    nothing = core.DispatchKeySet(core.DispatchKey.Undefined)
    with core._ForceDispatchKeyGuard(nothing, nothing):
        return str(operator("probe")(None))


def arguments(shape: str, tensors: List[Any], options: Any) -> List[Any]:  # noqa: UP006
    """The arguments of a call.

    shape: of each, t for a tensor, o for an optional one, l for the list of all others, i for a number, d for the
    device, y for the layout, s for the dtype, x for a dtype that does not count, g for a generator.
    """
    others = {
        "d": options["device"] and torch.device(options["device"]),
        "y": options["layout"] and LAYOUTS[options["layout"]],
        "s": options["dtype"] and getattr(torch, options["dtype"]),
        "x": torch.qint8,
        "g": torch.Generator(),
    }
    left = list(tensors)
    results: List[Any] = []  # noqa: UP006
    for position, kind in enumerate(shape):
        if kind in ("t", "o"):
            results.append(left.pop(0) if left else None)
        elif kind == "l":
            after = shape[position + 1 :].count("t") + shape[position + 1 :].count("o")
            count = len(left) - after
            results.append([left.pop(0) for _ in range(count)])
        elif kind in others:
            results.append(others[kind])
        else:
            results.append(1)
    return results


def call(name: str, asked: Any) -> Any:
    log.clear()
    answer: Any = {"tensors": [], "included": "", "excluded": "", "error": None, "end": "returned", "log": []}
    try:
        tensors = [make_tensor(text) for text in asked["tensors"]]
    except Exception as error:
        return {"unmade": type(error).__name__ + ": " + str(error)[:200]}
    with contextlib.ExitStack() as stack:
        # some versions leave backend bits behind when a key is no longer included or excluded
        stack.enter_context(core._ForceDispatchKeyGuard(*fresh))
        for position, text in enumerate(asked["contexts"]):
            try:
                level = stack.enter_context(context(text, position))
            except Exception as error:
                return {"unmade": text + ": " + str(error)[:200]}
            for pair in tensors:
                if text in ("vmap", "grad", "jvp", "functionalize") and level in pair[1]:
                    try:
                        pair[0] = wrap(pair[1][level], pair[0], level)
                    except Exception as error:
                        return {"unmade": type(error).__name__ + ": " + str(error)[:200]}
        answer["tensors"] = [keys_of(tensors[at][0], text) for at, text in enumerate(asked["tensors"])]
        answer["included"] = keys_in(core._dispatch_tls_local_include_set())
        answer["excluded"] = keys_in(core._dispatch_tls_local_exclude_set())
        given = arguments(asked["shape"], [tensor for tensor, _ in tensors], asked["options"])
        try:
            if asked["keyset"] is None:
                operator(name)(*given)
            else:
                operator(name).redispatch(union(asked["keyset"]), *given)
        except Ended:
            answer["end"] = "ended"
        except (TooDeep, RecursionError):
            answer["end"] = "too deep"
        except Exception as error:
            answer["end"] = "error"
            answer["error"] = [type(error).__name__, str(error)]
    answer["log"] = [list(entry) for entry in log]
    return answer


def main() -> None:
    asked = json.load(sys.stdin)
    ids.update(asked["ids"])
    functionalities.extend(asked["functionalities"])
    nested = importlib.import_module("torch.nested._internal.nested_tensor")
    nested.NestedTensor.__torch_dispatch__ = handler_of("NestedTensor", nested.NestedTensor.__torch_dispatch__)
    fake_tensor.FakeTensor.__torch_dispatch__ = classmethod(by_class)
    fake_tensor.FakeTensorMode.__torch_dispatch__ = by_mode
    fake_tensor.FakeTensorMode.validate_and_convert_non_fake_tensors = looked_at
    # an error shows the operator without its arguments: in some contexts a tensor cannot be printed
    fake_tensor.render_call = lambda operator, _args, _kwargs: render_call(operator, (), {})
    library = core._dispatch_library("FRAGMENT", NAMESPACE, "", HERE, 1)
    library.define("probe(Tensor x) -> str")
    for key in ("ADInplaceOrView", "AutogradOther"):
        library.impl("probe", key, lambda keyset, _tensor: keys_in(keyset), True)
    answers = []
    for number, asked_operator in enumerate(asked["operators"]):
        name = "op" + str(number)
        define(asked, library, name, asked_operator["schema"], asked_operator["kernels"], asked_operator["custom"])
        answers.append([call(name, each) for each in asked_operator["calls"]])
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
