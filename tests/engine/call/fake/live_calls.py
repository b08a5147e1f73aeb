"""Call operators with fake tensors in a live PyTorch, and print what FakeTensorMode did with each call.

usage: PYTHON live_calls.py   (a plan as JSON on standard input; run with the Python that has torch)

The plan: operators (names, or null for all), first (how many to pass over), seed, kinds (of calls), library (operators
to define, see `define`). A line of JSON comes before each operator, so that a crash is known, and one after each call.

Nothing here decides what should happen: the registries and functions of ``fake_tensor.py`` are wrapped, and note that
they are used. ``path`` is what ``FakeTensorMode._dispatch_impl`` did for the operator itself; "outside" that it was
never called for it, while other operators were called.
"""

import contextlib
import functools
import json
import os
import random
import re
import sys
import warnings

import torch
from torch._subclasses import fake_tensor

warnings.simplefilter("ignore")
FakeTensorMode = fake_tensor.FakeTensorMode
OUT = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


def say(**data):
    OUT.write(json.dumps(data) + "\n")
    OUT.flush()


# What is noted.


class Notes:
    """The calls of ``_dispatch_impl`` that a call of an operator leads to."""

    def __init__(self):
        self.stack = []
        self.outermost = []

    def begin(self, name):
        frame = {"name": name, "events": [], "error": None, "text": "", "constant": False}
        if not self.stack:
            self.outermost.append(frame)
        self.stack.append(frame)
        return frame

    def event(self, what, function=None):
        if self.stack:
            self.stack[-1]["events"].append([what, function])


NOTES = Notes()


def qualified(function):
    while isinstance(function, functools.partial):
        function = function.func
    return f"{function.__module__}.{function.__qualname__}"


def noting(function, what, unless_not_implemented=False, name=None):
    """*function*, which notes that it is called, or that it has an answer."""

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        place = len(NOTES.stack[-1]["events"]) if NOTES.stack else 0
        frame = NOTES.stack[-1] if NOTES.stack else None
        NOTES.event(what, name)
        result = function(*args, **kwargs)
        if unless_not_implemented and result is NotImplemented and frame is not None:
            del frame["events"][place]
        return result

    return wrapper


def noting_yes(function, what):
    """*function*, which notes that its answer is yes."""

    def wrapper(operator):
        answer = function(operator)
        if answer:
            NOTES.event(what)
        return answer

    return wrapper


def noting_error(function):
    """``run_fallback_kernel``, which notes the error of the call at Meta that it is given."""

    def wrapper(mode, operator, args, spec, error):
        if NOTES.stack:
            NOTES.stack[-1]["meta_text"] = str(error)[:300]
        return function(mode, operator, args, spec, error)

    return wrapper


def watch():
    impl = FakeTensorMode._dispatch_impl

    def dispatch_impl(self, func, types, args, kwargs):
        frame = NOTES.begin(func.name() if hasattr(func, "name") else str(func))
        try:
            result = impl(self, func, types, args, kwargs)
            frame["constant"] = getattr(result, "constant", None) is not None
            if result is NotImplemented:
                frame["events"].append(["passed", None])
            return result
        except BaseException as error:
            frame["error"], frame["text"] = type(error).__name__, str(error)[:300]
            raise
        finally:
            NOTES.stack.pop()

    FakeTensorMode._dispatch_impl = dispatch_impl
    decompositions = torch._decomp.decomposition_table
    for operator in list(decompositions):
        function = decompositions[operator]
        dict.__setitem__(decompositions, operator, noting(function, "decomposition", name=qualified(function)))
    overload = torch._ops.OpOverload
    overload.decompose = noting(overload.decompose, "composite", unless_not_implemented=True)
    kernel = torch._library.utils.Kernel
    kernel.__call__ = noting(kernel.__call__, "fake-impl")
    checks = fake_tensor.op_implementations_checks
    for place, (check, function) in enumerate(list(checks)):
        name = qualified(function)
        checks[place] = (check, noting(function, "implementation", True, name))
    implementations = torch._subclasses.fake_impls.op_implementations_dict
    for operator, function in list(implementations.items()):
        implementations[operator] = noting(function, "by", name=qualified(function))
    fake_tensor.in_kernel_invocation_manager = noting(fake_tensor.in_kernel_invocation_manager, "meta")
    fake_tensor.run_fallback_kernel = noting_error(noting(fake_tensor.run_fallback_kernel, "fallback"))
    utils = torch._library.utils
    if hasattr(utils, "generate_trivial_fake_impl"):
        utils.generate_trivial_fake_impl = noting(utils.generate_trivial_fake_impl, "trivial")
    else:  # an older mode makes nothing of it: it returns None
        utils.can_generate_trivial_fake_impl = noting_yes(utils.can_generate_trivial_fake_impl, "trivial")
    for name in [name for name in torch._C._dispatch_get_all_op_names() if "prims::" in name]:
        operator = found(name)
        if hasattr(operator, "prim_meta_impl"):
            operator.prim_meta_impl = noting(
                operator.prim_meta_impl, "prim-meta", name=qualified(operator.prim_meta_impl)
            )
    handlers = fake_tensor._DISPATCH_META_HANDLERS
    for operator, function in list(handlers.items()):
        handlers[operator] = answering(function, operator.name())
    dispatch = FakeTensorMode.dispatch

    def direct(self, func, types, args=(), kwargs=None):
        if func in fake_tensor._DISPATCH_HANDLE_DIRECTLY:
            frame = NOTES.begin(func.name())
            NOTES.stack.pop()
            frame["events"].append(["query", None])
        return dispatch(self, func, types, args, kwargs or {})

    FakeTensorMode.dispatch = direct


def answering(function, name):
    def wrapper(args):
        if not NOTES.stack:
            NOTES.begin(name)["events"].append(["query", None])
            NOTES.stack.pop()
        return function(args)

    return wrapper


REFUSED = (
    *("Mixing fake modes NYI", "Please convert all Tensors to FakeTensors"),
    "Can't call metadata mutating ops on non-Fake Tensor inputs",
)


def path_of(frame):
    """The way that the mode took, from what was noted; the function, if it has a name."""
    if frame["error"] == "AssertionError" and frame["text"].startswith(REFUSED):
        return "refused", None
    events = [event for event in frame["events"] if event[0] != "by"]
    by = next((event[1] for event in frame["events"] if event[0] == "by"), None)
    kinds = [event[0] for event in events]
    for last in ("fallback", "trivial"):
        if last in kinds and kinds[0] in ("meta", last):
            return last, None
    if frame["error"] == "UnsupportedOperatorException" and set(kinds) <= {"meta"}:
        return "none", None
    if not kinds:
        if frame["constant"] or frame["name"].startswith("aten::lift"):
            return "constant", None
        return "refused" if frame["error"] else "nothing noted", None
    name = events[0][1]
    if kinds[0] == "implementation" and name.endswith("dispatch_to_op_implementations_dict"):
        name = by
    return kinds[0], name


# Arguments.


class NotMakeable(Exception):
    """No argument of that kind can be made."""


class Maker:
    """Makes the arguments of one call. kind: of its tensors."""

    def __init__(self, mode, kind, rng):
        self.mode, self.kind, self.rng = mode, kind, rng
        self.other = FakeTensorMode()
        self.tensors = []

    def tensor(self):
        words = self.kind.split()
        if "modes" in words:
            return self.of_some_mode(self.rng.choice(("cpu fake=A", "cpu fake=A", "cpu fake=B", "cpu", "cpu conj")))
        if "mixed" in words:
            words[0] = self.rng.choice(("cpu", "cpu", "cuda", "cuda:1", "meta"))
        shape, dtype = self.rng.choice([((2, 3), torch.float32)] * 3 + [((2, 2), torch.float32), ((2,), torch.int64)])
        if "sparse" in words:
            shape, dtype = (2, 3), torch.float32
        with torch.inference_mode(False), self.mode:
            tensor = torch.ones(shape, dtype=dtype, device=words[0])
            if "requires_grad" in words and dtype.is_floating_point:
                tensor.requires_grad_()
        spec = [words[0], "fake"]
        if "sparse" in words:
            tensor = self.mode.from_tensor(torch.ones(shape, dtype=dtype).to_sparse())
            spec.append("sparse")
        if tensor.requires_grad:
            spec.append("requires_grad")
        self.tensors.append(" ".join(spec))
        return tensor

    def of_some_mode(self, text):
        """A tensor of this mode, of another one, or a real one."""
        self.tensors.append(text)
        if "conj" in text:
            return torch.ones(2, 2, dtype=torch.cfloat).conj()
        tensor = torch.ones(2, 2)
        return (self.mode if "A" in text else self.other).from_tensor(tensor) if "fake" in text else tensor

    def value(self, kind, name, size=None):
        text = str(kind)
        if text == "Tensor":
            return self.tensor()
        makers = {
            "int": lambda: 1, "SymInt": lambda: 1, "float": lambda: 0.5, "bool": lambda: False, "Scalar": lambda: 1.0,
            "number": lambda: 1.0, "str": lambda: self.rng.choice(("mean", "none", "sum")),
            "Device": lambda: torch.device("cpu"),
            "ScalarType": lambda: torch.float32, "Layout": lambda: torch.strided, "complex": lambda: 1j,
            "MemoryFormat": lambda: torch.contiguous_format, "Generator": lambda: torch.Generator(),
        }  # fmt: skip
        if text in makers:
            return makers[text]()
        kind_name = kind.kind()
        if kind_name == "OptionalType":
            inner = kind.getElementType()
            if str(inner) == "Tensor" and self.rng.random() < 0.5:
                return self.tensor()
            if str(inner) == "Tensor":
                self.tensors.append("undefined")
            return None
        if kind_name == "ListType":
            return [self.value(kind.getElementType(), name) for _ in range(size or 2)]
        raise NotMakeable(text if not text.startswith("__torch__") else "class")

    def arguments(self, schema):
        args, kwargs = [], {}
        for argument in schema.arguments:
            text = str(argument.type)
            if argument.has_default_value() and "Tensor" not in text:
                if not argument.kwarg_only:
                    args.append(argument.default_value)
                continue
            value = self.value(argument.type, argument.name, getattr(argument, "N", None))
            if argument.kwarg_only:
                kwargs[argument.name] = value
            else:
                args.append(value)
        return args, kwargs


@contextlib.contextmanager
def entered(mode, contexts):
    with contextlib.ExitStack() as stack:
        for context in contexts:
            stack.enter_context(
                {"no_grad": torch.no_grad, "inference_mode": torch.inference_mode}.get(context, lambda: mode)()
            )
        yield


def found(name):
    """The operator in Python; None where it cannot be had."""
    base, _, overload = name.partition(".")
    namespace, _, short = base.partition("::")
    try:
        return getattr(getattr(getattr(torch.ops, namespace), short), overload or "default")
    except (AttributeError, RuntimeError):
        return None


KINDS = {
    "plain": ("cpu", ["mode=FakeTensorMode"]),
    "alone": ("cpu", []),
    "requires_grad": ("cpu requires_grad", ["mode=FakeTensorMode"]),
    "no_grad": ("cpu requires_grad", ["no_grad", "mode=FakeTensorMode"]),
    "inference_mode": ("cpu", ["inference_mode", "mode=FakeTensorMode"]),
    "sparse": ("cpu sparse", ["mode=FakeTensorMode"]),
    "cuda": ("cuda", ["mode=FakeTensorMode"]),
    "mixed": ("mixed", ["mode=FakeTensorMode"]),
    "modes": ("modes", ["mode=FakeTensorMode=A"]),
    "modes alone": ("modes", []),
}
"""The kinds of calls: tensors, each of a random device where they are mixed, and contexts."""
ARGUMENTS = (
    "Expected a value of type",
    "expected at most",
    "missing value for argument",
    "is missing value",
    "Unknown keyword",
)


def call(name, operator, kind, rng):
    tensors, contexts = KINDS[kind]
    answer = {"operator": name, "kind": kind, "contexts": contexts}
    mode = FakeTensorMode()
    mode.cache_enabled = False  # an answer from the cache is that of an earlier call
    maker = Maker(mode, tensors, rng)
    try:
        args, kwargs = maker.arguments(operator._schema)
    except NotMakeable as error:
        return {**answer, "not_makeable": f"an argument of type {error}"}
    except Exception as error:  # a kind of tensor that this PyTorch cannot make
        return {**answer, "not_makeable": f"a tensor: {type(error).__name__}"}
    answer["tensors"] = maker.tensors
    NOTES.stack.clear()
    NOTES.outermost.clear()
    error = None
    try:
        with entered(mode, contexts):
            operator(*args, **kwargs)
    except Exception as raised:
        error = raised
    frames = list(NOTES.outermost)
    if error is not None:
        answer["error"], answer["text"] = type(error).__name__, str(error)[:300]
        if not frames and any(words in str(error) for words in ARGUMENTS):
            return {**answer, "not_makeable": "arguments that the schema takes"}
    answer["shown"] = str(operator)
    answer["kernels"] = len(
        re.findall(r"^\w+(?:\[alias\])?(?: \(inactive\))?: .* :: ", torch._C._dispatch_dump(name), re.MULTILINE)
    )
    own = next((frame for frame in frames if frame["name"] == name), None)
    if own is None:
        answer["path"] = "outside" if frames else "raised" if error is not None else "no operator"
        return answer
    answer["path"], answer["function"] = path_of(own)
    answer["own_error"], answer["own_text"] = own["error"], own["text"]
    answer["meta_text"] = own.get("meta_text", "")
    return answer


# A library.

KEEP = []


def define(library):
    """Define operators: a list of {schema, tags, steps}, a step being [kind, key or null, options]."""
    for block in library:
        namespace, _, rest = block["schema"].partition("::")
        lib = torch.library.Library(namespace, "FRAGMENT")
        KEEP.append(lib)
        lib.define(rest, tags=[getattr(torch.Tag, tag) for tag in block["tags"]])
        name = block["schema"].partition("(")[0]
        for kind, key in block["steps"]:
            function = body(name, kind, block["returns"])
            if kind == "fake":
                torch.library.register_fake(name, function, lib=lib)
            else:
                lib.m.impl(name.partition("::")[2], key, function, kind == "autograd")


def body(name, kind, returns):
    def result(args):
        if returns == "nothing":
            return None
        if returns == "first":
            return args[0]
        first = next(
            (
                tensor
                for arg in args
                for tensor in (arg if isinstance(arg, list) else [arg])
                if isinstance(tensor, torch.Tensor)
            ),
            None,
        )
        return torch.empty(2) if first is None else torch.empty_like(first)

    if kind == "autograd":

        def autograd(keyset, *args, **kwargs):
            below = keyset & torch._C._after_autograd_keyset
            return found(name).redispatch(below, *args, **kwargs)

        return autograd
    return lambda *args, **_: result(args)


def main():
    plan = json.load(sys.stdin)
    torch.vmap(torch.neg)(torch.ones(1))  # it registers kernels
    define(plan.get("library") or [])
    watch()
    names = plan["operators"] or sorted(torch._C._dispatch_get_all_op_names())
    for place, name in enumerate(names):
        if place < plan["first"]:
            continue
        say(begin=name, place=place)
        operator = found(name)
        if operator is None or not isinstance(operator, torch._ops.OpOverload):
            for kind in plan["kinds"]:
                say(operator=name, kind=kind, not_makeable="not an operator of torch.ops")
            continue
        for kind in plan["kinds"]:
            say(**call(name, operator, kind, random.Random(f"{plan['seed']}{name}{kind}")))
    say(done=True)
    OUT.close()
    os._exit(0)


main()
