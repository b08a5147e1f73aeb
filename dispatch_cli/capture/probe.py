"""Ask the PyTorch of this Python for the whole state of its dispatcher, and write it as plain JSON.

usage: PYTHON probe.py OUT.json [--import MODULE]... [--condition CONDITION]... [--vmap no]

What is registered is noted before the modules of --import are imported, and what comes after that is said to be
theirs. A kernel's file would not tell: the kernels that ``torch.library.custom_op`` makes are from PyTorch's own files.
A condition of --condition, of which the answer has the truth, is a dotted name below ``torch``, a call of one without
arguments, or ``hasattr`` of one. It is looked up part by part: nothing is evaluated as Python.

A script of its own: it needs Python 3.8, PyTorch 2.4 or newer and the scripts beside it, and imports nothing of the
package it lies in. Everything is asked of the running PyTorch; no key, backend or rule of any version is written down
here.
A first vmap is made before that, at which PyTorch registers kernels; `--vmap no` leaves it out.
The modules of PyTorch that define higher-order operators are imported last, when all else is noted: what they register
for other operators does not appear in the answer.
Standard error gets, when it fails, one line of JSON that says why.

Exit codes: 0 done; 3 there is no PyTorch; 4 PyTorch, or what was found under its name, cannot be used; 5 a module of
--import cannot be imported; 6 PyTorch answers in a way that this script does not understand.
"""

from __future__ import annotations

import contextlib
import dis
import importlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # Python 3.8 knows these spellings only where it does not look at them.
    from collections.abc import Callable, Iterable, Sequence

    from dispatch_cli.capture import (
        fake_mode,
        going_on,
        higher_order_calls,
        looking,
        torch_library,
    )

    Data = dict[str, Any]
    Answer = Callable[["LivePyTorch"], Data]
    """Asks PyTorch."""
else:
    # Not by name: whether a script's own directory is searched for modules is up to the user's settings.
    def _part(name):
        spec = importlib.util.spec_from_file_location(name, Path(__file__).resolve().with_name(f"{name}.py"))
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    fake_mode, going_on, higher_order_calls = _part("fake_mode"), _part("going_on"), _part("higher_order_calls")
    looking, torch_library = _part("looking"), _part("torch_library")

FORMAT = 2
EXIT_NO_TORCH = 3
EXIT_BROKEN_TORCH = 4
EXIT_NO_MODULE = 5
EXIT_NOT_UNDERSTOOD = 6

NAMESPACE = "dispatch_cli_probe"
"""The namespace of the operators that are registered to see what happens; they do not appear in the answer."""

UNDEFINED = "Undefined"
IMPLICIT = "CompositeImplicitAutograd"
EXPLICIT = "CompositeExplicitAutograd"


class Failure(Exception):
    """The state cannot be asked for. code: the exit code."""

    def __init__(self, code: int, message: str, details: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details


# Texts. These need no PyTorch.


def parse_keyset(text: str) -> list[str]:
    """The keys of a printed key set: ``DispatchKeySet(CPU, AutogradCPU)``."""
    return re.findall(r"\w+", text.split("(", 1)[1])


class Cleaner:
    """Cuts the paths of this machine off a text: what lies below site-packages is kept, and where that is, is not.

    torch_root: the directory that PyTorch's package lies in. path: the directories that Python imports from.
    home: the user's directory.
    """

    def __init__(self, torch_root: str, path: Iterable[str], home: str) -> None:
        cuts = {torch_root: "site-packages/"}
        for entry in path:
            name = Path(entry).name
            cuts.setdefault(entry, "site-packages/" if name in ("site-packages", "dist-packages") else "")
        cuts.setdefault(home, "~/")
        roots = {os.path.join(root, ""): cut for root, cut in cuts.items() if Path(root).is_absolute()}  # noqa: PTH118
        self._cuts = {root: cut for root, cut in roots.items() if len(root) > 1}
        longest_first = sorted(self._cuts, key=len, reverse=True)
        self._roots = re.compile(r"(?<![\w./-])(?:" + "|".join(map(re.escape, longest_first)) + ")")
        self._sites = re.compile(r"(?<![\w./-])/[^\s'\"]*/(?:site|dist)-packages/")

    def clean(self, text: str) -> str:
        """*text* without the paths of this machine."""
        # The patterns take long, and most texts are dumps that name no such path.
        if any(root in text for root in self._cuts):
            text = self._roots.sub(lambda match: self._cuts[match[0]], text)
        return self._sites.sub("site-packages/", text) if "-packages/" in text else text


def function_name(function: Any) -> str:
    """``module.qualname`` of a callable, of what it is bound to or made from; never an address."""
    for attribute in ("func", "__func__"):
        inner = getattr(function, attribute, None)
        if callable(inner):
            return function_name(inner)
    if not isinstance(getattr(function, "__qualname__", None), str):
        function = type(function)
    module = getattr(function, "__module__", None)
    return f"{module}.{function.__qualname__}" if isinstance(module, str) else str(function.__qualname__)


def described(function: Any, clean: Callable[[str], str]) -> dict[str, str]:
    """A function's name, and its place where it has one."""
    code = getattr(function, "__code__", None)
    name = {"kernel": clean(function_name(function))}
    return name if code is None else {**name, "at": clean(f"{code.co_filename}:{code.co_firstlineno}")}


# The universe: the layout of the keys.


class Live:
    """The running PyTorch: its modules, and its dispatch keys by name. kept: libraries that must not be destroyed."""

    def __init__(self, asked: LivePyTorch) -> None:
        self.torch = asked.torch
        self.core = asked.torch._C
        self.clean = asked.clean
        self.ids = self._ids()
        self.keys = {name: self.core.DispatchKey(number) for name, number in self.ids.items()}
        self.aliases = [name for name in self.ids if self.core._dispatch_is_alias_key(self.keys[name])]
        self.runtime = parse_keyset(str(self.core._dispatch_keyset_full()))
        self.covered = {alias: self._covered(alias) for alias in self.aliases}
        self.kept: list[Any] = []

    def _ids(self) -> dict[str, int]:
        ids: dict[str, int] = {}
        for number in range(1, 1024):
            try:
                name = self.core._dispatch_key_name(self.core.DispatchKey(number))
            except (RuntimeError, ValueError):
                break
            if not name.upper().startswith("UNKNOWN") and not name.endswith(UNDEFINED):
                ids.setdefault(name, number)
        return ids

    def _covered(self, alias: str) -> list[str]:
        included = self.core._dispatch_is_included_in_alias
        return [key for key in self.runtime if included(self.keys[key], self.keys[alias])]

    def registered(self, name: str) -> Data:
        """The registration dump of an operator, in pieces. Errors: ValueError."""
        return looking.parse_dump(self.clean(self.core._dispatch_dump(name)))

    def slot_key(self, slot: str) -> Any:
        """The key of a slot of the tables."""
        return self.core.DispatchKey.Undefined if slot == UNDEFINED else self.keys[slot]

    def parses(self, name: str) -> bool:
        """True if PyTorch's parser knows the name."""
        try:
            return self.core._parse_dispatch_key(name) is not None
        except RuntimeError:
            return False

    def name_of(self, key: Any) -> str:
        """The name of a key."""
        name: str = self.core._dispatch_key_name(key)
        return name


def universe(live: Live, refreshed: dict[str, list[str]], fallbacks: list[Data]) -> Data:
    """The layout of the keys, as a universe file has it."""
    core, keys = live.core, live.keys
    functionalities = [
        name for name in live.ids if name not in live.covered and core._to_functionality_key(keys[name]) == keys[name]
    ]
    backend_keys = {name: _backend_keys(live, name) for name in functionalities}
    per_backend = {name: keys for name, keys in backend_keys.items() if len(keys) > 1}
    lowest = functionalities[0]
    full_after = {key: parse_keyset(str(core._dispatch_keyset_full_after(keys[key]))) for key in functionalities}
    autograd = {
        key: parse_keyset(str(core._dispatch_get_backend_keyset_from_autograd(keys[key]))) for key in live.runtime
    }
    version = re.match(r"\d+\.\d+", live.torch.__version__)
    return {
        "format": 1,
        "name": "torch-" + (version[0] if version is not None else live.torch.__version__),
        "torch": str(live.torch.__version__),
        "git": str(live.torch.version.git_version or ""),
        "functionalities": functionalities,
        "backends": per_backend[lowest],
        "per_backend": per_backend,
        "runtime": live.runtime,
        "aliases": live.covered,
        "autograd_backends": {key: backends for key, backends in autograd.items() if backends},
        "autogradother_backends": parse_keyset(str(core._dispatch_autogradother_backends)),
        "ids": live.ids,
        "unparseable": sorted(name for name in live.ids if not live.parses(name)),
        "refreshes": refreshed,
        "full_after_always": full_after[lowest],
        "after_autograd": _functionality_of(full_after, core._after_autograd_keyset),
        "after_ADInplaceOrView": _functionality_of(full_after, core._after_ADInplaceOrView_keyset),
        "default_included": parse_keyset(str(core._dispatch_tls_local_include_set())),
        "default_excluded": parse_keyset(str(core._dispatch_tls_local_exclude_set())),
        "devices": _devices(live),
        "fallbacks": fallbacks,
        "higher_order_fallthrough": default_fallthrough(live),
        **higher_order_calls.facts(live.torch),
        **about_tensors(live),
        "torch_library": torch_library.facts(live.torch, NAMESPACE, live.registered),
    }


def _backend_keys(live: Live, functionality: str) -> list[str]:
    try:
        return [live.name_of(key) for key in live.core._functionality_to_backend_keys(live.keys[functionality])]
    except RuntimeError:
        return []


def _functionality_of(full_after: dict[str, list[str]], keyset: Any) -> str:
    wanted = parse_keyset(str(keyset))
    return next(key for key, after in full_after.items() if after == wanted)


def _devices(live: Live) -> dict[str, str]:
    devices = {}
    for name in torch_library.device_types(live.torch):
        with contextlib.suppress(RuntimeError):
            devices[name] = str(live.core._dispatch_key_for_device(name))
    return devices


def about_tensors(live: Live) -> Data:
    """Facts about tensors and calls: keys of wrappers, devices of strided tensors only, the mask, inference mode."""
    devices = list(_devices(live))
    return {
        "wrapped": parse_keyset(str(live.core._additional_keys_to_prop_for_wrapper_tensors)),
        "plain_devices": [device for device in devices if not _has_sparse(live, device)],
        "mask_by_arguments": _mask_by_arguments(live),
        "grad_ends_inference": _grad_ends_inference(live),
        "python_needs_snapshot": "tls_on_entry" in str(_error_of_call(live, "plain", {"CPU": lambda x: x}, "Python")),
        **fake_mode.about_mode(live.torch),
        **fake_mode.about_devices(devices),
    }


def _has_sparse(live: Live, device: str) -> bool:
    """True if there are sparse tensors on a device, which need not be there."""
    kind = type("Unused", (live.torch.Tensor,), {"__torch_dispatch__": lambda *_: None})
    try:
        live.torch.Tensor._make_wrapper_subclass(kind, (2, 2), device=device, layout=live.torch.sparse_coo)
    except RuntimeError:
        return False
    return True


def _mask_by_arguments(live: Live) -> bool:
    """True if an included key of another backend leaves the choice of the fallthrough mask to the arguments.

    The operator falls through at the CPU alone, where its argument is; with Meta included, its kernel there runs only
    if the mask is Meta's.
    """
    kernels = {"CPU": live.torch.library.fallthrough_kernel, "Meta": lambda x: x}
    return _error_of_call(live, "masked", kernels, "Meta") is not None


def _error_of_call(live: Live, name: str, kernels: Data, included: str) -> RuntimeError | None:
    """Error of a call of a new operator on the CPU with a key included on the thread; None when it goes well.

    The thread is one of its own: the backend of an included key stays in a thread's set after the guard is gone, so
    that later calls of this thread would go to that backend.
    """
    torch, core = live.torch, live.core
    library = core._dispatch_library("FRAGMENT", NAMESPACE, "")
    library.def_(name + "(Tensor x) -> Tensor")
    for key, kernel in kernels.items():
        library.impl(name, key, kernel, False)
    raised: list[RuntimeError] = []

    def call() -> None:
        try:
            with core._IncludeDispatchKeyGuard(live.keys[included]):
                getattr(getattr(torch.ops, NAMESPACE), name)(torch.ones(2))
        except RuntimeError as error:
            raised.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    return raised[0] if raised else None


def _grad_ends_inference(live: Live) -> bool:
    torch, functorch = live.torch, live.core._functorch
    with torch.inference_mode():
        functorch._grad_increment_nesting()
        try:
            return not torch.is_inference_mode_enabled()
        finally:
            functorch._grad_decrement_nesting()


def replaceable_fallbacks(live: Live, fallbacks: list[Data]) -> list[str]:
    """The runtime keys at which PyTorch accepts a further backend fallback: it takes the place of the one before.

    A key that has none gets one for that. What takes the place of PyTorch's own stays registered.
    """
    there = {fallback["key"] for fallback in fallbacks}
    replaceable = []
    for key in live.runtime:
        if not live.parses(key):
            continue
        libraries = [live.core._dispatch_library("IMPL", "_", key) for _ in range(1 if key in there else 2)]
        try:
            for library in libraries:
                library.fallback_fallthrough()
        except RuntimeError:
            continue
        replaceable.append(key)
        if key in there:
            live.kept += libraries
    return replaceable


# What a registration refreshes: found by registering, and looking which kernel each slot of the live table runs.


class Guinea:
    """An operator made for looking: register at keys, and see what a slot of its live table holds.

    It takes a number, not a tensor, so that nothing but the slot itself decides what runs. Its kernels see the key set
    they are called with, which tells the slot's own kernel from one that a fallback in the slot called in its turn.
    """

    def __init__(self, live: Live, name: str) -> None:
        self._live = live
        self._name = name
        self._ran: list[tuple[str, str]] = []
        self._library = live.core._dispatch_library("FRAGMENT", NAMESPACE, "")
        self._library.def_(name + "(int x) -> int")
        self._handle = live.core._dispatch_find_schema_or_throw(NAMESPACE + "::" + name, "")

    def register(self, key: str) -> bool:
        """Register a kernel at *key* that is known by the key's name; False when PyTorch takes none there."""

        def kernel(keyset: Any, x: int) -> int:
            self._ran.append((key, str(keyset)))
            return x

        try:
            self._library.impl(self._name, self._live.keys[key], kernel, True)
        except RuntimeError:
            return False
        return True

    def runs(self, slot: str) -> str | None:
        """The key under which the kernel in *slot* was registered; None when it is none of ours."""
        self._ran.clear()
        keyset = self._live.core.DispatchKeySet(self._live.slot_key(slot))
        # An error comes from an empty slot, or from a fallback that wants a tensor or a mode: not one of ours.
        with contextlib.suppress(Exception):
            self._handle.redispatch_boxed(keyset, 0)
        return next((key for key, seen in self._ran[:1] if seen == str(keyset)), None)

    def running(self, key: str, slots: Iterable[str]) -> list[str]:
        """Slots among *slots* that run the kernel of *key*."""
        return [slot for slot in slots if self.runs(slot) == key]


def refreshes(live: Live) -> dict[str, list[str]]:
    """The slots of the live table that are computed anew when a kernel comes to a key.

    Those of every alias are there, and of the keys that do not just refresh their own slot.
    """
    by_key: dict[str, list[str]] = {}
    for key in live.ids:
        slots = _refreshed(live, key)
        ordered = [slot for slot in (*live.runtime, UNDEFINED) if slot in slots]
        # a key that has no slot refreshes nothing unless told otherwise
        if key in live.covered or (ordered != [key] and (ordered or key in live.runtime)):
            by_key[key] = ordered
    return by_key


def _refreshed(live: Live, key: str) -> set[str]:
    """The slots that a registration at *key* brings up to date.

    They run its kernel then; or they were stale before, and are so no more: they ran a math kernel, although another
    composite kernel had come.
    """
    operator = Guinea(live, f"at_{key}")
    stale = []
    if key not in (IMPLICIT, EXPLICIT):
        operator.register(IMPLICIT)
        operator.register(EXPLICIT)
        stale = operator.running(IMPLICIT, live.covered[IMPLICIT])
    if not operator.register(key):
        # where nothing can be registered there is nothing to see, and nothing that could go wrong either
        return {key} & {*live.runtime}
    own = [key] if key in live.runtime else []
    possible = [*live.covered[key], UNDEFINED] if key in live.covered else own
    no_more_stale = {*stale} - {*operator.running(IMPLICIT, stale)}
    return {*operator.running(key, possible)} | no_more_stale


# Operators.


def operators(live: Live, asked: LivePyTorch) -> tuple[list[Data], list[Data]]:
    """Describe all operators, sorted by name; and those whose dump is not understood, with the line."""
    entries: list[Data] = []
    skipped: list[Data] = []

    def describe(function: Any) -> dict[str, str]:
        return described(function, live.clean)

    ways = going_on.ways(asked.watched, describe)
    for name, dump in sorted(asked.now.dumps.items()):
        try:
            operator = looking.parse_dump(live.clean(dump))
        except ValueError as error:  # noqa: PERF203
            skipped.append({"name": name, "line": str(error)})
        else:
            operator["tags"] = _tags(live, name) if operator["schema"] is not None else []
            functions = _in_order(live, asked.now.python.get(name, {}))
            operator["python"] = {key: function_name(function) for key, function in functions}
            operator["imported"] = _imported(live, asked, name)
            going_on.note(operator, ways)
            going_on.note_fakes(operator, live.clean, describe)
            entries.append(operator)
    return entries, skipped


def _tags(live: Live, name: str) -> list[str]:
    base, _, overload = name.partition(".")
    answer = live.core._get_operation_overload(base, overload)
    return sorted(tag.name for tag in answer[2]) if answer is not None else []


def _imported(live: Live, asked: LivePyTorch, name: str) -> Data:
    """Registrations of the modules of --import for an operator; the keys of Python kernels by their names."""
    changes: Data = asked.now.registered_since(asked.before, name)
    if "python" in changes:
        changes["python"] = [live.name_of(key) for key in changes["python"]]
    return changes


def _in_order(live: Live, kernels: dict[Any, Any]) -> list[tuple[str, Any]]:
    """The kernels by the names of their keys, in the order of the enum."""
    named = [(live.name_of(key), function) for key, function in kernels.items()]
    return sorted(named, key=lambda pair: live.ids.get(pair[0], 0))


# Higher-order operators.


def higher_order_operators(live: Live) -> list[Data]:
    """Describe the higher-order operators with their rules, sorted by name."""
    registry = looking.higher_order_registry()
    return [_higher_order_operator(live, name, registry[name]) for name in sorted(registry)]


def _higher_order_operator(live: Live, name: str, operator: Any) -> Data:
    kernels = dict(operator.py_kernels)
    table = looking.python_table(operator)
    transforms = dict(operator.functorch_table)
    functionalize = _take_out(kernels, FUNCTIONALIZE)
    if functionalize is not None:
        # py_functionalize_impl puts a wrapper of the one rule into three tables.
        transforms = {key: rule for key, rule in transforms.items() if _wrapped(rule, FUNCTIONALIZE) is None}
        table = {key: rule for key, rule in table.items() if _wrapped(rule, FUNCTIONALIZE) is None}
    fallthrough = _fallthrough_keys(live, operator, kernels)
    autograd = _take_out(kernels, AUTOGRAD)
    tensor = live.torch.Tensor
    return {
        "name": name,
        "dispatch": {key: _rule(rule) for key, rule in _in_order(live, kernels)},
        "fallthrough": fallthrough,
        "autograd": None if autograd is None else _rule(autograd),
        "modes": _by_class({key: rule for key, rule in table.items() if not issubclass(key, tensor)}),
        "subclasses": _by_class({key: rule for key, rule in table.items() if issubclass(key, tensor)}),
        "transforms": {
            str(getattr(key, "name", key)): _rule(rule)
            for key, rule in sorted(transforms.items(), key=lambda pair: str(pair[0]))
        },
        "functionalize": None if functionalize is None else _functionalize_rule(functionalize),
        "side_effect": operator in getattr(sys.modules.get("torch.fx.node"), "_side_effectful_functions", ()),
    }


FUNCTIONALIZE = "py_functionalize_impl.<locals>."
AUTOGRAD = "py_autograd_impl.<locals>."
"""Part of the name of a wrapper that PyTorch registers in place of the rule that it was given."""


def _take_out(kernels: dict[Any, Any], wrapper: str) -> Any:
    """The rule that was registered by way of a wrapper; its key is taken out of *kernels*. None when there is none."""
    for key, kernel in list(kernels.items()):
        rule = _wrapped(kernel, wrapper)
        if rule is not None:
            del kernels[key]
            return rule
    return None


def _wrapped(function: Any, wrapper: str) -> Any:
    """The rule that a wrapper was made for; None for other functions."""
    return going_on.closed_over(function).get("fn") if wrapper in getattr(function, "__qualname__", "") else None


def _rule(function: Any) -> Any:
    """A rule: its name, or a mapping where more is known of it."""
    name = function_name(function)
    helper = ".autograd_not_implemented.<locals>.inner"
    if not name.endswith(helper):
        return name
    data: Data = {"kernel": name[: -len(".<locals>.inner")]}
    deferred = going_on.closed_over(function).get("deferred_error")
    if isinstance(deferred, bool):
        data["deferred_error"] = deferred
    return data


def _functionalize_rule(function: Any) -> Any:
    """A rule for functionalization, with its errors at the places where it cannot run."""
    errors = functionalize_errors(function)
    return {"kernel": function_name(function), "error": errors} if errors else _rule(function)


def functionalize_errors(function: Any) -> dict[str, str]:
    """The errors of a rule for functionalization, by its place.

    Its first argument is of another class at each place. Where the rule begins with an attribute that the class does
    not have, it raises an AttributeError there.
    """
    module = importlib.import_module("torch._subclasses.functional_tensor")
    classes = {"dispatch": ("CppFunctionalizeAPI", ()), "transforms": ("FunctorchFunctionalizeAPI", (None,))}
    errors = {}
    attributes = _first_attributes(function)
    for place, (name, arguments) in classes.items():
        interface = getattr(module, name)(*arguments)
        missing = next((attribute for attribute in attributes if not hasattr(interface, attribute)), None)
        if missing is not None:
            errors[place] = f"AttributeError: {name!r} object has no attribute {missing!r}"
    return errors


def _first_attributes(function: Any) -> list[str]:
    """The attributes of its first argument that a function reads before it calls or decides anything."""
    code = getattr(function, "__code__", None)
    if code is None or not code.co_argcount or hasattr(function, "__wrapped__"):  # what is wrapped is another function
        return []
    attributes: list[str] = []
    loaded = None
    for instruction in dis.get_instructions(code):
        if instruction.opcode in dis.hasjrel or instruction.opname.startswith(("CALL", "RETURN", "WITH", "BEFORE")):
            break
        if instruction.opname in ("LOAD_ATTR", "LOAD_METHOD") and loaded == code.co_varnames[0]:
            attributes.append(str(instruction.argval))
        loaded = instruction.argval if instruction.opname.startswith(("LOAD_FAST", "LOAD_DEREF")) else None
    return attributes


def _by_class(rules: dict[Any, Any]) -> dict[str, Any]:
    """The rules in their order, by the name of the class; where two have one name, the module tells them apart."""
    names = [key.__name__ for key in rules]
    return {
        key.__name__ if names.count(key.__name__) == 1 else function_name(key): _rule(rule)
        for key, rule in rules.items()
    }


def _fallthrough_keys(live: Live, operator: Any, kernels: dict[Any, Any]) -> list[str]:
    """The runtime keys that a call of the operator passes over, beyond those that every operator does by default."""
    others = parse_keyset(str(operator.non_fallthrough_keys))
    known = {*others, *default_fallthrough(live), *map(live.name_of, kernels)}
    return [key for key in live.runtime if key not in known]


def default_fallthrough(live: Live) -> list[str]:
    """The keys that fall through in a higher-order operator unless it says otherwise."""
    ops = importlib.import_module("torch._ops")
    keys = getattr(ops, "_HIGHER_ORDER_OP_DEFAULT_FALLTHROUGH_DISPATCH_KEYS", ())
    return [live.name_of(key) for key in keys]


def mode_types() -> list[str]:
    """The types of modes that handle higher-order operators by themselves, of those that are imported.

    Some say so in the class, the others when an instance is made; an instance cannot be made here to see it.
    """
    modes = importlib.import_module("torch.utils._python_dispatch")
    flag = "supports_higher_order_operators"
    names = set()
    waiting = [modes.TorchDispatchMode]
    while waiting:
        mode = waiting.pop()
        if mode.__module__ == higher_order_calls.__name__ and mode.__module__ not in sys.modules:
            continue  # the probe's own, which can be there still
        waiting += type.__subclasses__(mode)
        code = getattr(mode.__init__, "__code__", None)
        if getattr(mode, flag, False) is True or flag in getattr(code, "co_names", ()):
            names.add(mode.__name__)
    return sorted(names)


# The script.


class LivePyTorch:
    """The PyTorch that is asked, once everything is imported.

    modules: the names of the modules of --import. clean: cleans a text. before: what was registered before these were
    imported; now: what is. known: whether PyTorch alone had registered what was there before. notes: what is to be
    known of the capture, in words; at first, why that is not known. watched: the functions that the modules registered.
    conditions: those that were asked for, and whether they hold.
    """

    def __init__(self, torch: Any, modules: list[str], clean: Callable[[str], str], notes: list[str]) -> None:
        self.torch = torch
        self.modules = modules
        self.clean = clean
        self.known = not notes
        self.notes = notes
        self.watched: dict[tuple[str, str], list[tuple[Any, Any]]] = {}
        self.conditions: dict[str, bool] = {}
        self.before = self.now = looking.Look(torch, NAMESPACE)

    def look_again(self) -> looking.Look:
        """Look at what is registered now; the look before."""
        before, self.now = self.now, looking.Look(self.torch, NAMESPACE)
        return before


NOT_KNOWN = "so PyTorch's own registrations are not known"
LATE = f"PyTorch was imported before capture could observe it (by sitecustomize or a .pth file), {NOT_KNOWN}"


def ask(modules: list[str], answer: Answer, folder: Path, vmap: bool = True, conditions: Sequence[str] = ()) -> Data:
    """Data of *answer*, once PyTorch and *modules* are imported. Errors: Failure.

    folder: a place for temporary files. vmap: make a first vmap before. conditions: looked up before *modules* come.
    """
    notes = [LATE] if "torch" in sys.modules else []
    pytorchs = _pytorchs_own(modules, conditions, folder)
    torch = _import_torch_alone()
    loaded = set(sys.modules)
    for module in pytorchs:
        with contextlib.suppress(Exception):
            importlib.import_module(module)
    packages = {name.partition(".")[0] for name in sys.modules.keys() - loaded}
    if early := [name for name in modules if name.partition(".")[0] in packages.difference(PACKAGES)]:
        notes.append(f"modules of PyTorch import {', '.join(early)}, {NOT_KNOWN}")
    root = Path(torch.__file__).absolute().parent.parent
    cleaner = Cleaner(str(root), sys.path, os.path.expanduser("~"))  # noqa: PTH111  (Path raises without a home)
    try:
        asked = LivePyTorch(torch, modules, cleaner.clean, notes)
        if vmap:
            _first_vmap(asked)
        asked.before = asked.now
        asked.watched = looking.watch(torch)
        _import_backends(torch)
        asked.conditions = _held(torch, conditions)
        for module in modules:
            _import_module(module)
        asked.look_again()
        return answer(asked)
    except (AttributeError, KeyError, ValueError, TypeError, StopIteration, RuntimeError) as error:
        raise Failure(
            EXIT_NOT_UNDERSTOOD,
            f"the answers of PyTorch {torch.__version__} cannot be interpreted; the oldest supported version is 2.4",
            _last_lines(error),
        ) from error


_HASATTR = re.compile(r"hasattr\((torch[\w.]*), ['\"](\w+)['\"]\)")


def _held(torch: Any, conditions: Iterable[str]) -> dict[str, bool]:
    """The truth of conditions; one that cannot be answered is left out."""
    held = {}
    for condition in conditions:
        with contextlib.suppress(Exception):
            held[condition] = _holds(torch, condition)
    return held


def _holds(torch: Any, condition: str) -> bool:
    """The truth of a condition. Errors: AttributeError, and whatever PyTorch raises."""
    match = _HASATTR.fullmatch(condition)
    value = torch
    for part in (condition.rstrip("()") if match is None else match[1]).split(".")[1:]:
        value = getattr(value, part)
    if match is not None:
        return hasattr(value, match[2])
    return bool(value() if condition.endswith("()") else value)


AUTOLOAD = "TORCH_DEVICE_BACKEND_AUTOLOAD"
"""The environment variable that keeps PyTorch from loading other packages' backends when it is imported."""
BACKENDS = "torch.backends"
"""The group of entry points that these are known by."""


def _import_torch_alone() -> Any:
    """PyTorch, without the backends of other packages. Errors: Failure."""
    autoload = os.environ.get(AUTOLOAD)
    os.environ[AUTOLOAD] = "0"
    try:
        torch: Any = importlib.import_module("torch")
    except BaseException as error:
        if isinstance(error, ModuleNotFoundError) and error.name == "torch":
            raise Failure(EXIT_NO_TORCH, "this Python has no PyTorch") from None
        raise Failure(EXIT_BROKEN_TORCH, "PyTorch cannot be imported", _last_lines(error)) from error
    finally:
        if autoload is None:
            del os.environ[AUTOLOAD]
        else:
            os.environ[AUTOLOAD] = autoload
    if not hasattr(torch, "_C") or not hasattr(torch, "__version__") or getattr(torch, "__file__", None) is None:
        raise Failure(EXIT_BROKEN_TORCH, "the module named torch is not PyTorch")
    return torch


def _import_backends(torch: Any) -> None:
    """Load the backends of other packages, as ``import torch`` does. Errors: Failure."""
    if getattr(torch, "_is_device_backend_autoload_enabled", bool)():
        try:
            torch._import_device_backends()
        except BaseException as error:
            raise Failure(EXIT_BROKEN_TORCH, "PyTorch cannot be imported", _last_lines(error)) from error


def _has_backends() -> bool:
    metadata = importlib.import_module("importlib.metadata")
    try:
        return bool(metadata.entry_points(group=BACKENDS))
    except TypeError:  # before Python 3.10
        return BACKENDS in metadata.entry_points()


def _first_vmap(asked: LivePyTorch) -> None:
    """Make a first vmap: PyTorch registers kernels at that moment, for which no user has to answer."""
    torch = asked.torch
    with contextlib.suppress(Exception):
        torch.vmap(torch.neg)(torch.ones(1))
    before = asked.look_again()
    names = [name for name in sorted(asked.now.dumps) if asked.now.registered_since(before, name)]
    if names:
        asked.notes.append(
            f"taken after a first vmap, in which PyTorch registers kernels for {len(names)} operators: "
            f"{', '.join(names)}"
        )


ONLY_MODULES = "--only-modules"


def _pytorchs_own(modules: list[str], conditions: Sequence[str], folder: Path) -> list[str]:
    """The modules of PyTorch that *modules* and *conditions* import; another process does it to see.

    What PyTorch's own modules register is not the user's, so they are imported before the user's are. folder: where its
    answer goes for a moment.
    """
    if not modules and not conditions and not _has_backends():
        return []
    # in the folder of the answer: whoever runs this script removes it, also when this process is killed
    with tempfile.TemporaryDirectory(prefix="modules-", dir=str(folder)) as directory:
        out, nowhere = Path(directory) / "modules.json", subprocess.DEVNULL
        command = [sys.executable, str(Path(__file__).resolve()), str(out)]
        command += [word for module in modules for word in ("--import", module)]
        command += [word for condition in conditions for word in ("--condition", condition)]
        subprocess.run([*command, ONLY_MODULES], check=False, stdin=nowhere, stdout=nowhere, stderr=nowhere)
        with contextlib.suppress(OSError, ValueError):  # what fails there fails here, too
            names: list[str] = json.loads(out.read_text(encoding="utf-8"))
            return names
    return []


def _list_modules(out: str, modules: list[str], conditions: Iterable[str]) -> None:
    """Write which of PyTorch's modules come with *modules* and *conditions*, in the order of their import."""
    torch = _import_torch_alone()
    before = set(sys.modules)
    _import_backends(torch)
    _held(torch, conditions)
    for module in modules:
        _import_module(module)
    names = [name for name in list(sys.modules) if name not in before and _is_pytorchs(torch, name)]
    Path(out).write_text(json.dumps(names), encoding="utf-8")


PACKAGES = ("torch", "functorch", "torchgen")
"""The packages that an installation of PyTorch brings."""


def _is_pytorchs(torch: Any, name: str) -> bool:
    """True if a module is one of PyTorch's own: in one of its packages, and in the directory where that is."""
    file = getattr(sys.modules.get(name), "__file__", None)
    if name.partition(".")[0] not in PACKAGES or not isinstance(file, str):
        return False
    site = Path(torch.__file__).resolve().parent.parent
    return any(site / package in Path(file).resolve().parents for package in PACKAGES)


def capture(asked: LivePyTorch) -> Data:
    """The whole state of the dispatcher."""
    torch, live = asked.torch, Live(asked)
    understood, skipped = operators(live, asked)
    fallbacks = looking.parse_fallbacks(live.clean("\n".join(asked.now.fallbacks)))
    layout = universe(live, refreshes(live), fallbacks)
    # after the operators: a FakeTensorMode imports modules of PyTorch that register kernels
    if not fake_mode.note_rules({operator["name"]: operator for operator in understood}, function_name):
        asked.notes.append("what FakeTensorMode uses for operators besides kernels could not be read")
    asked.notes += map(live.clean, higher_order_calls.import_all(Path(torch.__file__).absolute().parent))
    # after the tables: a fallback of PyTorch that is replaced does not come back
    layout["replaceable_fallbacks"] = replaceable_fallbacks(live, fallbacks)
    replaced = asked.before.fallbacks_replaced(asked.now)
    return {
        "format": FORMAT,
        "torch": str(torch.__version__),
        "git": str(torch.version.git_version or ""),
        "build": _build(torch),
        "modules": asked.modules,
        "known": asked.known,
        "notes": asked.notes,
        "universe": layout,
        "operators": understood,
        "higher_order_operators": higher_order_operators(live),
        "imported_fallbacks": asked.now.fallbacks_since(asked.before),
        "replaced_fallbacks": looking.parse_fallbacks(live.clean("\n".join(replaced))),
        "imported_higher_order_operators": asked.now.rules_since(asked.before),
        "modes": mode_types(),
        "skipped": skipped,
        "conditions": asked.conditions,
    }


def _build(torch: Any) -> str:
    versions = {platform: getattr(torch.version, platform, None) for platform in ("cuda", "hip", "xpu")}
    return next((f"{platform} {version}" for platform, version in versions.items() if version), "cpu")


def _import_module(name: str) -> None:
    try:
        importlib.import_module(name)
    except BaseException as error:
        raise Failure(EXIT_NO_MODULE, f"the module {name} cannot be imported", _last_lines(error)) from error


def _last_lines(error: BaseException) -> str:
    text = f"{type(error).__name__}: {error}"
    return "\n".join(text.split("\nException raised from ")[0].splitlines()[-8:])[-2000:]


def main(arguments: list[str], answer: Answer) -> int:
    """Ask, and write the file. Returns the exit code."""
    out, modules, conditions = arguments[0], values_of(arguments, "--import"), values_of(arguments, "--condition")
    only_modules = arguments[-1] == ONLY_MODULES
    # The script's own directory has modules that nobody means; those of the working directory come last.
    if sys.path and Path(sys.path[0]).resolve() == Path(__file__).resolve().parent:
        del sys.path[0]
    sys.path.append(str(Path.cwd()))
    try:
        if only_modules:
            _list_modules(out, modules, conditions)
            return 0
        vmap = values_of(arguments, "--vmap") != ["no"]
        data = ask(modules, answer, Path(out).resolve().parent, vmap, conditions)
    except Failure as failure:
        print(json.dumps({"error": failure.message, "details": failure.details}), file=sys.stderr, flush=True)
        return failure.code
    with Path(out).open("w", encoding="utf-8") as file:
        file.write(json.dumps(data))  # as one text it is encoded in C, in a sixth of the time
    return 0


def values_of(arguments: list[str], option: str) -> list[str]:
    """Values that follow each *option*; the arguments are a file, then pairs of an option and a value."""
    return [arguments[place + 1] for place in range(1, len(arguments) - 1, 2) if arguments[place] == option]


def run(answer: Answer) -> None:
    """Be the script that writes *answer*; does not return."""
    code = main(sys.argv[1:], answer)
    sys.stderr.flush()
    # Neither PyTorch nor an imported module gets the chance to crash on the way out: the answer is written.
    os._exit(code)


if __name__ == "__main__":
    run(capture)
