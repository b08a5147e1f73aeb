"""Random programs of calls of all functions of the bindings, with arguments of every kind, wrong ones among them.

A program is a list of steps for `tests.bindings.answers`. What a parameter takes is read from the signatures of a live
PyTorch (`tests.bindings.live_names`), so that a function that PyTorch gains is called, too.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any

Program = list[str]

NAMES = (
    *("'aten::add.Tensor'", "'aten::tanh'", "'aten::to.dtype'", "'aten::add'", "'aten::empty.memory_format'"),
    *("'ns::op'", "'ns::dangling'", "'ns::math'", "'ns::op.x'", "'ns::kernel_only'", "'op'", "''", "'::'"),
    *("'a::b::c'", "'aten::'", "'aten::add.'", "'.x'", "'aten::add.Tensor.x'", "'ns::op(Tensor x)'"),
    *("' aten::tanh'", "'aten::tanh '", "'é'", "'aten::tanh\\0x'", "b'aten::tanh'", "bytearray(b'aten::tanh')"),
    *("b'\\xff'", "'\\ud800'", "'x' * 70000", "'1'", "'aten:add'", "'default'", "'aten::add.default'"),
)
NAMES_IN_A_LIBRARY = (
    "'op'",
    "'op'",
    "'op.x'",
    "'two'",
    "'ns::op'",
    "'zz::op'",
    *(name for name in NAMES[8:] if "70000" not in name),
)
KEY_NAMES = (
    *("'CPU'", "'CUDA'", "'Meta'", "'AutogradCPU'", "'SparseCPU'", "'QuantizedCPU'", "'NestedTensorCPU'", "'XLA'"),
    *("'Undefined'", "'Autograd'", "'CompositeImplicitAutograd'", "'CompositeExplicitAutograd'", "'PrivateUse1'"),
    *("'CompositeExplicitAutogradNonFunctional'", "'CompositeImplicitAutogradNestedTensor'", "'Python'", "'MTIA'"),
    *("'FuncTorchBatchedDecomposition'", "'Functionalize'", "'AutocastCPU'", "'AutogradOther'", "'BackendSelect'"),
    *("'AutogradFunctionality'", "'Dense'", "'Sparse'", "'AutogradPrivateUse1'", "'FuncTorchDynamicLayerFrontMode'"),
)
WRONG_KEY_NAMES = (
    *("''", "'cpu'", "'CPU '", "'QuantizedHIP'", "'CatchAll'", "'StartOfDenseBackends'", "'???'", "'CPU\\0x'"),
    *("'\\ud800'", "'EndOfFunctionalityKeys'", "'CPU, CUDA'", "b'CPU'", "bytearray(b'CPU')", "'DispatchKey.CPU'"),
)
SCHEMAS = (
    *("'op(Tensor x) -> Tensor'", "'op(Tensor x) -> Tensor'", "'op.x(Tensor x) -> Tensor'"),
    *("'two(Tensor a) -> Tensor'", "'ns::op(Tensor x) -> Tensor'", "'zz::op(Tensor x) -> Tensor'"),
    *("'op(Tensor x, int y=3) -> Tensor'", "'op(Tensr x) -> Tensor'", "'op(Tensor(a!) x) -> Tensor(a!)'", "'op'"),
    *("''", "'op('", "'op() -> ()'", "'op(t x) -> t'", "b'op(Tensor x) -> Tensor'", "b'\\xff'"),
    *("'op(Tensor x) -> Tensor\\0x'",),
)
DEVICES = (
    *("'cpu'", "'cuda'", "'meta'", "'privateuseone'", "'xla'", "'mkldnn'", "'cpu:0'", "'cuda:-1'", "''", "'CPU'"),
    *("'fpga'", "'vulkan'", "'cpu\\0x'", "b'cpu'", "'cuda 1'", "'mps'", "'lazy'", "'\\ud800'", "b'\\xff'", "'cpu:'"),
)
TEXTS = {
    "alias": ("''", "'FROM_SCHEMA'", "'CONSERVATIVE'", "'PURE_FUNCTION'", "'BAD'", "b'CONSERVATIVE'"),
    "debug": ("''", "'first'", "'second'", "'third'", "'a\\nb'", "b'bytes'", "'é'", "'a\\0b'"),
    "kind": ("'DEF'", "'IMPL'", "'FRAGMENT'", "'def'", "''", "b'IMPL'", "'IMPL\\0x'"),
    "namespace": ("'ns'", "'_'", "''", "'zz'", "'a::b'", "b'ns'", "'ns\\0x'", "'é'"),
    "file": ("'/dev/null'", "'a.cpp'", "''", "b'b.cpp'", "'c.cpp\\0x'"),
    "overload": ("''", "'Tensor'", "'default'", "'x'", "b'Tensor'", "'no'"),
    "name": NAMES,
    "name in a library": NAMES_IN_A_LIBRARY,
    "schema": SCHEMAS,
    "schema or name": (*SCHEMAS, *NAMES_IN_A_LIBRARY[:8]),
    "device": DEVICES,
}
NUMBERS = (
    *("0", "1", "7", "49", "-1", "255", "65535", "65536", "2**31", "2**32 - 1", "2**32", "2**63 - 1", "2**63"),
    *("2**64 - 1", "2**64", "-2**63", "10**30", "1.0", "1.5", "float('nan')", "1j", "True", "Index(3)", "Index(-1)"),
    *("Index('x')", "Integer(3)", "Integer(2**70)", "'3'", "b'3'", "65537", "2**62", "2**61 + 5"),
)
BOOLEANS = (
    *("True", "False", "True", "False", "0", "1", "2.5", "1j", "None", "'x'", "''", "[]", "[1]", "thing", "truth"),
    *("Index(1)", "b'x'"),
)
TAGS = (
    *("[]", "[Tag.core]", "(Tag.pointwise, Tag.core)", "()", "None", "'core'", "['core']", "[0]", "Tag.core", "b''"),
    *("bytearray()", "bytearray(b'x')", "{}", "set()", "{Tag.core}", "iter([])", "(tag for tag in [Tag.core])"),
    *("range(0)", "[None]", "{}.values()", "map(str, [])", "zip()", "{Tag.core: 1}.keys()"),
)
TENSORS = (
    *("cpu", "cpu requires_grad", "meta", "cpu sparse", "cpu sparse_csr", "cpu sparse_csc", "cpu mkldnn", "cpu nested"),
    *("cpu conj", "cpu neg", "cpu zerotensor", "cpu quantized", "cpu inference", "cpu subclass=Own"),
    *("cpu functional", "cpu batched", "cpu grad-wrapped", "cpu functional batched", "cpu batched grad-wrapped"),
    *("meta functional", "meta batched", "cpu conj functional", "cpu conj batched", "cpu conj grad-wrapped"),
    *("cpu neg grad-wrapped", "cpu grad-wrapped batched", "meta grad-wrapped", "cpu nested batched"),
    *("cpu sparse grad-wrapped", "cpu subclass=Own grad-wrapped", "cpu zerotensor grad-wrapped"),
)
FAKE_TENSORS = ("cpu fake", "cpu fake functional", "cpu fake grad-wrapped", "cpu fake requires_grad")
"""The first fake tensor imports modules that register operators."""
ANYTHING = (
    *("None", "3", "-1", "2**70", "1.5", "'x'", "b'x'", "b'\\xff'", "[]", "()", "{}", "thing", "unprintable"),
    *("K.CPU", "S(K.CPU)", "kernel", "True"),
)
NO_TENSOR = ("None", "3", "[]", "K.CPU", "thing", "b'cpu'", "1.5", "unprintable")
KEY_CLASS, KEY_SET_CLASS = "DispatchKey", "DispatchKeySet"
LEFT_OUT_METHODS = ("__init__", "__getstate__", "__setstate__", "__repr__")
_SPLIT = re.compile(r", (?=\*{0,2}\w+(?::|$))")


class RandomCalls:
    """Makes programs.

    names: `live_names.names`. left_out: names of functions and of methods that are not called. keys: the names of all
    keys, also those that cannot be parsed.
    """

    def __init__(
        self, dice: random.Random, names: dict[str, Any], left_out: Sequence[str], keys: Sequence[str]
    ) -> None:
        self.dice = dice
        self.keys = keys
        functions = {
            name: said for name, said in names.items() if isinstance(said, str) and said.startswith(f"{name}(")
        }
        functions["_enable_functionalization"] = "_enable_functionalization(reapply_views: bool = False) -> None"
        functions["_disable_functionalization"] = "_disable_functionalization() -> None"
        self.functions = {name: said for name, said in functions.items() if name not in left_out}
        self.guards = {
            name: said["__init__"]
            for name, said in names.items()
            if isinstance(said, dict) and list(said) == ["__init__"] and said["__init__"] and name != KEY_CLASS
        }
        self.methods = {
            name: said
            for name, said in names["_DispatchModule"].items()
            if f"_DispatchModule.{name}" not in left_out and name != "reset"
        }
        self.set_methods = {name: said for name, said in names[KEY_SET_CLASS].items() if name not in LEFT_OUT_METHODS}

    def program(self) -> Program:
        """A program; every function is called by one of them sooner or later."""
        return self.dice.choice(
            (
                *(self.questions, self.questions, self.of_the_thread, self.of_key_sets, self.of_libraries),
                *(self.of_libraries, self.of_overrides, self.of_tensors),
            )
        )()

    def questions(self) -> Program:
        """Calls of all functions, with some operators registered."""
        return [*SETUP, *(self.call("C", name, self.functions[name]) for name in self.some_functions(14))]

    def some_functions(self, count: int) -> list[str]:
        """Names of functions."""
        return self.dice.choices(sorted(self.functions), k=count)

    def of_the_thread(self) -> Program:
        """Guards that are entered, and what the functions about the thread's state answer."""
        about = [
            name for name in self.functions if re.search(r"_tls|functorch_transforms|functionalization|only_lift", name)
        ]
        program: Program = []
        for number in range(self.dice.randint(1, 3)):
            guard = self.dice.choice(sorted(self.guards))
            program.append(f"g{number} = {self.call('C', guard, self.guards[guard])}")
            program.append(f"g{number}.__enter__()")
            program += [self.call("C", name, self.functions[name]) for name in self.dice.choices(about, k=4)]
            if self.dice.random() < 0.5:
                program.append(f"g{number}.__exit__(None, None, None)")
        return [*program, *(f"C.{name}()" for name in ASKED_OF_THE_THREAD)]

    def of_key_sets(self) -> Program:
        """Keys and key sets: made, and their methods called."""
        program: Program = []
        for _ in range(12):
            name = self.dice.choice([*self.set_methods, "K", "R", "S", "members"])
            if name == "members":
                program.append(f"[int(k), k.name, str(k), repr(k), hash(k)] if (k := {self.key()}) else None")
            elif name == "K":
                program.append(f"K({self.call_arguments('K', 'value: typing.SupportsInt')})")
            elif name == "R":
                program.append(f"R({self.call_arguments('R', 'arg0: typing.SupportsInt')})")
            elif name == "S":
                program.append(f"S({self.call_arguments('S', 'arg0: torch._C.DispatchKey')})")
            else:
                program.append(self.call(self.key_set(), name, self.set_methods[name]))
        return program

    def of_libraries(self) -> Program:
        """Blocks that are opened, with kernels, definitions and fallbacks, and what is there then."""
        program: Program = []
        for number in range(self.dice.randint(1, 3)):
            usual = self.dice.random() < 0.7
            kind, namespace, key = self.dice.choice(
                (
                    ("FRAGMENT", "ns", ""),
                    ("DEF", "ns", ""),
                    ("IMPL", "ns", "CPU"),
                    ("IMPL", "ns", ""),
                    ("IMPL", "_", ""),
                )
            )
            opened = (
                f"C._dispatch_library('{kind}', '{namespace}', '{key}')"
                if usual
                else self.call("C", "_dispatch_library", self.functions["_dispatch_library"])
            )
            program.append(f"m{number} = {opened}")
            for _ in range(self.dice.randint(2, 5)):
                name = self.dice.choice(sorted(self.methods))
                program.append(self.call(f"m{number}", name, self.methods[name]))
            if self.dice.random() < 0.3:
                program.append(self.dice.choice((f"del m{number}", f"m{number}.reset()", f"m{number}.reset(3)")))
        asked = ("_dispatch_dump", "_dispatch_dump_table", "_dispatch_check_invariants", "_dispatch_pystub")
        for operator in ("ns::op", "ns::op.x", "ns::two"):
            program += [f"C.{name}('{operator}')" for name in asked[:3]]
        return [*program, "sorted(C._dispatch_find_dangling_impls())", "C._dispatch_dump_table('aten::tanh')"]

    def of_overrides(self) -> Program:
        """Kernels of one operator and key, one after the other, with and without a schema."""
        program = ["m = C._dispatch_library('FRAGMENT', 'ns', '')"]
        if self.dice.random() < 0.5:
            program.append("m.def_('op(Tensor x) -> Tensor')")
        key = self.dice.choice(KEY_NAMES)
        for debug in ("first", "second", "third"):
            ways = (
                f"m.impl_t_t('op', {key}, '{debug}')",
                f"m.impl_t_t('op', debug='{debug}')",
                f"m.impl('op', {key}, kernel)",
                f"C._dispatch_library('IMPL', 'ns', {key}).impl_t_t('op', '', '{debug}')",
            )
            program += [self.dice.choice(ways)]
        return [*program, "C._dispatch_dump('ns::op')"]

    def of_tensors(self) -> Program:
        """The functions of tensors."""
        functions = [name for name, said in self.functions.items() if "torch.Tensor" in said]
        tensors = self.dice.sample([*TENSORS, *FAKE_TENSORS], 6)
        return [f"C.{self.dice.choice(functions)}(T('{tensor}'))" for tensor in tensors]

    def call(self, owner: str, name: str, signature: str) -> str:
        """A call of a function or a method with this signature, as pybind11 shows it."""
        inside = signature[signature.index("(") + 1 : signature.rindex(") ->")]
        if inside.startswith("self: "):
            inside = inside.partition(", ")[2]
        call = f"{owner}.{name}({self.call_arguments(name, inside)})"
        return f"sorted({call})" if name in WITHOUT_ORDER else call

    def call_arguments(self, name: str, inside: str) -> str:
        """Arguments for these parameters: mostly as many as there are."""
        given = []
        parameters = _SPLIT.split(inside) if inside else []
        for number, parameter in enumerate(parameters):
            own, _, kind = parameter.partition(": ")
            kind, default, _ = kind.partition(" = ")
            if default and self.dice.random() < 0.4:
                continue
            value = self.argument(name, own, number, kind)
            named = len(given) < number or (default and self.dice.random() < 0.3)
            given.append(f"{own}={value}" if named else value)
        # the print of a tensor, in an error, can import modules that register operators
        shape = 1.0 if "torch.Tensor" in inside else self.dice.random()
        if shape < 0.02 and given:
            given.pop()
        elif shape < 0.04:
            given.insert(self.dice.randrange(sum("=" not in word for word in given) + 1), self.dice.choice(ANYTHING))
            given.sort(key=lambda word: re.match(r"\w+=", word) is not None)
        elif shape < 0.06:
            given.append(f"{self.dice.choice(('arg0', 'dispatch', 'x'))}={self.dice.choice(ANYTHING)}")
        try:
            compile(f"f({', '.join(given)})", "", "eval")
        except SyntaxError:
            given = []
        return ", ".join(given)

    def argument(self, function: str, parameter: str, number: int, kind: str) -> str:
        """A value for a parameter, or for another one."""
        if kind == "torch.Tensor":
            return self.dice.choice(NO_TENSOR) if self.dice.random() < 0.1 else f"T('{self.dice.choice(TENSORS)}')"
        if self.dice.random() < 0.12:
            return self.dice.choice(ANYTHING)
        if kind.endswith("DispatchKey"):
            return self.registrable_key() if function in ("impl", "fallback") else self.key()
        if kind.endswith("DispatchKeySet"):
            return self.key_set()
        if kind == "bool":
            return self.dice.choice(BOOLEANS)
        if "SupportsInt" in kind:
            return self.dice.choice(NUMBERS)
        if "Tag" in kind:
            return self.dice.choice(TAGS)
        if kind == "object":
            return self.dice.choice(("kernel", "kernel", "None", "3", "print"))
        what = text_kind(function, parameter, number)
        return self.key_name() if what == "key" else self.dice.choice(TEXTS[what])

    def key_name(self) -> str:
        """The name of a key, or a text that is none."""
        return self.dice.choice(self.dice.choice((KEY_NAMES, KEY_NAMES, ("''",), WRONG_KEY_NAMES)))

    def key(self) -> str:
        """A key, or what stands for one or does not."""
        kind = self.dice.random()
        if kind < 0.55:
            return f"K.{self.dice.choice(self.keys)}"
        if kind < 0.8:
            return self.key_name()
        return f"K({self.dice.choice(('0', '1', '13', '47', '48', '63', '64', '100', '160', '200', '999', '65535'))})"

    def registrable_key(self) -> str:
        """The same without numbers and markers, at which PyTorch registers beyond its tables."""
        key = self.key()
        return key if not key.startswith(("K(", "K.StartOf")) else "K.CPU"

    def key_set(self) -> str:
        """A set, or what is none."""
        kind = self.dice.random()
        keys = [
            f"S({self.dice.choice((f'K.{self.dice.choice(self.keys)}', self.dice.choice(KEY_NAMES)))})"
            for _ in range(self.dice.randint(1, 3))
        ]
        if kind < 0.6:
            return f"({' | '.join(keys)})"
        if kind < 0.7:
            return f"({keys[0]} - {keys[-1]})"
        if kind < 0.9:
            return f"R({self.dice.randrange(1 << self.dice.randint(1, 64))})"
        return self.dice.choice(
            ("C._dispatch_keyset_full()", "C._dispatch_tls_local_include_set()", "C._after_autograd_keyset")
        )


STEADY: list[Program] = [
    [f"C.{function}(T('{tensor}'))" for tensor in (*TENSORS, *FAKE_TENSORS)]
    for function in ("_dispatch_keys", "_dispatch_isTensorSubclassLike")
]
STEADY += [
    [
        "g = C._IncludeDispatchKeyGuard(K.FuncTorchDynamicLayerFrontMode)",
        "g.__enter__()",
        "C._are_functorch_transforms_active()",
        "g.__exit__(None, None, None)",
        "C._are_functorch_transforms_active()",
        "C._dispatch_tls_set_dispatch_key_included('FuncTorchDynamicLayerBackMode', True)",
        "C._are_functorch_transforms_active()",
    ],
    [
        *("C._enable_functionalization(reapply_views=True)", "C._functionalization_reapply_views_tls()"),
        *("C._enable_functionalization()", "C._disable_functionalization()"),
        *("C._functionalization_reapply_views_tls()", "C._enable_functionalization()"),
        *("C._functionalization_reapply_views_tls()", "C._dispatch_tls_local_include_set()"),
    ],
    [
        "m = C._dispatch_library('FRAGMENT', 'ns', '')",
        "m.impl_t_t('op', 'CPU', 'first').impl_t_t('op', 'CPU', 'second')",
    ],
    [
        "m = C._dispatch_library('FRAGMENT', 'ns', '')",
        "m.def_('op(Tensor x) -> Tensor').impl_t_t('op', '', 'first').impl_t_t('op', '', 'second')",
    ],
    [
        "C._dispatch_library('FRAGMENT', '_', 'CPU')",
        "C._dispatch_library('DEF', '_', 'CPU')",
        "m = C._dispatch_library('IMPL', '_', '')",
        "m.impl_t_t('zz::qq')",
        "C._dispatch_library('FRAGMENT', 'ns', '').def_('op(Tensr x) -> Tensor', 'BAD')",
    ],
    [
        *("C._dispatch_pystub(3, '')", "C._dispatch_pystub(None, '')", "C._set_only_lift_cpu_tensors('x')"),
        *("C._dispatch_dump(b'aten::tanh')", "R(2**63)", "R(2**63).raw_repr()", "R(2**64)"),
    ],
]
"""Programs that are always among them."""
SETUP = [
    "m = C._dispatch_library('FRAGMENT', 'ns', '')",
    "m.def_('op(Tensor x) -> Tensor').impl_t_t('op', 'CPU').impl_t_t('op', 'Autograd')",
    "m.def_name_t_t('math').impl_t_t('math', 'QuantizedCPU')",
    "m.impl_t_t('dangling', 'CUDA', 'unfinished')",
    "f = C._dispatch_library('IMPL', '_', '')",
    "f.fallback_fallthrough('XLA')",
    "d = C._dispatch_library('DEF', 'taken', '', 'taken.cpp', 7)",
]
"""Operators and fallbacks to ask for."""
ASKED_OF_THE_THREAD = (
    "_dispatch_tls_local_include_set",
    "_dispatch_tls_local_exclude_set",
    "_are_functorch_transforms_active",
    "_functionalization_reapply_views_tls",
    "_only_lift_cpu_tensors",
)
WITHOUT_ORDER = (
    "_dispatch_get_all_op_names",
    "_dispatch_find_dangling_impls",
    "_dispatch_get_registrations_for_dispatch_key",
)
"""Functions whose lists are in the order of a hash table of PyTorch."""
_KINDS = {
    "schema": "schema",
    "alias": "alias",
    "alias_analysis": "alias",
    "dispatch": "key",
    "dispatch_key": "key",
    "debug": "debug",
    "kind": "kind",
    "file": "file",
}


def text_kind(function: str, parameter: str, number: int) -> str:
    """The kind of text that a parameter takes."""
    if function == "_dispatch_library" and parameter == "name":
        return "namespace"
    if parameter == "name":
        return "schema or name" if function.startswith("def_") else "name in a library"
    if parameter in _KINDS:
        return _KINDS[parameter]
    if function == "_dispatch_key_for_device":
        return "device"
    if function == "_parse_dispatch_key" or (function.endswith("_for_dispatch_key") and number == 1):
        return "key"
    return "overload" if number == 1 else "name"
