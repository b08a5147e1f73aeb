"""Registrations of Python modules, by where and under which conditions they are."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from dispatch_cli.api import document_of_sources, load_state
from dispatch_cli.engine.dispatcher.dump import dump_registrations
from dispatch_cli.extract.settings import ReadSettings
from dispatch_cli.model.extracted import CustomOperator, ExtractedDefinition, ExtractedKernel, OperatorFunction, Unknown
from dispatch_cli.model.names import OperatorName
from tests import in_pytorch
from tests.capture.support import torch_python
from tests.cli.support import call
from tests.ends import ends
from tests.extract.python.reading import places, read_files, read_text

HERE = Path(__file__).parent
MODULES = HERE / "modules"
RECORDED = HERE / "recorded.json"
UNIVERSE = "torch-2.15"
_KEY = "PrivateUse3"
_LINE = re.compile(r"((?!name|schema|debug)[\w\[\]]+(?: \(inactive\))?: ).* :: (.*)")

Dumps = dict[str, list[str]]
"""Operator → the lines of its dump, without debug texts; of PyTorch's own operators, those of one key."""


def live(python: str) -> Dumps:
    """Dumps of what live PyTorch registers."""
    names = [f"modules.{path.stem}" for path in sorted(MODULES.glob("*.py")) if path.stem != "__init__"]
    script = [python, "-B", str(HERE / "live_script.py"), str(HERE), *names]
    done = subprocess.run(script, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    dumps = {name: _lines(name, dump) for name, dump in json.loads(done.stdout).items()}
    return {name: lines for name, lines in dumps.items() if lines}


def recorded() -> Dumps:
    """Dumps of what it registered when it was recorded."""
    answer: Dumps = json.loads(RECORDED.read_text(encoding="utf-8"))
    return answer


def ours(names: list[str]) -> Dumps:
    """Our reading of the modules: the dumps of these operators and of those of the modules' own namespaces."""
    dispatcher = load_state([document_of_sources([str(MODULES)])], universe=UNIVERSE).dispatcher
    own = [str(name) for name in dispatcher.names() if str(name).startswith("pyx_")]
    results: Dumps = {}
    for name in dict.fromkeys([*names, *own]):
        base, _, overload = name.partition(".")
        results[name] = _lines(name, dump_registrations(dispatcher, OperatorName(base, overload)))
    return results


def _lines(name: str, dump: str) -> list[str]:
    lines = []
    for line in dump.splitlines():
        if not line.startswith("debug: "):
            match = _LINE.fullmatch(line)
            lines.append(match[1] + match[2] if match else line)
    return lines if name.startswith("pyx_") else [line for line in lines if _KEY in line]


if __name__ == "__main__":
    RECORDED.write_text(json.dumps(live(sys.argv[1]), indent=1, sort_keys=True) + "\n", encoding="utf-8")


def test_a_key_that_the_platform_decides_is_unknown_until_it_is_said(tmp_path: Path) -> None:
    text = """\
        import torch
        from vllm.platforms import current_platform
        lib = torch.library.Library("ns", "FRAGMENT")
        lib.impl("sin", lambda x: x, current_platform.dispatch_key)
        lib.impl("cos", lambda x: x, dispatch_key=current_platform.dispatch_key)
        """
    extracted_file = read_text(tmp_path, text)
    kernels = [item for item in extracted_file.found if isinstance(item, ExtractedKernel)]
    assert [kernel.key for kernel in kernels] == [Unknown("current_platform.dispatch_key")] * 2
    assert extracted_file.missing == (("current_platform.dispatch_key", 2),)
    extraction = read_text(tmp_path, text, ReadSettings(values=(("current_platform.dispatch_key", "CUDA"),)))
    assert [item.key for item in extraction.found if isinstance(item, ExtractedKernel)] == ["CUDA", "CUDA"]
    assert not extraction.missing


def test_the_body_of_a_large_function_is_read(tmp_path: Path) -> None:
    body = "".join(f"            y{number} = x.sin()\n" for number in range(60))
    extraction = read_text(
        tmp_path,
        f"""\
        import torch
        @torch.library.custom_op("ns::fill", mutates_args=())
        def fill(x: torch.Tensor) -> None:
{body}            x.zero_()
        """,
    )
    (operator,) = extraction.found
    assert isinstance(operator, CustomOperator) and operator.body is not None
    assert [(use.argument, use.at.line) for use in operator.body.writes] == [("x", 64)]


def test_a_test_that_is_not_decided_gives_both_branches(tmp_path: Path) -> None:
    text = """\
        import torch
        lib = torch.library.Library("ns", "FRAGMENT")
        if torch.version.hip:
            key = "HIP"
        elif not torch.cuda.is_available():
            key = "CPU"
        else:
            key = "CUDA"
        lib.impl("sin", lambda x: x, key)
        """
    extracted_file = read_text(tmp_path, text)
    kernels = {
        item.key: [str(each) for each in item.when]
        for item in extracted_file.found
        if isinstance(item, ExtractedKernel)
    }
    assert kernels == {
        "HIP": ["torch.version.hip"],
        "CPU": ["not torch.version.hip", "not torch.cuda.is_available()"],
        "CUDA": ["not torch.version.hip", "torch.cuda.is_available()"],
    }
    extraction = read_text(tmp_path, text, ReadSettings(values=(("torch.version.hip", "None"),)))
    assert {item.key for item in extraction.found if isinstance(item, ExtractedKernel)} == {"CPU", "CUDA"}


def test_what_registers_only_when_it_is_called_is_said(tmp_path: Path) -> None:
    extraction = read_text(
        tmp_path,
        """\
        import torch
        lib = torch.library.Library("ns", "FRAGMENT")
        def register():
            lib.impl("sin", lambda x: x, "CPU")
        def register_one(name):
            lib.impl(name, lambda x: x, "CPU")
        def use(some_library):
            some_library.impl("sin", lambda x: x, "CPU")
        for name in open("names"):
            lib.impl(name, lambda x: x, "CPU")
        """,
    )
    kernels = [item for item in extraction.found if isinstance(item, ExtractedKernel)]
    assert [(kernel.operator, kernel.when) for kernel in kernels] == [("ns::sin", ())]
    assert [
        (function.name, function.at.line, [place.line for place in function.places])
        for function in extraction.functions
    ] == [("register", 3, [4])]
    assert [(gap.at.line, gap.why) for gap in extraction.not_understood] == [
        (6, "`register_one` registers it when it is called, and no call of it was found"),
        (8, "it is not known what `some_library` is"),
        (10, "it is in a loop over `open('names')`, which the source does not say"),
    ]
    file = str(tmp_path / "ops.py")
    assert {(file, line) for line in (2, 4, 6, 8, 10)} <= extraction.accounted


def test_of_functions_that_register_the_same_only_one_is_called(tmp_path: Path) -> None:
    extraction = read_text(
        tmp_path,
        """\
        import torch
        lib = torch.library.Library("ns", "FRAGMENT")
        def _nobody():
            lib.define("tan(Tensor x) -> Tensor")
        def _somebody():
            lib.define("cos(Tensor x) -> Tensor")
        def plain():
            lib.define("sin(Tensor x) -> Tensor")
            lib.impl("sin", lambda x: x, "CPU")
        def with_out():
            _somebody()
            lib.define("sin(Tensor x, *, Tensor out) -> Tensor")
            lib.impl("sin", lambda x, out: x, "CPU")
        """,
    )
    whens = sorted((item.at.line, [str(each) for each in item.when]) for item in extraction.found)
    assert whens == [
        (2, []),
        (4, []),
        (8, []),
        (9, []),
        (11, []),
    ]
    why = "`with_out` registers it when it is called, and the file registers it elsewhere, too"
    assert [(gap.at.line, gap.why) for gap in extraction.not_understood] == [(12, why), (13, why)]


def test_files_that_are_not_python_are_said(tmp_path: Path) -> None:
    extraction = read_files(
        tmp_path,
        {
            "broken.py": "import torch.library\ndef (:\n",
            "zero.py": "torch.library\0",
            "deep.py": "torch.library" + "()" * 200_000,
            "long.py": "torch.library\n" * 300_000,
            "good.py": "import torch\ntorch.library.define('ns::f', '() -> ()')\n",
        },
    )
    assert [(Path(gap.at.file).name, gap.bound) for gap in extraction.not_understood] == [
        ("broken.py", False),
        ("zero.py", False),
        ("deep.py", True),
        ("long.py", True),
    ]
    assert places(extraction) == [("ExtractedBlock", 2), ("ExtractedDefinition", 2)]


@pytest.mark.parametrize(
    "text",
    [
        "x = [1]\n" + "x = x + x\n" * 60 + "x += x\n" * 60,
        "while True:\n    lib.define('f() -> ()')\n",
        "def f(n):\n    lib.define(n)\n    f(n + 1)\n    f(n + 2)\nf(0)\n",
        "x = list(range(20000))\nfor a in x:\n    for b in x:\n        y = list(x)\n",
        "x = a\n" + "".join(f"if x: y{i} = 1\nelse: y{i} = b{i}\nif y{i} == 1: x = y{i}\n" for i in range(200)),
        "".join(f"if c{i}: k{i} = 'A'\nelse: k{i} = 'B'\n" for i in range(12))
        + f"torch.library.impl({', '.join(f'k{i}' for i in range(12))})\n",
    ],
)
def test_reading_ends(tmp_path: Path, text: str) -> None:
    with ends():
        read_text(tmp_path, 'import torch\nlib = torch.library.Library("ns", "DEF")\n' + text)


def test_higher_order_operators_are_read_where_functions_and_loops_register_for_them(tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text(
        dedent("""\
            from torch._C import DispatchKey
            from torch._higher_order_ops.utils import register_fake
            from torch._higher_order_ops.wrap import wrap
            from torch._ops import HigherOrderOperator
            from torch.fx.experimental.proxy_tensor import ProxyTorchDispatchMode

            class Twice(HigherOrderOperator):
                def __init__(self):
                    super().__init__("twice", cacheable=True)

                def __call__(self, f, x):
                    return super().__call__(f, x)

            class Once(Twice):
                def __init__(self):
                    HigherOrderOperator.__init__(self, name="once")

            twice = Twice()
            once = Once()

            def register():
                @twice.py_impl(DispatchKey.CompositeExplicitAutograd)
                def dense(f, x):
                    return f(f(x))

                @twice.py_functionalize_impl
                def functional(ctx, f, x):
                    return x

            for key in (DispatchKey.AutogradCPU, DispatchKey.AutogradCUDA):
                twice.fallthrough(key)
            once.py_impl(ProxyTorchDispatchMode)(lambda mode, x: x)
            register_fake(once)(lambda x: x)
            wrap.py_impl(DispatchKey.PrivateUse1)(max)
            """)
    )
    state = load_state([document_of_sources([str(tmp_path)])], bases=["torch-2.15"])
    own = {operator.name: operator for operator in state.own_higher_order_operators()}
    registered = {name: {(impl.kind.value, impl.name) for impl in one.impls} for name, one in own.items()}
    assert registered["twice"] == {
        ("dispatch", "CompositeExplicitAutograd"),
        ("functionalize", ""),
        ("dispatch", "AutogradCPU"),
        ("dispatch", "AutogradCUDA"),
    }
    assert registered["once"] == {("mode", "ProxyTorchDispatchMode"), ("mode", "FakeTensorMode")}
    assert ("dispatch", "PrivateUse1") in registered["wrap"]
    assert [function.at.line for function in state.declarations.functions] == [21] and not state.declarations.unread


def test_the_folder_of_all_files_may_be_a_package(tmp_path: Path) -> None:
    extraction = read_files(
        tmp_path,
        {
            "kernels/library.py": """\
                import torch
                lib = torch.library.Library("ns", "FRAGMENT")
                """,
            "ops.py": """\
                from installed_name.kernels.library import lib
                lib.define("f(Tensor x) -> Tensor")
                """,
        },
    )
    definition = extraction.found[-1]
    assert isinstance(definition, ExtractedDefinition) and definition.schema == "ns::f(Tensor x) -> Tensor"


def test_a_decorator_that_a_function_returns_registers_at_the_line_of_its_use(tmp_path: Path) -> None:
    extraction = read_files(
        tmp_path,
        {
            "pkg/__init__.py": "",
            "pkg/registry.py": """\
                from functools import lru_cache
                import torch

                @lru_cache(None)
                def lib():
                    return torch.library.Library("ns", "FRAGMENT")

                def kernel(name, key="CUDA"):
                    return torch.library.impl(lib(), name, key)

                def cpu(name):
                    return kernel(name, key="CPU")

                def fake(name):
                    return torch.library.register_fake(f"ns::{name}")

                later = kernel("exp")
                """,
            "pkg/ops.py": """\
                from .registry import cpu, fake, later

                @cpu("sin")
                def sin(x):
                    return x

                @fake("sin")
                def fake_sin(x):
                    return x

                cpu("cos")(sin)

                @later
                def exp(x):
                    return x
                """,
        },
    )
    named = [item for item in extraction.found if isinstance(item, ExtractedKernel | OperatorFunction)]
    assert {(item.operator, type(item).__name__): (Path(item.at.file).name, item.at.line) for item in named} == {
        ("ns::sin", "ExtractedKernel"): ("ops.py", 3),
        ("ns::sin", "OperatorFunction"): ("ops.py", 7),
        ("ns::cos", "ExtractedKernel"): ("ops.py", 11),
        ("ns::exp", "ExtractedKernel"): ("registry.py", 17),
    }


def test_what_is_registered_in_a_library_that_pytorch_makes_is_not_understood(tmp_path: Path) -> None:
    extraction = read_text(
        tmp_path,
        """\
        import torch
        from torch.ao.quantization.fx._decomposed import quantized_decomposed_lib as lib
        from torch.library import impl

        lib.define("sin(Tensor x) -> Tensor")

        @impl(lib, "sin", "CompositeExplicitAutograd")
        def sin(x):
            return x

        impl("aten::cos", "cpu", sin)
        """,
    )
    why = "it is not known what `torch.ao.quantization.fx._decomposed.quantized_decomposed_lib` is"
    assert [(gap.at.line, gap.why) for gap in extraction.not_understood] == [(5, why), (7, why)]
    assert places(extraction) == [("ExtractedBlock", 11), ("ExtractedKernel", 11)]


def test_what_is_older_than_custom_op_is_not_understood(tmp_path: Path) -> None:
    extraction = read_text(
        tmp_path,
        """\
        import torch
        from torch._custom_ops import impl

        @torch._custom_ops.custom_op("ns::sin")
        def sin(x: torch.Tensor) -> torch.Tensor:
            raise NotImplementedError

        @impl("ns::sin")
        def sin_kernel(x):
            return x
        """,
    )
    assert [(gap.at.line, gap.why) for gap in extraction.not_understood] == [
        (4, "`torch._custom_ops.custom_op` is older than `torch.library.custom_op`"),
        (8, "`torch._custom_ops.impl` is older than `torch.library.custom_op`"),
    ]
    assert not extraction.found


# Modules with every way to register, against what live PyTorch registers when it imports them.


def test_the_modules_register_what_was_recorded() -> None:
    expected = recorded()
    assert ours(list(expected)) == expected


@pytest.mark.live
def test_the_modules_register_what_live_pytorch_does() -> None:
    expected = live(torch_python())
    assert ours(list(expected)) == expected


# Keys by the name of the backend at PrivateUse1: what is refused of sources is what a live PyTorch refuses.


KEYS = ("NPU", "AutogradNPU", "SparseNPU", "AutocastNPU", "npu", "Npu", "privateuseone", "PrivateUse1", "autogradnpu")
FORMS = (
    'of_{key} = torch.library.Library("aten", "IMPL"); of_{key}.impl("add.Tensor", f, "{key}")',
    'torch.library.impl("aten::mul.Tensor", "{key}")(f)',
    'kept.append(torch.library.Library("aten", "IMPL", "{key}"))',
    'torch.library.impl(library, "sub.Tensor", "{key}")(f)',
)
HEAD = """\
import torch
torch.utils.rename_privateuse1_backend("npu")
kept = []
library = torch.library.Library("aten", "IMPL")
def f(*args): ...
"""
STATEMENTS = tuple(form.format(key=key) for form in FORMS for key in KEYS)


@pytest.mark.live
def test_what_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    program = f"{HEAD}refused = []\n"
    for number, statement in enumerate(STATEMENTS, HEAD.count("\n") + 1):
        program += f"try:\n    {statement}\nexcept Exception:\n    refused.append({number})\n"
    answer = in_pytorch.run([torch_python(), "-c", f"{program}print(refused)"])
    Path("backend.py").write_text(HEAD + "\n".join(STATEMENTS) + "\n", "utf-8")
    report = json.loads(call("check-invariants", "backend.py", "--base", "torch-2.13", "--format", "json").out)
    refused = {
        finding["declared_at"]["line"] for finding in report["findings"] if finding["check"] == "refused-registration"
    }
    live = set(json.loads(answer.stdout))
    assert refused <= live
    not_refused = [STATEMENTS[number - HEAD.count("\n") - 1] for number in sorted(live - refused)]
    assert not_refused == ['torch.library.impl("aten::mul.Tensor", "autogradnpu")(f)']  # an unknown device type
