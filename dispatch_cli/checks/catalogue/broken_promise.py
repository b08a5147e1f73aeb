"""Promises of support hold.

A promise (`support`) says that operators work on backends in contexts: called plainly, with a gradient, by
torch.compile, in torch.func's transforms. Its place is in the declarations, in files given with `--guards`, or in
`[tool.dispatch-cli]`. What a call comes to is simulated, as `dispatch-cli support` shows it; kernels are taken to do
what the schema and the fake kernel say. There is one finding for each operator and reason. What cannot be decided is
an info, and the summary says how many there are. A glob that matches no operator is a warning; a name of no defined
operator is an error.

Bad, because there is no kernel for CUDA:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, Autograd: op_autograd}
support:
  - {op: "demo::*", backends: [cpu, cuda], contexts: [eager, train]}
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, CUDA: op_cuda, Autograd: op_autograd}
support:
  - {op: "demo::*", backends: [cpu, cuda], contexts: [eager, train]}
```

Fix: register what the promise lacks, which the finding names, or promise less. `dispatch-cli support --record` writes
what holds today.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from dispatch_cli.checks.check import Check, Finding, MissingPart, Severity
from dispatch_cli.checks.finding_parts import autograd_keys, keys_text, own_kernels
from dispatch_cli.checks.view import View
from dispatch_cli.model.changes.change import Edit, fake_impl
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from dispatch_cli.model.text.glob import glob_pattern, is_glob
from dispatch_cli.model.text.suggest import did_you_mean, similar
from dispatch_cli.model.universe import autograd_key_of

if TYPE_CHECKING:
    from dispatch_cli.engine.support.cell import Cell, Column, Reason, SupportRow
    from dispatch_cli.model.calls.support import Promise, SupportContext

MAX_SUGGESTIONS = 10
"""Looking for a similar name compares with every operator, so only the first findings get a suggestion."""
_BATCHED = "FuncTorchBatched"


class _Broken(NamedTuple):
    """Cells of one operator that are not as promised, for one reason: those of each of the contexts on each backend.

    backends: keys. cell: the first.
    """

    backends: tuple[str, ...]
    contexts: tuple[SupportContext, ...]
    cell: Cell


def find(view: View) -> Iterator[Finding]:
    """A finding for each operator and reason, and for each name or glob of no operator. Errors: InputError."""
    if not view.state.declarations.promises:
        return
    from dispatch_cli.checks.guarding import OF_CELL, OperatorGlobs
    from dispatch_cli.engine.support.columns import support_columns
    from dispatch_cli.engine.support.verdicts import support_rows
    from dispatch_cli.model.calls.support import PROMISED

    globs, unmatched = OperatorGlobs(view), 0
    for promise in view.state.declarations.promises:
        names: set[OperatorName] = set()
        for glob in dict.fromkeys(promise.ops):
            operators = globs.matching(glob, promise)
            defined = [name for name in operators if view.schema_text(name) or view.is_unknown(name)]
            names.update(defined)
            if not defined and view.first is view:
                yield _unmatched(view, promise, glob, unmatched < MAX_SUGGESTIONS)
                unmatched += 1
        asked = sorted(names if view.guarded is None else names & view.guarded, key=str)
        contexts = [context for context in PROMISED if context in promise.contexts]
        columns = support_columns(view.state, (), promise.backends, contexts)
        globs.spend(len(asked) * len(columns) * OF_CELL, promise)
        for row in support_rows(view.state, asked, columns):
            yield from (_finding(view, promise, row, broken) for broken in _broken(columns, row))


def _broken(columns: Sequence[Column], row: SupportRow) -> Iterator[_Broken]:
    """The cells that fail, or are not known, by reason."""
    from dispatch_cli.engine.support.cell import Reason
    from dispatch_cli.model.calls.support import boxes

    by_reason: dict[tuple[Reason, bool, str | None], dict[tuple[str, SupportContext], Cell]] = {}
    for column, cell in zip(columns, row.cells, strict=True):
        if cell.reason is not None:
            error = cell.error if cell.reason is Reason.CALL else None
            by_reason.setdefault((cell.reason, cell.verdict.fails, error), {})[column.backend, column.context] = cell
    for cells in by_reason.values():
        for backends, contexts in boxes(cells):
            yield _Broken(backends, contexts, cells[backends[0], contexts[0]])


def _unmatched(view: View, promise: Promise, glob: str, suggests: bool) -> Finding:
    tip = next(iter(similar(glob, map(str, view.names)) if suggests else ()), glob)
    what = f"matches no {'' if is_glob(glob) else 'defined '}operator"
    is_open = is_glob(glob) or view.undecided.may_be_there(OperatorName.parse(glob), MissingPart.DEFINITION)
    return CHECK.finding(
        f"the promise for {glob} {what}",
        span=promise.span,
        mark=glob,
        mark_follows=True,
        severity=Severity.WARNING if is_open else Severity.ERROR,
        related=[("the promise is loaded through this entry", span) for span in promise.through],
        tip=None if tip == glob else did_you_mean([tip]),
        subject=glob,
    )


def _finding(view: View, promise: Promise, row: SupportRow, broken: _Broken) -> Finding:
    from dispatch_cli.checks.support_words import contexts_words, help_words, reason_words

    name, backends, cell = row.operator, broken.backends, broken.cell
    place = cell.span or row.span
    where = f"{contexts_words(broken.contexts)} on {keys_text(backends)}"
    outcome = "is broken" if cell.verdict.fails else "cannot be checked"
    words = () if cell.call is None else (*cell.call.tensors, *(f"in {context}" for context in cell.call.contexts))
    call = (("call", ", ".join(words)),) if words else ()
    glob = next(glob for glob in promise.ops if glob == str(name) or glob_pattern(glob).match(str(name)))
    kernel = () if cell.span is None else (("here", f"the kernel at {cell.key}, to which the call gets"),)
    reason = () if promise.reason is None else (("reason", promise.reason),)
    return CHECK.finding(
        f"{name}: the promise of {where} {outcome}: {reason_words(cell)}",
        name,
        backends[0],
        details=(("verdict", cell.verdict.value), *call, *kernel, *reason),
        span=place or promise.span,
        mark=None if place is not None else glob,
        mark_follows=True,
        related=_related(promise, row, cell, glob),
        tip=help_words(cell),
        group_message=f"the promise of {where} {outcome}: {reason_words(cell)}",
        subject=f"{where}: {'' if cell.reason is None else cell.reason.value}",
        severity=Severity.ERROR if cell.verdict.fails else Severity.INFO,
        fix=_fix(view, name, broken),
    )


def _related(promise: Promise, row: SupportRow, cell: Cell, glob: str) -> Iterator[tuple[str, Span | None]]:
    """The promise first: the finding stands at the registration that breaks it, or at the operator."""
    if cell.span or row.span:
        yield f"it is promised here, for {glob}", promise.span
    if cell.span:
        yield "the operator is defined here", row.span
    yield from (("the promise is loaded through this entry", span) for span in promise.through)


def _fix(view: View, name: OperatorName, broken: _Broken) -> tuple[Edit, ...]:
    """The kernels that are missing."""
    from dispatch_cli.engine.support.cell import Reason
    from dispatch_cli.model.calls.support import SupportContext

    match broken.cell.reason:
        case Reason.NO_BACKEND_KERNEL:
            return own_kernels(view, name, broken.backends)
        case Reason.NO_FAKE:
            return (fake_impl(name),)
        case Reason.NO_VMAP:
            return own_kernels(view, name, (_BATCHED,))
        case Reason.NO_BACKWARD | Reason.BACKWARD_WARNS | Reason.GRADIENT_DROPPED if (
            SupportContext.TRAIN
            in broken.contexts  # in torch.func's transforms, an autograd kernel alone does not help
        ):
            keys = [autograd_key_of(view.universe, backend) or backend for backend in broken.backends]
            return own_kernels(view, name, autograd_keys(view, name, keys))
        case _:
            return ()


CHECK = Check.of(find, __doc__, "DC904", Severity.ERROR, lacks=MissingPart.KERNEL)
