"""Random custom operators, as data: what `record_custom_ops` makes in a live PyTorch, and tests write as declarations."""

from __future__ import annotations

from random import Random
from typing import Any

Operator = dict[str, Any]
"""One operator: how it is made (`made_by`), its arguments and returns, and the registrations after that, in order."""

NAMESPACE = "random_custom"
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
TENSORS = ("Tensor", "Tensor?", "Tensor[]")
OTHERS = (("SymInt", "1"), ("SymInt", None), ("float", "0.5"), ("bool", "True"), ("SymInt[]", None), ("bool", None))
KINDS = (
    *("functional",) * 10,
    *("writing",) * 5,
    *("view", "views", "in_place", "in_place", "out", "out", "factory", "factory", "no_tensors"),
    *("keyword_tensor", "returns_written", "wrong_mutates", "silent"),
)
DEVICES = (None, None, None, ["cpu"], ["cpu"], ["cuda"], ["cpu", "cuda"], ["meta"], ["xpu", "cpu"], ["hpu"], ["mps"])
UNKNOWN_DEVICES = (["cpux"], ["CPU"], ["gpu"])
AUTOCAST = ("cpu", "cuda", "xpu", "cpu", "hpu", "meta", "cpux")
REGISTRATIONS = ("fake", "autograd", "vmap", "kernel", "autocast", "rule")


def operators(seed: int, count: int) -> list[Operator]:
    """*count* operators. Equal seeds give equal operators."""
    random = Random(seed)
    return [_operator(random, number) for number in range(count)]


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


def _argument(name: str, kind: str, default: str | None = None, *, keyword: bool = False, alias: Any = None) -> Any:
    return {"name": name, "type": kind, "default": default, "keyword": keyword, "alias": alias}


def _returned(kind: str, alias: str | None = None) -> Any:
    return {"type": kind, "alias": alias}


def _operator(random: Random, number: int) -> Operator:
    name = f"{NAMESPACE}::op{number}"
    kind = random.choice(KINDS)
    made_by = random.choices(("custom_op", "triton_op", "define"), (14, 2, 4))[0]
    if made_by == "triton_op":  # PyTorch 2.13 infers its schema even where one is given
        kind = random.choice(("functional", "functional", "writing", "silent", "keyword_tensor", "no_tensors"))
    given = made_by != "triton_op" and kind in ("view", "views", "returns_written") or (made_by == "custom_op" and random.random() < 0.35)
    operator: Operator = {
        "name": name,
        "kind": kind,
        "made_by": made_by,
        "given": given or made_by == "define",
        "arguments": [],
        "returns": [],
        "mutates": [],
        "said_mutates": None,
        "tags": [],
        "devices": random.choice(DEVICES) if made_by == "custom_op" else None,
        "steps": [],
    }
    if made_by == "custom_op" and random.random() < 0.04:
        operator["devices"] = random.choice(UNKNOWN_DEVICES)
    _signature(random, operator)
    _registrations(random, operator)
    return operator


def _signature(random: Random, operator: Operator) -> None:
    kind, given = operator["kind"], operator["given"]
    tensors = random.choices((1, 2, 3), (5, 4, 1))[0]
    if kind in ("factory", "no_tensors"):
        tensors = 0
    arguments = []
    for index in range(tensors):
        type_ = "Tensor" if index == 0 else random.choices(TENSORS, (4, 1, 2))[0]
        if index == 0 and kind in ("functional", "writing") and random.random() < 0.1:
            type_ = "Tensor[]"
        arguments.append(_argument("xyz"[index], type_))
    if kind == "factory":
        arguments.append(_argument("device", "Device"))
    for index in range(random.choices((0, 1, 2), (5, 3, 1))[0]):
        type_, default = random.choice(OTHERS)
        if default is None and any(argument["default"] is not None for argument in arguments):
            default = {"SymInt": "2", "bool": "False"}.get(type_)
            if default is None:
                continue
        keyword = random.random() < 0.2 or any(argument["keyword"] for argument in arguments)
        arguments.append(_argument("nmk"[index], type_, default, keyword=keyword))
    returns = [_returned(random.choices(("Tensor", "Tensor[]", "SymInt"), (16, 2, 1))[0])]
    if random.random() < 0.15:
        returns = [_returned("Tensor"), _returned("Tensor")]
    tags = operator["tags"]
    if kind == "writing":
        operator["mutates"] = [argument["name"] for argument in arguments if "Tensor" in argument["type"] and random.random() < 0.7]
        operator["mutates"] = operator["mutates"] or ["x"]
        returns = random.choice(([_returned("()")], [_returned("()")], returns))
    elif kind == "view":
        arguments[0]["alias"], returns = "a", [_returned("Tensor", "a")]
    elif kind == "views":
        arguments[0]["alias"], returns = "a", [_returned("Tensor", "a"), _returned("Tensor", "a")]
    elif kind == "returns_written":
        arguments[0]["alias"], returns, operator["mutates"] = "a!", [_returned("Tensor", "a!")], ["x"]
    elif kind == "in_place":
        operator["mutates"], returns, tags[:] = ["x"], [_returned("Tensor", "a0!")], ["inplace"]
        arguments[0]["alias"] = "a0!" if given else None
    elif kind == "out":
        arguments = [argument for argument in arguments if not argument["keyword"]]
        place = len(arguments)
        arguments.append(_argument("out", "Tensor", keyword=True, alias=f"a{place}!" if given else None))
        operator["mutates"], returns, tags[:] = ["out"], [_returned("Tensor", f"a{place}!")], ["out"]
    elif kind == "keyword_tensor":
        arguments.append(_argument("w", "Tensor", keyword=True))
    elif kind == "silent":
        returns = [_returned("()")]
    elif kind == "wrong_mutates":
        operator["said_mutates"] = ["x"] if given else ["nothing"]
    if random.random() < 0.1:
        tags.append(random.choice(("needs_fixed_stride_order", "flexible_layout", "pt2_compliant_tag", "core")))
    operator["arguments"], operator["returns"] = arguments, returns


def _registrations(random: Random, operator: Operator) -> None:
    steps = operator["steps"]
    chosen = [registration for registration in REGISTRATIONS if random.random() < (0.45 if registration != "rule" else 0.1)]
    if operator["made_by"] == "define":
        steps.append({"do": "kernel", "devices": random.choice((None, ["cpu"], ["cpu", "cuda"], ["cpu"]))})
        if random.random() < 0.15:
            key = random.choice(("CompositeImplicitAutograd", "Meta", "AutogradCPU"))
            steps.append({"do": "impl", "key": key})
    random.shuffle(chosen)
    chosen += [operator_ for operator_ in chosen if random.random() < 0.06]
    for one in chosen:
        step: dict[str, Any] = {"do": one, "through": random.choice(("method", "function"))}
        if one == "kernel":
            step["devices"] = random.choice([*DEVICES, *UNKNOWN_DEVICES]) if random.random() < 0.3 else ["cpu"]
        elif one == "autograd":
            step["setup_context"] = random.random() < 0.6
        elif one == "autocast":
            step |= {"device": random.choice(AUTOCAST), "dtype": random.choice(("bfloat16", "float16"))}
        elif one == "vmap":
            step["calls"] = random.choice(("operator", "others"))
        steps.append(step)
