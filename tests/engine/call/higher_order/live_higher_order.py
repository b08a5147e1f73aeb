"""Define random higher-order operators in a live PyTorch, call them in random contexts, and print what ran, as JSON.

usage: PYTHON live_higher_order.py < "[SEED, COUNT]"   (run with the Python that has PyTorch)

Every rule notes its name. It returns a word, or NotImplemented, or calls the operator again as rules do: below autograd
at an autograd key, without its own key at another one; a mode's rule has its mode taken off, a transform's lowers it.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import random
import re
import sys
from typing import Any

torch: Any = importlib.import_module("torch")
for _module in ("fx.experimental.proxy_tensor", "_subclasses.fake_tensor", "_subclasses.functional_tensor"):
    importlib.import_module(f"torch.{_module}")
ops: Any = importlib.import_module("torch._ops")
guards: Any = importlib.import_module("torch._guards")
utils: Any = importlib.import_module("torch._higher_order_ops.utils")
modes: Any = importlib.import_module("torch.utils._python_dispatch")
functorch: Any = importlib.import_module("torch._C._functorch")

FakeTensorMode = torch._subclasses.fake_tensor.FakeTensorMode
FunctionalTensorMode = torch._subclasses.functional_tensor.FunctionalTensorMode
ProxyTorchDispatchMode = torch.fx.experimental.proxy_tensor.ProxyTorchDispatchMode
Key = torch._C.DispatchKey
DEPTH = 40
REDIRECT = "torch._higher_order_ops.utils.redirect_to_mode.<locals>.impl"

KEYS = (
    *("CPU", "Meta", "SparseCPU", "AutogradCPU", "AutogradMeta", "AutogradOther", "AutocastCPU", "BackendSelect"),
    *("ADInplaceOrView", "Functionalize", "PythonTLSSnapshot", "PreDispatch", "FuncTorchDynamicLayerBackMode"),
    *("CompositeExplicitAutograd", "CompositeExplicitAutograd", "CompositeImplicitAutograd", "Autograd"),
)
FALLTHROUGH = ("AutogradCPU", "AutogradOther", "Functionalize", "CPU", "Python", "Conjugate", "PreDispatch")


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
TRANSFORMS = ("Vmap", "Grad", "Jvp", "Functionalize")
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


def rules_by_class(operator: Any) -> Any:
    """The rules for modes and subclasses."""
    return operator.python_key_table if hasattr(operator, "python_key_table") else operator.python_key_mode_table


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
    """One random operator: the declaration of it, and it itself."""

    def __init__(self, dice: random.Random, number: int) -> None:
        self.dice = dice
        self.name = f"random_{number}"
        self.declared: dict[str, Any] = {"name": self.name}

        class Random(ops.HigherOrderOperator):  # type: ignore[misc]
            """The operator."""

            def __init__(self, name: str) -> None:
                super().__init__(name)

            def __call__(self, *args: Any, **kwargs: Any) -> Any:
                return super().__call__(*args, **kwargs)

        self.operator = Random(self.name)
        sections = [self.dispatch, self.autograd, self.modes, self.subclasses, self.transforms, self.functionalize]
        dice.shuffle(sections)
        for section in sections:
            section()

    def rule(self, kernel: str, redispatches: bool, not_implemented: bool = False) -> Any:
        """The declaration of a rule."""
        found: dict[str, Any] = {"kernel": kernel, "redispatches": redispatches}
        if not_implemented:
            found["returns"] = "NotImplemented"
        elif self.dice.random() < 0.08:
            raising.add(kernel)
            found.update(redispatches="raises", error=f"ValueError: of {kernel}")
        return found

    def dispatch(self) -> None:
        """Rules by dispatch key, and keys that fall through."""
        dice, kernels = self.dice, {}
        keys = sorted(set(dice.sample(KEYS, dice.randint(0, 5))))
        dice.shuffle(keys)
        for key in keys:
            if key in self.taken():
                continue
            if dice.random() < 0.15 and key not in torch_aliases():
                kernels[key] = {"fallthrough": True}
                self.operator.fallthrough(key_of(key))
                continue
            # A composite rule cannot know the key that it runs at.
            again = dice.random() < 0.3 and not key.startswith("Composite")
            kernels[key] = self.rule(key, again)
            self.operator.py_impl(key_of(key))(self.kernel(key, again))
        for key in dice.sample(FALLTHROUGH, dice.choice((0, 0, 1, 2))):
            if key not in kernels and key not in self.taken():
                kernels[key] = {"fallthrough": True}
                self.operator.fallthrough(key_of(key))
        self.declared.setdefault("dispatch", {}).update(kernels)

    def taken(self) -> set[str]:
        """The dispatch keys that another section has a rule at."""
        return {torch._C._dispatch_key_name(key) for key in self.operator.py_kernels}

    def kernel(self, key: str, again: bool) -> Any:
        def kernel(*args: Any) -> Any:
            note(key)
            if not again:
                return "done"
            below = torch._C._AutoDispatchBelowAutograd() if key in autograd_keys() else without(key)
            with below:
                return self.operator(*args)

        return kernel

    def autograd(self) -> None:
        """A derivative, or the helper that says there is none."""
        kind = self.dice.choice(("none", "none", "rule", "wrapped", "helper"))
        if kind in ("rule", "wrapped") and not hasattr(self.operator, "py_autograd_impl"):
            return  # before PyTorch 2.8
        if kind == "none" or "Autograd" in self.taken() or "Autograd" in self.declared.get("dispatch", {}):
            return
        deferred = self.dice.random() < 0.5
        if kind == "rule":
            again = self.dice.random() < 0.5
            self.declared["autograd"] = self.rule("derivative", again)

            def derivative(*args: Any) -> Any:
                note("derivative")
                if not again:
                    return "done"
                with torch._C._AutoDispatchBelowAutograd():
                    return self.operator(*args)

            self.operator.py_autograd_impl(derivative)
            return
        helper = utils.autograd_not_implemented(self.operator, deferred_error=deferred)
        declared = {"kernel": "autograd_not_implemented", "deferred_error": deferred}
        if kind == "wrapped":
            self.declared["autograd"] = declared
            self.operator.py_autograd_impl(helper)
        else:
            self.declared.setdefault("dispatch", {})["Autograd"] = declared
            self.operator.py_impl(Key.Autograd)(helper)

    def modes(self) -> None:
        """Rules by mode type."""
        results = {}
        for name, kind in MODES.items():
            if self.dice.random() < 0.5 or kind in rules_by_class(self.operator):
                continue
            if kind is FakeTensorMode and self.dice.random() < 0.4 and hasattr(utils, "redirect_to_mode"):
                results[name] = {"kernel": REDIRECT}
                redirect(self.operator)
                continue
            again, refuses = self.dice.random() < 0.4, self.dice.random() < 0.3
            results[name] = self.rule(name, again, refuses)
            self.operator.py_impl(kind)(self.handler(name, again, refuses))
        self.declared["modes"] = results

    def handler(self, name: str, again: bool, refuses: bool) -> Any:
        def handler(_mode: Any, *args: Any) -> Any:
            note(name)
            if refuses:
                return NotImplemented
            return self.operator(*args) if again else "done"

        return handler

    def subclasses(self) -> None:
        """Rules by tensor subclass."""
        results = {}
        for name, kind in SUBCLASSES.items():
            if self.dice.random() < 0.3 or not hasattr(self.operator, "python_key_table"):
                continue  # PyTorch 2.4 has rules for modes only
            refuses = self.dice.random() < 0.4
            results[name] = self.rule(name, False, refuses)

            def handler(*_args: Any, name: str = name, refuses: bool = refuses) -> Any:
                note(name)
                return NotImplemented if refuses else "done"

            self.operator.py_impl(kind)(handler)
        self.declared["subclasses"] = results

    def transforms(self) -> None:
        """Rules by functorch transform."""
        results = {}
        for name in TRANSFORMS:
            kind = getattr(functorch.TransformType, name)
            if self.dice.random() < 0.4 or kind in self.operator.functorch_table:
                continue
            again = self.dice.random() < 0.5
            results[name] = self.rule(f"transform {name}", again)

            def rule(interpreter: Any, *args: Any, name: str = name, again: bool = again) -> Any:
                note(f"transform {name}")
                if not again:
                    return "done"
                with interpreter.lower():
                    return self.operator(*(unwrapped(name, interpreter, arg) for arg in args))

            self.operator.py_impl(kind)(rule)
        self.declared["transforms"] = results

    def functionalize(self) -> None:
        """A rule for functionalization, where nothing stands in its three places."""
        places = (Key.Functionalize, FunctionalTensorMode, functorch.TransformType.Functionalize)
        tables = (self.operator.py_kernels, rules_by_class(self.operator), self.operator.functorch_table)
        written = "Functionalize" in self.declared.get("dispatch", {})
        if (
            self.dice.random() < 0.5
            or written
            or any(place in table for place, table in zip(places, tables, strict=True))
        ):
            return
        again = self.dice.random() < 0.5
        declared = self.rule("functional", again)
        self.declared["functionalize"] = declared
        fails = set(self.dice.sample(sorted(CONTEXT_CLASSES), self.dice.choice((0, 0, 1, 2))))
        if fails and "error" not in declared:
            declared["error"] = {place: f"ValueError: at {place}" for place in fails}

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


def torch_aliases() -> set[str]:
    """Keys that no call arrives at, so that they cannot fall through."""
    return {"CompositeExplicitAutograd", "CompositeImplicitAutograd", "Autograd"}


def without(*keys: str) -> Any:
    """A guard that excludes keys."""
    keyset = torch._C.DispatchKeySet(key_of(keys[0]))
    for key in keys[1:]:
        keyset = keyset.add(key_of(key))
    return torch._C._ExcludeDispatchKeyGuard(keyset)


def tensor(dice: random.Random) -> tuple[str, Any]:
    """A tensor, as text and itself."""
    base = torch.ones(2)
    kind = dice.choice(
        ("cpu", "cpu", "grad", "meta", "sparse", "fake", "fake", "subclass", "subclass", "inference", "conj")
    )
    if kind == "grad":
        return "cpu requires_grad", torch.ones(2, requires_grad=True)
    if kind == "meta":
        return "meta", torch.ones(2, device="meta")
    if kind == "sparse":
        return "cpu sparse", base.to_sparse()
    if kind == "inference":
        with torch.inference_mode():
            return "cpu inference", torch.ones(2)
    if kind == "conj":
        return "cpu conj", torch.ones(2, dtype=torch.complex64).conj()
    if kind == "fake":
        name = dice.choice("AAB")
        return f"cpu fake={name}", FAKE[name].from_tensor(base)
    if kind == "subclass":
        name = dice.choice(sorted(SUBCLASSES))
        grad = dice.random() < 0.3
        wrapper = torch.Tensor._make_wrapper_subclass(SUBCLASSES[name], (2,), requires_grad=grad)
        return f"cpu subclass={name}{' requires_grad' if grad else ''}", wrapper
    return "cpu", base


def context(dice: random.Random) -> tuple[str, Any]:
    """A context, as text and something that makes it."""
    kind = dice.choice(
        (
            *("mode", "mode", "mode", "autocast", "no_grad", "inference", "below", "below_view", "pre", "pre_mode"),
            *("functionalize", "exclude", "include", "python"),
        )
    )
    if kind == "mode":
        name = dice.choice(sorted(MODES))
        if name == "FakeTensorMode":
            instance = dice.choice("AB")
            return f"mode={name}={instance}", lambda: FAKE[instance]
        return f"mode={name}", lambda: mode(name)
    if kind == "pre_mode":
        name = dice.choice(("FunctionalTensorMode", "ProxyTorchDispatchMode"))
        return f"pre_dispatch_mode={name}", lambda: mode(name, pre_dispatch=True)
    if kind == "exclude":
        keys = dice.sample(("AutogradCPU", "AutocastCPU", "Python", "ADInplaceOrView", "CPU"), dice.randint(1, 2))
        return f"exclude={','.join(keys)}", lambda: without(*keys)
    if kind == "include":
        key = dice.choice(("Functionalize", "Python", "BackendSelect", "Conjugate", "AutogradOther"))
        return f"include={key}", lambda: included(key)
    simple = {
        "autocast": ("autocast cpu", lambda: torch.autocast("cpu")),
        "no_grad": ("no_grad", torch.no_grad),
        "inference": ("inference_mode", torch.inference_mode),
        "below": ("below_autograd", torch._C._AutoDispatchBelowAutograd),
        "below_view": ("below_ADInplaceOrView", torch._C._AutoDispatchBelowADInplaceOrView),
        "pre": ("pre_dispatch", torch._C._EnablePreDispatch),
        "functionalize": ("enable_functionalization", functionalization),
        "python": ("python_dispatcher", torch._C._EnablePythonDispatcher),
    }
    return simple[kind]


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


def call(operator: Any, args: list[Any], contexts: list[Any]) -> dict[str, Any]:
    """Call in those contexts; what ran, how it ended, and what PyTorch says of the fake modes.

    Nothing where PyTorch does not enter the contexts.
    """
    result: dict[str, Any] = {}
    with contextlib.ExitStack() as stack:
        try:
            for one in contexts:
                stack.enter_context(one())
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
        try:
            guards.detect_fake_mode(args)
            result["fake"] = None
        except AssertionError as error:
            result["fake"] = shown(error)[1]
    return result


def transformed(dice: random.Random, operator: Any, texts: list[str], args: list[Any], contexts: list[Any]) -> Any:
    """The same inside of a functorch transform of the first argument, which is a plain one; the text of it."""
    name = dice.choice(("vmap", "grad", "functionalize", "jvp"))
    texts[0] = {"vmap": "cpu batched", "functionalize": "cpu functional"}.get(name, "cpu grad-wrapped")
    results: list[dict[str, Any]] = []

    def inside(first: Any) -> Any:
        results.append(call(operator, [first, *args[1:]], contexts))
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
    return name, results[0]


def case(dice: random.Random, number: int) -> dict[str, Any]:
    """One operator and a call of it."""
    raising.clear()
    operator = Operator(dice, number)
    tensors = [tensor(dice) for _ in range(dice.choice((0, 1, 1, 1, 2, 2, 3)))]
    texts, args = [text for text, _ in tensors], [one for _, one in tensors]
    asked: list[tuple[str, Any]] = []
    for _ in range(dice.choice((0, 0, 1, 1, 2, 3))):
        one = context(dice)
        name = one[0].split("=")[0] + one[0].split("=")[-1]
        # PyTorch allows some of them once only, and one mode not on both stacks.
        if all(name.split("=")[-1] not in other and other.split("=")[-1] not in one[0] for other, _ in asked):
            asked.append(one)
    names = [text for text, _ in asked]
    contexts = [make for _, make in asked]
    if tensors and texts[0] == "cpu" and dice.random() < 0.5:
        transform, result = transformed(dice, operator.operator, texts, args, contexts)
        names.insert(0, transform)
    else:
        result = call(operator.operator, args, contexts)
    del ops._higher_order_ops[operator.name]
    return {"operator": operator.declared, "tensors": texts, "contexts": names, **result}


def main(seed: int, count: int) -> None:
    """Print the cases."""
    dice = random.Random(seed)
    print(json.dumps([asked for asked in (case(dice, number) for number in range(count)) if "ran" in asked]))


if __name__ == "__main__":
    main(*json.load(sys.stdin))
