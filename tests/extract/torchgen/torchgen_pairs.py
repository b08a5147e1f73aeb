"""Asks torchgen itself what its generators register; run as a process, for torchgen is imported from PyTorch.

usage: python -m tests.extract.torchgen.torchgen_pairs DIRECTORY-OF-TORCHGEN-S-PARENT
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

_IMPL = re.compile(r'm\.impl\("([^"]+)"')


def main(parent: str) -> None:
    """Print the pairs of operator and key that are registered, and each schema with its tags."""
    sys.path.insert(0, parent)
    from torchgen import gen

    native = f"{parent}/torchgen/packaged/ATen/native/native_functions.yaml"
    tags = f"{parent}/torchgen/packaged/ATen/native/tags.yaml"
    parsed = gen.parse_native_yaml(native, tags)
    pairs = {*_of_backends(parsed), *_of_functionalization(parsed), *_of_autograd(parsed, parent, native, tags)}
    schemas = {str(function.func): sorted(function.tags) for function in parsed.native_functions}
    json.dump([sorted(pairs), schemas], sys.stdout)


def _of_backends(parsed: Any) -> Iterator[tuple[str, str]]:
    from torchgen import dest, gen, model
    from torchgen.selective_build.selector import SelectiveBuilder
    from torchgen.utils import Target, concatMap

    selector = SelectiveBuilder.get_nop_selector()
    grouped = gen.get_grouped_native_functions(parsed.native_functions)
    for key in model.dispatch_keys:
        register = dest.RegisterDispatchKey(
            parsed.backend_indices[key],
            Target.REGISTRATION,
            selector,
            rocm=False,
            symint=True,
            class_method_name=None,
            skip_dispatcher_op_registration=False,
        )
        for line in concatMap(register, grouped):
            yield _operator(line), str(key)
    for function in parsed.native_functions:
        if gen.needs_backend_select(function, selector):
            yield str(function.func.name), "BackendSelect"


def _of_functionalization(parsed: Any) -> Iterator[tuple[str, str]]:
    from torchgen import gen, model
    from torchgen.gen_functionalization_type import gen_functionalization_registration
    from torchgen.selective_build.selector import SelectiveBuilder

    functions = parsed.native_functions
    groups = [
        function
        for function in gen.get_grouped_native_functions(functions)
        if isinstance(function, model.NativeFunctionsGroup)
    ]
    by_view = gen.get_grouped_by_view_native_functions(functions)
    views = [group for group in by_view if isinstance(group, model.NativeFunctionsViewGroup)]
    grouped = {function.func.name for group in (*groups, *views) for function in group.functions()}
    rest = [function for function in functions if function.func.name not in grouped]
    index = parsed.backend_indices[model.DispatchKey.CompositeImplicitAutograd]
    for one in (*groups, *views, *rest):
        for line in gen_functionalization_registration(SelectiveBuilder.get_nop_selector(), one, index):
            yield _operator(line), "Functionalize"


def _of_autograd(parsed: Any, parent: str, native: str, tags: str) -> Iterator[tuple[str, str]]:
    from torchgen.api import cpp
    from torchgen.api.autograd import match_differentiability_info
    from torchgen.packaged.autograd.gen_inplace_or_view_type import inplace_or_view_method_registration, use_derived
    from torchgen.packaged.autograd.gen_trace_type import MANUAL_TRACER
    from torchgen.packaged.autograd.load_derivatives import load_derivatives

    infos, _ = load_derivatives(f"{parent}/torchgen/packaged/autograd/derivatives.yaml", native, tags)
    functions = sorted(parsed.native_functions, key=lambda one: str(cpp.name(one.func)))
    for one in match_differentiability_info(functions, infos):
        name = str(one.func.func.name)
        if cpp.name(one.func.func) not in MANUAL_TRACER:
            yield name, "Tracer"
        if use_derived(one):
            for key in one.info or ("Default",):
                yield name, "Autograd" if key == "Default" else key
            if inplace_or_view_method_registration(one) is not None:
                yield name, "ADInplaceOrView"


def _operator(line: str) -> str:
    match = _IMPL.search(line)
    assert match is not None, line
    return match[1]


if __name__ == "__main__":
    main(sys.argv[1])
