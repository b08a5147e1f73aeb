"""PyTorch takes every registration in the sources.

When PyTorch loads a library, it refuses what contradicts itself or other libraries: a schema that it cannot parse, a
dispatch key that it does not know, a second definition of an operator, a second `TORCH_LIBRARY` block of a namespace.
The import then fails. In declarations that are written by hand, this is an error, and nothing is checked. In those that
were extracted from sources, which may belong to several libraries that are never loaded together, it is this finding,
and everything else is checked.

The message is PyTorch's. If the sources are right, and `dispatch-cli` has misread them, or if they are written for
another version of PyTorch, the finding is about that: choose the version with `--universe` or `--base`, leave out files
that are not in the same build, or tell the macros of the build with `-D`.

Bad, because the operator is defined twice:

```yaml
dispatch: 1
extracted: true
libraries:
  - {kind: FRAGMENT, namespace: demo, define: [{func: "add(Tensor a) -> Tensor", at: "csrc/add.cpp:4:3"}]}
  - {kind: FRAGMENT, namespace: demo, define: [{func: "add(Tensor a) -> Tensor", at: "csrc/more.cpp:9:3"}]}
  - kind: IMPL
    namespace: demo
    dispatch_key: CompositeImplicitAutograd
    impl: {add: add}
```

Good:

```yaml
dispatch: 1
extracted: true
libraries:
  - {kind: FRAGMENT, namespace: demo, define: [{func: "add(Tensor a) -> Tensor", at: "csrc/add.cpp:4:3"}]}
  - kind: IMPL
    namespace: demo
    dispatch_key: CompositeImplicitAutograd
    impl: {add: add}
```

Fix: correct the registration, or leave out sources that are not loaded together.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, Finding, Severity
from dispatch_cli.checks.view import View
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.simplify import text_of_all


def find(view: View) -> Iterator[Finding]:
    """A finding for everything that is refused."""
    for one in view.state.refused:
        if one.operator is not None and not view.is_whole and OperatorName.parse(one.operator) not in view.operators:
            continue
        message = " ".join(one.message.split())
        found = CHECK.finding(
            f"PyTorch refuses this registration: {message}",
            one.operator,
            span=one.span,
            related=one.related,
            details=(("code", one.code),),
            tip=one.hint,
            subject=one.code,
        )
        yield found._replace(when=text_of_all(one.when) or None)


CHECK = Check.of(find, __doc__, "DC106", Severity.ERROR)
