"""Names of C++ in the symbols of real reports, against what ``c++filt`` (GNU binutils) says, without the arguments."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from dispatch_cli.answers.errors.matches import demangled

NAMES = {
    "_ZN3c104cuda9SetDeviceEi": "c10::cuda::SetDevice",
    "_ZNK3c1010TensorImpl36is_contiguous_nondefault_policy_implENS_12MemoryFormatE": (
        "c10::TensorImpl::is_contiguous_nondefault_policy_impl"
    ),
    "_ZN3c1017RegisterOperatorsD1Ev": "c10::RegisterOperators::~RegisterOperators",
    "_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE": "c10::Error::Error",
    "_ZN2at4_ops5zeros4callEN3c108ArrayRefINS2_6SymIntEEE": "at::_ops::zeros::call",
    "_ZN2at19UndefinedTensorImpl10_singletonE": "at::UndefinedTensorImpl::_singleton",
    "_ZNR5torch7Library4_defEON3c1014FunctionSchemaEPNS1_12OperatorNameE": "torch::Library::_def",
    "_Z16THPVariable_WrapN2at10TensorBaseE": "THPVariable_Wrap",
}


@pytest.mark.parametrize("symbol", NAMES)
def test_the_name_in_a_symbol(symbol: str) -> None:
    assert demangled(symbol) == NAMES[symbol]


@pytest.mark.skipif(shutil.which("c++filt") is None, reason="needs c++filt")
def test_the_names_are_those_of_the_tool() -> None:
    for symbol, name in NAMES.items():
        output = subprocess.run(["c++filt", symbol], check=True, capture_output=True, text=True).stdout.strip()
        assert output == symbol or output.partition("(")[0] == name


@pytest.mark.parametrize("text", ["", "_Z", "_ZN", "_ZN9999c10", "_ZN0", "_ZN4\x1b[31mE", "main", "_ZNSt" * 300])
def test_what_can_not_be_read_stays(text: str) -> None:
    plain = demangled(text)
    assert plain == text or set(plain.split("::")) == {"std"}
