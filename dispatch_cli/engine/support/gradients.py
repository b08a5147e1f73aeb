"""The gradient of a call that returns: by a backward pass, or in the transforms grad and jvp.

Tables have the facts about PyTorch's own operators that no registration says: ``python -m
tests.engine.support.write_tables`` writes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from functools import cache
from pathlib import Path
from typing import NamedTuple

from dispatch_cli.engine.call.chain import runs_python
from dispatch_cli.engine.call.gradient import GradientLoss, has_no_backward, lost_gradient
from dispatch_cli.engine.call.schema_facts import has_aliases, takes_tensor_list
from dispatch_cli.engine.call.trace import Does, Hop, Why
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.support.cell import Reason, Verdict
from dispatch_cli.engine.table.table import is_core_fallback
from dispatch_cli.model.kernel import WrapKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.model import FunctionSchema, is_mutable, writes
from dispatch_cli.model.universe import AUTOGRAD, BACK, Universe

FOLDER = Path(__file__).parent
DERIVATIVES, CALLS = "derivatives.txt", "calls.txt"
_OWN = "aten::"

FORWARD_OF_SOME = frozenset({"aten::norm.Scalar", "aten::normal.Tensor_Tensor", "aten::scatter_reduce_.two"})
"""Operators with a derivative for forward mode that raises for some samples of OpInfo, all of which were tried.

It gives a tangent of another size, or takes an undefined one for a tensor.
"""
OUT_TEXT = "functions with out=... arguments don't support automatic differentiation"
LEGACY_AUTOGRAD = "autograd_kernel_indirection"
"""The autograd kernel of ``torch._custom_ops``, which raises unless the user has given a backward; it is not read."""
_GENERATED = "VariableType"
"""Part of the names of the source files of PyTorch's generated autograd kernels."""
_OF_RULE = {
    Rule.KERNEL: Verdict.OWN,
    Rule.AUTOGRAD: Verdict.OWN,
    Rule.DEFAULT: Verdict.COMPOSITE,
    Rule.MATH: Verdict.COMPOSITE,
    Rule.NESTED: Verdict.COMPOSITE,
    Rule.BATCHED: Verdict.DECOMPOSITION,
    Rule.FALLBACK: Verdict.FALLBACK,
}
_LOST = {
    GradientLoss.RAISES: Reason.NO_BACKWARD,
    GradientLoss.WARNS: Reason.BACKWARD_WARNS,
    GradientLoss.DROPPED: Reason.GRADIENT_DROPPED,
}


class Derivative(Enum):
    """Derivatives of the generated autograd kernel of an operator; the value is the word in the table.

    BACKWARD: no derivative for forward mode, so that jvp raises. SOME_FORWARD: one in some versions alone. SOME: for
    some arguments or versions alone. NEVER: the result is said to have none, as that of a comparison. NONE: the
    backward pass raises, if the result can require a gradient at all.
    """

    BOTH = "both"
    BACKWARD = "backward"
    SOME_FORWARD = "some-forward"
    SOME = "some"
    NEVER = "never"
    NONE = "none"


def derivative(name: OperatorName) -> Derivative:
    """The derivative of an operator with a generated autograd kernel, by the ``derivatives.yaml`` of PyTorch.

    One that works in place has that of the other form.
    """
    functional = name._replace(name=name.name.removesuffix("_"))
    table = _derivatives()
    return table.get(str(name)) or table.get(str(functional), Derivative.BOTH)


def calls(name: OperatorName) -> tuple[OperatorName, ...]:
    """The operators that the composite kernel of one of PyTorch's operators leads to, as far as samples showed."""
    return tuple(OperatorName.parse(called) for called in _table(CALLS).get(str(name), ()))


def never_differentiated(name: OperatorName) -> bool:
    """True if a composite operator of PyTorch leads to operators alone whose results have no derivative."""
    called = {text for key, texts in _table(CALLS).items() if key.partition(".")[0] == name.name for text in texts}
    return bool(called) and all(derivative(OperatorName.parse(text)) is Derivative.NEVER for text in called)


@cache
def _derivatives() -> dict[str, Derivative]:
    return {name: Derivative(kind) for kind, names in _table(DERIVATIVES).items() for name in names}


@cache
def _table(file: str) -> dict[str, list[str]]:
    """Words by the word with a colon before them; operators are aten's."""
    table: dict[str, list[str]] = {}
    values: list[str] = []
    for word in (FOLDER / file).read_text(encoding="utf-8").split():
        if word.endswith(":"):
            key = word[:-1]
            values = table.setdefault(key if file == DERIVATIVES else f"{_OWN}{key}", [])
        else:
            values.append(f"{_OWN}{word}")
    return table


class Judgment(NamedTuple):
    """A verdict, its rule, and the kernel that it is about. error: PyTorch's text."""

    verdict: Verdict
    reason: Reason | None
    hop: Hop
    error: str | None = None


def of_rule(rule: Rule) -> Verdict:
    """The verdict of a call that a kernel serves which fills its slot by a rule."""
    return _OF_RULE.get(rule, Verdict.NOT_KNOWN)


def served(hop: Hop) -> Judgment:
    """The judgment of a call that a kernel serves."""
    return Judgment(of_rule(hop.live.rule), None, hop)


class Gradients:
    """Judges the gradients of one operator."""

    def __init__(self, universe: Universe, name: OperatorName, schema: FunctionSchema) -> None:
        self.universe = universe
        self.name = name
        self.schema = schema
        self._keys = universe.covered_by(AUTOGRAD)

    def trained(self, hops: Sequence[Hop]) -> Judgment:
        """The judgment of a call with tensors that require a gradient."""
        lost = lost_gradient(hops, self.universe)
        above, server = self._autograd_hop(hops), hops[-1]
        if lost is None:
            if above is None or is_core_fallback(self.universe, above.live):
                return served(server)
            kernel = above.live.kernel
            if kernel is not None and kernel.debug == LEGACY_AUTOGRAD:
                return Judgment(Verdict.NOT_KNOWN, Reason.NO_BACKWARD, above)
            if _is_library_autograd(above) and self._leaves_out_of_lists():
                return Judgment(Verdict.NOT_KNOWN, Reason.LEFT_OUT, above)
            return self._generated(above) or served(above)
        takes_views = lost.loss is GradientLoss.RAISES  # `register_autograd` does, of a `custom_op`
        refused = is_mutable(self.schema) if takes_views else has_aliases(self.schema)
        reason = Reason.NOT_FUNCTIONAL if refused else _LOST[lost.loss]
        if lost.loss is GradientLoss.RAISES:
            return Judgment(Verdict.GRADIENT_LOST, reason, above or server)
        if server.does is Does.DECOMPOSES or server.live.rule is Rule.DEFAULT:
            return served(server)  # autograd stays on for the operators that it calls
        registration = server.live.registration  # what other kernels call is differentiated, as autograd stays on
        captured = registration is not None and registration.captured
        return Judgment(Verdict.GRADIENT_LOST if captured else Verdict.NOT_KNOWN, reason, server)

    def _leaves_out_of_lists(self) -> bool:
        """True if ``register_autograd`` refuses the gradients of calls that leave out arguments with defaults.

        It compares the structure of the gradients with that of the arguments only where these are in lists
        (``supports_tensorlist`` in torch/_library/autograd.py).
        """
        arguments = self.schema.arguments
        return takes_tensor_list(self.schema) and any(argument.default is not None for argument in arguments)

    def differentiated(self, hops: Sequence[Hop], is_jvp: bool) -> Judgment:
        """The judgment of a call in grad or jvp: below the transform, nothing is recorded for it."""
        end = next((at for at, hop in enumerate(hops) if hop.slot == BACK), len(hops))
        above = self._autograd_hop(hops[:end])
        if above is None and end == len(hops):  # it is taken apart before any transform sees it
            return served(hops[-1])
        if above is None or is_core_fallback(self.universe, above.live):
            return Judgment(Verdict.GRADIENT_LOST, Reason.NO_JVP if is_jvp else Reason.NOT_TRANSFORMED, hops[-1])
        if is_jvp and _is_library_autograd(above):
            is_view = has_aliases(self.schema) and not is_mutable(self.schema)  # PyTorch gives it the view's tangent
            return Judgment(Verdict.NOT_KNOWN if is_view else Verdict.GRADIENT_LOST, Reason.NO_JVP, above)
        if has_no_backward(above.live.kernel):
            lost = (Verdict.RAISES, Reason.NO_JVP) if is_jvp else (Verdict.GRADIENT_LOST, Reason.NOT_TRANSFORMED)
            return Judgment(*lost, above)
        if above.why is Why.CONVENTION:
            verdict = Verdict.NOT_KNOWN if runs_python(above) else Verdict.RAISES
            return Judgment(verdict, Reason.AUTOGRAD_FUNCTION, above)
        if is_jvp and str(self.name) in FORWARD_OF_SOME:
            return Judgment(Verdict.NOT_KNOWN, Reason.NO_JVP, above)
        generated = self._generated(above)
        if generated is None and is_jvp and _is_generated(above) and derivative(self.name) is not Derivative.BOTH:
            raises = derivative(self.name) is Derivative.BACKWARD
            return Judgment(Verdict.RAISES if raises else Verdict.NOT_KNOWN, Reason.NO_JVP, above)
        return generated or served(above)

    def _generated(self, above: Hop) -> Judgment | None:
        """The judgment where PyTorch's generated autograd kernel has no derivative; None where it has one."""
        if not _is_generated(above):
            return None
        if any(writes(argument) and argument.kwarg_only for argument in self.schema.arguments):
            return Judgment(Verdict.RAISES, Reason.CALL, above, OUT_TEXT)
        if derivative(self.name) in (Derivative.NONE, Derivative.SOME, Derivative.NEVER):
            return Judgment(Verdict.NOT_KNOWN, Reason.NO_BACKWARD, above)
        return None

    def _autograd_hop(self, hops: Sequence[Hop]) -> Hop | None:
        return next((hop for hop in hops if hop.slot in self._keys), None)


def _is_library_autograd(hop: Hop) -> bool:
    """True if ``torch.library`` made the autograd kernel."""
    kernel = hop.live.kernel
    wraps = None if kernel is None else kernel.wraps
    return wraps is not None and wraps.kind is WrapKind.AUTOGRAD


def _is_generated(hop: Hop) -> bool:
    """True if it is an autograd kernel that PyTorch's build has generated."""
    kernel, registration = hop.live.kernel, hop.live.registration
    return kernel is not None and registration is not None and registration.captured and _GENERATED in kernel.debug
