"""PyTorch's dump texts; several operators are parted by an empty line.

They are printed byte for byte, but for characters that command a terminal or change a text's direction: such names are
spelled out (`printed`), as everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.dispatcher.dump import dump_registrations, dump_table
from dispatch_cli.model.names import OperatorName

if TYPE_CHECKING:
    from dispatch_cli.report.findings import FindingsReport
    from dispatch_cli.report.key_registrations import KeyRegistrationsReport


def raw_registrations(dispatcher: Dispatcher, names: Iterable[OperatorName]) -> Iterator[str]:
    """What ``torch._C._dispatch_dump`` prints for each operator."""
    return _parted(dump_registrations(dispatcher, name) for name in names)


def raw_key_registrations(report: KeyRegistrationsReport) -> Iterator[str]:
    """What ``torch._C._dispatch_print_registrations_for_dispatch_key`` prints for each key; here sorted."""
    return _parted("".join(f"{row.operator}\n" for row in one.kernels) for one in report.keys)


def raw_tables(dispatcher: Dispatcher, names: Iterable[OperatorName]) -> Iterator[str]:
    """What ``torch._C._dispatch_dump_table`` prints for each operator."""
    return _parted(dump_table(dispatcher, name) for name in names)


def raw_findings(dispatcher: Dispatcher, report: FindingsReport) -> Iterator[str]:
    """The state that PyTorch's ``checkInvariants`` prints, of every operator with a finding."""
    listed = (one.finding.operator for one in report.findings)
    affected = dict.fromkeys((*(name for name in listed if name is not None), *report.affected))
    names = [OperatorName.parse(text) for text in affected]
    return _parted(
        f"Canonical state\n~~~~~~~~~~~\n{dump_registrations(dispatcher, name)}\n\n"
        f"Computed table:\n~~~~~~~~~~~\n{dump_table(dispatcher, name)}"
        for name in names
    )


def _parted(texts: Iterable[str]) -> Iterator[str]:
    for position, text in enumerate(texts):
        if position:
            yield "\n"
        yield text
