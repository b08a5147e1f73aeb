"""Guards as a declaration file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dispatch_cli.model.calls.guard import Expectation, Guard, GuardField
from dispatch_cli.model.text.quoting import scalar

FEW = 4
"""Number of operators in one line; of more, each has its own."""


def guards_yaml(guards: Iterable[Guard]) -> Iterator[str]:
    """A declaration file that has nothing but guards; what it is checked with says which universe."""
    yield "# Written by `dispatch-cli guards --record`: what was true at that time.\n"
    yield "dispatch: 1\n"
    empty = True
    for guard in guards:
        yield ("guards:\n" if empty else "") + _guard(guard)
        empty = False
    if empty:
        yield "guards: []\n"


def _guard(guard: Guard) -> str:
    fields = [("op", operators(guard.ops))]
    if guard.keys:
        fields.append(("key", f" {scalar(', '.join(guard.keys))}"))
    if guard.excepted:
        fields.append(("except", f" {scalar(', '.join(guard.excepted))}"))
    fields += [(want.field.value, f" {_value(want)}") for want in guard.wants]
    return "  - " + "    ".join(f"{name}:{value}\n" for name, value in fields)


def operators(names: Sequence[str]) -> str:
    """Operators in one line, or each in a line of its own."""
    return f" {scalars(names)}" if len(names) <= FEW else "".join(f"\n      - {scalar(name)}" for name in names)


def _value(want: Expectation) -> str:
    return want.texts[0] if want.field is GuardField.FALLTHROUGH else scalars(want.texts)


def scalars(texts: Sequence[str]) -> str:
    """A text, or a list of several."""
    return scalar(texts[0]) if len(texts) == 1 else f"[{', '.join(map(scalar, texts))}]"
