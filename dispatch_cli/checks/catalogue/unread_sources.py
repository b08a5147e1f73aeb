"""Every source is read completely.

Sources that take more time or memory than they may are read in part: a few lines of macros or of includes can stand
for any amount of text. What is not read is not checked, so a run that passes would say nothing of it. The same holds
for a file that cannot be read at all, with severity warning: Python with a sign of registrations that is not valid, a
declaration file of a directory that is broken, code that cannot be opened. Other statements that are not understood
are no findings; with `--strict` they make the run fail.

Bad, because the reading of the file ended before the file did:

```yaml
dispatch: 1
extracted: true
libraries:
  - {kind: DEF, namespace: demo, at: "ops.cpp:3:1", define: [{func: "size(Tensor x) -> int", at: "ops.cpp:4:3"}]}
not_understood:
  - at: ops.cpp:9:1
    text: DOUBLED(DOUBLED(DOUBLED(x)))
    reason: this file takes more than 4,000,000 steps to read
    bound: true
```

Good:

```yaml
dispatch: 1
extracted: true
libraries:
  - {kind: DEF, namespace: demo, at: "ops.cpp:3:1", define: [{func: "size(Tensor x) -> int", at: "ops.cpp:4:3"}]}
```

Fix: simplify or split what is at the place, or correct the file; where the file registers nothing, leave it out with
`--exclude`, or suppress the finding by a comment at its line.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, Finding, Severity
from dispatch_cli.checks.view import View


def find(view: View) -> Iterator[Finding]:
    """A finding for every place at which a bound ended the reading of a file, and for every unread file."""
    if view is not view.first:
        return
    for statement in view.state.declarations.unread:
        if statement.unread:
            yield CHECK.finding(
                f"{statement.at.file} could not be read: {statement.why.removeprefix('cannot be read: ')}",
                severity=Severity.WARNING,
                span=statement.at,
                tip="correct the file; if it registers nothing, leave it out with --exclude",
                subject=statement.at.file,
            )
        elif statement.bound:
            yield CHECK.finding(
                f"{statement.at.file} is not read completely: {statement.why}",
                span=statement.at,
                tip="simplify or split what is here; if the file registers nothing, leave it out with --exclude",
                subject=statement.at.file,
            )


CHECK = Check.of(find, __doc__, "DC108", Severity.ERROR)
