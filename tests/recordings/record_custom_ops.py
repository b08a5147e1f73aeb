"""Make custom operators in a live PyTorch: what ``torch.library`` registers for them, and what calls of them run.

usage: PYTHON -m tests.recordings.record_custom_ops OUT.json.xz < OPERATORS   (with the Python that has torch)

OPERATORS: a list of them in JSON, as an earlier recording has them. Every Python kernel and every function of the user's
notes that it is entered. Texts have no path of this machine: what lies below site-packages is kept.
"""

import contextlib
import functools
import json
import lzma
import os
import re
import sys
import warnings
from typing import Any, List, Optional  # noqa: UP035  (the oldest PyTorch knows no others)

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from dispatch_cli.capture import looking, torch_library
from tests.custom_ops.declared import schema_of

SITE = os.path.dirname(os.path.dirname(os.path.abspath(torch.__file__))) + "/"
HERE = os.path.dirname(os.path.abspath(__file__)) + "/"
LIBRARY = torch.library
RAN: list[str] = []
"""Functions entered since the last call began: ``CPU`` is a kernel at that key, ``fn:name`` the user's function."""
KEPT: list[Any] = []
ANNOTATIONS = {
    "Tensor": "Tensor",
    "Tensor?": "Optional[Tensor]",
    "Tensor[]": "List[Tensor]",
    "SymInt": "int",
    "float": "float",
    "bool": "bool",
    "str": "str",
    "SymInt[]": "List[int]",
    "ScalarType": "torch.dtype",
    "Device": "torch.device",
    "()": "None",
}
"""The annotation from which PyTorch infers a type of a schema."""
DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16}


def clean(text):
    return re.sub(r" at 0x[0-9a-f]+", "", str(text).replace(SITE, "site-packages/").replace(HERE, ""))


def note_kernels():
    """Have every kernel that is registered in Python note that it runs."""
    impl = LIBRARY.Library.impl

    @functools.wraps(impl)
    def noted(self, op_name, fn, dispatch_key="", **options):
        @functools.wraps(fn)
        def entered(*args, **kwargs):
            RAN.append(dispatch_key or self.dispatch_key or "CompositeImplicitAutograd")
            return fn(*args, **kwargs)

        return impl(self, op_name, entered, dispatch_key, **options)

    LIBRARY.Library.impl = noted


def results(operator, args, kwargs, fresh):
    """Results of an operator: new tensors, or those that its schema says."""
    tensors = [item for value in (*args, *kwargs.values()) for item in (value if isinstance(value, list) else [value])]
    tensors = [tensor for tensor in tensors if isinstance(tensor, torch.Tensor)]
    fresh_results = []
    for returned in operator["returns"]:
        alias = returned["alias"]
        if returned["type"] == "()":
            return None
        if alias is not None and operator["kind"] in ("view", "views"):
            fresh_results.append(args[0].view_as(args[0]))
        elif alias is not None:
            fresh_results.append(kwargs["out"] if operator["kind"] == "out" else args[0])
        elif returned["type"] == "SymInt":
            fresh_results.append(1)
        else:
            one = fresh(tensors[0]) if tensors else torch.ones(2)
            fresh_results.append([one] if returned["type"] == "Tensor[]" else one)
    return fresh_results[0] if len(fresh_results) == 1 else tuple(fresh_results)


def function(operator, name, fresh=torch.clone):
    """A function of the user's with annotations: it notes that it ran, and returns what the operator does."""
    parts, names, keywords = [], [], []
    for argument in operator["arguments"]:
        if argument["keyword"] and "*" not in parts:
            parts.append("*")
        default = "" if argument["default"] is None else f" = {argument['default']}"
        parts.append(f"{argument['name']}: {ANNOTATIONS[argument['type']]}{default}")
        (keywords if argument["keyword"] else names).append(argument["name"])
    returns = [ANNOTATIONS[part["type"]] for part in operator["returns"]]
    annotation = returns[0] if len(returns) == 1 else f"Tuple[{', '.join(returns)}]"
    call = f"enter('{name}', [{', '.join(names)}], {{{', '.join(f'{keyword!r}: {keyword}' for keyword in keywords)}}})"

    def enter(name, args, kwargs):
        RAN.append(f"fn:{name}")
        return results(operator, args, kwargs, fresh)

    scope = {"torch": torch, "Tensor": torch.Tensor, "Optional": Optional, "List": List, "enter": enter}
    scope["Tuple"] = __import__("typing").Tuple
    source = f"def {name}({', '.join(parts)}) -> {annotation}:\n    return {call}\n"
    exec(compile(source, "mylib.py", "exec"), scope)
    return scope[name]


def create(operator):
    """Define the operator; what ``custom_op`` returns, or its name."""
    name, base = operator["name"], operator["name"].partition("::")[2]
    schema = schema_of(operator)
    tags = [getattr(torch.Tag, tag) for tag in operator["tags"]]
    if operator["made_by"] == "define":
        LIBRARY.define(name, schema, tags=tuple(tags))
        return name
    mutates = operator["mutates"] if operator["said_mutates"] is None else operator["said_mutates"]
    options: dict[str, Any] = {"mutates_args": mutates, "schema": schema if operator["given"] else None}
    if operator["made_by"] == "triton_op":
        return LIBRARY.triton_op(name, function(operator, f"{base}_triton"), **options)
    if tags:
        options["tags"] = tags
    return LIBRARY.custom_op(name, function(operator, f"{base}_kernel"), device_types=operator["devices"], **options)


class Mode(torch.utils._python_dispatch.TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def register(operator, made, number, step):
    """Carry out one registration."""
    name = operator["name"]
    base = f"{name.partition('::')[2]}_{step['do']}{number}"
    through = LIBRARY if step.get("through", "function") == "function" or isinstance(made, str) else made
    first = (name,) if through is LIBRARY else ()
    do = step["do"]
    if do == "impl":
        library = LIBRARY.Library(name.partition("::")[0], "FRAGMENT")
        KEPT.append(library)
        library.impl(name, function(operator, base), step["key"])
    elif do == "kernel":
        devices = step["devices"]
        devices = devices[0] if devices is not None and len(devices) == 1 else devices
        through.register_kernel(*first, devices, function(operator, base))
    elif do == "fake":
        through.register_fake(*first, function(operator, base, torch.empty_like))
    elif do == "autograd":

        def backward(context, *grads):
            RAN.append(f"fn:{base}")
            return (None,) * len(operator["arguments"]) if len(operator["arguments"]) > 1 else None

        def setup_context(ctx, inputs, output, keyword_only_inputs=None):
            RAN.append(f"fn:{base}_setup")

        through.register_autograd(*first, backward, setup_context=setup_context if step["setup_context"] else None)
    elif do == "vmap":

        def batched(info, in_dims, *args, **kwargs):
            RAN.append(f"fn:{base}")
            if step["calls"] == "operator":
                found = overload(name)(*args, **kwargs)
            else:
                found = results(operator, args, kwargs, torch.sin)
            dims = [None if not isinstance(result, (torch.Tensor, list)) else 0 for result in in_one(found)]
            return found, dims[0] if len(dims) == 1 else tuple(dims)

        through.register_vmap(*first, batched)
    elif do == "autocast":
        through.register_autocast(*first, step["device"], DTYPES[step["dtype"]])
    elif do == "rule":
        through.register_torch_dispatch(*first, Mode, lambda mode, func, types, args, kwargs: func(*args, **kwargs))


def in_one(found):
    return found if isinstance(found, tuple) else (found,)


def overload(name):
    namespace, _, base = name.partition("::")
    return getattr(getattr(torch.ops, namespace), base).default


def attempt(act):
    """Null, or what was raised: its type and its text."""
    try:
        act()
    except Exception as error:
        return [type(error).__name__, clean(error).split("\nException raised from ")[0]]
    return None


def python_side(name):
    """Data that ``torch.library`` keeps in Python of an operator."""
    called = overload(name)
    return {
        "py_kernels": sorted(str(key).rpartition(".")[2] for key in called.py_kernels),
        "tags": sorted(tag.name for tag in called.tags),
    }


def arguments(operator, tensor):
    values, options = [], {}
    for argument in operator["arguments"]:
        kind = argument["type"]
        value = {
            "Tensor": tensor,
            "Tensor?": tensor,
            "Tensor[]": lambda: [tensor(), tensor()],
            "SymInt": lambda: 1,
            "float": lambda: 0.5,
            "bool": lambda: True,
            "str": lambda: "a",
            "SymInt[]": lambda: [1, 2],
            "ScalarType": lambda: torch.float32,
            "Device": lambda: torch.device("cpu"),
        }[kind]()
        if argument["keyword"]:
            options[argument["name"]] = value
        else:
            values.append(value)
    return values, options


def ones():
    return torch.ones(2, 2)


def call_in(name, operator, context, tensor=ones):
    values, options = arguments(operator, tensor)
    with context:
        return overload(name)(*values, **options)


def axis_of(value):
    """Over which dimension vmap goes; lists of tensors have it in each."""
    return 0 if isinstance(value[0] if isinstance(value, list) else value, torch.Tensor) else None


def vmapped(name, operator):
    values, options = arguments(operator, ones)
    axes = tuple(axis_of(value) for value in values)
    return torch.vmap(lambda *given: overload(name)(*given, **options), in_dims=axes)(*values)


def graded(name, operator):
    values, options = arguments(operator, ones)

    def run(first):
        given = [first, *values[1:]] if not isinstance(values[0], list) else [[first, *values[0][1:]], *values[1:]]
        result = overload(name)(*given, **options)
        return sum(tensor.sum() for tensor in (in_one(result)) if isinstance(tensor, torch.Tensor)) + first.sum()

    return torch.func.grad(run)(ones())


def differentiated(name, operator):
    call = call_in(name, operator, contextlib.nullcontext(), lambda: torch.ones(2, 2, requires_grad=True))
    RAN.clear()
    sum(tensor.sum() for tensor in in_one(call) if isinstance(tensor, torch.Tensor)).backward()


def faked(name, operator):
    mode = FakeTensorMode()
    with mode:
        values, options = arguments(operator, ones)
        return overload(name)(*values, **options)


CALLS = {
    "cpu": lambda n, o: call_in(n, o, contextlib.nullcontext()),
    "requires_grad": lambda n, o: call_in(n, o, contextlib.nullcontext(), lambda: torch.ones(2, 2, requires_grad=True)),
    "no_grad": lambda n, o: call_in(n, o, torch.no_grad(), lambda: torch.ones(2, 2, requires_grad=True)),
    "inference_mode": lambda n, o: call_in(n, o, torch.inference_mode()),
    "meta": lambda n, o: call_in(n, o, contextlib.nullcontext(), lambda: torch.ones(2, 2, device="meta")),
    "sparse": lambda n, o: call_in(n, o, contextlib.nullcontext(), lambda: torch.ones(2, 2).to_sparse()),
    "autocast": lambda n, o: call_in(n, o, torch.autocast("cpu", torch.bfloat16)),
    "vmap": vmapped,
    "grad": graded,
    "functionalize": lambda n, o: torch.func.functionalize(
        lambda: overload(n)(*arguments(o, ones)[0], **arguments(o, ones)[1])
    )(),
    "backward": differentiated,
    "fake": faked,
}


def called(operator, call):
    """Functions that ran in one call, and the error that it raised."""
    RAN.clear()
    raised = attempt(lambda: CALLS[call](operator["name"], operator))
    return [list(RAN), raised]


def recorded(operator):
    """Everything that PyTorch says of one operator."""
    name, created = operator["name"], []
    record: dict[str, Any] = {"operator": operator, "made": attempt(lambda: created.append(create(operator)))}
    KEPT.extend(created)
    if created:
        record["steps"] = [
            attempt(lambda step=step, n=number: register(operator, created[0], n, step))
            for number, step in enumerate(operator["steps"])
        ]
        record["python"] = python_side(name)
    if name in torch._C._dispatch_get_all_op_names():
        record["dump"] = clean(torch._C._dispatch_dump(name))
        record["table"] = clean(torch._C._dispatch_dump_table(name))
    return record


def main(out):
    warnings.simplefilter("ignore")
    torch.vmap(torch.neg)(torch.ones(1))

    def registered(name):
        return looking.parse_dump(clean(torch._C._dispatch_dump(name)))

    library = torch_library.facts(torch, "recorded_facts", registered)
    note_kernels()
    records = [recorded(operator) for operator in json.load(sys.stdin)]
    for row in records:
        if "steps" in row:
            row["calls"] = {call: called(row["operator"], call) for call in CALLS}
    answer = {"torch": torch.__version__, "torch_library": library, "operators": records}
    with lzma.open(out, "wt") if out.endswith(".xz") else open(out, "w", encoding="utf-8") as file:
        json.dump(answer, file)
    print(f"{len(records)} operators, {sum('steps' in record for record in records)} made", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1])
