"""Texts about shared libraries that cannot be loaded: small ones, compiled without PyTorch's headers."""

import os
import subprocess
import tempfile
from pathlib import Path

import torch

from tests.answers.errors.advice.trial import tries, untried

LIBRARIES = Path(torch.__file__).parent / "lib"


def build(name, *sources, options=()):
    """A shared library in the current folder, made of C++ code."""
    files = []
    for number, source in enumerate(sources):
        files.append(f"{name}{number}.cpp")
        Path(files[-1]).write_text(source, encoding="utf-8")
    subprocess.run(["g++", "-shared", "-fPIC", "-o", f"lib{name}.so", *files, *options], check=True)
    return Path(f"lib{name}.so").absolute()


def in_new_folder():
    os.chdir(tempfile.mkdtemp(dir=os.environ.get("TMPDIR")))


TENSOR = "namespace at { class Tensor; } "
CALLER = TENSOR + "int helper(const at::Tensor&); int answer(const at::Tensor& x) { return helper(x); }"
HELPER = TENSOR + "int helper(const at::Tensor&) { return 1; }"


@tries("undefined-symbol", "Add the file that defines", needs="g++")
def function_that_is_not_linked(advice):
    in_new_folder()
    torch.ops.load_library(build("mine", *((CALLER, HELPER) if advice else (CALLER,))))


@tries("undefined-symbol", "Compare the declaration with the definition", needs="g++")
def function_with_other_arguments(advice):
    in_new_folder()
    torch.ops.load_library(build("mine", CALLER, HELPER if advice else HELPER.replace("const ", "")))


@tries("undefined-symbol", "Install its build for the installed PyTorch", "build it again", needs="g++")
def function_of_another_pytorch(advice):
    in_new_folder()
    name = "get_num_threads" if advice else "get_number_of_threads"
    source = f"namespace at {{ int {name}(); }} int answer() {{ return at::{name}(); }}"
    torch.ops.load_library(build("mine", source, options=(f"-L{LIBRARIES}", "-ltorch_cpu")))


@tries("undefined-symbol", "or compile by `-D_GLIBCXX_USE_CXX11_ABI=", needs="g++", since="2.8")
def string_of_the_old_abi(advice):
    in_new_folder()
    source = """#include <string>
namespace c10::detail { void torchCheckFail(const char*, const char*, unsigned, const std::string&); }
void fail() { c10::detail::torchCheckFail("", "", 0, std::string("x")); }"""
    abi = f"-D_GLIBCXX_USE_CXX11_ABI={int(bool(advice) and torch.compiled_with_cxx11_abi())}"
    torch.ops.load_library(build("mine", source, options=(abi, f"-L{LIBRARIES}", "-lc10")))


@tries("no-library-file", "Install a build of the package for the installed PyTorch", needs="g++", since="2.8")
def library_without_its_dependency(advice):
    in_new_folder()
    dependency = build("other", "int other() { return 1; }")
    options = ("-L.", "-lother", f"-Wl,-rpath,{Path.cwd()}")
    path = build("mine", "int other(); int answer() { return other(); }", options=options)
    if not advice:
        dependency.unlink()
    torch.ops.load_library(path)


untried("undefined-symbol", "Uninstall its package, and older builds of it", "needs another package")
untried("undefined-symbol", "from one release and one index", "needs another package")
untried("undefined-symbol", "install the wheel for this PyTorch and CUDA", "needs another package")
untried("no-library-file", "If it has TORCH_LIBRARY blocks, these make no Python module", "needs a C++ compiler")
untried("wrong-arguments", "`Invoked with` has the arguments", "needs another build of an extension")
untried("defined-twice", "the Python files and the compiled library", "needs another package")
untried("no-library-file", "The file is of another Python, or no module", "needs another Python")
