"""Call operators on a backend at PrivateUse1 that is registered here, in Python, and say what happens.

usage: PYTHON live_backend.py   (a plan as JSON on standard input; run with the Python that has PyTorch)

The plan: defined (schemas), registrations [operator, key, kind], fallback (kind or null), calls [number, operator,
tensors, whether the arguments must be such that it works on the CPU], seed. Kinds: "cpu" computes on copies on the CPU,
"autograd" is an autograd.Function around the kernels below, "fallthrough" and "calls OPERATOR" are what they say.
Tensors: "backend", or "mkldnn" or the name of another device.

Arguments are made from the schema: several are tried until the operator takes them on the CPU. A line of JSON comes
before each call, so that a crash is known, and one after it. Nothing here knows what should happen.
"""

import json
import os
import random
import re
import signal
import sys
import warnings

import torch
from torch._C import DispatchKey, DispatchKeySet
from torch.utils._pytree import tree_flatten, tree_map

core = torch._C
PYTHON = DispatchKeySet(DispatchKey.Python) | DispatchKeySet(DispatchKey.PythonTLSSnapshot)
OUT = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
DEVICE = "npy"
SHAPES = ((2, 2), (2, 3, 4, 4), (3,), (2, 3, 4), (), (1, 2, 4, 4, 4), (4, 4))
DTYPES = (torch.float32, torch.float32, torch.int64, torch.bool, torch.complex64)
TRIES = 60
RAN = []
RESIZED = []
HELD = {}
LIBRARIES = []


def say(**data):
    OUT.write(json.dumps(data) + "\n")
    OUT.flush()


# The backend


def put(value):
    """A tensor of the backend with the values of one on the CPU."""
    tensor = core._acc.create_empty_tensor(tuple(value.shape), value.dtype)
    HELD[tensor.untyped_storage()._cdata] = tensor, value.detach().clone()
    return tensor


def got(value):
    """Content of a tensor of the backend."""
    if isinstance(value, torch.Tensor) and value.device.type == DEVICE:
        held = HELD.get(value.untyped_storage()._cdata)
        return torch.zeros(value.shape, dtype=value.dtype) if held is None else held[1]
    return torch.device("cpu") if isinstance(value, torch.device) else value


def on_cpu(operator, args, kwargs):
    """The operator on copies on the CPU; what it returns of its arguments is what was given."""
    flat = [tensor for tensor in tree_flatten((args, kwargs))[0] if isinstance(tensor, torch.Tensor)]
    args, kwargs = tree_map(got, (args, kwargs))
    if operator.name() in ("aten::_copy_from", "aten::_copy_from_and_resize"):  # what copy_ calls on such a backend
        args[1].copy_(args[0])
        return flat[1]
    kinds = [argument.type.kind() for argument in operator._schema.arguments]  # a number may stand for a tensor
    args = [torch.tensor(one) if kind == "TensorType" and is_number(one) else one for one, kind in zip(args, kinds)]  # noqa: B905
    if any(argument.name == "device" for argument in operator._schema.arguments):
        kwargs["device"] = "cpu"
    inner = {id(got(tensor)): tensor for tensor in flat}

    def back(value):
        if not isinstance(value, torch.Tensor):
            return value
        return inner[id(value)] if id(value) in inner else put(value)

    with core._AutoDispatchBelowAutograd():
        result = operator(*args, **kwargs)
    # a tensor that is made in Python cannot be resized
    RESIZED.extend(operator.name() for tensor in flat if got(tensor).shape != tensor.shape)
    return tree_map(back, result)


def is_number(value):
    return isinstance(value, (bool, int, float, complex))


def found(name):
    base, _, overload = name.partition(".")
    namespace, _, short = base.partition("::")
    return getattr(getattr(getattr(torch.ops, namespace), short), overload or "default")


def kernel(name, kind):
    operator = found(name)
    if kind == "fallthrough":
        return torch.library.fallthrough_kernel
    if kind.startswith("calls "):
        return found(kind[6:])
    if kind == "cpu":

        def computes(*args, **kwargs):
            RAN.append(f"kernel {name}")
            return on_cpu(operator, args, kwargs)

        return computes

    class Own(torch.autograd.Function):
        @staticmethod
        def forward(context, rebuild, *tensors):
            args, kwargs = rebuild(tensors)
            context.shapes = [(tensor.shape, tensor.dtype) for tensor in tensors]
            with core._AutoDispatchBelowAutograd():
                return operator(*args, **kwargs)

        @staticmethod
        def backward(context, *_):
            return None, *(put(torch.ones(shape, dtype=dtype)) for shape, dtype in context.shapes)

    def autograd(*args, **kwargs):
        RAN.append(f"autograd {name}")
        flat, spec = tree_flatten((args, kwargs))
        places = [place for place, one in enumerate(flat) if isinstance(one, torch.Tensor)]

        def rebuild(tensors):
            values = list(flat)
            for place, tensor in zip(places, tensors):  # noqa: B905
                values[place] = tensor
            return torch.utils._pytree.tree_unflatten(values, spec)

        return Own.apply(rebuild, *(flat[place] for place in places))

    return autograd


def fallback(operator, *args, **kwargs):
    RAN.append(f"fallback {operator.name()}")
    return on_cpu(operator, args, kwargs)


def register(plan):
    from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

    _setup_privateuseone_for_python_backend(DEVICE)
    for schema in plan["defined"]:
        library = torch.library.Library(schema.partition("::")[0], "FRAGMENT")
        library.define(schema.partition("::")[2])
        LIBRARIES.append(library)
    for name, key, kind in plan["registrations"]:
        library = torch.library.Library(name.partition("::")[0], "IMPL")
        library.impl(name.partition("::")[2], kernel(name, kind), key)
        LIBRARIES.append(library)
    if plan["fallback"]:
        library = torch.library.Library("_", "IMPL")
        library.fallback(fallback if plan["fallback"] == "cpu" else torch.library.fallthrough_kernel, DEVICE_KEY)
        LIBRARIES.append(library)


DEVICE_KEY = "PrivateUse1"


# Arguments


def value_of(kind, name, dice, shape, dtype, size=None):
    what = kind.kind()
    if what == "TensorType":
        if name in ("indices", "index", "target", "offsets"):
            dtype = torch.int64
        if name in ("mask", "condition"):
            dtype = torch.bool
        sizes = dice.choice(SHAPES) if dice.random() < 0.15 else shape
        if dtype.is_floating_point or dtype.is_complex:
            return torch.rand(sizes, dtype=dtype) + 0.5
        return torch.ones(sizes, dtype=dtype)
    if what == "OptionalType":
        return None if dice.random() < 0.7 else value_of(kind.getElementType(), name, dice, shape, dtype)
    if what == "ListType":
        inner = kind.getElementType()
        count = size or dice.choice((1, 2, 2, 3, 4))
        if inner.kind() == "IntType" and name in ("size", "shape", "output_size"):
            return list(shape)
        return [value_of(inner, name, dice, shape, dtype) for _ in range(count)]
    plain = {
        "IntType": lambda: dice.choice((1, 1, 0, 2)),
        "SymIntType": lambda: dice.choice((1, 1, 0, 2)),
        "FloatType": lambda: dice.choice((0.5, 1.0)),
        "BoolType": lambda: dice.random() < 0.5,
        "NumberType": lambda: dice.choice((1, 2, 0.5)),
        "StringType": lambda: dice.choice(("mean", "sum", "reflect", "linear", "trunc", "ij,jk->ik", "none")),
        "DeviceObjType": lambda: torch.device("cpu"),
        "ComplexType": lambda: 1.0,
        "AnyType": lambda: 1,
    }
    return plain[what]()


OPTIONS = {
    "dtype": torch.float32,
    "layout": torch.strided,
    "pin_memory": False,
    "memory_format": torch.contiguous_format,
}


def arguments(operator, dice):
    shape, dtype = dice.choice(SHAPES), dice.choice(DTYPES)
    args, kwargs = [], {}
    for argument in operator._schema.arguments:
        if argument.has_default_value() and dice.random() < 0.8:
            if argument.name in ("device", "dtype", "layout", "pin_memory"):
                continue
            value = argument.default_value
            if not argument.kwarg_only:
                args.append(value)
            continue
        optional = argument.type.kind() == "OptionalType"
        if argument.name in ("dtype", "layout", "pin_memory", "memory_format", "generator"):
            value = None if optional else OPTIONS.get(argument.name)
        else:
            value = value_of(argument.type, argument.name, dice, shape, dtype, argument.N)
        if argument.kwarg_only:
            kwargs[argument.name] = value
        else:
            args.append(value)
    return args, kwargs


def copied(value):
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


def made(operator, dice, needs_cpu):
    """Arguments that the operator takes on the CPU, of floating point where that can be; others where it need not."""
    taken = None
    for _ in range(TRIES if needs_cpu else 1):
        try:
            args, kwargs = arguments(operator, dice)
        except KeyError:
            return None
        if not needs_cpu:
            return args, kwargs
        try:
            signal.alarm(5)
            with torch.no_grad():
                operator(*tree_map(copied, args), **tree_map(copied, kwargs))
            signal.alarm(0)
        except Exception:
            signal.alarm(0)
            continue
        taken = args, kwargs
        if any(isinstance(tensor, torch.Tensor) and tensor.is_floating_point() for tensor in tree_flatten(taken)[0]):
            return taken
    return taken


class Foreign(torch.Tensor):
    """A tensor of a device that this build does not have."""

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


def moved(value, tensors):
    if isinstance(value, torch.device):
        return torch.device(DEVICE if tensors == "backend" else tensors)
    if not isinstance(value, torch.Tensor):
        return value
    if tensors == "backend":
        return put(value)
    if tensors == "mkldnn":
        return torch.ones(2, 2).to_mkldnn()
    return torch.Tensor._make_wrapper_subclass(Foreign, value.shape, device=tensors)


# Calls


def outcome(call):
    RAN.clear()
    RESIZED.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result, error = call(), None
        except Exception as raised:
            result, error = None, f"{type(raised).__name__}: {raised}"[:400]
    answer = {"error": error, "ran": list(RAN)[:6], "resized": list(RESIZED)}
    answer["warned"] = any("autograd kernel was not registered" in str(warning.message) for warning in caught)
    return result, answer


def training(operator, args, kwargs, tensors):
    """A call with tensors that require a gradient, and what a backward pass does."""
    args, kwargs = tree_map(lambda one: moved(one, tensors), (args, kwargs))
    written = set()
    for place, argument in enumerate(operator._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = kwargs.get(argument.name) if argument.kwarg_only else args[place] if place < len(args) else None
            written |= {id(leaf) for leaf in tree_flatten(value)[0]}
    flat = tree_flatten((args, kwargs))[0]
    inputs = [
        tensor
        for tensor in flat
        if isinstance(tensor, torch.Tensor)
        and tensor.is_floating_point()
        and id(tensor) not in written
        and tensor.is_leaf
    ]
    for tensor in inputs:
        tensor.requires_grad_()
    if not inputs:
        return None
    result, answer = outcome(lambda: operator(*args, **kwargs))
    outputs = [
        tensor for tensor in tree_flatten(result)[0] if isinstance(tensor, torch.Tensor) and id(tensor) not in written
    ]
    answer["floating"] = any(output.is_floating_point() for output in outputs)
    answer["inputs_returned"] = any(output is other for output in outputs for other in inputs)
    outputs = [output for output in outputs if output.requires_grad]
    answer["requires_grad"] = bool(outputs)
    answer["nodes"] = sorted({output.grad_fn.name().rpartition("::")[2] for output in outputs})
    answer["backward"] = None
    if outputs and answer["error"] is None:
        ones = [put(torch.ones(output.shape, dtype=output.dtype)) for output in outputs]
        gradients, back = outcome(lambda: torch.autograd.grad(outputs, inputs, ones, allow_unused=True))
        back["gradients"] = 0 if gradients is None else sum(gradient is not None for gradient in gradients)
        answer["backward"] = back
    return answer


def tell(plan):
    for number, name, tensors, needs_cpu in plan["calls"]:
        say(begins=number)
        operator = found(name)
        keys = re.findall(r"^(\w+)(?:\[alias\])?(?: \(inactive\))?: .* :: ", core._dispatch_dump(name), re.M)
        taken = made(operator, random.Random(f"{plan['seed']} {name}"), needs_cpu)
        answer = {"made": False} if taken is None else happened(operator, taken, tensors)
        say(number=number, keys=sorted(set(keys)), **answer)


def happened(operator, taken, tensors):
    """Results of a call without gradients, and of one with them."""
    args, kwargs = tree_map(lambda one: moved(one, tensors), taken)
    if any(argument.name == "device" for argument in operator._schema.arguments) and tensors == "backend":
        kwargs["device"] = torch.device(DEVICE)
    with core._ExcludeDispatchKeyGuard(PYTHON):
        with torch.no_grad():
            _, plain = outcome(lambda: operator(*args, **kwargs))
        trained = training(operator, *taken, tensors) if tensors == "backend" else None
    return {"made": True, "plain": plain, "trained": trained}


def timed_out(*_):
    raise TimeoutError


signal.signal(signal.SIGALRM, timed_out)
PLAN = json.load(sys.stdin)
register(PLAN)
tell(PLAN)
