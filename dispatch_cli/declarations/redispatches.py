"""The field ``redispatches`` of kernels, and what it says of other kernels of the same name."""

from __future__ import annotations

from dispatch_cli.declarations.fields import expect, read_record, scalars, text_of
from dispatch_cli.declarations.format_types import BOOLEANS
from dispatch_cli.declarations.kernel_format import GOES_ON, GOES_ON_TYPE, REDISPATCHES
from dispatch_cli.declarations.keys import KeyReader
from dispatch_cli.declarations.problems import Problems
from dispatch_cli.declarations.tree import Mapping, Node, Scalar, is_nothing, kind_of, other_than_text
from dispatch_cli.model.declarations import Fallback, Implement, Step
from dispatch_cli.model.kernel import Redispatch, RedispatchKind
from dispatch_cli.model.problem import Related
from dispatch_cli.model.suggest import suggestion

_BY_WORD = {kind.value: kind for kind in RedispatchKind} | {"true": RedispatchKind.BELOW_KEY}
_BOOLEAN_HINTS = {
    **dict.fromkeys(("no", "off", "false"), "write false for a kernel that computes the result itself"),
    **dict.fromkeys(("yes", "on", "true"), "write true for a kernel that redispatches with the keys below its own"),
}


def read_redispatches(problems: Problems, keys: KeyReader, node: Node | None) -> Redispatch | None:
    """Value of the field; None, noting why, when it says nothing that can be understood."""
    if type(node) is Scalar:
        return _of_word(problems, node)
    return _of_mapping(problems, keys, node) if type(node) is Mapping else None


def _of_word(problems: Problems, node: Scalar) -> Redispatch | None:
    text = node.text
    if is_nothing(node):
        expect(problems, node, GOES_ON_TYPE.words)
    elif text in BOOLEANS and not node.plain:
        problems.add("wrong-type", f"expected {text}, found {kind_of(node)}", node, "remove the quotes")
    elif text in GOES_ON:
        return Redispatch(_BY_WORD[text], span=problems.span(node))
    else:
        hint = suggestion(text, GOES_ON)
        if text in (RedispatchKind.TO.value, RedispatchKind.EXCLUDE.value):
            hint = f"name the key: {{{text}: KEY}}"
        elif (other := other_than_text(node)) is not None:
            message = f"expected {GOES_ON_TYPE.words}, found {text}, which is {other} in YAML"
            problems.add("wrong-type", message, node, _BOOLEAN_HINTS.get(text.lower()))
            return None
        elif text.lower() == "none":
            hint = _BOOLEAN_HINTS["no"]
        problems.add("bad-value", f"expected {GOES_ON_TYPE.words}, found {kind_of(node)}", node, hint)
    return None


def _of_mapping(problems: Problems, keys: KeyReader, node: Mapping) -> Redispatch | None:
    values = read_record(problems, node, REDISPATCHES)
    if values is None:
        return None
    target, excluded = values.get("to"), values.get("exclude")
    if target is not None and excluded is not None:
        message = "a kernel redispatches to a key, or calls the operator again with keys excluded, but not both"
        problems.add("bad-value", message, excluded, "keep either 'to' or 'exclude'")
        return None
    if type(target) is Scalar:
        if text_of(problems, target, "a dispatch key") is None:
            return None
        key = keys.slot(problems, target)
        return Redispatch(RedispatchKind.TO, (key,), problems.span(node)) if key is not None else None
    names: list[str] = []
    for item in scalars(problems, excluded, "a dispatch key"):
        if text_of(problems, item, "a dispatch key") is not None:
            names += keys.in_sets(problems, item)
    return Redispatch(RedispatchKind.EXCLUDE, tuple(dict.fromkeys(names)), problems.span(node)) if names else None


class Functions:
    """Declared redispatches of functions, by the names of kernels: kernels of one name are one function."""

    def __init__(self) -> None:
        self._said: dict[str, Redispatch] = {}

    def note(self, problems: Problems, name: str, redispatch: Redispatch, node: Node) -> None:
        """Note what is said of a function; it is a problem when something else was said before."""
        first = self._said.setdefault(name, redispatch)
        if first.says_the_same(redispatch) or first.span is None:
            return
        message = f"kernels with the same name are the same function, but another declaration of {name} differs"
        related = (Related(f"here it has redispatches: {first}", first.span),)
        problems.add(
            "redispatches-conflict", message, node, "rename one of them, or make the declarations equal", related
        )

    def completed(self, steps: list[Step]) -> list[Step]:
        """The steps, with what is said of a function at every kernel of its name."""
        return [self._completed(step) for step in steps] if self._said else steps

    def _completed(self, step: Step) -> Step:
        if not isinstance(step, (Implement, Fallback)) or step.kernel.function is None:
            return step
        redispatch = self._said.get(step.kernel.function)
        if redispatch is None or step.kernel.redispatches is not None:
            return step
        return step._replace(kernel=step.kernel._replace(redispatches=redispatch))
