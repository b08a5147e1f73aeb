"""Random operator libraries, as the Python that an author would write: PyTorch runs it, and the engine reads it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

NAMESPACE = "judge"
HEADER = "import torch\nfrom torch import Tensor\nfrom typing import List, Optional, Tuple\n"
ANNOTATIONS = {
    "Tensor": "Tensor",
    "Tensor?": "Optional[Tensor]",
    "Tensor[]": "List[Tensor]",
    "int": "int",
    "float": "float",
    "bool": "bool",
    "Device": "torch.device",
}
TERMS = {"Tensor": "torch.sin({0})", "Tensor?": "(0 if {0} is None else {0} * 3)", "Tensor[]": "{0}[0] * {0}[1]"}
"""What an argument adds to the result."""
GRADIENTS = {
    "Tensor": "g * torch.cos({0})",
    "Tensor?": "None if {0} is None else g * 3",
    "Tensor[]": "[g * {0}[1], g * {0}[0]]",
}
FACTORS = {"int": "{0}", "float": "(1 + {0})", "bool": "(2 if {0} else 1)"}
VALUES = {"int": 2, "float": 0.5, "bool": True}
DEFAULTS = {"int": "1", "float": "0.25", "bool": "False"}
RETURNS = {
    "one": "Tensor",
    "two": "(Tensor, Tensor)",
    "list": "Tensor[]",
    "writes": "()",
    "writes-result": "Tensor",
    "in-place": "Tensor(a!)",
    "out": "Tensor(a!)",
    "view": "Tensor(a)",
    "silent": "()",
    "factory": "Tensor",
    "writes-undeclared": "Tensor",
    "aliases-undeclared": "Tensor",
}
"""Kind of operator → what its schema returns."""
WEIGHTS = (8, 2, 2, 4, 2, 3, 2, 2, 2, 1, 1, 1)
UNFAITHFUL = ("writes-undeclared", "aliases-undeclared")
"""The kinds whose body does not do what the schema says."""
OF_CUSTOM_OP = ("one", "two", "list", "writes", "writes-result", "silent", "factory", *UNFAITHFUL)
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
    kind: str
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
        self.dice, self.base, self.version = dice, base, version
        forms = ("custom_op", "define", "library", "triton_op" if version >= (2, 6) else "custom_op")
        self.form = dice.choices(forms, (7, 3, 5, 1))[0]
        kinds = OF_CUSTOM_OP if self.is_custom else tuple(RETURNS)
        self.kind = dice.choices(kinds, [WEIGHTS[list(RETURNS).index(kind)] for kind in kinds])[0]
        self.overload = "other" if self.form == "library" and dice.random() < 0.15 else ""
        self.name = f"{NAMESPACE}::{base}" + (f".{self.overload}" if self.overload else "")
        self.types, self.defaults = self._arguments()
        self.keywords = {"factory": ["device"], "out": ["out"]}.get(self.kind, [])
        self.writes = self._written()
        self.lines: list[str] = []

    @property
    def is_custom(self) -> bool:
        return self.form in ("custom_op", "triton_op")

    def operator(self) -> Operator:
        values = {name: self._value(kind) for name, kind in self.types.items()}
        if self.is_custom:
            self._custom()
        else:
            self._defined()
        text = f"def body({', '.join(self.types)}):\n    " + "\n    ".join(self._body()) + "\n"
        source = HEADER + "\n".join(self.lines) + "\n"
        faithful = self.kind not in UNFAITHFUL
        return Operator(self.name, self.kind, source, text, values, self.keywords, self.writes, faithful)

    def _chance(self, share: float) -> bool:
        return self.dice.random() < share

    # The signature.

    def _arguments(self) -> tuple[dict[str, str], dict[str, str]]:
        dice, types, defaults = self.dice, {}, {}
        if self.kind == "factory":
            return {"n": "int", "device": "Device"}, {}
        types["x"] = "Tensor"
        simple = self.kind in ("view", "silent", "aliases-undeclared")
        if not simple and self._chance(0.5):
            types["y"] = dice.choices(("Tensor", "Tensor?", "Tensor[]"), (4, 2, 2))[0]
        if self.kind in ("writes", "writes-result", "out"):
            types["out"] = "Tensor"
        if not simple and self._chance(0.5):
            types["n"] = dice.choice(("int", "float", "bool"))
            if self.kind == "out":
                types["out"] = types.pop("out")
            elif self._chance(0.5):
                defaults["n"] = DEFAULTS[types["n"]]
        return types, defaults

    def _value(self, kind: str) -> Any:
        if kind == "Tensor?" and self._chance(0.4):
            return None
        return {"Tensor[]": "tt", "Device": "device"}.get(kind, "t" if "Tensor" in kind else VALUES.get(kind))

    def _written(self) -> list[str]:
        if self.kind in ("writes", "writes-result", "out"):
            return ["out"]
        return ["x"] if self.kind in ("in-place", "silent", "writes-undeclared") else []

    @property
    def _declared(self) -> list[str]:
        return [] if self.kind in ("silent", *UNFAITHFUL) else self.writes

    def _schema(self) -> str:
        parts = []
        for name, kind in self.types.items():
            if name in self.keywords:
                parts.append("*")
            if name in self._declared:
                kind = "Tensor(a!)"
            elif self.kind == "view" and name == "x":
                kind = "Tensor(a)"
            default = f"={self.defaults[name]}" if name in self.defaults else ""
            parts.append(f"{kind} {name}{default}")
        return f"({', '.join(parts)}) -> {RETURNS[self.kind]}"

    def _parameters(self, annotated: bool) -> str:
        parts = []
        for name, kind in self.types.items():
            if name in self.keywords:
                parts.append("*")
            default = f" = {self.defaults[name]}" if name in self.defaults else ""
            parts.append(f"{name}: {ANNOTATIONS[kind]}{default}" if annotated else name)
        return ", ".join(parts)

    # Functions.

    def _sum(self, but: str = "") -> str:
        terms = [TERMS[kind].format(name) for name, kind in self.types.items() if kind in TERMS and name != but]
        return f"({' + '.join(terms)}) * {self._factor()}"

    def _factor(self) -> str:
        factors = [FACTORS[kind].format(name) for name, kind in self.types.items() if kind in FACTORS]
        return " * ".join(factors) or "2"

    def _body(self) -> list[str]:
        """What the operator computes."""
        total = self._sum("out")
        return {
            "one": [f"return {total}"],
            "two": [f"return {total}, torch.cos(x)"],
            "list": [f"return [{total}, torch.cos(x)]"],
            "writes": [f"out.copy_({total})"],
            "writes-result": [f"out.add_({total})", "return torch.cos(x)"],
            "in-place": [f"x.add_({self._sum('x') if 'y' in self.types else self._factor()})", "return x"],
            "out": [f"out.copy_({total})", "return out"],
            "view": ["return x.t()"],
            "silent": ["x.mul_(2)"],
            "factory": ["return torch.full((n, 3), 0.5, device=device)"],
            "writes-undeclared": ["x.mul_(2)", f"return {total}"],
            "aliases-undeclared": ["return x" if self.base.endswith(("1", "3", "5")) else "return x.t()"],
        }[self.kind]

    def _fake_body(self) -> list[str]:
        like = "torch.empty_like(x)"
        shapes = {"two": f"return {like}, {like}", "list": f"return [{like}, {like}]", "in-place": "return x"}
        shapes |= {"out": "return out", "view": "return x.t()", "writes": "return None", "silent": "return None"}
        shapes["factory"] = "return torch.empty((n, 3), device=device)"
        return [shapes.get(self.kind, f"return {like}")]

    def _function(self, name: str, body: Sequence[str], first: str = "", annotated: bool = False) -> None:
        returns = ""
        if annotated:
            kinds = {"two": "Tuple[Tensor, Tensor]", "list": "List[Tensor]"}
            returns = f" -> {'None' if RETURNS[self.kind] == '()' else kinds.get(self.kind, 'Tensor')}"
        parameters = first + self._parameters(annotated)
        self.lines += [f"def {name}({parameters}){returns}:", *(f"    {line}" for line in body), ""]

    def _call(self, form: str = "{0}") -> str:
        """The operator, called with its own arguments. form: of each tensor that it does not write to."""
        parts = []
        for name, kind in self.types.items():
            value = form.format(name) if kind == "Tensor" and name not in self.writes else name
            parts.append(f"{name}={value}" if name in self.keywords else value)
        return f"torch.ops.{NAMESPACE}.{self.base}{'.' + self.overload if self.overload else ''}({', '.join(parts)})"

    # Registrations.

    def _custom(self) -> None:
        """By ``custom_op`` or ``triton_op``, and what is registered for it after that."""
        options = [f'"{self.name}"', f"mutates_args={tuple(self._declared)!r}"]
        devices = self.dice.choice((None, None, None, '"cpu"', '("cpu", "cuda")', '"cuda"'))
        if self.form == "custom_op":
            if devices:
                options.append(f"device_types={devices}")
            if self._chance(0.3):
                options.append(f'schema="{self._schema()}"')
            if self._chance(0.15) and self.version >= (2, 7):
                options.append("tags=(torch.Tag.needs_fixed_stride_order,)")
        self.lines.append(f"@torch.library.{self.form}({', '.join(options)})")
        self._function(self.base, self._body(), annotated=True)
        if self.form == "custom_op" and self._chance(0.15):
            self.lines.append(f"@{self.base}.register_kernel({self.dice.choice(('cpu', 'cuda', 'meta'))!r})")
            self._function(f"{self.base}_kernel", self._body())
        self._python_parts(self.base, composite=False)

    def _defined(self) -> None:
        """By ``define`` or a ``Library``, with kernels at keys."""
        keys = self.dice.choice(KEYS)
        tags = self._tags()
        if self.form == "define":
            self.lines.append(f'torch.library.define("{self.name}", "{self._schema()}"{tags})')
        else:
            self.lines.append(f'lib = torch.library.Library("{NAMESPACE}", "FRAGMENT")')
            self.lines.append(f'lib.define("{self.name.partition("::")[2]}{self._schema()}"{tags})')
        for key in keys:
            body = self._fake_body() if key == "Meta" else self._body()
            if key == "CPU" and self._chance(0.6):  # as kernels in C++, of whose computation autograd sees nothing
                body = ["with torch.no_grad():", *(f"    {line}" for line in body)]
            self._impl(key, body)
        composite = "CompositeImplicitAutograd" in keys
        has_autograd = self._python_parts("", composite, meta="Meta" in keys)
        if not has_autograd and self._chance(0.35) and self.kind != "factory":
            self._autograd_kernel(self.dice.choice(("Autograd", "AutogradCPU")))
        if self._chance(0.1):
            self._autocast_kernel()
        if self.kind == "factory" and keys == ("CPU",) and self._chance(0.7):
            cpu = "torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)"
            overload = f"torch.ops.{NAMESPACE}.{self.base}.{self.overload or 'default'}"
            self._impl("BackendSelect", [f"return {overload}.redispatch({cpu}, n, device=device)"])

    def _tags(self) -> str:
        tags = []
        tag = {"in-place": "inplace", "out": "out"}.get(self.kind)
        if tag and self._chance(0.5) and self.version >= (2, 13):
            tags.append(f"torch.Tag.{tag}")
        if self._chance(0.2):
            tags.append("torch.Tag.pt2_compliant_tag")
        return f", tags=({', '.join(tags)},)" if tags else ""

    def _impl(self, key: str, body: Sequence[str] | None) -> None:
        """A kernel at a key; None is a fallthrough."""
        function = f"{self.base}_{key}" if body is not None else "torch.library.fallthrough_kernel"
        if body is not None:
            self._function(function, body)
        if self.form == "define" and body is not None:
            self.lines.append(f'torch.library.impl("{self.name}", "{key}", {function})')
        else:
            if self.form == "define":
                self.lines.append(f'lib = torch.library.Library("{NAMESPACE}", "IMPL")')
            self.lines.append(f'lib.impl("{self.name.partition("::")[2]}", {function}, "{key}")')

    def _python_parts(self, made: str, composite: bool, meta: bool = False) -> bool:
        """What ``torch.library`` registers. made: the variable of ``custom_op``. Whether a backward is there."""
        # triton_op gives no object with a method for vmap in some versions
        through = f"{made}.{{0}}(" if made and self._chance(0.5) else f'torch.library.{{0}}("{self.name}", '
        decorator = f"@{through.rstrip(' ,')})" if through.endswith(", ") else f"@{made}.{{0}}"
        steps: list[Any] = [self._fake] if self._chance(0.6 if not meta else 0.05) and not composite else []
        backward = not self.writes and self.kind in ("one", "two") and self._chance(0.5 if not composite else 0.05)
        if backward:
            steps.append(self._backward)
        if self._chance(0.3) and self.version >= (2, 5) and self.kind != "factory":
            steps.append(self._vmap)
        if self._chance(0.15) and self.version >= (2, 7):
            steps.append(self._autocast)
        self.dice.shuffle(steps)
        for step in steps:
            step(decorator if step in (self._fake, self._vmap) else through)
        return backward

    def _fake(self, decorator: str) -> None:
        self.lines.append(decorator.format("register_fake"))
        self._function(f"{self.base}_fake", self._fake_body())

    def _vmap(self, decorator: str) -> None:
        """A batching rule. Every tensor has its batch first."""
        calls = [f"result = {self._call()}"]
        if self._chance(0.7) or self.kind in ("view", "aliases-undeclared"):  # the body is not for a batch
            self._function(
                f"{self.base}_batched", [line.replace("x.t()", "x.transpose(1, 2)") for line in self._body()]
            )
            arguments = ", ".join(f"{name}={name}" if name in self.keywords else name for name in self.types)
            calls = [f"result = {self.base}_batched({arguments})"]
        dims = {"two": "(0, 0)", "list": "[0, 0]"}.get(self.kind, "None" if RETURNS[self.kind] == "()" else "0")
        self.lines.append(decorator.format("register_vmap"))
        self._function(f"{self.base}_vmap", [*calls, f"return result, {dims}"], first="info, in_dims, ")

    def _autocast(self, through: str) -> None:
        self.lines += [f'{through.format("register_autocast")}"cpu", torch.bfloat16)', ""]

    def _saved(self) -> tuple[list[str], str]:
        """How a function of autograd keeps its arguments and finds them again."""
        tensors = [f"*{name}" if kind == "Tensor[]" else name for name, kind in self.types.items() if kind in TERMS]
        others = [name for name in self.types if self.types[name] in FACTORS]
        saves = [f"ctx.save_for_backward({', '.join(tensors)})", *(f"ctx.{name} = {name}" for name in others)]
        return saves, f"{', '.join(tensors)}, = ctx.saved_tensors" if "*" not in tensors[-1] else ""

    def _setup(self) -> list[str]:
        names = ", ".join(self.types)
        return [f"{names}{',' if len(self.types) == 1 else ''} = inputs", *self._saved()[0]]

    def _derivative(self) -> list[str]:
        loads = self._saved()[1]
        if not loads:  # the list is the last of the tensors
            *first, _ = [name for name, kind in self.types.items() if kind in TERMS]
            loads = f"{', '.join(first)}, *y = ctx.saved_tensors"
        lines = [loads, *(f"{name} = ctx.{name}" for name in self.types if self.types[name] in FACTORS)]
        lines.append(f"h = g\n    g = g * {self._factor()}".replace("\n    ", "; "))
        parts = []
        for name, kind in self.types.items():
            part = GRADIENTS.get(kind, "None").format(name)
            if self.kind == "in-place":
                part = "h" if name == "x" else part
            if name == "x" and self.kind in ("two", "list"):
                part += " - k * torch.sin(x)"
            parts.append(part)
        return [*lines, f"return {', '.join(parts)}"]

    def _backward(self, through: str) -> None:
        gradients = "g, k" if self.kind == "two" else "g"
        derivative = self._derivative()
        self.lines += [f"def {self.base}_backward(ctx, {gradients}):", *(f"    {line}" for line in derivative), ""]
        self.lines += [f"def {self.base}_setup(ctx, inputs, output):", *(f"    {line}" for line in self._setup()), ""]
        register = through.format("register_autograd")
        self.lines += [f"{register}{self.base}_backward, setup_context={self.base}_setup)", ""]

    def _autograd_kernel(self, key: str) -> None:
        """An ``autograd.Function`` at an autograd key, or a fallthrough."""
        if self.kind not in ("one", "two", "in-place") or "Tensor[]" in self.types.values() or self._chance(0.25):
            self._impl(key, None)
            return
        style = self.dice.choice(("with context", "with context", "setup", "setup with vmap"))
        names = ", ".join(self.types)
        gradients = "g, k" if self.kind == "two" else "g"
        dirty = ["ctx.mark_dirty(x)"] if self.kind == "in-place" else []
        keep = self._saved()[0]
        if self.kind == "in-place" and "y" in self.types:
            keep[0] = "ctx.save_for_backward(x.clone(), y)"
        elif self.kind == "in-place":
            keep[0] = "ctx.save_for_backward(x.clone())"
        below = ["with torch._C._AutoDispatchBelowAutograd():", f"    result = {self._call()}"]
        below.append("return x" if self.kind == "in-place" else "return result")
        lines = [f"class {self.base}_Function(torch.autograd.Function):"]
        if style == "setup with vmap":
            lines.append("    generate_vmap_rule = True")
        first = "ctx, " if style == "with context" else ""
        forward = [*keep, *dirty, *below] if first else below
        lines += ["    @staticmethod", f"    def forward({first}{names}):", *(f"        {line}" for line in forward)]
        if not first:
            setup = [f"{names}{',' if len(self.types) == 1 else ''} = inputs", *keep, *dirty]
            lines += ["    @staticmethod", "    def setup_context(ctx, inputs, output):"]
            lines += [f"        {line}" for line in setup]
        lines += ["    @staticmethod", f"    def backward(ctx, {gradients}):"]
        lines += [f"        {line}" for line in self._derivative()]
        self.lines += [*lines, ""]
        self._impl(key, [f"return {self.base}_Function.apply({names})"])

    def _autocast_kernel(self) -> None:
        if self._chance(0.3):
            self._impl("AutocastCPU", None)
            return
        key = "torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCPU)"
        call = self._call("{0}.to(torch.bfloat16)")
        self._impl("AutocastCPU", [f"with torch._C._ExcludeDispatchKeyGuard({key}):", f"    return {call}"])
