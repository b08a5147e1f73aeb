"""Random operator libraries, as the Python that an author would write: PyTorch runs it, and the engine reads it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

HEADER = "import torch\nfrom torch import Tensor\nfrom typing import List, Optional, Tuple\n"
ANNOTATIONS = {"Tensor?": "Optional[Tensor]", "Tensor[]": "List[Tensor]", "Device": "torch.device"}
"""The annotation of a type; others are their own."""
TERMS = {"Tensor": "torch.sin({0})", "Tensor?": "(0 if {0} is None else {0} * 3)", "Tensor[]": "{0}[0] * {0}[1]"}
"""An argument's part of the result."""
GRADIENTS = {
    "Tensor": "g * {1} * torch.cos({0})",
    "Tensor?": "None if {0} is None else g * {1} * 3",
    "Tensor[]": "[g * {1} * {0}[1], g * {1} * {0}[0]]",
}
FACTORS = {"int": "{0}", "float": "(1 + {0})", "bool": "(2 if {0} else 1)"}
VALUES = {"int": 2, "float": 0.5, "bool": True, "Tensor": "t", "Tensor[]": "tt", "Tensor?": "t", "Device": "device"}
DEFAULTS = {"int": "1", "float": "0.25", "bool": "False"}
KINDS = {
    "one": (8, "Tensor", ""),
    "two": (2, "(Tensor, Tensor)", ""),
    "list": (2, "Tensor[]", ""),
    "writes": (4, "()", "out"),
    "writes-result": (2, "Tensor", "out"),
    "silent": (2, "()", "x"),
    "factory": (1, "Tensor", ""),
    "writes-undeclared": (1, "Tensor", "x"),
    "aliases-undeclared": (1, "Tensor", ""),
    "in-place": (3, "Tensor(a!)", "x"),
    "out": (2, "Tensor(a!)", "out"),
    "view": (2, "Tensor(a)", ""),
}
"""Kind of operator → its weight, what its schema returns, the argument to which the body writes.

``custom_op`` does not take the last three.
"""
UNFAITHFUL = ("writes-undeclared", "aliases-undeclared")
"""The kinds whose body does not do what the schema says."""
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


class Operator(NamedTuple):
    """An operator. source: its library. body: what its kernels do, for `live.py`.

    values: by argument, as JSON has them; a tensor is "t", two are "tt". writes: the arguments that the body writes
    to. faithful: the body does what the schema says.
    """

    name: str
    source: str
    body: str
    values: dict[str, Any]
    keywords: list[str]
    writes: list[str]
    faithful: bool


def operators(seed: int, count: int, version: tuple[int, ...]) -> list[Operator]:
    """*count* operators for that version of PyTorch. Equal seeds give equal operators."""
    dice = random.Random(seed)
    return [_Author(dice, f"op{number}", version).operator() for number in range(count)]


class _Author:
    """Writes the library of an operator."""

    def __init__(self, dice: random.Random, base: str, version: tuple[int, ...]) -> None:
        self.dice, self.base, self.version, self.lines = dice, base, version, [HEADER]
        forms = ("custom_op", "define", "library", "triton_op" if version >= (2, 6) else "custom_op")
        self.form = dice.choices(forms, (7, 3, 5, 1))[0]
        self.is_custom = self.form in ("custom_op", "triton_op")
        kinds = list(KINDS)[: -3 if self.is_custom else None]
        self.kind = dice.choices(kinds, [KINDS[kind][0] for kind in kinds])[0]
        _, self.returns, self.writes = KINDS[self.kind]
        self.overload = "other" if self.form == "library" and self._chance(0.15) else ""
        self.short = base + ("." + self.overload if self.overload else "")
        self.types, self.defaults = self._arguments()
        self.names = ", ".join(self.types)
        self.keywords = {"factory": ["device"], "out": ["out"]}.get(self.kind, [])
        factors = [FACTORS[kind].format(name) for name, kind in self.types.items() if kind in FACTORS]
        self.factor = " * ".join(factors) or "2"

    def operator(self) -> Operator:
        no_value = self._chance(0.4)
        values = {name: None if kind == "Tensor?" and no_value else VALUES[kind] for name, kind in self.types.items()}
        if self._chance(0.4):
            values = {name: value for name, value in values.items() if name not in self.defaults}
        body = f"def body({self._parameters()}):\n    " + "\n    ".join(self._body())
        self._custom() if self.is_custom else self._defined()
        source, faithful = "\n".join(self.lines) + "\n", self.kind not in UNFAITHFUL
        writes = [self.writes] if self.writes else []
        return Operator(f"judge::{self.short}", source, body, values, self.keywords, writes, faithful)

    def _chance(self, share: float) -> bool:
        return self.dice.random() < share

    # The signature.

    def _arguments(self) -> tuple[dict[str, str], dict[str, str]]:
        if self.kind == "factory":
            return {"n": "int", "device": "Device"}, {}
        types, defaults = {"x": "Tensor"}, dict[str, str]()
        if self.kind in ("view", "silent", "aliases-undeclared"):
            return types, defaults
        if self._chance(0.5):
            types["y"] = self.dice.choices(("Tensor", "Tensor?", "Tensor[]"), (4, 2, 2))[0]
        if self.kind in ("writes", "writes-result"):
            types["out"] = "Tensor"
        if self._chance(0.5):
            types["n"] = self.dice.choice(tuple(FACTORS))
            if self._chance(0.5):
                defaults["n"] = DEFAULTS[types["n"]]
        if self.kind == "out":
            types["out"] = "Tensor"
        return types, defaults

    def _signature(self, annotated: bool) -> str:
        """The parameters, of the schema or of a Python function."""
        parts = []
        for name, kind in self.types.items():
            if annotated:
                text = f"{name}: {ANNOTATIONS.get(kind, kind)}"
            elif name == self.writes and self.kind not in ("silent", *UNFAITHFUL):
                text = f"Tensor(a!) {name}"
            else:
                text = f"{'Tensor(a)' if self.kind == 'view' and name == 'x' else kind} {name}"
            default = f"={self.defaults[name]}" if name in self.defaults else ""
            parts += ["*"] * (name in self.keywords) + [text + default]
        return ", ".join(parts)

    def _schema(self) -> str:
        return f"({self._signature(annotated=False)}) -> {self.returns}"

    def _given(self, form: str = "{0}") -> str:
        """Its arguments, as a call passes them on. form: of each tensor that it does not write to."""
        values = {
            name: form.format(name) if kind == "Tensor" and name != self.writes else name
            for name, kind in self.types.items()
        }
        return ", ".join(f"{name}={value}" if name in self.keywords else value for name, value in values.items())

    def _call(self, form: str = "{0}") -> str:
        return f"torch.ops.judge.{self.short}({self._given(form)})"

    # Functions.

    def _sum(self, but: str) -> str:
        terms = [TERMS[kind].format(name) for name, kind in self.types.items() if kind in TERMS and name != but]
        return f"({' + '.join(terms)}) * {self.factor}" if terms else self.factor

    def _body(self) -> list[str]:
        """Result of the operator."""
        total = self._sum("out")
        return {
            "one": [f"return {total}"],
            "two": [f"return {total}, torch.cos(x)"],
            "list": [f"return [{total}, torch.cos(x)]"],
            "writes": [f"out.copy_({total})"],
            "writes-result": [f"out.add_({total})", "return torch.cos(x)"],
            "in-place": [f"x.add_({self._sum('x')})", "return x"],
            "out": [f"out.copy_({total})", "return out"],
            "view": ["return x.t()"],
            "silent": ["x.mul_(2)"],
            "factory": ["return torch.full((n, 3), 0.5, device=device)"],
            "writes-undeclared": ["x.mul_(2)", f"return {total}"],
            "aliases-undeclared": ["return x" if self.base[-1] in "02468" else "return x.t()"],
        }[self.kind]

    def _fake_body(self) -> list[str]:
        like = "torch.empty_like(x)"
        results = {"two": f"{like}, {like}", "list": f"[{like}, {like}]", "in-place": "x", "out": "out"}
        results |= {"view": "x.t()", "writes": "None", "silent": "None"}
        results["factory"] = "torch.empty((n, 3), device=device)"
        return [f"return {results.get(self.kind, like)}"]

    def _function(self, name: str, body: Sequence[str], first: str = "") -> None:
        self.lines += [f"def {name}({first}{self._parameters()}):", *(f"    {line}" for line in body), ""]

    def _parameters(self) -> str:
        defaults = {name: f"={default}" for name, default in self.defaults.items()}
        return ", ".join("*, " * (name in self.keywords) + name + defaults.get(name, "") for name in self.types)

    # Registrations.

    def _custom(self) -> None:
        """By ``custom_op`` or ``triton_op``, and what is registered for it after that."""
        mutates = "" if self.kind in ("silent", *UNFAITHFUL) or not self.writes else f'"{self.writes}",'
        options = [f'"judge::{self.base}"', f"mutates_args=({mutates})"]
        devices = self.dice.choice(("None", "None", "None", '"cpu"', '("cpu", "cuda")', '"cuda"'))
        if self.form == "custom_op":
            options += [f"device_types={devices}"] + [f'schema="{self._schema()}"'] * self._chance(0.3)
        results = {"Tensor[]": "List[Tensor]", "(Tensor, Tensor)": "Tuple[Tensor, Tensor]", "()": "None"}
        self.lines.append(f"@torch.library.{self.form}({', '.join(options)})")
        head = f"def {self.base}({self._signature(annotated=True)}) -> {results.get(self.returns, 'Tensor')}:"
        self.lines += [head, *(f"    {line}" for line in self._body()), ""]
        if self.form == "custom_op" and self._chance(0.15):
            self.lines.append(f'@{self.base}.register_kernel("{self.dice.choice(("cpu", "cuda", "meta"))}")')
            self._function(f"{self.base}_kernel", self._body())
        self._python_parts(())

    def _defined(self) -> None:
        """By ``define`` or a ``Library``, with kernels at keys."""
        keys, tags = self.dice.choice(KEYS), []
        if self.kind in ("in-place", "out") and self._chance(0.5) and self.version >= (2, 13):
            tags.append(f"torch.Tag.{self.kind.replace('-', '')},")
        if self._chance(0.2):
            tags.append("torch.Tag.pt2_compliant_tag,")
        options = f"tags=({' '.join(tags)})"
        self.lines.append('lib = torch.library.Library("judge", "FRAGMENT")')
        if self.form == "define":
            self.lines.append(f'torch.library.define("judge::{self.base}", "{self._schema()}", {options})')
        else:
            self.lines.append(f'lib.define("{self.short}{self._schema()}", {options})')
        for key in keys:
            body = self._fake_body() if key == "Meta" else self._body()
            if key == "CPU" and self._chance(0.6):  # as kernels in C++, of whose computation autograd sees nothing
                body = ["with torch.no_grad():", *(f"    {line}" for line in body)]
            self._impl(key, body)
        if not self._python_parts(keys) and self._chance(0.35) and self.kind != "factory":
            self._autograd_kernel(self.dice.choice(("Autograd", "AutogradCPU")))
        if self._chance(0.07) and "register_autocast" not in "".join(self.lines):
            key = "torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCPU)"
            call = f"    return {self._call('{0}.to(torch.bfloat16)')}"
            self._impl("AutocastCPU", [f"with torch._C._ExcludeDispatchKeyGuard({key}):", call])
        elif self._chance(0.08):
            self._impl(self.dice.choice(("AutocastCPU", "ADInplaceOrView")), None)
        if self.kind == "factory" and keys == ("CPU",) and self._chance(0.7):
            cpu = "torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)"
            overload = f"torch.ops.judge.{self.base}.{self.overload or 'default'}"
            self._impl("BackendSelect", [f"return {overload}.redispatch({cpu}, n, device=device)"])

    def _impl(self, key: str, body: Sequence[str] | None) -> None:
        """A kernel at a key; None is a fallthrough."""
        function = f"{self.base}_{key}" if body is not None else "torch.library.fallthrough_kernel"
        if body is not None:
            self._function(function, body)
        if self.form == "define" and body is not None:
            self.lines.append(f'torch.library.impl("judge::{self.base}", "{key}", {function})')
        else:
            self.lines.append(f'lib.impl("{self.short}", {function}, "{key}")')

    def _python_parts(self, keys: Sequence[str]) -> bool:
        """Registers further functions by ``torch.library``; whether a backward is among them."""
        composite, name = "CompositeImplicitAutograd" in keys, f'"judge::{self.short}"'
        method = self.is_custom and self._chance(0.5)
        through = f"{self.base}." if method else "torch.library."
        first, decorated = ("", "") if method else (f"{name}, ", f"({name})")
        parts = []
        if self._chance(0.05 if "Meta" in keys else 0.6) and not composite:
            head = f"def {self.base}_fake({self._parameters()}):"
            parts.append([f"@{through}register_fake{decorated}", head, *(f"    {line}" for line in self._fake_body())])
        has_backward = self.kind in ("one", "two") and self._chance(0.05 if composite else 0.5)
        if has_backward:
            inputs = f"ctx, {'g, k' if self.kind == 'two' else 'g'}"
            lines = [f"def {self.base}_backward({inputs}):", *(f"    {line}" for line in self._derivative())]
            lines += [f"def {self.base}_setup(ctx, inputs, output):", "    ctx.given = inputs"]
            options = f"{self.base}_backward, setup_context={self.base}_setup"
            parts.append([*lines, f"{through}register_autograd({first}{options})"])
        if self._chance(0.3) and self.version >= (2, 5) and self.kind != "factory":
            parts.append([f"@{through}register_vmap{decorated}", *self._rule()])
        if self._chance(0.15) and self.version >= (2, 7):
            parts.append([f'{through}register_autocast({first}"cpu", torch.bfloat16)'])
        self.dice.shuffle(parts)
        self.lines += [line for part in parts for line in [*part, ""]]
        return has_backward

    def _rule(self) -> list[str]:
        """A batching rule. Every tensor has its batch first."""
        dims = {"(Tensor, Tensor)": "(0, 0)", "Tensor[]": "[0, 0]", "()": "None"}.get(self.returns, "0")
        called = self._call()
        if self._chance(0.7) or self.kind in ("view", "aliases-undeclared"):  # the body is not for a batch
            called = f"{self.base}_batched({self._given()})"
            self._function(f"{self.base}_batched", [line.replace("x.t()", "x.mT") for line in self._body()])
        return [f"def {self.base}_vmap(info, in_dims, {self._parameters()}):", f"    return {called}, {dims}"]

    def _derivative(self) -> list[str]:
        parts = [GRADIENTS.get(kind, "None").format(name, self.factor) for name, kind in self.types.items()]
        if self.kind == "in-place":
            parts[0] = "g"
        elif self.kind == "two":
            parts[0] += " - k * torch.sin(x)"
        return [f"{self.names}, = ctx.given", f"return {', '.join(parts)}"]

    def _autograd_kernel(self, key: str) -> None:
        """An ``autograd.Function`` at an autograd key, or a fallthrough."""
        if self.kind not in ("one", "two", "in-place") or "Tensor[]" in self.types.values() or self._chance(0.25):
            self._impl(key, None)
            return
        style = self.dice.choice(("with context", "with context", "setup", "setup with vmap"))
        keep = ["ctx.mark_dirty(x)"] * (self.kind == "in-place") + [f"ctx.given = ({self.names},)"]
        below = ["with torch._C._AutoDispatchBelowAutograd():", f"    result = {self._call()}"]
        below.append(f"return {'x' if self.kind == 'in-place' else 'result'}")
        methods = {f"forward(ctx, {self.names})": [*keep, *below]}
        if style != "with context":
            methods = {f"forward({self.names})": below}
            methods["setup_context(ctx, inputs, output)"] = [f"{self.names}, = inputs", *keep]
        methods[f"backward(ctx, {'g, k' if self.kind == 'two' else 'g'})"] = self._derivative()
        self.lines.append(f"class {self.base}_Function(torch.autograd.Function):")
        self.lines.append(f"    generate_vmap_rule = {style == 'setup with vmap'}")
        for head, body in methods.items():
            self.lines += ["    @staticmethod", f"    def {head}:", *(f"        {line}" for line in body)]
        self._impl(key, [f"return {self.base}_Function.apply({self.names})"])
