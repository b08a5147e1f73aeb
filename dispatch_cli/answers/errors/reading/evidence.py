"""Evidence in a text that has no known sentence: the operator and the device that it names, and what was under way."""

from __future__ import annotations

import re

from dispatch_cli.answers.errors.messages import OTHER_TEXT
from dispatch_cli.answers.errors.read import MAX_CHARACTERS, ErrorText
from dispatch_cli.answers.errors.reading.pasted import plain
from dispatch_cli.model.names import OperatorName

DURING = "during"
"""The detail that says in words what was under way."""
CALLED, CUSTOM = "called", "custom"
"""The details of a text about a call, and of one that need not be about an operator of PyTorch."""
PYTORCHS = ("aten", "prims", "quantized")
"""Namespaces of PyTorch's own operators."""
TRACERS = frozenset(("compile", "fake", "traced", "vmap", "transform"))
"""Contexts whose frames go through torch.library, too."""
_NO_DISPATCH = re.compile(r"(?:Import|ModuleNotFound|FileNotFound|Permission|OS|Syntax|Connection)Error")
"""Errors that no call of an operator and no registration raises."""
OF_PYTORCH = frozenset(("exported", "layout", "autocast", "twice"))
"""Contexts in which it does not matter who wrote an operator."""
NO_CALL = frozenset(("registering", "schema"))
"""Contexts that are no call of an operator."""
NEAR = 1 << 16
"""Characters before the last error, and after it, in which its traceback is looked for."""
_RAISED = re.compile(r"(?<![\w.])[\w.]{0,200}?(?:Error|Exception|Warning|Unsupported|Failed)[:(]")
_FRAMES = re.compile(r"\n[ \t>|]{0,40}(?:Traceback \(|File \"|frame #)")
_REFUSES = re.compile(
    r"(?i)\b(?:not|never)\b[\w ]{0,30}?\b(?:support|implement|allow|availab|register|handle|recogni[sz]|possible)|"
    r"\b(?:unsupported|unimplemented|unrecognized|unexpected|could(?: not|n't)|cannot|can't|missing|NYI)\b|"
    r"\bno (?:kernel|rule)\b"
)
_OPERATORS = tuple(
    re.compile(pattern)
    for pattern in (
        # a schema, and the names of PyTorch's own operators
        r"(?<![\w:.])(\w{1,100}::\w{1,100}(?:\.\w{1,100})?)\((?:Tensor|Scalar|(?:Sym)?[Ii]nt|float|bool|str)\b",
        r"(?<![\w:.])((?:aten|prims|quantized)(?:::|\.)[a-z_]\w{1,100}(?:\.\w{1,100})?)\b(?!\.py)",
        r"\btorch\.ops\.(\w{1,100}\.\w{1,100}(?:\.\w{1,100})?)",
        r"\bOpOverload\w{0,6}\(op='(\w[\w.]{0,199})'",
        r"\bcall_function (?!torch\.)(\w{1,100}\.\w{1,100}(?:\.\w{1,100})?)\(",
        r"['\"`](?!(?:std|at|c10|torch|caffe2)::)(\w{1,100}::\w{1,100}(?:\.\w{1,100})?)['\"`]",
    )
)
_DEVICES = tuple(
    re.compile(pattern)
    for pattern in (
        r"\bDispatchKey(?:\.|::)(\w{1,60})",
        r"\b((?:Autograd|Autocast|Sparse|SparseCsr|Quantized|NestedTensor)[A-Z]{2,5}\d?)\b",
        r"\bdevice(?: type)?['\"]?[ :=]{1,3}['\"]?(?!of\b|type\b|is\b|to\b)([a-z]{2,20})(?::\d{1,3})?['\"]",
        r"(?<![\w/\\.-])(cuda|xpu|mps|hpu|npu|xla)(?::\d{1,3})?(?![\w/\\.-])",
        r"(?<![\w/\\.-])(CUDA|XPU|MPS|HPU|NPU|XLA) (?:backend|device|tensors?)\b",
    )
)
CONTEXTS = {
    "registering": (
        r"torch[/\\](?:library\.py|_library[/\\](?!autograd|fake_impl|utils)|_custom_ops?\b)",
        "an operator was defined or registered",
    ),
    "schema": (r"FunctionSchema\.parse|function_schema_parser|infer_schema|torchgen[/\\]model", "a schema was parsed"),
    "functional": (
        r"\bauto_functionalized|torch[/\\]_higher_order_ops[/\\]auto_functionalize",
        "an operator that changes arguments was made functional",
    ),
    "higher_order": (r"torch[/\\]_higher_order_ops[/\\]", "a higher-order operator ran"),
    "exported": (
        r"\bto ONNX\b|\bONNX (?:export|opset)|\btorch[/\\.]onnx\b",
        "an exporter to ONNX translated the program",
    ),
    "layout": (
        r"\b[Ss]parse[ _](?:layout|[Tt]ensor|matri|cs|coo|CS|COO)|\bNestedTensor|\bjagged\b|torch[/\\]nested[/\\]",
        "a tensor of another layout than strided was passed",
    ),
    "vmap": (r"torch[/\\]_functorch[/\\](?:vmap|apis)\.py|\bvmap\b", "vmap ran the function"),
    "transform": (
        r"_functorch[/\\]eager_transforms|functorch[/\\]csrc|ATen[/\\]functorch|functionalization::",
        "a transform of torch.func ran the function",
    ),
    "sharded": (r"torch[/\\]distributed[/\\]_?tensor[/\\]|\bDTensor\b", "DTensor handled a call"),
    "compile": (
        r"torch[/\\]_(?:dynamo|inductor|export)[/\\]|torch[/\\]export[/\\]|torch\._(?:dynamo|inductor)\.exc|"
        r"\btorch\.(?:compile|export)\b|\bUnsupported: |BackendCompilerFailed|"
        r"backend='\w{1,60}' raised|aot_autograd|\b[Ii]nductor\b",
        "torch.compile or torch.export ran the program",
    ),
    "fake": (
        r"torch[/\\]_subclasses[/\\]fake_|torch\._subclasses|\bFakeTensor|fake tensor",
        "fake tensors ran the program",
    ),
    "traced": (r"fx[/\\]experimental[/\\]proxy_tensor|\bmake_fx\b|FX only", "torch.fx traced the program"),
    "twice": (r"(?:Backward){2}|DoubleBackward", "a second derivative was computed"),
    "backward": (r"torch[/\\]autograd[/\\](?:__init__|graph)\.py|Backward\d?\b", "a gradient was computed"),
    "autocast": (r"\bautocast device", "autocast was entered"),
    "assertion": (r"(?:INTERNAL ASSERT|CHECK) FAILED at", "PyTorch checked its own data"),
    "subclass": (
        r"__torch_dispatch__|_python_dispatch\.py|[Tt]ensor subclass",
        "a mode or a subclass of tensors handled the call",
    ),
}
"""Operations that may be under way: the frames and words that prove each, and a clause; the most special first."""


def evidence(text: str) -> tuple[ErrorText, ...]:
    """The error of a text by what it proves: an operator, or what was under way; none where it proves neither."""
    shown = plain(text[:MAX_CHARACTERS])
    raised = [match.start() for match in _RAISED.finditer(shown.text)]
    if raised and _NO_DISPATCH.search(shown.text[raised[-1] : shown.text.find(":", raised[-1])]):
        return ()
    begin = shown.text.rfind("\n", 0, raised[-1]) + 1 if raised else 0
    near = shown.text[max(begin - NEAR, 0) : begin + NEAR]
    message = _FRAMES.split(shown.text[begin : begin + NEAR], maxsplit=1)[0]
    during = {name: clause for name, (pattern, clause) in CONTEXTS.items() if re.search(pattern, near)}
    if during.keys() & TRACERS:
        during.pop("registering", None)
    device = _first(_DEVICES, message)
    operator = _first(_OPERATORS, message) or _first(_OPERATORS, near)
    refuses = _REFUSES.search(message) is not None
    details = [*during]
    if not (raised or refuses) or not (operator or during):
        return ()
    name = None if operator is None else OperatorName.parse_printed(operator)
    details += [] if during.keys() & NO_CALL else [CALLED]
    is_pytorchs = (name is not None and name.namespace in PYTORCHS) or bool(during.keys() & OF_PYTORCH)
    details += [] if is_pytorchs else [CUSTOM]
    clauses = [(DURING, clause) for clause in during.values()]
    named = None if name is None else str(name)
    shows = (*((detail, "") for detail in details), *clauses[:1])
    return (ErrorText(OTHER_TEXT, named, device, shown.line_at(begin), {}, None, shows),)


def _first(patterns: tuple[re.Pattern[str], ...], text: str) -> str | None:
    """The first name that the first of the patterns finds which finds any."""
    return next((match[1] for pattern in patterns if (match := pattern.search(text))), None)
