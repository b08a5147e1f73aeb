"""Write the reference of the declaration format, FORMAT.md, and the documentation of the checks, CHECKS.md.

usage: python -m tests.write_reference
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from dispatch_cli.answers.findings.checks import checks_report
from dispatch_cli.answers.findings.checks_document import GROUPS, documentation_markdown
from dispatch_cli.declarations.formats.file_format import FILE
from dispatch_cli.declarations.formats.format import RECORDS
from dispatch_cli.declarations.formats.format_types import Field, Record

ROOT = Path(__file__).parents[1]
WRITTEN = "This file is written by `python -m tests.write_reference`.\n"
FORMAT_HEAD = f"""# The format of declarations

A file is YAML or JSON. Several files on one command line are applied one after the other, from top to bottom:
registrations take effect in the order in which they are written, like those of static initialisers. All mistakes are
shown at once, each with its place and a suggestion. This page describes every field.
{WRITTEN}
```yaml
dispatch: 1                      # the version of the format
universe: torch-2.15             # the set of dispatch keys; by default the newest embedded one
extends: [torch-2.15]            # what to load first: embedded PyTorch states, or files
operators:                       # the short form: operators with all their registrations
  - func: mylib::mul_add(Tensor a, Tensor b, *, Scalar alpha=1) -> Tensor
    dispatch:
      CPU, CUDA: mul_add_native
      CompositeImplicitAutograd: mul_add_math
      AutocastCPU: fallthrough
      AutogradCUDA: {{kernel: mul_add_autograd, python: true}}
libraries:                       # the long form: TORCH_LIBRARY blocks, in the order of static initialisers
  - {{kind: DEF, namespace: other, define: ["foo(Tensor x) -> Tensor"]}}
  - {{kind: IMPL, namespace: other, dispatch_key: CPU, impl: {{foo: foo_cpu}}}}
fallbacks: {{PrivateUse1: cpu_fallback}}
guards:                          # conditions that must hold
  - {{op: "mylib::*", key: CUDA, rule: kernel}}
support:                         # promises that operators work
  - {{op: "mylib::*", backends: [cpu, cuda], contexts: [eager, train, compile]}}
```

For completion and validation in an editor, run `dispatch-cli schema -o dispatch.schema.json` and begin the file with
`# yaml-language-server: $schema=dispatch.schema.json`.

In a simulated call (`dispatch-cli resolve`), what your kernel does next is assumed from its key, and the answer says
so. A kernel at a backend key is assumed to compute the result. A kernel at an autograd key, or at another key above the
backends, is assumed to redispatch with the keys below its own. A batching rule is assumed to unwrap the tensors and to
call the operator again. `redispatches` says what the kernel really does:

```yaml
dispatch: 1
operators:
  - func: mylib::einsum(Tensor a, Tensor b) -> Tensor
    dispatch:
      CPU: einsum_cpu
      AutogradCPU: {{kernel: einsum_autograd, redispatches: false}} # computes the result itself
```

"""
CHECKS_HEAD = f"""# The checks

The checks of `dispatch-cli check-invariants`: why each exists, bad and good examples, and how to fix what it finds.
`dispatch-cli checks ID` shows the same in a terminal. ID is the id or the code of a check, or the beginning of either.
{WRITTEN}
"""
CHECKS_TAIL = """
## What the checks find in PyTorch itself

`dispatch-cli check-invariants --base torch-2.15 --full` shows it, a row per check at the end.

In the 3,624 operators of 2.15 no slot is stale, no AutogradOther is ambiguous and no composite kernel is displaced. The
findings in 2.15 and 2.4 are:

| check | 2.15 | 2.4 | example |
|---|---|---|---|
| `overridden-kernel` | 3 | 0 | `aten::bmm` has two kernels at CUDA |
| `unused-registration` | 2 | 1 | the kernel of `aten::max_pool2d` at Autograd fills no slot |
| `autograd-only` | 1 | 3 | `export::access_subclass_inner_tensor` cannot run in inference mode |
| `no-autograd-kernel` (info) | 13 | 8 | `aten::avg_pool1d.out` |
| `order-sensitive` (info) | 6 | 6 | `aten::linear`: another order of registrations leaves AutogradNestedTensor stale |
| `sibling-disagreement` (info) | 24 | 23 | `x.cos_()` of a nested tensor has no kernel, where `x.cos()` has one |
| `python-resolution` (info) | 8 | 7 | `zeros_like` of a nested tensor works, and fails under the Python dispatcher |
| `no-fake-kernel` (info) | 50 | 21 | `symm_mem::one_shot_all_reduce_out` fails in `torch.compile` |
| `higher-order-mode` | 2 | 3 | `run_and_save_rng_state` has no implementation for FunctionalTensorMode |
| `higher-order-autograd` | 1, and 7 infos | 4 infos | `aoti_call_delegate` works in inference mode only |

Confirmed on PyTorch 2.13: a kernel registered at Autograd for `aten::max_pool2d` never runs; the kernel of
`access_subclass_inner_tensor` runs, but in inference mode the call raises "Could not run"; each of the six orders that
`order-sensitive` names makes `_dispatch_check_invariants` fail. Tests marked `live` repeat all three.
"""


def format_reference() -> str:
    """FORMAT.md: a section for each mapping of the format, with a table of its fields."""
    return FORMAT_HEAD + "\n".join(_record(record) for record in RECORDS)


def _record(record: Record) -> str:
    title = "The file" if record is FILE else record.words[:1].upper() + record.words[1:]
    if record.name == "library_kernel":
        title = "A kernel in a library"
    lines = [f"## {title}", "", record.doc, "", "| field | takes | means |", "|---|---|---|"]
    lines += [_row(field) for field in record.fields]
    return "\n".join([*lines, ""])


def _row(field: Field) -> str:
    name = f"`{field.name}`" + (" (required)" if field.required else "")
    default = f" Default: {field.default}." if field.default is not None else ""
    return f"| {name} | {field.type.words} | {field.doc}{default} |"


def checks_reference() -> str:
    """CHECKS.md: a table of all checks, by group, then the documentation of each."""
    checks = checks_report(()).checks
    lines = []
    for group, some in groupby(checks, key=lambda check: check.group):
        lines += ["", f"**{GROUPS[group]}** ({group.value})", "", "| code | check | severity | what should hold |"]
        lines.append("|---|---|---|---|")
        for check in some:
            severity = f"{check.severity.value}{'' if check.default else ', not by default'}"
            link = f"[`{check.id}`](#{check.id}-{check.code.lower()})"
            lines.append(f"| {check.code} | {link} | {severity} | {check.title} |")
    documentation = "".join(documentation_markdown(checks))
    return CHECKS_HEAD.rstrip("\n") + "\n" + "\n".join(lines) + "\n\n" + documentation + CHECKS_TAIL


DOCUMENTS = {ROOT / "FORMAT.md": format_reference, ROOT / "CHECKS.md": checks_reference}
"""File → what is in it."""

if __name__ == "__main__":
    for file, text in DOCUMENTS.items():
        file.write_text(text(), encoding="utf-8")
