"""Evidence in a text beside its sentences: the layer of PyTorch that was at work, the subject, and names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from dispatch_cli.answers.errors.messages import OTHER_TEXT
from dispatch_cli.answers.errors.read import MAX_CHARACTERS, ErrorText
from dispatch_cli.answers.errors.reading.pasted import plain
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import META

IN, AT, ABOUT = "in_", "at_", "about_"
"""Begin the details that name the layers at work, the one that raised the error, and the subjects of its sentence."""
EXCEPTION, DURING, SUBJECT, FRAME, CALL, LAYER_KEY = "exception", "during", "subject", "frame", "call", "layer_key"
"""Details in words: the class of the error, the layer, its subjects, the innermost frame of PyTorch, the traced call,
and the key of the layer."""
CALLED, CUSTOM = "called", "custom"
"""The details of a text about a call, and of one that need not be about an operator of PyTorch."""
PYTORCHS = ("aten", "prims", "quantized")
"""Namespaces of PyTorch's own operators."""
TRACERS = frozenset(("dynamo", "inductor", "aot", "compile", "fake", "traced", "vmap", "transform"))
"""Layers whose frames go through torch.library, too."""
_NO_DISPATCH = re.compile(r"(?:Import|ModuleNotFound|FileNotFound|Permission|OS|Syntax|Connection)Error")
"""Errors that no call of an operator and no registration raises."""
OF_PYTORCH = frozenset(("exported", "layout", "autocast", "twice", "script"))
"""Layers for which it does not matter who wrote an operator."""
NOT_ALONE = frozenset(
    ("dynamo", "inductor", "aot", "backward", "assertion", "registering", "schema", "exported", "program")
)
"""Layers whose error the same call without them does not show, or does not explain."""
NEAR = 1 << 16
"""Characters before the last error, and after it, in which its traceback is looked for."""
SENTENCE = 500
"""Characters of the longest sentence whose subject is looked for."""
_RAISED = re.compile(
    r"(?<![\w.])(?<!::)[\w.]{0,200}?(?:Error|Exception|Warning|Unsupported|Failed)(?:\(|:(?!:))|\bwhat\(\):"
)
_FRAMES = re.compile(r"\n[ \t>|]{0,40}(?:Traceback \(|File \"|frame #|from user code)")
_TRACEBACK = re.compile(r"Traceback \(most recent call last\)")
_FRAME = re.compile(r"[/\\](torch[/\\][\w/\\.-]{1,200}\.py)[\"']?(?:, line |:)(\d{1,6})(?:,? in (\w{1,80}))?")
_THROUGH = re.compile(
    r"torch[/\\](?:_ops|_tensor|_utils\w*|_compile|functional|overrides|_dynamo[/\\](?:exc|output_graph|eval_frame|convert_frame|utils))\.py|torch[/\\](?:nn|utils)[/\\]"
)
"""Files that each call passes, whatever refuses it."""
_CALL = re.compile(
    r"(?:Failed running|run FX node with fake tensors:) call_\w{1,20} (?:<(?:built-in )?(?:function |method )?)?"
    r"([\w.]{1,120})"
)
_PRINTED = re.compile(
    r"\w+\((?:\.\.\., |FakeTensor)[^()]*(?:\([^()]*\)[^()]*)*\)|\n\s*(?:target|args\[\d+\]|kwargs): .*", re.DOTALL
)
"""Arguments that are printed with a call."""
_REFUSES = re.compile(
    r"(?i)\b(?:not|never)\b[\w ]{0,30}?\b(?:support|implement|allow|availab|register|handle|recogni[sz]|possible)|"
    r"\b(?:unsupported|unimplemented|unrecognized|unexpected|could(?: not|n't)|cannot|can't|missing|failed|NYI)\b|"
    r"\bno (?:kernel|rule)\b"
)
_CUSTOM = re.compile(r"torch\.ops\.|torch[/\\]_library[/\\]|\bTORCH_LIBRARY|(?i:\bcustom.?op)")
_PYTORCH = re.compile(r"(?i)\btensors?\b|\btorch\b|\baten\b|\bc10\b")
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


class Layer(NamedTuple):
    """A part of PyTorch. pattern: the frames and words that prove it. clause: in words. key: its calls go there."""

    pattern: re.Pattern[str]
    clause: str
    key: str | None = None


LAYERS = {
    name: Layer(re.compile(pattern), *rest)
    for name, pattern, *rest in (
        (
            "registering",
            r"torch[/\\](?:library\.py|_library[/\\](?!autograd|fake_impl|utils)|_custom_ops?\b)|"
            r"\b(?:register_(?:autograd|fake|kernel|vmap)|impl_abstract|custom_op)\(\)",
            "an operator was defined or registered",
        ),
        (
            "schema",
            r"FunctionSchema\.parse|function_schema_parser|infer_schema|torchgen[/\\]model",
            "a schema was parsed",
        ),
        (
            "functional",
            r"\bauto_functionalized|torch[/\\]_higher_order_ops[/\\]auto_functionalize",
            "an operator that changes arguments was made functional",
        ),
        ("data", r"DynamicOutputShapeException|DataDependentOutputException", "a result depended on data", META),
        ("higher_order", r"torch[/\\]_higher_order_ops[/\\]", "a higher-order operator ran"),
        (
            "exported",
            r"\bto ONNX\b|\bONNX (?:export|opset)|\btorch[/\\.]onnx\b",
            "an exporter to ONNX translated the program",
        ),
        ("sharded", r"torch[/\\]distributed[/\\]_?tensor[/\\]|\bDTensor\b", "DTensor handled a call"),
        (
            "collective",
            r"torch[/\\]distributed[/\\](?:distributed_c10d|_functional)|\bProcessGroup|c10d::|\bNCCL\b",
            "a collective of torch.distributed ran",
        ),
        (
            "layout",
            r"\b[Ss]parse[ _](?:layout|[Tt]ensor|matri|cs|coo|CS|COO)|\bNestedTensor|\bjagged\b|torch[/\\]nested[/\\]",
            "a tensor of another layout than strided was passed",
        ),
        ("vmap", r"torch[/\\]_functorch[/\\](?:vmap|apis)\.py|\bvmap\b", "vmap ran the function", "FuncTorchBatched"),
        (
            "transform",
            r"_functorch[/\\]eager_transforms|functorch[/\\]csrc|ATen[/\\]functorch|functionalization::",
            "a transform of torch.func ran the function",
        ),
        (
            "dynamo",
            r"torch\._dynamo\.exc\.(?:Unsupported|UserError|InternalTorchDynamoError)|\bUnsupported: |"
            r"torch[/\\]_dynamo[/\\](?:variables|symbolic_convert|guards|exc\b)",
            "Dynamo read the Python code for torch.compile or torch.export",
        ),
        (
            "inductor",
            r"LoweringException|InductorError|torch[/\\]_inductor[/\\](?!compile_fx|decomposition|__init__|config)",
            "Inductor made code of the operators that torch.compile recorded",
        ),
        (
            "fake",
            r"torch[/\\]_subclasses[/\\](?:fake_|meta_)|torch\._subclasses|\bFakeTensor|fake tensor|"
            r"torch[/\\]_(?:meta_registrations|prims_common)",
            "fake tensors ran the program",
            META,
        ),
        (
            "aot",
            r"torch[/\\]_functorch[/\\](?:_aot_autograd|aot_autograd)|\bFunctionalTensor|functional_tensor\.py",
            "AOTAutograd traced the graph of torch.compile or torch.export",
        ),
        ("traced", r"fx[/\\]experimental[/\\]proxy_tensor|\bmake_fx\b|FX only", "torch.fx traced the program"),
        (
            "compile",
            r"torch[/\\]_(?:dynamo|inductor|export)[/\\]|torch[/\\]export[/\\]|torch\._(?:dynamo|inductor)\.exc|"
            r"\btorch\.(?:compile|export)\b|BackendCompilerFailed|"
            r"backend='\w{1,60}' raised|aot_autograd|\b[Ii]nductor\b",
            "torch.compile or torch.export ran the program",
        ),
        ("script", r"torch[/\\]jit[/\\]|torch::jit|\bTorchScript\b|torch\.jit\.", "TorchScript ran or made a program"),
        ("twice", r"(?:Backward){2}|DoubleBackward", "a second derivative was computed"),
        (
            "backward",
            r"torch[/\\]autograd[/\\](?:__init__|graph)\.py|(?<!retain )\b\w{0,60}Backward\d?\b",
            "a gradient was computed",
        ),
        (
            "autocast",
            r"\bautocast device|torch[/\\](?:cuda[/\\])?amp[/\\]",
            "autocast was at work",
        ),
        ("assertion", r"(?:ASSERT|CHECK) FAILED at", "PyTorch checked its own data"),
        (
            "program",
            r"terminate called after throwing an instance of 'c10|what\(\): [\s\S]*libtorch",
            "a program in C++ called PyTorch",
        ),
        (
            "subclass",
            r"__torch_dispatch__|_python_dispatch\.py|[Tt]ensor subclass",
            "a mode or a subclass of tensors handled the call",
        ),
    )
}
"""Layers that may be at work, the most special first."""
SUBJECTS = {
    "dtype": (
        r"\bdtypes?\b|\b(?:scalar|data|tensor) type|\b(?:b?float|u?int|complex)\d{1,3}\b|\b(?:BFloat16|ComplexHalf)\b|"
        r"floating[ -]point|\b(?:Half|Float|Double|Long|Int|Byte)(?:Tensor)?\b",
        "dtypes",
    ),
    "device": (
        r"(?i)\bdevices?\b|\b(?:cuda|cpu|gpu|mps|xpu|npu|meta)(?::\d)? ?(?:tensors?|backend)\b|\bmust be (?:a )?cuda\b|"
        r"\b(?:on|to) (?:the )?(?:cuda|cpu|gpu|mps|xpu|npu)\b|\bis_cuda\b",
        "devices",
    ),
    "layout": (
        r"\b(?:non-?)?contiguous\b|\bstrid(?:es?|ed)\b|\blayouts?\b|memory[ _]format|\b(?:sparse|dense|jagged)\b",
        "memory layouts",
    ),
    "place": (
        r"\b[Ii]n[- ]?place\b|\balias|\bmutat|\b(?:a|is|the) views?\b|\bout=|\boverwrit",
        "changes in place",
    ),
    "grad": (r"requires?[ _]grad|\bgradients?\b|\bbackward\b|differentiab|\bgrad_fn\b", "gradients"),
    "symbols": (r"\bSym(?:Int|Float|Bool|Node)|\bsymbolic|\bdata[- ]dependent|\bunbacked|\bProxy\b", "symbols"),
    "memory": (r"\bstorages?\b|\bdata[_ ]p(?:oin)?te?r", "the memory of a tensor"),
    "classes": (r"\bsubclass|\b(?:Fake|Functional|D|Nested)Tensor\b|\bParameter\b", "classes of tensors"),
    "names": (r"\b[Nn]amed tensors?", "named tensors"),
    "support": (r"\bNYI\b|(?i:\bnot (?:yet |currently )?(?:supported|implemented)|\bunsupported)", "missing support"),
    "name": (r"module '[\w.]+' has no attribute|unexpected keyword|\btakes \d+ positional", "a name that is not there"),
}
"""Subjects of a sentence, by its words."""


def evidence(text: str) -> tuple[ErrorText, ...]:
    """The error of a text by what it proves: an operator, a layer, or a subject of tensors; none without these."""
    shown = plain(text[:MAX_CHARACTERS])
    raised = [match.start() for match in _RAISED.finditer(shown.text)]
    if raised and _NO_DISPATCH.search(shown.text[raised[-1] : shown.text.find(":", raised[-1])]):
        return ()
    begin = shown.text.rfind("\n", 0, raised[-1]) + 1 if raised else 0
    message = _message(shown.text, begin)
    near = shown.text[max(begin - NEAR, 0) : begin + NEAR]
    layers = layers_of(shown.text, begin)
    sentence = _PRINTED.sub("", message)[:SENTENCE]
    subjects = [name for name, (words, _) in SUBJECTS.items() if re.search(words, sentence)]
    operator = _first(_OPERATORS, message) or _first(_OPERATORS, near)
    is_error = bool(raised) and "Warning" not in shown.text[raised[-1] : raised[-1] + len("DeprecationWarning")]
    about_tensors = bool(is_error and subjects and _PYTORCH.search(message))
    if not (raised or _REFUSES.search(message)) or not (operator or layers or about_tensors):
        return ()
    name = None if operator is None else OperatorName.parse_printed(operator)
    flags = [*context_flags(layers), *(f"{ABOUT}{name}" for name in subjects)]
    flags += [] if NOT_ALONE & {*layers[:1]} else [CALLED]
    is_custom = name.namespace not in PYTORCHS if name is not None else bool(_CUSTOM.search(near))
    flags += [CUSTOM] if is_custom and not OF_PYTORCH & {*layers} else []
    layer = LAYERS[layers[0]] if layers else None
    words = {
        EXCEPTION: _exception(shown.text[begin : begin + NEAR]) if raised else "an error",
        DURING: None if layer is None else layer.clause,
        LAYER_KEY: None if layer is None else layer.key,
        SUBJECT: " and ".join(SUBJECTS[subject][1] for subject in subjects[:2]) or None,
        CALL: _first((_CALL,), message),
        FRAME: _frame_in_words(shown.text[:begin]),
    }
    details = (*((flag, "") for flag in flags), *((key, value) for key, value in words.items() if value is not None))
    device = _first(_DEVICES, message)
    named = None if name is None else str(name)
    return (ErrorText(OTHER_TEXT, named, device, shown.line_at(begin), {}, None, details),)


def context_flags(layers: Iterable[str]) -> tuple[str, ...]:
    """The details that conditions of advice ask for: each layer, and the first."""
    names = tuple(layers)
    return (*(f"{IN}{name}" for name in names), *(f"{AT}{name}" for name in names[:1]))


def layers_of(text: str, begin: int) -> tuple[str, ...]:
    """The layers at work, the one that raised the error first. begin: where the line of the error begins.

    Words of the sentence prove more than frames, inner frames more than outer ones, and these more than other words.
    """
    near = text[max(begin - NEAR, 0) : begin + NEAR]
    message = _message(text, begin)
    frames = [match[1] for match in _FRAME.finditer(text, max(begin - NEAR, 0), begin)]
    inner = next((frame for frame in reversed(frames) if not _THROUGH.match(frame)), "")
    there = [
        name for part in (message, inner, near) for name, layer in LAYERS.items() if part and layer.pattern.search(part)
    ]
    names = tuple(dict.fromkeys(there))
    return tuple(name for name in names if name != "registering") if TRACERS & {*names} else names


def _exception(line: str) -> str:
    """The class of the error that a line begins with, which may name others: the last of them, without its module."""
    match = _RAISED.search(line)
    name = "" if match is None else match[0].rstrip("(: ").rpartition(".")[2]
    return f"{'an' if name[:1] in 'AEIOU' else 'a'} {name}" if name.isidentifier() else "an error"


def _message(text: str, begin: int) -> str:
    """The sentence of an error, without the traceback that may follow."""
    return _FRAMES.split(text[begin : begin + NEAR], maxsplit=1)[0]


def _frame_in_words(before: str) -> str | None:
    """The innermost frame of PyTorch in the last traceback before an error."""
    starts = [match.end() for match in _TRACEBACK.finditer(before)]
    frames = [*_FRAME.finditer(before, starts[-1] if starts else max(len(before) - NEAR, 0))]
    if not frames or _THROUGH.match(frames[-1][1]):
        return None
    path, line, function = frames[-1].groups()
    inner = path.replace("\\", "/").rpartition("/torch/")[2].removeprefix("torch/")
    return f"torch/{inner}, line {line}{f', in {function}' if function else ''}"


def _first(patterns: tuple[re.Pattern[str], ...], text: str) -> str | None:
    """The first name that the first of the patterns finds which finds any."""
    return next((match[1] for pattern in patterns if (match := pattern.search(text))), None)
