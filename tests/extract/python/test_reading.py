"""Registrations of Python modules, by where and under which conditions they are."""

from __future__ import annotations

from pathlib import Path

from dispatch_cli.model.extracted import CustomOperator, ExtractedKernel, OperatorFunction
from tests.extract.python.reading import read_files, read_text


def test_a_decorator_of_another_module_registers_at_the_line_of_its_use(tmp_path: Path) -> None:
    found = read_files(
        tmp_path,
        {
            "pkg/__init__.py": "",
            "pkg/registry.py": """\
                from functools import lru_cache
                import torch

                @lru_cache(None)
                def lib():
                    return torch.library.Library("ns", "FRAGMENT")

                def register(name, key="CPU"):
                    def wrap(fn):
                        lib().define(f"{name}(Tensor x) -> Tensor")
                        lib().impl(name, fn, key)
                        return fn
                    return wrap
                """,
            "pkg/ops.py": """\
                from .registry import register

                @register("sin", key="CUDA")
                def my_sin(x):
                    return x
                """,
        },
    )
    kernel = next(one for one in found.found if isinstance(one, ExtractedKernel))
    assert (kernel.operator, kernel.key, kernel.kernel) == ("ns::sin", "CUDA", "my_sin")
    assert kernel.at.file.endswith("ops.py") and kernel.at.line == 3
    assert not kernel.when and not found.not_understood


def test_an_import_that_may_fail_is_a_condition(tmp_path: Path) -> None:
    found = read_text(
        tmp_path,
        """\
        import torch
        try:
            import triton
        except ImportError:
            triton = None
        if triton is not None:
            @torch.library.custom_op("ns::sin", mutates_args=())
            def my_sin(x: torch.Tensor) -> torch.Tensor:
                return x
            @my_sin.register_fake
            def fake(x):
                return x
        """,
    )
    operator, fake = found.found
    assert isinstance(operator, CustomOperator) and isinstance(fake, OperatorFunction)
    assert operator.schema == "ns::sin(Tensor x) -> Tensor"
    assert [str(one) for one in operator.when] == ["import triton"]
    assert fake.operator == "ns::sin"
