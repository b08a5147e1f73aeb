"""No two files register the same.

A project may have an implementation for each build, in a file of its own. Where two files of a project define one
operator, or have the `TORCH_LIBRARY` block of one namespace, or a kernel for one operator at one key, a program that
loads both fails, or one kernel overrides the other. So they are taken for alternatives: every other check looks at each
choice of files, and says for which a finding holds. This finding names the two files; of more, each with the next.

They are not taken for alternatives where both are named on the command line. Then what they contradict each other in
is a finding, such as `refused-registration`.

Bad, because both files have the kernel:

```yaml
dispatch: 1
extracted: true
libraries:
  - {kind: DEF, namespace: demo, at: "ops.cpp:3:1", define: [{func: "op(Tensor x) -> Tensor", at: "ops.cpp:4:3"}]}
  - kind: IMPL
    namespace: demo
    dispatch_key: CompositeImplicitAutograd
    at: fast.cpp:8:1
    impl: {op: {kernel: op_fast, at: "fast.cpp:9:3", when: "fast.cpp is in the build, not slow.cpp"}}
  - kind: IMPL
    namespace: demo
    dispatch_key: CompositeImplicitAutograd
    at: slow.cpp:5:1
    impl: {op: {kernel: op_slow, at: "slow.cpp:6:3", when: "slow.cpp is in the build, not fast.cpp"}}
```

Good:

```yaml
dispatch: 1
extracted: true
libraries:
  - {kind: DEF, namespace: demo, at: "ops.cpp:3:1", define: [{func: "op(Tensor x) -> Tensor", at: "ops.cpp:4:3"}]}
  - kind: IMPL
    namespace: demo
    dispatch_key: CompositeImplicitAutograd
    at: fast.cpp:8:1
    impl: {op: {kernel: op_fast, at: "fast.cpp:9:3"}}
```

Fix: if one program loads both, name both files on the command line. If not, say when each is in the build: `glob` and
`when` in `[[tool.dispatch-cli.extract.files]]` of `pyproject.toml`; or leave one out: `exclude`.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, Finding, Severity
from dispatch_cli.checks.view import View
from dispatch_cli.model.declarations import Define, Fallback, Implement, LibraryKind, OpenBlock, PythonKernel, Step
from dispatch_cli.model.span import Span

Places = dict[str, Span | None]
"""The place of each thing that a file registers, by its name in a sentence."""


def find(view: View) -> Iterator[Finding]:
    """A finding for every file and the next one that is its alternative and registers the same."""
    variants = view.first.state.variants
    if variants is None or view is not view.first or not view.is_whole:
        return
    from dispatch_cli.engine.variants import when_of
    from dispatch_cli.model.conditions.condition import atoms
    from dispatch_cli.model.sources.file_choice import file_choice

    rivals: dict[str, tuple[str, ...]] = {}
    registered: dict[str, Places] = {}
    for step in (*variants.declarations.steps, *variants.declarations.python_kernels):
        for text in dict.fromkeys(atom for condition in when_of(step) for atom in atoms(condition)):
            choice = file_choice(text)
            span = step.block.span if isinstance(step, OpenBlock) else getattr(step, "span", None)
            if choice is not None and span is not None and span.file == choice.file:
                rivals[choice.file] = choice.rivals
                if name := _name(step):
                    registered.setdefault(choice.file, {}).setdefault(name, span)
    for file, places in registered.items():
        reported: set[str] = set()
        for rival in sorted(rivals[file]):
            shared = [name for name in places if name in registered.get(rival, {})]
            if file < rival and not reported.issuperset(shared):
                reported.update(shared)
                yield _finding(file, rival, shared, places[shared[0]], registered[rival][shared[0]])


def _finding(file: str, rival: str, shared: list[str], place: Span | None, other: Span | None) -> Finding:
    more = f" and {len(shared) - 1} more" if len(shared) > 1 else ""
    return CHECK.finding(
        f"{file} and {rival} both register {shared[0]}{more}; they are taken for alternatives: a build has one",
        span=place,
        related=[("the other file registers it here", other)],
        details=(("files", f"{file}, {rival}"),),
        tip="if one program loads both, name both files; if not, say when each is in the build: "
        "glob and when in [[tool.dispatch-cli.extract.files]], or exclude",
        subject=f"{file} {rival}",
    )


def _name(step: Step | PythonKernel) -> str:
    """The name of a registration in a sentence; empty for one that two files may both have."""
    match step:
        case OpenBlock(block) if block.kind is LibraryKind.DEF and not block.implicit:
            return f"the namespace {block.namespace}"
        case Define():
            return str(step.schema.name)
        case Implement():
            return f"{step.block.qualified(step.operator)} at {step.dispatch_key or step.block.dispatch_key}"
        case PythonKernel():
            return f"{step.operator} at {step.dispatch_key}"
        case Fallback():
            return f"a fallback at {step.dispatch_key}"
        case _:
            return ""


CHECK = Check.of(find, __doc__, "DC107", Severity.INFO)
