"""Define higher-order operators in a live PyTorch, call them, and print what ran, as JSON.

usage: PYTHON live_higher_order.py < CASES   (run with the Python that has PyTorch)

CASES: an operator, as a declaration has it, and tensors and contexts of a call, as the package writes them; the
transform of a wrapped tensor is the first context. Every rule notes its name. It returns a word, or NotImplemented, or
calls the operator again as rules do: below autograd at an autograd key, without its own key at another one; a mode's
rule has its mode taken off, a transform's lowers it.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import re
import sys
from typing import Any

torch: Any = importlib.import_module("torch")
for _module in ("fx.experimental.proxy_tensor", "_subclasses.fake_tensor", "_subclasses.functional_tensor"):
    importlib.import_module(f"torch.{_module}")
ops: Any = importlib.import_module("torch._ops")
utils: Any = importlib.import_module("torch._higher_order_ops.utils")
modes: Any = importlib.import_module("torch.utils._python_dispatch")
functorch: Any = importlib.import_module("torch._C._functorch")

FakeTensorMode = torch._subclasses.fake_tensor.FakeTensorMode
FunctionalTensorMode = torch._subclasses.functional_tensor.FunctionalTensorMode
ProxyTorchDispatchMode = torch.fx.experimental.proxy_tensor.ProxyTorchDispatchMode
Key = torch._C.DispatchKey
DEPTH = 40
REDIRECT = "torch._higher_order_ops.utils.redirect_to_mode.<locals>.impl"


class Endless(Exception):
    """The operator calls itself without end."""


class Done(Exception):
    """The call has been made; the transform around it is left this way."""


class Plain(modes.TorchDispatchMode):  # type: ignore[misc]
    """A mode that knows nothing of higher-order operators."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


class Other(Plain):
    """Another one."""


class Supporting(modes.TorchDispatchMode):  # type: ignore[misc]
    """A mode that handles all of them."""

    supports_higher_order_operators = True

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if isinstance(func, ops.HigherOrderOperator):
            ran.append("itself:Supporting")
            return "done"
        return func(*args, **(kwargs or {}))


class Subclass(torch.Tensor):  # type: ignore[misc]
    """A tensor subclass; operators but the higher-order one are not called on it."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise RuntimeError("not here")


class OtherSubclass(Subclass):
    """Another one."""


MODES = {
    "Plain": Plain,
    "Other": Other,
    "Supporting": Supporting,
    "FakeTensorMode": FakeTensorMode,
    "FunctionalTensorMode": FunctionalTensorMode,
    "ProxyTorchDispatchMode": ProxyTorchDispatchMode,
}
SUBCLASSES = {"Subclass": Subclass, "OtherSubclass": OtherSubclass}
CONTEXT_CLASSES = {
    "dispatch": "CppFunctionalizeAPI",
    "modes": "PythonFunctionalizeAPI",
    "transforms": "FunctorchFunctionalizeAPI",
}
"""First argument of a rule for functionalization, by its place."""
ran: list[str] = []
raising: set[str] = set()
"""The rules of the operator that raise an error, by what they note."""
FAKE = {"A": FakeTensorMode(), "B": FakeTensorMode()}
for _mode in FAKE.values():
    _mode.cache_enabled = False  # the cache looks at arguments that the calls do not have
_render_call = torch._subclasses.fake_tensor.render_call
# an error shows the operator without its arguments: in some contexts a tensor cannot be printed
torch._subclasses.fake_tensor.render_call = lambda operator, _args, _kwargs: _render_call(operator, (), {})


def key_of(name: str) -> Any:
    """A dispatch key by its name."""
    return torch._C._parse_dispatch_key(name)


def note(name: str) -> None:
    """Note that a rule runs."""
    ran.append(name)
    if len(ran) > DEPTH:
        raise Endless
    if name in raising:
        raise ValueError(f"of {name}")


def autograd_keys() -> set[str]:
    """The keys that are below no autograd."""
    return {"Autograd", "AutogradCPU", "AutogradMeta", "AutogradOther"}


class Operator:
    """A higher-order operator of a declaration, which has a section for each kind of rule."""

    def __init__(self, declared: dict[str, Any]) -> None:
        class Declared(ops.HigherOrderOperator):  # type: ignore[misc]
            """The operator."""

            def __call__(self, *args: Any, **kwargs: Any) -> Any:
                return super().__call__(*args, **kwargs)

        self.operator = Declared(declared["name"])
        for section, rules in declared.items():
            if section != "name":
                getattr(self, section)(rules)

    def again(self, rule: Any) -> bool:
        """True if the rule calls the operator again; one that raises is noted."""
        if rule["redispatches"] == "raises":
            raising.add(rule["kernel"])
        return bool(rule["redispatches"] is True)

    def dispatch(self, rules: Any) -> None:
        """Rules by dispatch key, and keys that fall through."""
        for key, rule in rules.items():
            if "fallthrough" in rule:
                self.operator.fallthrough(key_of(key))
            elif "deferred_error" in rule:
                helper = utils.autograd_not_implemented(self.operator, deferred_error=rule["deferred_error"])
                self.operator.py_impl(key_of(key))(helper)
            else:
                self.operator.py_impl(key_of(key))(self.kernel(key, self.again(rule)))

    def kernel(self, key: str, again: bool) -> Any:
        def kernel(*args: Any) -> Any:
            note(key)
            if not again:
                return "done"
            below = torch._C._AutoDispatchBelowAutograd() if key in autograd_keys() else without(key)
            with below:
                return self.operator(*args)

        return kernel

    def autograd(self, rule: Any) -> None:
        """A derivative, or the helper that says there is none."""
        if "deferred_error" in rule:
            helper = utils.autograd_not_implemented(self.operator, deferred_error=rule["deferred_error"])
            self.operator.py_autograd_impl(helper)
            return
        again = self.again(rule)

        def derivative(*args: Any) -> Any:
            note("derivative")
            if not again:
                return "done"
            with torch._C._AutoDispatchBelowAutograd():
                return self.operator(*args)

        self.operator.py_autograd_impl(derivative)

    def modes(self, rules: Any) -> None:
        """Rules by mode type."""
        for name, rule in rules.items():
            if rule["kernel"] == REDIRECT:
                redirect(self.operator)
            else:
                self.operator.py_impl(MODES[name])(self.handler(rule))

    def subclasses(self, rules: Any) -> None:
        """Rules by tensor subclass."""
        for name, rule in rules.items():
            self.operator.py_impl(SUBCLASSES[name])(self.handler(rule))

    def handler(self, rule: Any) -> Any:
        again, refuses = self.again(rule), "returns" in rule

        def handler(_first: Any, *args: Any) -> Any:
            note(rule["kernel"])
            if refuses:
                return NotImplemented
            return self.operator(*args) if again else "done"

        return handler

    def transforms(self, rules: Any) -> None:
        """Rules by functorch transform."""
        for name, declared in rules.items():
            again = self.again(declared)

            def rule(interpreter: Any, *args: Any, name: str = name, again: bool = again) -> Any:
                note(f"transform {name}")
                if not again:
                    return "done"
                with interpreter.lower():
                    return self.operator(*(unwrapped(name, interpreter, arg) for arg in args))

            self.operator.py_impl(getattr(functorch.TransformType, name))(rule)

    def functionalize(self, rule: Any) -> None:
        """A rule for functionalization."""
        again, error = self.again(rule), rule.get("error")
        fails = error if isinstance(error, dict) else {}

        def functional(context: Any, *args: Any) -> Any:
            note("functional")
            for place in fails:
                if type(context).__name__ == CONTEXT_CLASSES[place]:
                    raise ValueError(f"at {place}")
            if not again:
                return "done"
            if hasattr(context, "interpreter"):
                args = tuple(unwrapped("Functionalize", context.interpreter, arg) for arg in args)
            with context.redispatch_to_next():
                return self.operator(*args)

        self.operator.py_functionalize_impl(functional)


def unwrapped(transform: str, interpreter: Any, value: Any) -> Any:
    """A tensor without the wrapper of a transform."""
    level = interpreter.level()
    if transform == "Vmap":
        return torch._C._functorch._unwrap_batched(value, level)[0]
    if transform == "Functionalize":
        return torch._from_functional_tensor(value) if torch._is_functional_tensor(value) else value
    return torch._C._functorch._unwrap_for_grad(value, level)


def redirect(operator: Any) -> None:
    """Give FakeTensorMode's rule of the operator to the mode itself, which calls a function in the end."""
    operator.python_key_table.pop(FakeTensorMode, None)
    rule = utils.redirect_to_mode(operator, FakeTensorMode)
    utils.registered_hop_fake_fns[operator] = lambda *_args, **_kwargs: "done"

    def noting(*args: Any, **kwargs: Any) -> Any:
        note(REDIRECT)
        return rule(*args, **kwargs)

    operator.python_key_table[FakeTensorMode] = noting


def without(*keys: str) -> Any:
    """A guard that excludes keys."""
    keyset = torch._C.DispatchKeySet(key_of(keys[0]))
    for key in keys[1:]:
        keyset = keyset.add(key_of(key))
    return torch._C._ExcludeDispatchKeyGuard(keyset)


def tensor(text: str) -> Any:
    """A tensor that a call has."""
    words = text.split()
    named = dict(word.split("=") for word in words if "=" in word)
    if "fake" in named:
        return FAKE[named["fake"]].from_tensor(torch.ones(2))
    if "subclass" in named:
        kind, grad = SUBCLASSES[named["subclass"]], "requires_grad" in words
        return torch.Tensor._make_wrapper_subclass(kind, (2,), requires_grad=grad)
    if "conj" in words:
        return torch.ones(2, dtype=torch.complex64).conj()
    with torch.inference_mode() if "inference" in words else contextlib.nullcontext():
        plain = torch.ones(2, device=words[0], requires_grad="requires_grad" in words)
    return plain.to_sparse() if "sparse" in words else plain


def context(text: str) -> Any:
    """A context of a call."""
    word, _, value = text.partition("=")
    if word in ("mode", "pre_dispatch_mode"):
        name, _, instance = value.partition("=")
        return FAKE[instance] if instance else mode(name, pre_dispatch=word == "pre_dispatch_mode")
    if word == "exclude":
        return without(*value.split(","))
    if word == "include":
        return included(value)
    simple = {
        "autocast cpu": lambda: torch.autocast("cpu"),
        "no_grad": torch.no_grad,
        "inference_mode": torch.inference_mode,
        "below_autograd": torch._C._AutoDispatchBelowAutograd,
        "below_ADInplaceOrView": torch._C._AutoDispatchBelowADInplaceOrView,
        "pre_dispatch": torch._C._EnablePreDispatch,
        "enable_functionalization": functionalization,
        "python_dispatcher": torch._C._EnablePythonDispatcher,
    }
    return simple[text]()


def mode(name: str, pre_dispatch: bool = False) -> Any:
    """A new mode."""
    if name == "ProxyTorchDispatchMode":
        tracer = torch.fx.experimental.proxy_tensor.PythonKeyTracer()
        return ProxyTorchDispatchMode(tracer, tracing_mode="real", pre_dispatch=pre_dispatch)
    return FunctionalTensorMode(pre_dispatch=pre_dispatch) if name == "FunctionalTensorMode" else MODES[name]()


@contextlib.contextmanager
def included(key: str) -> Any:
    """A key in the thread's included ones."""
    before = torch._C._dispatch_tls_is_dispatch_key_included(key_of(key))
    torch._C._dispatch_tls_set_dispatch_key_included(key_of(key), True)
    try:
        yield
    finally:
        torch._C._dispatch_tls_set_dispatch_key_included(key_of(key), before)


@contextlib.contextmanager
def functionalization() -> Any:
    """The switch of the thread."""
    torch._enable_functionalization(reapply_views=True)
    try:
        yield
    finally:
        torch._disable_functionalization()


def shown(error: BaseException) -> list[str]:
    """An error: its type, and its first line without modules and addresses."""
    text = str(error).split("\n", maxsplit=1)[0]
    text = re.sub(r"<(?:[\w.]+\.)?(\w+) object at 0x[0-9a-f]+>", r"<\1 object>", text)
    return [type(error).__name__, re.sub(r"<class '(?:[\w.]+\.)?(\w+)'>", r"<class '\1'>", text)]


def call(operator: Any, args: list[Any], contexts: list[str]) -> dict[str, Any]:
    """Call in those contexts; what ran, how it ended, and what PyTorch says of the fake modes.

    Nothing where PyTorch does not enter the contexts.
    """
    result: dict[str, Any] = {}
    with contextlib.ExitStack() as stack:
        try:
            for text in contexts:
                stack.enter_context(context(text))
        except RuntimeError:
            return result  # these contexts do not go together
        ran.clear()
        try:
            operator(*args)
            result["error"] = None
        except Endless:
            result["error"] = ["Endless", ""]
        except Exception as error:
            result["error"] = shown(error)
        result["ran"] = list(ran)
    return result


def transformed(name: str, operator: Any, args: list[Any], contexts: list[str]) -> Any:
    """The same inside of a functorch transform of the first argument."""
    results: list[dict[str, Any]] = []

    def inside(first: Any) -> Any:
        results.append(call(operator, [first, *args], contexts))
        raise Done

    with contextlib.suppress(Done):
        if name == "vmap":
            torch.vmap(inside)(torch.ones(3, 2))
        elif name == "grad":
            torch.func.grad(inside)(torch.ones(2))
        elif name == "jvp":
            torch.func.jvp(inside, (torch.ones(2),), (torch.ones(2),))
        else:
            torch.func.functionalize(inside)(torch.ones(2))
    return results[0]


def answer(case: dict[str, Any]) -> dict[str, Any]:
    """An operator and a call of it."""
    raising.clear()
    operator = Operator(case["operator"]).operator
    tensors, contexts = case["tensors"], case["contexts"]
    if contexts and contexts[0] in ("vmap", "grad", "functionalize", "jvp"):
        result = transformed(contexts[0], operator, [*map(tensor, tensors[1:])], contexts[1:])
    else:
        result = call(operator, [*map(tensor, tensors)], contexts)
    del ops._higher_order_ops[case["operator"]["name"]]
    return {field: case[field] for field in ("operator", "tensors", "contexts")} | result


if __name__ == "__main__":
    print(json.dumps([asked for asked in map(answer, json.load(sys.stdin)) if "ran" in asked]))
