"""The what-if of ``torch/_python_dispatcher.py``: one operator, and a kernel at each of some keys, without a file."""

from __future__ import annotations

from collections.abc import Sequence

from dispatch_cli import universes
from dispatch_cli.declarations.universe_file import load_universe, named_backend
from dispatch_cli.model.declarations import Block, Declarations, Define, Implement, LibraryKind, Step
from dispatch_cli.model.kernel import AliasAnalysisKind, Kernel
from dispatch_cli.model.problem import InputError, Problem
from dispatch_cli.model.schema.parser import parse_schema, parse_signature
from dispatch_cli.model.text.suggest import KEYS_LISTED, suggestion
from dispatch_cli.model.universe import Universe

NAMESPACE = "__test__"
SCHEMA = "foo(Tensor x) -> Tensor"
SIGNATURE = "(Tensor _0) -> Tensor _0"


def what_if(
    keys: Sequence[str], universe: str | None = None, allow_outside: bool = False, privateuse1: str | None = None
) -> Declarations:
    """``__test__::foo`` with a kernel ``fn_KEY`` at each key, in order, as PyTorch's PythonDispatcher registers them.

    universe: an embedded name or a path. allow_outside: whether that can be a link out of its project.
    privateuse1: the name of the backend at PrivateUse1.
    Errors: InputError for an unknown key, for a key given twice, and for CompositeImplicitAutograd together with
    CompositeExplicitAutograd; the helper of PyTorch refuses the same.
    """
    layout = named_backend(load_universe(universe or universes.default_name(), allow_outside), privateuse1)
    keys = [layout.key_named(key) for key in keys]
    problems = tuple(_problems(keys, layout))
    if problems:
        raise InputError(problems)
    block = Block(LibraryKind.FRAGMENT, NAMESPACE, None, "/dev/null", 0, implicit=True)
    schema = parse_schema(f"{NAMESPACE}::{SCHEMA}")
    signature = parse_signature(SIGNATURE)
    steps: list[Step] = [Define(block, schema, AliasAnalysisKind.FROM_SCHEMA)]
    steps += [
        Implement(block, schema.name, key, Kernel(f"fn_{key}", f"fn_{key}", signature, unboxed=True)) for key in keys
    ]
    return Declarations(layout, steps=tuple(steps))


def _problems(keys: list[str], universe: Universe) -> list[Problem]:
    problems = []
    for key in dict.fromkeys(keys):
        if key not in universe.parseable:
            hint = suggestion(key, universe.parseable) or KEYS_LISTED
            problems.append(Problem("unknown-dispatch-key", f"could not parse dispatch key: {key}", hint=hint))
    if len(set(keys)) != len(keys):
        message = f"Overridden is not allowed but found duplicates in {keys}."
        problems.append(Problem("duplicate-key", message, hint="give each key once"))
    if "CompositeImplicitAutograd" in keys and "CompositeExplicitAutograd" in keys:
        message = "Registration to both CompositeImplicitAutograd and CompositeExplicitAutograd is not allowed."
        problems.append(Problem("composite-conflict", message, hint="use one of the two"))
    return problems
