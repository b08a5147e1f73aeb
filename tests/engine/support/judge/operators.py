"""Random operator libraries, as authors write them in Python and C++: PyTorch runs them, and the engine reads them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

HEADER = "import torch\nfrom torch import Tensor\nfrom typing import List, Optional, Tuple\n"
CPP_HEADER = """#include <ATen/ATen.h>
#include <ATen/core/op_registration/op_registration.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>
"""
DIRECT = """lib = torch.library.Library("judge", "FRAGMENT")
def direct_register_custom_op(op_name, op_func, mutates_args, fake_impl=None, dispatch_key="CPU"):
    lib.define(op_name + torch.library.infer_schema(op_func, mutates_args=mutates_args))
    lib.impl(op_name, op_func, dispatch_key=dispatch_key)
    if fake_impl is not None:
        lib._register_fake(op_name, fake_impl)
"""
"""The helper of vLLM, which others have copied."""


class Type(NamedTuple):
    """A type of arguments. term: its part of the sum that is the result, or of its factor, in Python and in C++.

    value: as JSON has it; a tensor is "t", two are "tt". kept: takes it out of an IValue. gradient: of a term, where g
    is that of the sum.
    """

    value: Any
    python: str
    cpp: str
    term: tuple[str, str]
    kept: str
    gradient: str = "None"
    default: str = ""


TYPES = {
    "Tensor": Type("t", "Tensor", "const at::Tensor&", ("{0}.sin()",) * 2, "toTensor", "g * {1} * {0}.cos()"),
    "Tensor?": Type(
        *("t", "Optional[Tensor]", "const std::optional<at::Tensor>&"),
        ("(0 if {0} is None else {0} * 3)", "({0} ? *{0} * 3 : at::zeros({{}}))"),
        *("toOptional", "None if {0} is None else g * {1} * 3"),
    ),
    "Tensor[]": Type(
        *("tt", "List[Tensor]", "at::TensorList", ("{0}[0] * {0}[1]",) * 2),
        *("toTensorVector", "[g * {1} * {0}[1], g * {1} * {0}[0]]"),
    ),
    "int": Type(2, "int", "int64_t", ("{0}",) * 2, "toInt", default="1"),
    "float": Type(0.5, "float", "double", ("(1 + {0})",) * 2, "toDouble", default="0.25"),
    "bool": Type(True, "bool", "bool", ("(2 if {0} else 1)", "({0} ? 2 : 1)"), "toBool", default="False"),
    "Device": Type("device", "torch.device", "at::Device", ("", ""), "toDevice"),
}
RESULTS = {
    "Tensor[]": ("List[Tensor]", "std::vector<at::Tensor>", "[0, 0]"),
    "(Tensor, Tensor)": ("Tuple[Tensor, Tensor]", "std::tuple<at::Tensor, at::Tensor>", "(0, 0)"),
    "()": ("None", "void", "None"),
}
"""Returned values by schema: in Python, in C++, and their batch dimensions; any other schema returns a tensor."""


class Kind(NamedTuple):
    """Bodies of operators. arguments: y and n may be left out; of those behind ``*``, the names are given.

    The argument that the statement begins with is written to.
    """

    weight: int
    arguments: str
    returns: str
    statement: str
    results: tuple[str, ...]


KINDS = {
    "one": Kind(8, "x y n", "Tensor", "", ("{total}",)),
    "two": Kind(2, "x y n", "(Tensor, Tensor)", "", ("{total}", "x.cos()")),
    "list": Kind(2, "x y n", "Tensor[]", "", ("{total}", "x.cos()")),
    "writes": Kind(4, "x y out n", "()", "out.copy_({total})", ()),
    "writes-result": Kind(2, "x y out n", "Tensor", "out.add_({total})", ("x.cos()",)),
    "silent": Kind(2, "x", "()", "x.mul_(2)", ()),
    "factory": Kind(1, "size * device", "Tensor", "", ("torch.full((size, 3), 0.5, device=device)",)),
    "writes-undeclared": Kind(1, "x y n", "Tensor", "x.mul_(2)", ("{total}",)),
    "aliases-undeclared": Kind(1, "x", "Tensor", "", ("x.t()",)),
    "in-place": Kind(3, "x y n", "Tensor(a!)", "x.add_({total})", ("x",)),
    "out": Kind(2, "x y n * out", "Tensor(a!)", "out.copy_({total})", ("out",)),
    "view": Kind(2, "x", "Tensor(a)", "", ("x.t()",)),
}
UNFAITHFUL = ("writes-undeclared", "aliases-undeclared")
"""Kinds whose body does not do what the schema says."""
UNDECLARED = (*UNFAITHFUL, "silent")
FORMS = {
    "custom_op": (7, (2, 4), list(KINDS)[:-3]),
    "triton_op": (1, (2, 6), list(KINDS)[:-3]),
    "define": (3, (2, 4), list(KINDS)),
    "library": (5, (2, 4), list(KINDS)),
    "direct": (1, (2, 5), list(KINDS)[:-3]),
    "C++": (9, (2, 4), list(KINDS)),
    "RegisterOperators": (1, (2, 4), ["one", "two", "list"]),
}
"""Form of the definition → its weight, since when PyTorch has it, the kinds that it can make."""
KEYS = (
    *(("CPU",),) * 5,
    *(("CPU", "Meta"),) * 2,
    *(("CompositeExplicitAutograd",),) * 2,
    *(("CompositeImplicitAutograd",),) * 2,
    ("CompositeExplicitAutogradNonFunctional",),
    ("CPU", "CompositeImplicitAutograd"),
    ("CPU", "CompositeExplicitAutograd"),
    ("Meta",),
    ("CUDA",),
)
CPU = ("torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)", "c10::DispatchKeySet(c10::DispatchKey::CPU)")
BELOW = ("keyset & torch._C._after_ADInplaceOrView_keyset", "keyset & c10::after_ADInplaceOrView_keyset")
GUARDS = {
    "no_grad": ("torch.no_grad()", "at::NoGradGuard guard;"),
    "autograd": ("torch._C._AutoDispatchBelowAutograd()", "at::AutoDispatchBelowAutograd guard;"),
    "autocast": (
        "torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCPU))",
        "c10::impl::ExcludeDispatchKeyGuard guard(c10::DispatchKey::AutocastCPU);",
    ),
}
_IN_CPP = {
    "torch.full((size, 3), 0.5, device=device)": "at::full({size, 3}, 0.5, at::device(device))",
    "torch.bfloat16": "at::kBFloat16",
    "torch.empty_like": "at::empty_like",
}
_FUNCTION = """struct {name} : public torch::autograd::Function<{name}> {{
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, {parameters}) {{
    {keep}
    at::AutoDispatchBelowAutograd guard;
    {below}
  }}
  static torch::autograd::variable_list backward(
      torch::autograd::AutogradContext* ctx, torch::autograd::variable_list gradients) {{
    auto g = gradients[0];
    {kept}
    return {{{gradients}}};
  }}
}};"""


class Operator(NamedTuple):
    """An operator. source, cpp: its library in both languages. body: what its kernels do, for `live.py`.

    writes: the arguments that the body writes to. faithful: the body does what the schema says.
    """

    name: str
    source: str
    cpp: str
    body: str
    values: dict[str, Any]
    keywords: list[str]
    writes: list[str]
    faithful: bool


class Body(NamedTuple):
    """The statement and the results of a function. guard: of `GUARDS`, around them."""

    statement: str
    results: tuple[str, ...]
    guard: str = ""


def operators(seed: int, count: int, version: tuple[int, ...]) -> list[Operator]:
    """*count* operators for that version of PyTorch. Equal seeds give equal operators."""
    dice = random.Random(seed)
    return [_Author(dice, f"op{number}", version).operator() for number in range(count)]


def _indented(head: str, lines: Sequence[str]) -> list[str]:
    return [head, *(f"    {line}" for line in lines)]


class _Author:
    """Writes the library of an operator. is_cpp: the language of its kernels, as a place in pairs of both."""

    def __init__(self, dice: random.Random, base: str, version: tuple[int, ...]) -> None:
        self.dice, self.base, self.version, self.lines = dice, base, version, [HEADER]
        forms = [form for form, (_, since, _) in FORMS.items() if version >= since]
        self.form = dice.choices(forms, [FORMS[form][0] for form in forms])[0]
        self.is_custom, self.is_cpp = self.form in ("custom_op", "triton_op"), self.form in ("C++", "RegisterOperators")
        self.cpp = [CPP_HEADER] if self.is_cpp else []
        kinds = FORMS[self.form][2]
        self.kind = dice.choices(kinds, [KINDS[kind].weight for kind in kinds])[0]
        _, arguments, self.returns, self.statement, self.results = KINDS[self.kind]
        self.writes = self.statement.partition(".")[0]
        self.overload = "other" if self.form in ("library", "C++") and self._chance(0.15) else ""
        self.short = base + ("." + self.overload if self.overload else "")
        self.types, self.defaults = dict[str, str](), dict[str, str]()
        self._choose(arguments.replace("* ", "").split())
        self.names = ", ".join(self.types)
        self.keywords = arguments.partition("* ")[2].split()

    def operator(self) -> Operator:
        no_value, short = self._chance(0.4), self._chance(0.4)
        values = {
            name: None if kind == "Tensor?" and no_value else TYPES[kind].value
            for name, kind in self.types.items()
            if not (short and name in self.defaults)
        }
        body = "\n".join(_indented(f"def body({self._parameters()}):", self._lines(self._body(0), 0)))
        if self.is_custom:
            self._custom()
        else:
            {"direct": self._direct}.get(self.form, self._defined)()
        source, cpp = ("\n".join(lines) + "\n" for lines in (self.lines, self.cpp))
        writes, faithful = [self.writes] if self.writes else [], self.kind not in UNFAITHFUL
        return Operator(f"judge::{self.short}", source, cpp.strip(), body, values, self.keywords, writes, faithful)

    def _chance(self, share: float) -> bool:
        return self.dice.random() < share

    # The signature.

    def _choose(self, names: Sequence[str]) -> None:
        """The types of the arguments, and the defaults."""
        for name in names:
            if name in ("y", "n") and self._chance(0.5):
                continue
            kind = {"size": "int", "device": "Device"}.get(name, "Tensor")
            if name == "y":
                kind = self.dice.choices(("Tensor", "Tensor?", "Tensor[]"), (4, 2, 2))[0]
            elif name == "n":
                kind = self.dice.choice(("int", "float", "bool"))
                if self._chance(0.5):
                    self.defaults[name] = TYPES[kind].default
            self.types[name] = kind

    def _parameters(self, form: str = "{name}") -> str:
        """Those of a Python function or a schema; form: of each, with its name, annotation or type."""
        parts = []
        for name, kind in self.types.items():
            alias = "(a!)" if name == self.writes and self.kind not in UNDECLARED else ""
            alias = "(a)" if self.kind == "view" else alias
            text = form.format(name=name, python=TYPES[kind].python, type=kind + alias)
            default = f"={self.defaults[name]}" if name in self.defaults else ""
            parts += ["*"] * (name in self.keywords) + [text + default]
        return ", ".join(parts)

    def _schema(self) -> str:
        return f"({self._parameters('{type} {name}')}) -> {self.returns}"

    def _annotated(self, name: str) -> str:
        return f"def {name}({self._parameters('{name}: {python}')}) -> {RESULTS.get(self.returns, ['Tensor'])[0]}:"

    def _cpp_types(self) -> tuple[str, str]:
        """The type that a C++ function returns, and its parameters."""
        parameters = ", ".join(f"{TYPES[kind].cpp} {name}" for name, kind in self.types.items())
        return RESULTS.get(self.returns, ["", "at::Tensor"])[1], parameters

    def _call(self, form: str = "{0}", keys: str = "") -> str:
        """A call of the operator. form: of each tensor that it does not write to. keys: redispatches with these."""
        given = [keys] if keys else []
        for name, kind in self.types.items():
            value = form.format(name) if kind == "Tensor" and name != self.writes else name
            given.append(f"{name}={value}" if name in self.keywords and not self.is_cpp else value)
        called = f"{self.base}_op().{'redispatch' if keys else 'call'}" if self.is_cpp else self._packet(bool(keys))
        return f"{called}({', '.join(given)})"

    def _packet(self, redispatches: bool) -> str:
        overload = f"torch.ops.judge.{self.base}.{self.overload or 'default'}.redispatch"
        return overload if redispatches else f"torch.ops.judge.{self.short}"

    # Functions.

    def _factor(self, language: int) -> str:
        return TYPES[self.types["n"]].term[language].format("n") if "n" in self.types else "2"

    def _body(self, language: int, guard: str = "") -> Body:
        """Body of the operator."""
        left_out = "" if self.kind in UNFAITHFUL else self.writes
        summands = {name: TYPES[kind] for name, kind in self.types.items() if "Tensor" in kind and name != left_out}
        terms = " + ".join(kind.term[language].format(name) for name, kind in summands.items())
        total = f"({terms}) * {self._factor(language)}" if terms else self._factor(language)
        results = tuple(result.format(total=total) for result in self.results)
        return Body(self.statement.format(total=total), results, guard)

    def _fake(self) -> Body:
        kept = ("x", "out", "x.t()", *KINDS["factory"].results)
        return Body("", tuple(result if result in kept else "torch.empty_like(x)" for result in self.results))

    def _lines(self, body: Body, language: int) -> list[str]:
        """The lines of a function."""
        statement, results, guard = body
        if language:
            value = f"{{{', '.join(results)}}}" if len(results) > 1 else "".join(results)
            value = value if self.returns == "()" else f"return {value}"
            text = f"{GUARDS[guard][1] if guard else ''}\n{statement};\n{value};"
            for python, cpp in _IN_CPP.items():
                text = text.replace(python, cpp)
            return [line for line in text.split("\n") if line.strip(";")]
        value = f"[{', '.join(results)}]" if self.returns == "Tensor[]" and len(results) > 1 else ", ".join(results)
        lines = [statement] * bool(statement) + [f"return {value or None}"]
        return _indented(f"with {GUARDS[guard][0]}:", lines) if guard else lines

    def _function(self, name: str, body: Body, keyset: str = "") -> None:
        """Writes a function in the language of the kernels. keyset: its name, where it takes one."""
        lines = self._lines(body, self.is_cpp)
        if self.is_cpp:
            returned, parameters = self._cpp_types()
            first = f"c10::DispatchKeySet {keyset}, " if keyset else ""
            self.cpp += [*_indented(f"{returned} {name}({first}{parameters}) {{", lines), "}"]
        else:
            self._python(f"def {name}({keyset + ', ' if keyset else ''}{self._parameters()}):", lines)

    def _python(self, head: str, lines: Sequence[str]) -> None:
        self.lines += [*_indented(head, lines), ""]

    # Registrations.

    def _mutates(self) -> str:
        return f'["{self.writes}"]' if self.writes and self.kind not in UNDECLARED else "[]"

    def _custom(self) -> None:
        """By ``custom_op`` or ``triton_op``, and what is registered for it after that."""
        is_unknown = self.form == "custom_op" and self.kind == "writes" and self.version >= (2, 5) and self._chance(0.1)
        mutates = '"unknown"' if is_unknown else self._mutates()
        options = [f'"judge::{self.base}"', f"mutates_args={mutates}"]
        devices = self.dice.choice(("None", "None", "None", '"cpu"', '("cpu", "cuda")', '"cuda"'))
        if self.form == "custom_op":
            options.append(f"device_types={devices}")
            options += [f'schema="{self._schema()}"'] * (self._chance(0.3) and not is_unknown)
        self.lines.append(f"@torch.library.{self.form}({', '.join(options)})")
        self._python(self._annotated(self.base), self._lines(self._body(0), 0))
        if self.form == "custom_op" and self._chance(0.15):
            self.lines.append(f'@{self.base}.register_kernel("{self.dice.choice(("cpu", "cuda", "meta"))}")')
            self._function(f"{self.base}_kernel", self._body(0))
        self._python_parts(())

    def _direct(self) -> None:
        """By a helper of the library."""
        self.lines.append(DIRECT)
        self._python(self._annotated(self.base), self._lines(self._body(0), 0))
        self._function(f"{self.base}_fake", self._fake())
        option = self.dice.choice(("", f", {self.base}_fake", ', dispatch_key="CompositeExplicitAutograd"'))
        self.lines.append(f'direct_register_custom_op("{self.base}", {self.base}, {self._mutates()}{option})')

    def _defined(self) -> None:
        """By its schema, with kernels at keys."""
        keys = ("CPU",) if self.form == "RegisterOperators" else self.dice.choice(KEYS)
        tags = ["pt2_compliant_tag"] * self._chance(0.2)
        if self.kind in ("in-place", "out") and self._chance(0.5) and self.version >= (2, 13):
            tags.append(self.kind.replace("-", ""))
        has_kernel = False
        if self.is_cpp:
            has_kernel = self._define_in_cpp(keys, tags)
        else:
            given = f'{self._schema()}", tags=({"".join(f"torch.Tag.{tag}, " for tag in tags)})'
            defines = [f'lib.define("{self.short}', f'torch.library.define("judge::{self.short}", "']
            self.lines.append('lib = torch.library.Library("judge", "FRAGMENT")')
            self.lines.append(f"{defines[self.form == 'define']}{given})")
        for key in () if has_kernel else keys:
            # as kernels that are not written in operators: autograd sees nothing of what they compute
            guard = "no_grad" if key == "CPU" and self._chance(0.6) else ""
            self._impl(key, self._fake() if key == "Meta" else self._body(self.is_cpp, guard))
        has_backward = self._python_parts(keys)
        if not has_backward and self._chance(0.35) and self.kind != "factory":
            self._autograd_kernel(self.dice.choice(("Autograd", "AutogradCPU")))
        keysets = self.is_cpp or self.version >= (2, 5)
        if self._chance(0.07) and "register_autocast" not in "".join(self.lines):
            self._impl("AutocastCPU", self._calling(self._call("{0}.to(torch.bfloat16)"), "autocast"))
        elif self._chance(0.15):
            key = self.dice.choice(("AutocastCPU", "ADInplaceOrView", "redispatch" if keysets else "ADInplaceOrView"))
            if key == "redispatch":
                self._impl("ADInplaceOrView", self._calling(self._call(keys=BELOW[self.is_cpp])), "keyset")
            else:
                self._impl(key, None)
        if self.kind == "factory" and keys == ("CPU",) and self._chance(0.7):
            self._impl("BackendSelect", self._calling(self._call(keys=CPU[self.is_cpp])))

    def _calling(self, call: str, guard: str = "") -> Body:
        return Body(call, (), guard) if self.is_cpp and self.returns == "()" else Body("", (call,), guard)

    def _define_in_cpp(self, keys: tuple[str, ...], tags: Sequence[str]) -> bool:
        """Writes the definition; True if the kernel is in it."""
        returned, parameters = self._cpp_types()
        find = f'c10::Dispatcher::singleton().findSchemaOrThrow("judge::{self.base}", "{self.overload}")'
        self.cpp.append(f"static auto {self.base}_op() {{\n  return {find}.typed<{returned}({parameters})>();\n}}")
        in_block = keys == ("CompositeImplicitAutograd",)
        if self.form == "RegisterOperators" or in_block:
            self._function(self.base, self._body(1))
        if self.form == "RegisterOperators":
            options = f"torch::RegisterOperators::options().kernel<decltype({self.base}), &{self.base}>"
            made = (
                f'torch::RegisterOperators().op("judge::{self.base}{self._schema()}", {options}(c10::DispatchKey::CPU))'
            )
            self.cpp.append(f"static auto {self.base}_registered = {made};")
            return True
        options = f", {self.base}" if in_block else f", {{{', '.join(f'at::Tag::{tag}' for tag in tags)}}}" * bool(tags)
        self._block("FRAGMENT", f'm.def("{self.short}{self._schema()}"{options})')
        return in_block

    def _block(self, key: str, statement: str) -> None:
        head = "TORCH_LIBRARY_FRAGMENT(judge, m)" if key == "FRAGMENT" else f"TORCH_LIBRARY_IMPL(judge, {key}, m)"
        self.cpp.append(f"{head} {{\n  {statement};\n}}")

    def _impl(self, key: str, body: Body | None, keyset: str = "") -> None:
        """A kernel at a key; None is a fallthrough. keyset: it takes the key set, by that name."""
        function = f"{self.base}_{key}"
        if body is not None:
            self._function(function, body, keyset)
        if self.is_cpp:
            function = "torch::CppFunction::makeFallthrough()" if body is None else function
            if self._chance(0.2) and key != "BackendSelect":
                self._block("FRAGMENT", f'm.impl("{self.short}", torch::dispatch(c10::DispatchKey::{key}, {function}))')
            else:
                self._block(key, f'm.impl("{self.short}", {function})')
            return
        function = "torch.library.fallthrough_kernel" if body is None else function
        forms = [f'lib.impl("{self.short}", {function}, "{key}"{", with_keyset=True" * bool(keyset)})']
        if body is not None and not keyset:
            forms.append(f'torch.library.impl("judge::{self.short}", "{key}", {function})')
            forms.append(f'torch.library.impl(lib, "{self.short}", "{key}")({function})')
            forms += [f'torch.library.register_kernel("judge::{self.short}", "cpu", {function})'] * (key == "CPU")
        self.lines.append(self.dice.choice(forms))

    def _python_parts(self, keys: Sequence[str]) -> bool:
        """Registers further functions by ``torch.library``; True if a backward is among them."""
        is_cpp, self.is_cpp = self.is_cpp, False
        composite, name = "CompositeImplicitAutograd" in keys, f'"judge::{self.short}"'
        method = self.is_custom and self._chance(0.5)
        through = f"{self.base}." if method else "torch.library."
        first, decorated = ("", "") if method else (f"{name}, ", f"({name})")
        parts = []
        if self._chance(0.05 if "Meta" in keys else 0.6) and not composite:
            fake = _indented(f"def {self.base}_fake({self._parameters()}):", self._lines(self._fake(), 0))
            options = [f"@{through}register_fake{decorated}"]
            options += [] if method else [f"@torch.library.impl_abstract{decorated}"]
            parts.append([self.dice.choices(options, (4, 1)[: len(options)])[0], *fake])
        has_backward = self.kind in ("one", "two") and self._chance(0.05 if composite else 0.5)
        if has_backward:
            lines = _indented(f"def {self.base}_backward(ctx, {self._results()}):", self._derivative())
            lines += [f"def {self.base}_setup(ctx, inputs, output):", "    ctx.given = inputs"]
            options = f"{self.base}_backward, setup_context={self.base}_setup"
            parts.append([*lines, f"{through}register_autograd({first}{options})"])
        if self._chance(0.3) and self.version >= (2, 5) and self.kind != "factory":
            parts.append([f"@{through}register_vmap{decorated}", *self._rule()])
        if self._chance(0.15) and self.version >= (2, 7):
            parts.append([f'{through}register_autocast({first}"cpu", torch.bfloat16)'])
        overload = self._packet(redispatches=True).rpartition(".")[0]
        if self._chance(0.4 if self.kind == "silent" else 0.02):
            parts.append([f"torch.fx.node.has_side_effect({overload})"])
        if self._chance(0.03):
            body = _indented(f"def {self.base}_py({self._parameters()}):", self._lines(self._body(0), 0))
            key = self.dice.choice(("CompositeImplicitAutograd", "AutogradCPU"))
            parts.append([f"@{overload}.py_impl(torch._C.DispatchKey.{key})", *body])
        self.dice.shuffle(parts)
        self.lines += [line for part in parts for line in [*part, ""]]
        self.is_cpp = is_cpp
        return has_backward

    def _rule(self) -> list[str]:
        """A batching rule. Every tensor has its batch first."""
        called = self._call()
        if self._chance(0.7) or "x.t()" in self.results:  # the body is not for a batch
            body = self._body(0)
            results = tuple(result.replace("x.t()", "x.mT") for result in body.results)
            self._function(f"{self.base}_batched", body._replace(results=results))
            called = f"{self.base}_batched{called[called.index('(') :]}"
        dims = RESULTS.get(self.returns, ("", "", "0"))[2]
        return [f"def {self.base}_vmap(info, in_dims, {self._parameters()}):", f"    return {called}, {dims}"]

    def _results(self) -> str:
        """The names of the gradients of the results."""
        return "g, k" if self.kind == "two" else "g"

    def _gradients(self, language: int) -> list[str]:
        """Those of the arguments."""
        parts = [TYPES[kind].gradient.format(name, self._factor(language)) for name, kind in self.types.items()]
        return ["g" if self.kind == "in-place" else parts[0] + " - k * x.sin()" * (self.kind == "two"), *parts[1:]]

    def _derivative(self) -> list[str]:
        return [f"{self.names}, = ctx.given", f"return {', '.join(self._gradients(0))}"]

    def _autograd_kernel(self, key: str) -> None:
        """An ``autograd.Function`` at an autograd key, PyTorch's fallback, or a fallthrough."""
        kinds = ("one", "in-place") if self.is_cpp else ("one", "in-place", "two")
        if self.kind not in kinds or not {"Tensor[]", "Tensor?"}.isdisjoint(self.types.values()) or self._chance(0.25):
            if self.is_cpp and self._chance(0.5):
                self._block(key, f'm.impl("{self.short}", torch::autograd::autogradNotImplementedFallback())')
            else:
                self._impl(key, None)
            return
        (self._cpp_function if self.is_cpp else self._python_function)()
        self._impl(key, Body("", (f"{self.base}_Function{'::' if self.is_cpp else '.'}apply({self.names})",)))

    def _cpp_function(self) -> None:
        keep = [f'ctx->saved_data["{name}"] = {name};' for name in self.types]
        keep += ["ctx->mark_dirty({x});"] * (self.kind == "in-place")
        kept = [f'auto {name} = ctx->saved_data["{name}"].{TYPES[kind].kept}();' for name, kind in self.types.items()]
        self.cpp.append(
            _FUNCTION.format(
                name=f"{self.base}_Function",
                parameters=self._cpp_types()[1],
                keep="\n    ".join(keep),
                below=f"{self._call()};\n    return x;" if self.kind == "in-place" else f"return {self._call()};",
                kept="\n    ".join(kept),
                gradients=", ".join(self._gradients(1)).replace("None", "at::Tensor()"),
            )
        )

    def _python_function(self) -> None:
        style = self.dice.choice(("with context", "with context", "setup", "setup with vmap"))
        keep = ["ctx.mark_dirty(x)"] * (self.kind == "in-place") + [f"ctx.given = ({self.names},)"]
        below = _indented(f"with {GUARDS['autograd'][0]}:", [f"result = {self._call()}"])
        below.append(f"return {'x' if self.kind == 'in-place' else 'result'}")
        methods = {f"forward(ctx, {self.names})": [*keep, *below]}
        if style != "with context":
            methods = {f"forward({self.names})": below}
            methods["setup_context(ctx, inputs, output)"] = [f"{self.names}, = inputs", *keep]
        methods[f"backward(ctx, {self._results()})"] = self._derivative()
        lines = [f"generate_vmap_rule = {style == 'setup with vmap'}"]
        for head, body in methods.items():
            lines += ["@staticmethod", *_indented(f"def {head}:", body)]
        self._python(f"class {self.base}_Function(torch.autograd.Function):", lines)
