"""Random operators, tensors and contexts to call; what the simulation says of them, in the form of live_calls.py."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from dispatch_cli.engine.call.kernels.entry import backend_keys
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.call.trace import Call, Does, EndKind, ErrorKind, Hop, Why
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.model.call import Context, Layout, TensorSpec
from dispatch_cli.model.declarations import Declarations, PythonKernel
from dispatch_cli.model.kernel import Data, Kernel, Redispatch
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.options import NO_OPTIONS, Options
from dispatch_cli.model.schema import parse_schema
from dispatch_cli.model.universe import Universe

SCHEMAS = {
    "(Tensor x) -> Tensor": "t",
    "(Tensor x, Tensor y) -> Tensor": "tt",
    "(Tensor? x, Tensor y, int n) -> Tensor": "oti",
    "(Tensor[] x) -> Tensor": "l",
    "(Tensor x, Tensor[] y) -> Tensor": "tl",
    "(Tensor(a!) x) -> Tensor(a!)": "t",
    "(Tensor(a!) x, Tensor y) -> Tensor(a!)": "tt",
    "(Tensor x, Tensor(a!) y) -> ()": "tt",
    "(Tensor(a) x) -> Tensor(a)": "t",
    "(Tensor(a) x, Tensor(b!) y) -> Tensor(a)": "tt",
    "(Tensor x) -> Tensor[]": "t",
    "(Tensor x) -> ()": "t",
    "(int n) -> Tensor": "i",
    "(int n, Device device) -> Tensor": "id",
    "(Device? device, int n) -> Tensor": "di",
    "(Tensor x, Device? device) -> Tensor": "td",
    "(int n, ScalarType? dtype, Layout? layout, Device? device) -> Tensor": "isyd",
    "(ScalarType index_dtype, Layout layout, ScalarType? dtype) -> Tensor": "xys",
    "(Tensor x, Tensor? y, Layout? of, Device? on) -> Tensor": "toyd",
    "(Tensor x, Generator? g, Layout? layout) -> Tensor": "tgy",
    "(int n, Generator g, Device? device) -> Tensor": "igd",
    "(int n, Generator? g) -> Tensor": "ig",
    "(Tensor? x, Tensor?[] y) -> Tensor": "ol",
}
"""Schema → its arguments, by letter, as live_calls.py reads them."""
CUSTOM = (
    *("(Tensor x) -> Tensor", "(Tensor x, Tensor y) -> Tensor", "(Tensor? x, Tensor y, int n) -> Tensor"),
    *("(Tensor[] x) -> Tensor", "(Tensor x, Tensor(a!) y) -> ()", "(Tensor x) -> ()", "(int n) -> Tensor"),
)
"""Schemas that `torch.library.custom_op` takes."""
ALIASES = ("CompositeImplicitAutograd", "CompositeExplicitAutogradNonFunctional")
"""The composite keys that do not go with the one of a custom operator."""
KERNEL_KEYS = (
    *("CPU", "CUDA", "Meta", "XLA", "SparseCPU", "SparseCsrCPU", "QuantizedCPU", "NestedTensorCPU", "MkldnnCPU"),
    *("SparseCUDA", "Conjugate", "Negative", "ZeroTensor", "Functionalize", "ADInplaceOrView", "AutogradCPU"),
    *("AutogradMeta", "AutogradOther", "AutogradCUDA", "AutogradNestedTensor", "AutocastCPU", "AutocastCUDA"),
    *("BackendSelect", "Autograd", "CompositeImplicitAutograd", "CompositeExplicitAutograd"),
    *("CompositeExplicitAutogradNonFunctional", "CompositeImplicitAutogradNestedTensor"),
    *("FuncTorchBatchedDecomposition", "FuncTorchBatched", "FuncTorchGradWrapper", "Python", "PythonTLSSnapshot"),
    *("PreDispatch",),
)
PLAIN = (
    *("cpu", "cpu", "cpu requires_grad", "meta", "cpu sparse", "cpu sparse_csr", "cpu sparse_csc", "cpu sparse_bsr"),
    *("cpu sparse_bsc", "cpu mkldnn", "cpu quantized", "cpu nested", "cpu jagged", "cpu conj", "cpu neg"),
    *("meta conj", "cpu zerotensor", "cpu inference", "cpu sparse inference", "cpu nested inference"),
    *("cpu mkldnn inference", "meta inference", "cpu fake", "cpu fake=A", "cpu fake=A", "cpu fake=B"),
    *("cpu subclass=W0", "cpu subclass=W1", "cpu sparse subclass=W0", "cpu inference subclass=W1"),
    *("cpu quantized subclass=W2", "cpu inference fake"),
)
CONTEXTS = (
    *("inference_mode", "inference_mode(False)", "no_grad", "enable_grad", "below_autograd"),
    *("below_ADInplaceOrView", "enable_functionalization", "suspend_functionalization", "vmap", "vmap", "grad"),
    *("grad", "jvp", "functionalize", "mode=M0", "mode=M1", "mode=FakeTensorMode", "mode=FakeTensorMode=A"),
    *("mode=FunctionalTensorMode", "python_dispatcher", "python_dispatcher", "no_python_dispatcher", "pre_dispatch"),
    *("autocast", "include", "exclude"),
)
QUANTIZED_DTYPES = ("qint8", "quint8", "qint32", "quint4x2", "quint2x4")
TRANSFORMED = (
    *("vmap", "vmap", "vmap", "grad", "jvp", "functionalize", "inference_mode", "inference_mode(False)"),
    *("python_dispatcher",),
)
"""The contexts of operators with a batching rule."""
TRANSFORMS = {"vmap": "batched", "grad": "grad-wrapped", "jvp": "grad-wrapped", "functionalize": "functional"}
NOT_INCLUDED = frozenset(
    {
        *("FuncTorchDynamicLayerBackMode", "FuncTorchDynamicLayerFrontMode", "PythonDispatcher", "Tracer", "Python"),
        *("Batched",),
    }
)
"""With one of these included and nothing behind it, PyTorch crashes, or takes one kind of tensor for another."""
PYTHON_KEYS = ("PythonTLSSnapshot", "Python")


class Asked(NamedTuple):
    """One call that is asked for. keyset: the keys to redispatch with, or None."""

    tensors: tuple[str, ...]
    contexts: tuple[str, ...]
    keyset: tuple[str, ...] | None = None
    options: Options = NO_OPTIONS


class AskedKernel(NamedTuple):
    """A kernel. what: kernel, fallthrough, python or vmap, as live_calls.py has it. goes: what is declared of it."""

    key: str
    what: str = "kernel"
    goes: Data | None = None


class AskedOperator(NamedTuple):
    """An operator. custom: it is made by `torch.library.custom_op`; the kernels come to it afterwards."""

    schema: str
    kernels: tuple[AskedKernel, ...]
    calls: tuple[Asked, ...]
    custom: bool = False


class Generator:
    """Makes operators and calls of one universe at random."""

    def __init__(self, universe: Universe, seed: int) -> None:
        self.universe = universe
        self.random = random.Random(seed)
        self._kernel_keys = [key for key in KERNEL_KEYS if key in universe.parseable]
        self._autocast = [name for name, key in universe.devices.items() if f"Autocast{key}" in universe.slot]
        fallbacks = {fallback.key for fallback in universe.fallbacks}
        self._disturbing = {key for key, (_, backend) in universe.runtime_parts.items() if backend}
        self._disturbing |= backend_keys(universe) | {*universe.runtime} - fallbacks
        self._disturbing |= {"FuncTorchBatched", "BatchedNestedTensor", "FuncTorchGradWrapper"}
        self._disturbing |= {"Conjugate", "Negative", "ZeroTensor"}
        self._keys = [key for key in universe.runtime if key in universe.parseable and key not in NOT_INCLUDED]

    def operators(self, count: int, calls: int) -> Iterator[AskedOperator]:
        """That many operators, each with that many calls."""
        for _ in range(count):
            schema = self.random.choice([*SCHEMAS, "(Tensor x) -> Tensor", "(Tensor x, Tensor y) -> Tensor"])
            kernels, rule = self._kernels(), self.random.random() < 0.2
            if rule:
                others = (kernel for kernel in kernels if kernel.key not in ("FuncTorchBatched", "Autograd", "CPU"))
                own = (AskedKernel("CPU"), self._kernel("Autograd"), self._kernel("FuncTorchBatched"))
                kernels = (*own, *others)
            if ("Device" in schema or "Layout" in schema) and self.random.random() < 0.7:
                kernels = (
                    AskedKernel("BackendSelect"),
                    *(kernel for kernel in kernels if kernel.key != "BackendSelect"),
                )
            custom = schema in CUSTOM and self.random.random() < 0.2
            if custom:
                kernels = tuple(kernel for kernel in kernels if kernel.key not in (*_of_custom_op(schema), *ALIASES))
            asked = [self._call(schema, kernels, TRANSFORMED if rule else CONTEXTS) for _ in range(calls)]
            if custom:  # where a gradient is required, an autograd.Function runs, which transforms treat apart
                asked = [_without_gradients(text) for text in asked]
            yield AskedOperator(schema, kernels, tuple(asked), custom)

    def _kernels(self) -> tuple[AskedKernel, ...]:
        keys = self.random.sample(self._kernel_keys, self.random.randint(1, 7))
        if self.random.random() < 0.2:
            keys.append(self.random.choice([key for key in self._keys if key not in keys]))
        kernels = [self._kernel(key) for key in keys]
        if self.random.random() < 0.2:
            kernels += [AskedKernel(key, "python") for key in self.random.sample(KERNEL_KEYS[:28], 2)]
        return tuple(kernel for kernel in kernels if kernel.key != "Python" or kernel.what != "python")

    def _kernel(self, key: str) -> AskedKernel:
        if key == "FuncTorchBatched" and self.random.random() < 0.3:
            return AskedKernel(key, "vmap")
        if self.random.random() < 0.25:
            return AskedKernel(key, "fallthrough")
        return AskedKernel(key, goes=self._goes() if self.random.random() < 0.4 else None)

    def _goes(self) -> Data:
        """Data of a declaration about the way a kernel goes on."""
        keys = self.random.sample(self._keys, self.random.randint(1, 3))
        ways: list[Data] = [
            *(False, "below-key", "below-autograd", "unwrapped", "other-operators", "raises"),
            {"to": self.random.choice([*self._keys, "CPU", "CPU"])},
            {"exclude": keys},
            {"exclude": [*keys, *self.universe.aliases["Autograd"]]},
        ]
        return self.random.choice(ways)

    def _call(self, schema: str, kernels: tuple[AskedKernel, ...], of: tuple[str, ...]) -> Asked:
        contexts: list[str] = []
        for _ in range(self.random.choice((0, 1, 1, 2, 2, 3, 4))):
            context = self._context(of)
            twice = context == "enable_functionalization" and any("unctionaliz" in context for context in contexts)
            both = [*contexts, context]
            if not twice and not ("vmap" in both and any(map(self._disturbs, both))):
                contexts.append(context)
        shape = SCHEMAS[schema]
        count = sum(map(shape.count, "to")) + (self.random.randint(0, 2) if "l" in shape else 0)
        layers = [context for context in contexts if context in TRANSFORMS]
        kinds = [kind for kind in shape if kind in "to"]
        if self._is_unclear((), contexts, kernels):  # with any tensors
            contexts = [context for context in contexts if context != "python_dispatcher"]
        while True:
            tensors = tuple(self._tensor(layers) for _ in range(count))
            if "l" not in shape:
                tensors = tuple(self._perhaps_absent(*pair) for pair in zip(kinds, tensors, strict=True))
            cloned = any(word in text for text in tensors for word in ("conj", "neg", "zerotensor"))
            if cloned and any(map(self._disturbs, contexts)):
                continue
            if "python_dispatcher" not in contexts or not self._is_unclear(tensors, contexts, kernels):
                break
        keyset = None
        if self.random.random() < 0.08 and not layers:
            keyset = tuple(self.random.sample(self._keys, self.random.randint(0, 5)))
        if not tensors and "l" in shape:
            keyset = None  # it would stand for tensors in the simulation, and PyTorch gets an empty list
        return Asked(tensors, tuple(contexts), keyset, self._options(schema, shape))

    def _options(self, schema: str, shape: str) -> Options:
        def one_of(letter: str, name: str, words: list[str]) -> str | None:
            needed = letter in shape and (f"{name}?" not in schema or self.random.random() < 0.8)
            return self.random.choice(words) if needed else None

        return Options(
            device=one_of("d", "Device", [*self.universe.devices, "cpu", "cuda"]),
            layout=one_of("y", "Layout", [layout.value for layout in Layout]),
            dtype=one_of("s", "ScalarType", ["float32", "int8", *QUANTIZED_DTYPES]),
        )

    def _perhaps_absent(self, kind: str, tensor: str) -> str:
        """An undefined tensor, or None where the schema has ``Tensor?``, now and then."""
        if self.random.random() > 0.08:
            return tensor
        return "undefined" if kind == "t" else "none"

    def _context(self, of: tuple[str, ...]) -> str:
        context = self.random.choice(of)
        if context == "autocast":
            return f"autocast {self.random.choice(self._autocast)}{self.random.choice(('', ' off'))}"
        if context in ("include", "exclude"):
            keys = self.random.sample(self._keys, self.random.randint(1, 2))
            return f"{context}={','.join(keys)}"
        return context

    def _disturbs(self, context: str) -> bool:
        """True if operators that a fallback calls on its way fail in that context: clone, zeros, permute, select."""
        word, _, keys = context.partition("=")
        disturbing = {"include": self._disturbing, "exclude": {"BackendSelect"}}.get(word, ())
        return any(key in disturbing for key in keys.split(","))

    def _is_unclear(self, tensors: tuple[str, ...], contexts: list[str], kernels: tuple[AskedKernel, ...]) -> bool:
        """True if the Python dispatcher has to choose for a key that nothing can be registered at.

        Or a kernel of an alias key cannot tell which of its slots it was chosen for.
        """
        if any(f"{device} fake" in text for text in tensors for device in self.universe.plain_devices):
            return True
        if any(kernel.goes == "below-key" and kernel.key.startswith("Composite") for kernel in kernels):
            return True
        aliases = ("Autograd", "FuncTorchBatchedDecomposition")
        several = ("nested", "jagged", "mkldnn", "subclass", "fake", "meta", "undefined", "Autograd")
        texts = [*tensors, *(context for context in contexts if context.startswith("include="))]
        is_alias = any(
            kernel.key in aliases or (kernel.goes and self.universe.is_alias(kernel.key)) for kernel in kernels
        )
        return is_alias and any(word in text for text in texts for word in several)

    def _tensor(self, layers: list[str]) -> str:
        pick = self.random.random()
        if pick < 0.15:
            device = self.random.choice(list(self.universe.devices))
            kinds = ("", " quantized") if device in self.universe.plain_devices else ("", " sparse", " sparse_csr")
            text = f"{device} subclass=W{self.random.randrange(3)}{self.random.choice(kinds)}"
        elif pick < 0.2:
            text = f"{self.random.choice(list(self.universe.devices))} fake={self.random.choice('AB')}"
        else:
            text = self.random.choice(PLAIN)
        is_python = any(word in text for word in ("subclass", "fake", "jagged"))
        if self.random.random() < 0.06 and not layers and not is_python and "nested" not in text:
            text += self.random.choice((" functional", " grad-wrapped"))
        for level, layer in enumerate(layers, 1):
            if self.random.random() < 0.6 and not (is_python and layer == "vmap"):
                text += f" {TRANSFORMS[layer]}={level}"
        return text


def _without_gradients(asked: Asked) -> Asked:
    """The same call, where no tensor requires a gradient; the inputs of functorch's grad do."""
    layers = [context for context in asked.contexts if context in TRANSFORMS]
    levels = [level for level, layer in enumerate(layers, 1) if layer == "grad"]
    removed = {"requires_grad", *(f"grad-wrapped={level}" for level in levels)}
    kept = (" ".join(word for word in text.split() if word not in removed) for text in asked.tensors)
    return asked._replace(tensors=tuple(kept))


def _of_custom_op(schema: str) -> tuple[str, ...]:
    """Keys at which `torch.library.custom_op` registers kernels, in order."""
    return ("Meta", "Autograd", *(["ADInplaceOrView"] if "!" in schema else []), "CompositeExplicitAutograd")


def asked_of(universe: Universe, operators: list[AskedOperator]) -> dict[str, Any]:
    """Input of live_calls.py."""
    return {
        "ids": dict(universe.ids),
        "aliases": {alias: list(keys) for alias, keys in universe.aliases.items()},
        "functionalities": list(universe.per_backend),
        "computing": sorted({"Undefined", *backend_keys(universe)}),
        "layer_keys": {
            "Vmap": ["FuncTorchBatched", "BatchedNestedTensor"],
            "Functionalize": ["Functionalize"],
            "Grad": [*universe.aliases["Autograd"], "ADInplaceOrView"],
            "Jvp": [*universe.aliases["Autograd"], "ADInplaceOrView"],
        },
        "operators": [
            {
                "schema": operator.schema,
                "kernels": operator.kernels,
                "custom": operator.custom,
                "calls": [
                    {**call._asdict(), "options": call.options._asdict(), "shape": SCHEMAS[operator.schema]}
                    for call in operator.calls
                ],
            }
            for operator in operators
        ],
    }


def state_of(universe: Universe, number: int, asked: AskedOperator) -> tuple[State, OperatorName]:
    """A dispatcher with one operator, as live_calls.py registers it."""
    dispatcher = Dispatcher(universe)
    name = OperatorName(f"live_calls::op{number}")
    here = "registered at live_calls.py:1"
    dispatcher.define(parse_schema(f"{name}{asked.schema}"), here)
    python = []
    of_custom_op = "registered at /torch/_library/custom_ops.py:1"
    for key in _of_custom_op(asked.schema) if asked.custom else ():
        dispatcher.implement(name, key, Kernel(of_custom_op, "PythonKernelHolder"))
    for key, what, goes in asked.kernels:
        if what == "python":
            python.append(PythonKernel(name, key, f"python at {key}"))
        else:
            is_fallthrough = what == "fallthrough"
            function = None if is_fallthrough else "PythonKernelHolder"
            redispatch = None if goes is None else Redispatch.of_data(goes)
            debug = of_custom_op if asked.custom and what == "vmap" else here
            dispatcher.implement(
                name, key, Kernel(debug, function, fallthrough=is_fallthrough, redispatches=redispatch)
            )
    return State(dispatcher, declarations=Declarations(universe, python_kernels=tuple(python))), name


def simulated(universe: Universe, number: int, asked: AskedOperator) -> list[Call]:
    """Every call of an operator."""
    state, name = state_of(universe, number, asked)
    return [
        simulate(
            state,
            name,
            [TensorSpec.parse(text) for text in call.tensors],
            [Context.parse(text) for text in call.contexts],
            None if call.keyset is None else DispatchKeySet.of(universe, call.keyset),
            call.options,
        )
        for call in asked.calls
    ]


def said_of(call: Call) -> dict[str, Any]:
    """A call in the form of live_calls.py, which ends a call where FakeTensorMode takes it."""
    selection = call.selection
    taken = call.end.fake is not None
    end = "error" if call.end.kind is EndKind.ERROR and not taken else "ended"
    error = None if taken else call.end.error
    if error is not None and error.kind is ErrorKind.ENDLESS:
        end = "too deep"
    return {
        "tensors": [names(argument.keyset) for argument in selection.arguments[: len(call.tensors)]],
        "included": names(selection.included),
        "excluded": names(selection.excluded),
        "log": [*_log(call)],
        "end": end,
        "error": None if error is None or end != "error" else [error.type, error.text],
    }


def names(keyset: DispatchKeySet) -> str:
    """A key set as live_calls.py writes it: its keys, and per-backend functionalities by their own names."""
    functionalities = [key for key in keyset.layout.universe.per_backend if keyset.has(key)]
    return " ".join(sorted([*keyset, *functionalities]))


def _log(call: Call) -> Iterator[list[Any]]:
    for hop in call.hops:
        if hop.python is not None and hop.python.kernel is not None:
            yield ["python", hop.python.chosen_key]
        elif _runs_own_kernel(hop):
            assert hop.live.registration is not None
            yield ["kernel", hop.live.registration.key, names(hop.keyset)]
    last = () if call.end.handler is None else (call.end.handler,)
    for handler in (*call.end.passed, *last):
        yield [handler.kind.value, handler.name, *([handler.position - 1] if handler.kind.value == "mode" else [])]


def _runs_own_kernel(hop: Hop) -> bool:
    registration = hop.live.registration
    if registration is None or registration.operator is None:
        return False
    return hop.does is not Does.RAISES or hop.why in (Why.DECLARED, Why.CONVENTION)


def normal(error: list[str] | None) -> list[str] | None:
    """An error without what a build alone decides: directories and lines of PyTorch's sources."""
    if error is None:
        return None
    text = re.sub(r"(?<=dispatch key DispatchKey\.).*", "", error[1])  # Python's enum does not have every key
    # what older versions note and assert
    text = text.replace("registered at /dev/null:1", "registered at live_calls.py:1")
    text = re.sub(r"registered at \S*custom_ops\.py:[0-9]+", "registered at custom_ops.py", text)
    text = text.replace("false INTERNAL ASSERT", "!isInplaceOp(schema) INTERNAL ASSERT")
    text = re.sub(r'"[^"\n]*?([A-Za-z_]+\.(?:cpp|h))"(?::[0-9]+)?', r'"\1"', text)
    return [error[0], text]


def is_error(ours: list[str] | None, theirs: list[str] | None, whole: bool) -> bool:
    """True if two normal errors are one. whole: ours is all of the text, and not only its beginning."""
    if ours is None or theirs is None or whole:
        return ours == theirs
    return bool(ours[1]) and theirs[0] == ours[0] and theirs[1].startswith(ours[1])
