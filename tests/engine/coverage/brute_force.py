"""Coverage of every operator on some backends, by asking a live PyTorch about one key after the other.

usage: PYTHON brute_force.py BACKEND...   (run with the Python that has PyTorch)

It imports nothing of dispatch-cli. It prints JSON: backend key → operator → [reach, service, source, lack, training].
"""

import json
import re
import sys

import torch

core = torch._C
ALIASES = (
    "CompositeExplicitAutogradNonFunctional",
    "CompositeExplicitAutograd",
    "CompositeImplicitAutogradNestedTensor",
    "CompositeImplicitAutograd",
)
TRAINING = {
    "kernel": "own",
    "autograd kernel": "generic",
    "math kernel": "math",
    "nested kernel": "math",
    "backend fallback": "none",
    "ambiguous autogradother": "broken",
}
ROW = re.compile(r"^(\w+): (fallthrough )?(.*) \[([a-z ]+)\]$", re.M)


def table_of(name):
    """Runtime key → whether it falls through, and the rule; keys without a kernel are not there."""
    return {key: (bool(skips), rule) for key, skips, _, rule in ROW.findall(core._dispatch_dump_table(name))}


def takes_tensors(name):
    """True if an argument is a tensor, or may contain one; None if the operator has no schema."""
    line = re.search(r"^schema: (.*)$", core._dispatch_dump(name), re.M)
    if line is None or line[1] == "(none)":
        return None
    base, _, overload = name.partition(".")
    try:
        schema = core._get_schema(base, overload)
    except RuntimeError:
        schema = core.parse_schema(line[1])
    return any(has_tensor(argument.type) for argument in schema.arguments)


def has_tensor(kind):
    if kind.kind() == "TensorType":
        return True
    if kind.kind() in ("OptionalType", "ListType"):
        return has_tensor(kind.getElementType())
    if kind.kind() in ("TupleType", "UnionType"):
        inner = kind.elements() if kind.kind() == "TupleType" else kind.containedTypes()
        return any(map(has_tensor, inner))
    return kind.kind() == "DictType" and (has_tensor(kind.getKeyType()) or has_tensor(kind.getValueType()))


def alias_of(name, key):
    """The alias key whose kernel is in the slot of *key*, where that is one of a composite kernel."""
    for alias in ALIASES:
        covers = (key == "Undefined" and "Nested" not in alias) or (key != "Undefined" and included(key, alias))
        if covers and core._dispatch_has_kernel_for_dispatch_key(name, alias):
            return alias
    return None


def included(key, alias):
    return core._dispatch_is_included_in_alias(key, alias)


def without_backend(name, table, lack):
    """Result of a call that no backend gets."""
    if not core._dispatch_has_computed_kernel_for_dispatch_key(name, "Undefined") or table["Undefined"][0]:
        return "nothing", None, lack
    return "composite", alias_of(name, "Undefined"), None


def service(name, key, reach, table):
    if reach == "not":
        return without_backend(name, table, "no-tensors")
    own = core._dispatch_has_kernel_for_dispatch_key(name, key)
    if not own and not core._dispatch_has_computed_kernel_for_dispatch_key(name, key):
        assert key not in table, (name, key)
        return "nothing", None, "missing"
    skips, rule = table[key]
    if skips and reach == "device":
        return "nothing", None, "skipped"
    if skips:
        return without_backend(name, table, "skipped")
    if own:
        assert rule == "kernel", (name, key)
        return "kernel", key, None
    if rule == "backend fallback":
        return "fallback", key, None
    return "composite", alias_of(name, key), None


def training(name, autograd, reach, table):
    if reach != "tensors":
        return "no-tensors"
    if not core._dispatch_has_computed_kernel_for_dispatch_key(name, autograd):
        return "broken"
    skips, rule = table[autograd]
    return "none" if skips else TRAINING[rule]


def reach_of(name):
    if takes_tensors(name):
        return "tensors"
    select = core._dispatch_has_kernel_for_dispatch_key(name, "BackendSelect")
    return "device" if select and not table_of(name)["BackendSelect"][0] else "not"


def main():
    results = {}
    for name in core._dispatch_get_all_op_names():
        reach, table = reach_of(name), table_of(name)
        for key in sys.argv[1:]:
            row = [reach, *service(name, key, reach, table), training(name, f"Autograd{key}", reach, table)]
            results.setdefault(key, {})[name] = row
    json.dump(results, sys.stdout)


main()
