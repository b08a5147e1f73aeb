"""The answer to a pasted text: its first error, held against a state."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from dispatch_cli import api, bases
from dispatch_cli.answers.errors import conclude
from dispatch_cli.answers.errors.conclude import NO_KERNEL_RULES, Case, Fact, Proof, case_of
from dispatch_cli.answers.errors.messages import (
    EVIDENCE,
    MESSAGES,
    NOT_DEFINED,
    OVERRIDDEN,
    SLOT,
    advice,
    evidence,
    filled,
)
from dispatch_cli.answers.errors.printed import UNNAMED, TextVersion, printed_table, read_key, version_of
from dispatch_cli.answers.errors.read import ErrorText, is_warning, uncoloured
from dispatch_cli.answers.errors.report import ErrorReport, OtherError
from dispatch_cli.answers.explain.report import explain_report
from dispatch_cli.answers.shared.report_parts import starts_from
from dispatch_cli.answers.shared.selection import similar_names
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.state import State
from dispatch_cli.model.names import OperatorName, some_of
from dispatch_cli.model.text.suggest import did_you_mean
from dispatch_cli.model.universe import AUTOGRAD, META, UNDEFINED, Universe, autograd_key_of

TELL_THE_AUTHOR = (
    "If the code is not yours: use a newer release of it, or the one for the installed PyTorch; or show its authors "
    "this text."
)
"""The advice to a user where no other is known."""
HANDLED = (
    "This is an earlier error: another one was raised after it, of which no sentence is known here. They need not have "
    "the same cause."
)
CLOSE = 0.8
"""The ratio of equal characters from which on a name is probably meant."""
PYTORCHS, PACKAGES = "pytorchs", "packages"
"""The conditions of advice on PyTorch, and on a package, that lacks an operator."""
PACKAGE_OF = {
    "fbgemm": "fbgemm_gpu",
    "image": "torchvision",
    "npu": "torch_npu",
    "pyg": "pyg_lib",
    "quantized_decomposed": "torch.ao.quantization, torchao or executorch (executorch.exir)",
    "tensorrt": "torch_tensorrt or nvidia-modelopt",
    "torch_ipex": "intel_extension_for_pytorch",
    "torchaudio_sox": "torchaudio",
    "video_reader": "torchvision",
    "xformers_flash": "xformers",
    "xla": "torch_xla",
}
"""The packages of operators by their namespaces; others are called like them."""
OPSETS = {
    name: opset
    for opset, names in (
        (10, "flip fmod isfinite isinf nan_to_num"),
        (11, "argsort chunk hstack im2col linalg_det masked_scatter masked_select round upsample_bicubic2d vstack"),
        (11, "torchvision::nms torchvision::roi_align torchvision::roi_pool"),
        (12, "binary_cross_entropy_with_logits celu cross_entropy_loss einsum nll_loss nll_loss_nd outer tensordot"),
        (13, "diagonal repeat_interleave tensor_split tile unflatten"),
        (14, "scaled_dot_product_attention tril triu"),
        (16, "grid_sampler scatter_reduce"),
        (17, "stft"),
        (18, "bitwise_and col2im"),
        (20, "affine_grid_generator"),
    )
    for name in names.split()
}
"""The opset of ONNX from which on torch.onnx.export with ``dynamo=False`` has an operator, or more of its forms."""
_IN_NO_OPSET = re.compile(r"p?inverse|symeig|(?:linalg_)?(?:p?inv|svd|qr|eigh?|cholesky|solve|lstsq|lu)(?:_|vals|$)")
"""Begins the names of operators on matrices that ONNX does not have."""
_SAVED_PLACE = re.compile(r"(?<!\S)\S{1,400}\.py\(\d{1,9}\): .*|File \"[^\"\n]{1,400}\", line \d{1,9}(?![\d,])")
KNOWN_PACKAGES = re.compile(
    r"fbgemm_gpu|mmcv|pyg_lib|detectron2|intel_extension_for_pytorch|sgl_kernel|xformers"
    r"|torch(?:_npu|ao|audio|_cluster|_scatter|_sparse|_tensorrt|vision)"
)
"""The packages whose name is sure, and which load a compiled part; another namespace may be the name of a part."""
_VERSION = re.compile(r"\b(torch|torchvision)(?:\.__version__)?[\s:='\"@`|-]{1,30}([012])\.(\d{1,3})\.\d{1,3}(\+\w+)?")
_NO_PACKAGE = re.compile(
    r"_\w*|(?:my|your|custom|ext|test|foo|demo|example|kernel)\w{0,20}|(?:lib|op|ns)s?(?:_\w*)?|[a-z]"
)
"""Namespaces that people choose for operators of their own, and those of parts."""
OVERLAY = "-mps"
"""The ending of names of the embedded overlays, which add a backend that the embedded builds lack."""

DTYPES = ("dtype", "other_dtype", "found_dtype")
"""The details that name dtypes."""
_NUMBERS = {"int": "int", "SymInt": "int", "float": "float", "number": "float", "bool": "bool"}
"""Types of numbers in schemas, and Python's names of them."""
_LISTS = ("list", "tuple", "List[int]", "List[float]")
_WHOLE = re.compile(r"u?int\d*|long|short|char|byte|bool|long int|(?:un)?signed char")
_EIGHT_BITS = re.compile(r"u?int8|char|byte|(?:un)?signed char|float8_\w+")


def bases_of(text: str, first: ErrorText) -> tuple[str, ...]:
    """The names of the embedded states nearest to the build that printed a text; the newest where nothing tells it."""
    newest, *_ = names = bases.names()
    base = version_of(text, first, api.load_universes(names)).nearest or newest
    key = (first.key or MESSAGES[first.kind].key or "").upper()
    on_mps = "MPS" in key and f"{base}{OVERLAY}" in bases.overlay_names()
    return (base, f"{base}{OVERLAY}") if on_mps else (base,)


def answer(text: str, errors: Sequence[ErrorText], state: State, file: str = "-") -> ErrorReport:
    """The answer to the first error of a text, in three steps.

    Conditions that the text shows choose sentences of the error's kind, and what the state says of its operator is
    concluded. file: where the text was read from.
    """
    first = errors[0]
    name = None if first.operator is None else OperatorName.parse(first.operator)
    asked = first._replace(details=(*first.details, *_conditions(text, first, name, state)))
    chosen = _of_kind(text, errors, asked.names, state, file)
    report = chosen if name is None else _with_state(chosen, asked, name, state)
    if not is_warning(first) and all(error.earlier or is_warning(error) for error in errors):
        report = replace(report, facts=(Fact("handled", (), Proof.TEXT, HANDLED), *report.facts))
    return report


def _conditions(text: str, error: ErrorText, name: OperatorName | None, state: State) -> Iterator[tuple[str, str]]:
    """Conditions for advice, and names for its sentences, that a text shows beside those of its template."""
    yield from _of_tensors(dict(error.details))
    if name is not None and conclude.is_pytorchs(state, name):
        yield PYTORCHS, ""
    elif name is not None and name.namespace == "_caffe2":
        yield "caffe2", ""
    else:
        yield "overloads" if "overload" in dict(error.details) else PACKAGES, ""
    yield from (package := dict(_of_package(name, text))).items()
    if "namespace_torchvision" in package:
        yield from _of_torchvision(version_of(text, error, api.load_universes(bases.names())).release or "0.0", text)
    yield from _of_onnx(error)
    yield from evidence(uncoloured(text))


def _of_torchvision(release: str, text: str) -> Iterator[tuple[str, str]]:
    """The torchvision for a release of PyTorch, and the condition that a text shows two versions that fit."""
    first, second = map(int, release.split("."))
    yield "torchvisions", f"0.{second + (15 if first > 1 else 1)}" if (first, second) >= (1, 5) else "0.M"
    shown = sorted({match.groups(default="") for match in _VERSION.finditer(text)})
    if [name for name, *_ in shown] == ["torch", "torchvision"] and shown[0][3] == shown[1][3]:
        ahead = int(shown[1][2]) - int(shown[0][2])
        yield from [("together", "")] if ahead == (15 if shown[0][1] == "2" else 1) else []


def _of_kind(text: str, errors: Sequence[ErrorText], names: Mapping[str, str], state: State, file: str) -> ErrorReport:
    """The report by the text alone, before the state is asked."""
    first = errors[0]
    message = MESSAGES[first.kind]
    return ErrorReport(
        *starts_from(state, () if first.operator is None else (OperatorName.parse(first.operator),)),
        file=file,
        line=first.line,
        kind=first.kind,
        operator=first.operator,
        key=first.key,
        printed_key=first.key,
        backend_name=None,
        details=first.details,
        warning=is_warning(first),
        says=filled(message.says, names),
        means=filled(message.means, names),
        facts=(),
        user=_user(first.kind, names),
        author=advice(message.author, names),
        version=version_of(text, first, api.load_universes(bases.names())),
        reproduced=None,
        explained=None,
        others=other_errors(errors),
    )


def _with_state(report: ErrorReport, text: ErrorText, name: OperatorName, state: State) -> ErrorReport:
    """The answer with what the state says of the operator: of its slot, of its definition."""
    if MESSAGES[text.kind].rules and name.namespace is not None:
        return _of_slot(report, state, text, name)
    if text.kind == OVERRIDDEN:
        return _of_overridden(report, state, name)
    if text.kind == NOT_DEFINED and "of_class" not in text.names:
        if PYTORCHS in text.names:
            report = _of_versions(report, state, text.names)
        if state.declarations.files:
            report = _of_files(report, state, text.names)
    return report


def _user(kind: str, names: Mapping[str, str], before: Sequence[str] = ()) -> tuple[str, ...]:
    """The advice to a user: that given *before*, that of a kind of error, and that of words anywhere in a text."""
    return advice((*before, *MESSAGES[kind].user, *MESSAGES[EVIDENCE].user), names) or (TELL_THE_AUTHOR,)


def _of_onnx(error: ErrorText) -> Iterator[tuple[str, str]]:
    """Conditions for advice on an operator that an exporter to ONNX lacks, and the opset from which on it has one."""
    name = (error.operator or "").removeprefix("aten::").partition(".")[0]
    if _IN_NO_OPSET.match(name):
        yield "in_no_opset", ""
    if name in OPSETS:
        opset = int(error.names.get("got", "0"))
        yield from (("opset", str(OPSETS[name])), ("higher" if opset < OPSETS[name] else "same_opset", ""))
    else:
        yield "no_opset", ""
    conditions = {"own_op": re.match(r"(?!prim|quantized|torchvision)\w+::", name), "ends_in_place": name.endswith("_")}
    yield from ((condition, "") for condition, holds in conditions.items() if holds)


def _is_in_path(namespace: str | None, text: str) -> bool:
    """True if a text names a folder of that name among packages, or in one of its own name: the package is running.

    Places that a saved program has kept, ``roi_align.py(53): roi_align``, do not count.
    """
    text = _SAVED_PLACE.sub("", text)
    folders = (f"-packages/{namespace}/", f"/{namespace}/{namespace}/")
    return namespace is not None and any(folder in text.replace("\\", "/") for folder in folders)


def _of_versions(report: ErrorReport, state: State, names: Mapping[str, str]) -> ErrorReport:
    """The answer with the embedded versions that define an operator of PyTorch, or with the nearest names."""
    named, versions = report.operator or "", bases.names()
    defining = tuple(base for base in versions if _defines(api.load_state([], bases=[base]).dispatcher.names(), named))
    is_since = bool(defining) and defining == versions[: len(defining)]
    is_gone = bool(defining) and not is_since and defining == versions[-len(defining) :]
    whose = "all" if defining == versions else f"those from {defining[-1]} on" if is_since else some_of(defining)
    whose = f"those up to {defining[0]}" if is_gone else whose or "none"
    text = f"Of the embedded versions, {versions[-1]} to {versions[0]}, {whose} define {named}"
    if defining:
        text += ", newer ones do not: it was taken out." if is_gone else "."
        names = {**names, "gone" if is_gone else "everywhere" if defining == versions else "changing": ""}
        facts, means = (Fact("versions", defining, Proof.STATE, text),), filled(MESSAGES[report.kind].means, names)
        return replace(report, facts=facts, means=means, user=_user(report.kind, names))
    return _of_nearest(report, "versions", text, state.dispatcher.names(), names)


def _of_files(report: ErrorReport, state: State, names: Mapping[str, str]) -> ErrorReport:
    """The answer with the nearest names, where the loaded files do not define the operator that the text names.

    Kernels of it that they register all the same are named with their keys and the place of the first.
    """
    dispatcher, known, named = state.dispatcher, state.dispatcher.names(), report.operator or ""
    dangling = {str(name): name for name in state.own_operators() if dispatcher.operator(name).definition is None}
    defined = [name for name in known if name not in dangling]
    if _defines(defined, named):
        return report
    kernels = [
        registration
        for text, name in dangling.items()
        if _defines([text], named)
        for registrations in dispatcher.operator(name).kernels.values()
        for registration in registrations
    ]
    has = ""
    if kernels:
        place = next((f", {kernel.kernel.span}" for kernel in kernels if kernel.kernel.span is not None), "")
        keys = some_of(tuple(dict.fromkeys(kernel.key for kernel in kernels)))
        has = f", and have kernels of it ({keys}{place})"
    return _of_nearest(report, "not-declared", f"The loaded files do not define {named}{has}", defined, names)


def _of_nearest(
    report: ErrorReport, kind: str, sentence: str, known: Sequence[str], names: Mapping[str, str]
) -> ErrorReport:
    """The answer with a fact about a name that nothing defines, and what is meant if it is a misspelled one of *known*.

    names: those of the text. sentence: the fact, without its end.
    """
    named = report.operator or ""
    near = tuple(name for name in similar_names(known, named) if _is_close(name, named))
    meant = did_you_mean(near)
    fact = Fact(kind, near, Proof.STATE, f"{sentence}; {meant}" if meant else f"{sentence}.")
    kept = {name: text for name, text in names.items() if not meant or name not in (PYTORCHS, PACKAGES)}
    names = {**kept, "misspelled" if meant else "nowhere": ""}
    message = MESSAGES[report.kind]
    return replace(
        report,
        facts=(fact,),
        means=filled(message.means, names),
        user=_user(report.kind, names),
        author=advice(message.author, names),
    )


def _is_close(name: str, named: str) -> bool:
    """True for names of operators, without their overloads, that differ in few characters."""
    return SequenceMatcher(None, name.partition(".")[0], named.partition(".")[0]).ratio() > CLOSE


def _defines(names: Iterable[str], named: str) -> bool:
    """True where an operator has that name, with or without an overload."""
    return any(name == named or name.startswith(f"{named}.") for name in names)


def _of_package(name: OperatorName | None, text: str) -> Iterator[tuple[str, str]]:
    """Conditions and names of the package of an operator, by its namespace."""
    namespace = "" if name is None else name.namespace or ""
    is_vllms = re.fullmatch(r"_(?:\w+_)?C(?:_\w+)?", namespace) is not None
    packages = ["vllm"] if is_vllms else PACKAGE_OF.get(namespace, namespace).split(" or ")
    running = [package for package in (*packages, namespace) if package and _is_in_path(package, text)]
    package = "vLLM (or a plugin or fork of it)" if is_vllms else " or ".join(running[:1] or packages)
    is_known = KNOWN_PACKAGES.fullmatch(package) is not None
    compiled, is_name = is_known or is_vllms, _NO_PACKAGE.fullmatch(package or "_") is None
    part = "_C" if namespace.startswith("_C") else namespace
    yield "vllm_module", f"vllm.vllm_flash_attn.{part}" if "_fa" in part else f"vllm.{part}"
    conditions = {"own_code": running, "compiled": compiled, "unsure": not compiled, "vllms": is_vllms}
    conditions |= {f"namespace_{package}": package, f"in_{namespace}": namespace}
    yield from ((condition, "") for condition, holds in conditions.items() if holds)
    names = {"known_package": is_known, "guess": is_name and not compiled, "its_package": is_name or compiled}
    yield from ((each, package) for each, holds in names.items() if holds)
    yield "whose_package", package if compiled or namespace in PACKAGE_OF else "the package"


def _of_tensors(details: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Conditions and values for advice on the dtypes that a text names, and on the device of a kernel."""
    dtypes = {details[name].lower() for name in DTYPES if name in details}
    # in a product the weight is the second
    names = ("dtype", "other_dtype" if "matrices" in details else "found_dtype")
    first, second = (details.get(name, "").lower() for name in names)
    conditions = {
        "whole_numbers": any(map(_WHOLE.fullmatch, dtypes)),
        "quantized_weight": not _WHOLE.fullmatch(first) and _EIGHT_BITS.fullmatch(second),
        "castable": dtypes and dtypes <= {"half", "bfloat16", "float"} and "half" not in details,  # by autocast
        "not_float": not dtypes & {"float", "float32"},
        "of_index": first in ("long", "int") and not _WHOLE.fullmatch(second) and "argument" not in details,
        "meta": "meta" in (details.get("device"), details.get("other_device")),
        "gpus": all(details.get(name, "").startswith("cuda:") for name in ("device", "other_device")),
        "on_mps": details.get("device") == "mps",
    }
    yield from ((name, "") for name, holds in conditions.items() if holds)
    yield from evidence(" ".join((details.get("function") or "-", *sorted(dtypes))), "kernels")
    if details.get("type") in _NUMBERS:
        yield from (("wants_number", ""), ("number", _NUMBERS[details["type"]]))
    if details.get("type") == "Tensor" and details.get("given") in (*_NUMBERS, *_LISTS):
        yield "wants_tensor", ""
    method = details.get("dtype", "").lower()
    if method in ("float", "double", "half", "bfloat16", "long", "int", "byte", "bool"):
        yield "method", method


def _of_slot(report: ErrorReport, state: State, text: ErrorText, name: OperatorName) -> ErrorReport:
    """The answer to a text about a slot of a dispatch table."""
    dispatcher = state.dispatcher
    universe = dispatcher.universe
    printed, backend = (None, None) if text.key is None else read_key(universe, text.key)
    if text.key is not None and printed not in universe.slot:
        return _no_such_key(report, universe, text)
    key = printed or (key_of(dispatcher, name) if name in dispatcher else universe.covered_by(AUTOGRAD)[0])
    shown = printed_table(universe, text)
    case = case_of(state, name, key, text, shown, backend)
    facts = tuple(conclude.facts(case))
    reproduced = None if case.rule in (None, Rule.NOT_KNOWN) else case.reproduced
    if text.key is None and not reproduced:
        facts, reproduced = (), None  # of the key that was chosen, which the text does not name
    kinds = [fact.kind for fact in facts]
    if conclude.NO_DATA in kinds and key == META:
        reproduced = reproduced or None  # a kernel there refuses, too
    newer = _first_with_kernel(state, name, case, report.version)
    is_known = case.built or not (case.is_backend and report.over_assumed)
    own = text._replace(operator=str(name), key=_label(case))
    shown_key = key if case.is_renamed or key != "PrivateUse1" else _label(case)  # that of a fork
    names = {**own.names, **dict(conclude.details(case, kinds, newer, report.version)), "key": shown_key}
    return replace(
        report,
        key=None if text.key is None else key,
        backend_name=case.backend_name,
        says=filled(MESSAGES[text.kind].says, own.names),
        facts=facts,
        user=_user(text.kind, names, MESSAGES[SLOT].user),
        author=() if conclude.NO_REGISTRATION_HELPS & {*kinds, *names} else advice(MESSAGES[text.kind].author, names),
        reproduced=reproduced,
        explained=explain_report(state, name, key) if case.reproduced and is_known else None,
    )


def _label(case: Case) -> str:
    if case.backend_name is None or case.text.key in (None, case.key):
        return case.key
    return f"{case.text.key} ({case.key})" if case.is_renamed else case.text.key or case.key


def _no_such_key(report: ErrorReport, universe: Universe, text: ErrorText) -> ErrorReport:
    """The answer where the universe has no slot of the key that the text names."""
    key, kernels = text.key or "", printed_table(universe, text).kernels(universe)
    is_nested = key.startswith(conclude.NESTED)
    conditions = ("unwritten", "other_than_cpu") if key == UNNAMED else ("nested",) if is_nested else ()
    names = {**text.names, "key": key, **dict.fromkeys(conditions, "")}
    if key == UNNAMED:
        means = "The key has no name in that PyTorch, as QuantizedCUDA in 1.6, and those of forks, such as DirectML's."
    else:
        means = (
            f"In {universe.name} no tensor has the key {key}: another version or a fork printed it, or the text is cut."
        )
    if not is_nested and (kernels is None or "CPU" in kernels):
        names |= {"moved_to": "CPU", "moved_by": "`x.to('cpu')`"}
    there = f" The text has kernels of {text.operator} at {some_of(kernels)} only." if kernels else ""
    user = advice(MESSAGES[SLOT].user, names) or (TELL_THE_AUTHOR,)
    return replace(report, means=means + there, user=user, author=() if key == UNNAMED else report.author)


def _first_with_kernel(state: State, name: OperatorName, case: Case, version: TextVersion) -> str | None:
    """The oldest embedded version from which on there is the kernel that the text misses.

    None where none is newer than the text, as far as its version is known.
    """
    names = bases.names()
    asked = case.pytorchs and case.key not in (UNDEFINED, *case.universe.covered_by(AUTOGRAD))
    asked = asked and case.backend not in conclude.OUTSIDE
    by_data = "Batched" in case.key and conclude.SIZED_BY_DATA in case.tags  # such rules refuse masks of a batch
    if not asked or by_data or case.is_sized_by_data or not {*state.over} & {*names} or state.declarations.files:
        return None
    first = None
    for base in names:
        overlay = f"{base}{OVERLAY}"
        overlays = [overlay] if case.backend == "MPS" and overlay in bases.overlay_names() else []
        dispatcher = api.load_state([], bases=[base, *overlays]).dispatcher
        if name not in dispatcher or case.key not in dispatcher.universe.slot:
            break
        entry = dispatcher.table(name)[case.key]
        # a default kernel calls other kernels, which may be missing
        if entry.rule in (*NO_KERNEL_RULES, Rule.DEFAULT):
            break
        first = base
    # a tensor on a device shows that the build has the device
    has_device = not case.makes or case.functionality != conclude.DENSE
    may_be_older = version.nearest is None or (version.release is None and case.here)
    if first is None or version.older_than_all or (may_be_older and has_device):
        return first
    own = names.index(version.nearest or names[-1])
    return first if names.index(first) < own else None


def _of_overridden(report: ErrorReport, state: State, name: OperatorName) -> ErrorReport:
    """The kernel that is really replaced: PyTorch's warning names the first kernel with a C++ signature, at any key."""
    new = dict(report.details).get("new", "")
    key, _ = (None, None) if report.key is None else read_key(state.dispatcher.universe, report.key)
    details = tuple((field, value) for field, value in report.details if field != "previous")
    registered = state.dispatcher.operator(name).kernels if name in state.dispatcher else {}
    if key in registered:
        kernels = [registration.kernel for registration in registered[key]]
        replaced = next((kernel for kernel in kernels if kernel.debug not in new), None)
        if replaced is not None:
            details = (*details, ("replaced", f"{replaced.label} ({', '.join(state.over) or 'the files'})"))
    return replace(report, details=details)


def key_of(dispatcher: Dispatcher, name: OperatorName) -> str:
    """The autograd key that a warning means which names none: the first with PyTorch's own fallback above a kernel."""
    universe, table = dispatcher.universe, dispatcher.table(name)
    above = {autograd_key_of(universe, key) for key in table.active}
    keys = universe.covered_by(AUTOGRAD)
    fallen = [key for key in keys if table[key].rule is Rule.FALLBACK]
    return next((key for key in fallen if key in above), (*fallen, *keys)[0])


def other_errors(errors: Sequence[ErrorText]) -> tuple[OtherError, ...]:
    """All but the first of *errors*, which is the one that is explained; those that read the same are named once.

    A general one is no further error: it is of the exception around another.
    """
    others: dict[str, OtherError] = {}
    for error in errors:
        says = filled(MESSAGES[error.kind].says, error.names)
        others.setdefault(says, OtherError(error.kind, error.operator, error.key, error.line, says))
    return tuple(other for other in [*others.values()][1:] if not MESSAGES[other.kind].general)
