"""A recorded operator as the declarations that a person would write for it."""

from __future__ import annotations

from typing import Any

Operator = dict[str, Any]
"""One operator: how it is made (`made_by`), its arguments and returns, and the registrations after that, in order."""
Entry = dict[str, Any]
USER = "registered at a place of the user's"
IMPLICIT = "CompositeImplicitAutograd"


def schema_of(operator: Operator, written: bool = True) -> str:
    """The schema without the name: ``(Tensor x) -> Tensor``. written: with the aliases of what it writes to."""
    parts: list[str] = []
    for index, argument in enumerate(operator["arguments"]):
        if argument["keyword"] and "*" not in parts:
            parts.append("*")
        alias = argument["alias"]
        if alias is None and written and argument["name"] in operator["mutates"]:
            alias = f"a{index}!"
        kind = argument["type"]
        kind = kind if alias is None else kind.replace("Tensor", f"Tensor({alias})", 1)
        default = "" if argument["default"] is None else f"={argument['default']}"
        parts.append(f"{kind} {argument['name']}{default}")
    returns = [part["type"] if part["alias"] is None else f"Tensor({part['alias']})" for part in operator["returns"]]
    return f"({', '.join(parts)}) -> {returns[0] if len(returns) == 1 else '(' + ', '.join(returns) + ')'}"


def entries(operator: Operator, steps: list[tuple[int, Any]], functions: dict[str, str]) -> list[Entry]:
    """The entries of ``operators``, with these registrations: number and content.

    functions: the debug texts of ``torch.library``'s functions, for an operator that is not of ``custom_op``.
    """
    if operator["made_by"] == "define":
        return _defined(operator, steps, functions)
    return [_custom(operator, steps)]


def _base(operator: Operator) -> str:
    return str(operator["name"].partition("::")[2])


def _custom(operator: Operator, steps: list[tuple[int, Any]]) -> Entry:
    base, made_by = _base(operator), operator["made_by"]
    mutates = operator["mutates"] if operator["said_mutates"] is None else operator["said_mutates"]
    entry: Entry = {made_by: operator["name"] + schema_of(operator, written=operator["given"])}
    if mutates:
        entry["mutates_args"] = mutates
    if operator["tags"] and made_by == "custom_op":
        entry["tags"] = operator["tags"]
    kernels: Entry = {}
    function = f"{base}_{'triton' if made_by == 'triton_op' else 'kernel'}"
    if operator["devices"] is None:
        entry["kernel"] = function
    else:
        kernels[", ".join(operator["devices"])] = function
    for number, step in steps:
        function = f"{base}_{step['do']}{number}"
        if step["do"] == "kernel":
            devices = step["devices"]
            if devices is None:
                if made_by == "triton_op":  # the first function stays the fake implementation
                    entry.setdefault("fake", entry["kernel"])
                entry["kernel"] = function
                continue
            key = ", ".join(devices)
            while key in kernels:  # a field of its own, so that the order is kept
                key += " "
            kernels[key] = function
        elif step["do"] == "fake":
            entry["fake"] = function
        elif step["do"] == "autograd":
            entry["backward"] = function
            entry.pop("setup_context", None)
            if step["setup_context"]:
                entry["setup_context"] = f"{function}_setup"
        elif step["do"] == "vmap":
            entry["vmap"] = _rule(function, step)
        elif step["do"] == "autocast":
            entry.setdefault("autocast", {}).setdefault(step["device"], step["dtype"])
    return {**entry, "kernels": kernels} if kernels else entry


def _rule(function: str, step: Any) -> Any:
    return {"kernel": function, "redispatches": "unwrapped" if step["calls"] == "operator" else "other-operators"}


def _defined(operator: Operator, steps: list[tuple[int, Any]], functions: dict[str, str]) -> list[Entry]:
    first: Entry = {"func": operator["name"] + schema_of(operator), "debug": functions["define"]}
    if operator["tags"]:
        first["tags"] = operator["tags"]
    kernels = [first]
    for number, step in steps:
        function = f"{_base(operator)}_{step['do']}{number}"
        # refused for its schema as well, so it is known: the tags too
        known = {"name": operator["name"]} if number else first
        entry: Entry = known
        if step["do"] == "kernel":
            devices = step["devices"]
            entry["kernels"] = {"default" if devices is None else ", ".join(devices): function}
        elif step["do"] == "impl":
            computes = {IMPLICIT: "other-operators"}.get(step["key"], False)
            wraps = {"by": "function", "kernel": function}
            kernel = {"debug": USER, "python": True, "redispatches": computes, "wraps": wraps}
            entry["dispatch"] = {step["key"]: kernel}
        elif step["do"] == "fake":
            entry["fake"] = {"kernel": function, "debug": functions["register_fake"]}
        elif step["do"] == "autograd":
            entry["backward"] = function
        elif step["do"] == "vmap":
            entry["vmap"] = _rule(function, step)
        elif step["do"] == "autocast":
            entry["autocast"] = {step["device"]: step["dtype"]}
        if entry is not first:
            kernels.append(entry)
    return kernels
