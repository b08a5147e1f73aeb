"""Sources in ``cases/``, and all that is read from them.

A case has options as `extract` has them, and a line for everything that is read: its place, what it is, and its
conditions. An expression whose value is not known stands in backquotes. What only the audit finds comes last; with
``--audit`` nothing else is read.
With ``--steps`` the lines are about the declarations that are made of it, with ``--tokens`` they are those of the
preprocessor, and with ``--walk`` and paths the files that are read, and those that are left out.
`python -m tests.extract.test_cases` writes these lines anew: read each change. The projects of
`tests.extract.projects`, the modules that a live PyTorch imports and a compiler's preprocessor are the judges, not
this output.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest
from jsonschema_rs import Draft202012Validator

from dispatch_cli.audit import audit
from dispatch_cli.capture.write import yaml_text
from dispatch_cli.declarations.formats.json_schema import json_schema
from dispatch_cli.declarations.loader import load
from dispatch_cli.declarations.tree import ExtractedDocument
from dispatch_cli.extract.cpp.preprocessor.project import CppProject
from dispatch_cli.extract.cpp.preprocessor.unit import TranslationUnit
from dispatch_cli.extract.cpp.run import extract_cpp
from dispatch_cli.extract.document import document
from dispatch_cli.extract.kinds import is_header
from dispatch_cli.extract.python.reading import extract_python
from dispatch_cli.extract.readable import readable
from dispatch_cli.extract.sources import ReadSettings, Sources
from dispatch_cli.extract.torchgen.run import extract_torchgen
from dispatch_cli.extract.walk import walk
from dispatch_cli.model.conditions.condition import Atom, Condition
from dispatch_cli.model.declarations import (
    Declarations,
    Define,
    Fallback,
    Implement,
    NotUnderstood,
    RegisteringFunction,
)
from dispatch_cli.model.sources.extracted import (
    CustomOperator,
    Extracted,
    ExtractedBlock,
    ExtractedDefinition,
    ExtractedFallback,
    ExtractedKernel,
    Extraction,
    OperatorFunction,
    SourceKind,
    Unknown,
)
from dispatch_cli.model.span import Span
from tests.extract.cases import Case, cases, write

FOLDER = Path(__file__).with_name("cases")
TORCHGEN = {
    "native_functions.yaml": SourceKind.NATIVE_FUNCTIONS,
    "derivatives.yaml": SourceKind.DERIVATIVES,
    "backend.yaml": SourceKind.BACKEND_YAML,
}


OPTIONS = {"--audit", "--codegen", "--set", "--steps", "--tokens", "--walk", "--when", "-D", "-U"}


def is_read(case: Case) -> bool:
    """True if the readers are asked: not the audit, the preprocessor or the search for files alone."""
    names = {option.partition(" ")[0] for option in case.options}
    assert names <= OPTIONS, f"{case.name} has an unknown option: {names - OPTIONS}"
    return not names & {"--audit", "--tokens", "--walk"}


def extractions_of(case: Case) -> tuple[Sources, list[Extraction]]:
    """The files of a case in the working directory, and what their readers make of them."""
    write(case, Path())
    sources = _sources(case)
    return sources, [*_extractions(case, sources)] if is_read(case) else []


def read(case: Case) -> str:
    """The lines that belong below the arrow."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        sources, extractions = extractions_of(case)
        if "--tokens" in case.options:
            return "".join(f"{line}\n" for line in tokens(sources)) + "\n"
        if case.options and case.options[0].startswith("--walk "):
            return "".join(f"{line}\n" for line in _walked(case.options[0].split()[1:])) + "\n"
        accounted = frozenset().union(*(extraction.accounted for extraction in extractions))
        places = audit([*case.files], lambda name: case.files[name], accounted)
    if "--steps" in case.options:
        lines = [*_steps(load([ExtractedDocument("sources", document([*map(readable, extractions)]))]))]
    else:
        lines = [line for extraction in extractions for line in _lines(extraction)]
        lines += [f"{_place(place.at)} only the audit finds {place.what}" for place in places]
        lines += [f"the namespace {name} stands for one that the build says" for name in sources.stand_ins]
    if len(case.files) == 1:
        lines = [line.removeprefix(f"{name}:") for line in lines for name in case.files]
    return "".join(f"{line}\n" for line in lines) + "\n"


def _sources(case: Case) -> Sources:
    settings = _settings(case.options)
    cpp = [name for name in case.files if not name.endswith((".py", ".yaml", ".toml"))]
    kinds = {
        SourceKind.CPP: [name for name in cpp if not is_header(name)],
        SourceKind.PYTHON: [name for name in case.files if name.endswith(".py")],
        **{kind: [name] for name, kind in TORCHGEN.items() if name in case.files},
    }
    return Sources(kinds, frozenset(cpp), settings=lambda _: settings)


def _extractions(case: Case, sources: Sources) -> Iterator[Extraction]:
    """The extraction of each reader that has files."""
    if sources.files[SourceKind.CPP]:
        yield extract_cpp(sources)
    if sources.files[SourceKind.PYTHON]:
        yield extract_python(sources)
    if TORCHGEN.keys() & case.files.keys():
        backends = [option.removeprefix("--codegen ") for option in case.options if option.startswith("--codegen ")]
        yield extract_torchgen(sources, tuple(backends[0].split(",")) if backends else None)


def tokens(sources: Sources) -> Iterator[str]:
    """The tokens of the first file, as the preprocessor makes them."""
    (main, *_) = sources.files[SourceKind.CPP]
    unit = TranslationUnit(CppProject(sources), main)
    unit.skipping = False
    with sources.work.file(main):
        while (token := unit.next()) is not None:
            yield f"{token.at.line}:{token.at.column} {json.dumps(token.text)}{_when(token.when)}"


def _walked(paths: list[str]) -> Iterator[str]:
    """The files that are read, by their kind, and those that are left out, with the reason."""
    walked = walk(paths)
    yield from (f"{kind.value}: {', '.join(files)}" for kind, files in walked.files.items() if files)
    yield f"headers: {', '.join(sorted(walked.headers))}"
    yield from (f"template: {path}" for path in walked.templates)
    yield from (f"left out: {omission.path}, {omission.reason.name}" for omission in walked.left_out)


def _settings(options: tuple[str, ...]) -> ReadSettings:
    given: dict[str, list[str]] = {}
    for option in options:
        name, _, value = option.partition(" ")
        given.setdefault(name, []).append(value)

    def pairs(name: str) -> tuple[tuple[str, str], ...]:
        return tuple((text.rpartition("=")[0], text.rpartition("=")[2]) for text in given.get(name, ()))

    when = tuple(map(Atom, given.get("--when", ())))
    return ReadSettings(pairs("-D"), frozenset(given.get("-U", ())), pairs("--set"), when)


def _lines(extraction: Extraction) -> Iterator[str]:
    for item in (*extraction.items, *extraction.functions, *extraction.not_understood):
        words = " ".join(filter(None, _words(item)))
        when = "" if isinstance(item, RegisteringFunction) else _when(item.when)
        yield f"{_place(item.at)} {words}{when}"
    for problem in extraction.problems:
        yield f"{_place(problem.span) if problem.span else '-'} {problem.message}; {problem.hint or 'no hint'}"
    yield from (f"missing {name}, {count} times" for name, count in extraction.missing)


def _place(span: Span) -> str:
    return f"{span.file}:{span.line}:{span.column}"


def _when(conditions: tuple[Condition, ...]) -> str:
    return f" when {' and '.join(map(str, conditions))}" if conditions else ""


def _value(value: str | Unknown | None) -> str:
    return f"`{value.expression}`" if isinstance(value, Unknown) else value or "CatchAll"


def _words(item: Extracted | RegisteringFunction | NotUnderstood) -> Iterator[str | None]:
    """Kind of an item and its fields, without its place and its conditions."""
    match item:
        case ExtractedBlock():
            yield from (item.kind.name, _value(item.namespace), item.dispatch_key and _value(item.dispatch_key))
            yield "(no block)" if item.implicit else None
        case ExtractedDefinition():
            yield "def"
            yield item.schema or f"{_value(item.name)}, not known: {item.why_unknown}"
            yield from (item.tags and f"tags {', '.join(item.tags)}", item.alias_analysis, item.refused)
            yield item.python_module and f"module {', '.join(item.python_module)}"
        case ExtractedKernel():
            yield from ("impl", _value(item.operator), _value(item.key), item.kernel, item.signature)
            yield "(falls through)" if item.fallthrough else "(boxed)" if item.boxed_only else None
        case ExtractedFallback():
            yield from ("fallback", _value(item.key), item.kernel)
            yield "(falls through)" if item.fallthrough else None
        case CustomOperator():
            yield "triton_op" if item.triton else "custom_op"
            yield item.schema or f"{_value(item.name)}, not known: {item.why_unknown}"
            yield item.function
            yield None if item.device_types is None else f"for {', '.join(item.device_types)}"
            yield item.refused
        case OperatorFunction():
            yield from (item.role.value, _value(item.operator), ", ".join(map(_value, item.devices)), item.function)
            yield item.setup_context and f"with {item.setup_context}"
            yield item.dtype
        case RegisteringFunction():
            yield f"function {item.name} registers {', '.join(str(place.line) for place in item.places)}"
        case NotUnderstood():
            yield f"not {'read' if item.bound else 'understood'}: {item.why}"


def _steps(declarations: Declarations) -> Iterator[str]:
    for step in declarations.steps:
        match step:
            case Define():
                tags = f" tags {', '.join(step.tags)}" if step.tags else ""
                yield f"{step.span} def {step.schema.unknown or step.schema}{tags}{_when(step.when)}"
            case Implement():
                function = step.kernel.function_name or step.kernel.function or "a function of torch.library"
                yield f"{step.span} impl {step.operator} {_value(step.dispatch_key)} {function}{_when(step.when)}"
            case Fallback():
                yield f"{step.span} fallback {step.dispatch_key} {step.kernel.function}{_when(step.when)}"
            case _:
                pass
    for undecided in declarations.undecided:
        unknown = ", ".join(f"{name} {text}" for name, text in undecided.unknown)
        yield f"{undecided.at} undecided {undecided.registers}: {unknown}"
    yield from (f"{statement.at} not understood: {statement.text}" for statement in declarations.unread)
    yield from (f"{problem.span} refused: {problem.code}" for problem in declarations.refused)


ALL = {f"{path.stem}, {case.name}": case for path in sorted(FOLDER.iterdir()) for case in cases(path)}


@pytest.mark.parametrize("case", ALL.values(), ids=ALL)
def test_a_case(case: Case) -> None:
    assert read(case) == case.expected


@pytest.mark.parametrize("name", [name for name, case in ALL.items() if is_read(case)])
def test_the_document_of_a_case_says_the_same_in_a_file(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        extractions = extractions_of(ALL[name])[1]
        assert extractions
        data = document([*map(readable, extractions)])
        Draft202012Validator(json_schema()).validate(data)
        directly = load([ExtractedDocument("the sources", data)])
        for file, text in (("written.json", json.dumps(data)), ("written.yaml", "".join(yaml_text(data)))):
            Path(file).write_text(text, encoding="utf-8")
            from_file = load([file])
            refused = tuple(problem._replace(line_text=None) for problem in from_file.refused)
            assert from_file._replace(files=(), refused=refused) == directly._replace(files=())


if __name__ == "__main__":
    for file in FOLDER.iterdir():
        head = file.read_text(encoding="utf-8").partition("=== ")[0]
        file.write_text(head + "".join(case.text(read(case)) for case in cases(file)), encoding="utf-8")
