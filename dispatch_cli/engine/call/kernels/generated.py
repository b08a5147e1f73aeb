"""Kernels that PyTorch's code generator makes of another operator: which one they call.

Source: ``gen_composite_functional_kernel`` and ``gen_composite_out_kernel`` in
``torchgen/native_function_generation.py``, and ``torchgen/gen_functionalization_type.py`` for those that copy a view.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.model.names import OperatorName

_COMPOSITE = re.compile(r"\bRegisterCompositeExplicitAutograd(?:NonFunctional)?(?:_[0-9]+)?\.cpp:[0-9]+$")
GENERATED, VIEW_COPY = "generated", "view_copy"
"""Tags: the operator is not in ``native_functions.yaml``; it copies the view that another one makes."""
_OUT = "out"
_COPY = "_copy"


def called_by(dispatcher: Dispatcher, name: OperatorName, tags: tuple[str, ...], debug: str) -> OperatorName | None:
    """The operator that a generated kernel calls; None for another kernel. debug: the kernel's text."""
    if _COMPOSITE.search(debug) is None:
        return None
    return next((one for one in _candidates(name, tags) if one in dispatcher and one != name), None)


def _candidates(name: OperatorName, tags: tuple[str, ...]) -> Iterator[OperatorName]:
    overload = name.overload or ""
    if VIEW_COPY in tags and name.name.endswith(_COPY) and not overload.endswith(_OUT):
        yield name._replace(name=name.name.removesuffix(_COPY))
    if GENERATED not in tags:
        return
    if overload == _OUT or overload.endswith(f"_{_OUT}"):
        inner = overload.removesuffix(_OUT).removesuffix("_")
        yield name._replace(overload=inner)
        yield name._replace(name=f"{name.name}_", overload=inner)
    else:
        yield name._replace(name=f"{name.name}_")
