"""The kernel that PyTorch's dispatcher runs for an operator, and why: computed from declarations, without PyTorch.

The names below are imported when they are first used; ``import dispatch_cli`` alone costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from dispatch_cli.api import apply_to, load_state, run_declarations, what_if_state
    from dispatch_cli.declarations.loader import load
    from dispatch_cli.engine.call.higher_order.simulate import simulate_higher_order
    from dispatch_cli.engine.call.simulate import simulate
    from dispatch_cli.engine.call.trace import Call
    from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
    from dispatch_cli.engine.dispatcher.dump import dump_registrations, dump_table
    from dispatch_cli.engine.dispatcher.library import Library
    from dispatch_cli.engine.dispatcher.registry import Checkpoint
    from dispatch_cli.engine.history import Applied
    from dispatch_cli.engine.keys.keyset import DispatchKeySet
    from dispatch_cli.engine.order import Orders, SensitiveSlot
    from dispatch_cli.engine.python.higher_order import HigherOrderTable
    from dispatch_cli.engine.rules import Rule
    from dispatch_cli.engine.state import State
    from dispatch_cli.engine.table.registration import Refused
    from dispatch_cli.engine.table.table import Table, TableEntry
    from dispatch_cli.model.calls.call import CallError, Context, TensorSpec
    from dispatch_cli.model.calls.options import Options
    from dispatch_cli.model.declarations import Block, Declarations, LibraryKind
    from dispatch_cli.model.kernel import AliasAnalysisKind, Kernel
    from dispatch_cli.model.names import OperatorName
    from dispatch_cli.model.problem import InputError, Problem
    from dispatch_cli.model.schema.cursor import SchemaError
    from dispatch_cli.model.schema.model import FunctionSchema
    from dispatch_cli.model.schema.parser import parse_schema
    from dispatch_cli.model.universe import Universe

_HOMES = {
    "load_state": "api",
    "run_declarations": "api",
    "apply_to": "api",
    "what_if_state": "api",
    "load": "declarations.loader",
    "Checkpoint": "engine.dispatcher.registry",
    "Dispatcher": "engine.dispatcher.dispatcher",
    "dump_registrations": "engine.dispatcher.dump",
    "dump_table": "engine.dispatcher.dump",
    "DispatchKeySet": "engine.keys.keyset",
    "HigherOrderTable": "engine.python.higher_order",
    "Library": "engine.dispatcher.library",
    "Call": "engine.call.trace",
    "simulate": "engine.call.simulate",
    "simulate_higher_order": "engine.call.higher_order.simulate",
    "Orders": "engine.order",
    "Applied": "engine.history",
    "Refused": "engine.table.registration",
    "Rule": "engine.rules",
    "SensitiveSlot": "engine.order",
    "State": "engine.state",
    "Table": "engine.table.table",
    "TableEntry": "engine.table.table",
    "CallError": "model.calls.call",
    "Context": "model.calls.call",
    "TensorSpec": "model.calls.call",
    "Block": "model.declarations",
    "Declarations": "model.declarations",
    "Kernel": "model.kernel",
    "LibraryKind": "model.declarations",
    "AliasAnalysisKind": "model.kernel",
    "FunctionSchema": "model.schema.model",
    "SchemaError": "model.schema.cursor",
    "parse_schema": "model.schema.parser",
    "OperatorName": "model.names",
    "Options": "model.calls.options",
    "InputError": "model.problem",
    "Problem": "model.problem",
    "Universe": "model.universe",
}

__all__ = [
    "AliasAnalysisKind",
    "Applied",
    "Block",
    "Call",
    "CallError",
    "Checkpoint",
    "Context",
    "Declarations",
    "DispatchKeySet",
    "Dispatcher",
    "FunctionSchema",
    "HigherOrderTable",
    "InputError",
    "Kernel",
    "Library",
    "LibraryKind",
    "OperatorName",
    "Options",
    "Orders",
    "Problem",
    "Refused",
    "Rule",
    "SchemaError",
    "SensitiveSlot",
    "State",
    "Table",
    "TableEntry",
    "TensorSpec",
    "Universe",
    "apply_to",
    "dump_registrations",
    "dump_table",
    "load",
    "load_state",
    "parse_schema",
    "run_declarations",
    "simulate",
    "simulate_higher_order",
    "what_if_state",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"dispatch_cli.{home}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
