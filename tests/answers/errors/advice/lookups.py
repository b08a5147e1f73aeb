"""Texts about operators, overloads and libraries that are not found, and arguments that do not fit."""

import tempfile

import torch
from torch.library import Library

from tests.answers.errors.advice.slots import ONE, define
from tests.answers.errors.advice.trial import tries, untried


@tries("not-defined", "Import the module that defines")
def operator_of_a_package(advice):
    if advice:
        operator_of_a_package.kept = define("t::f", "(Tensor x) -> Tensor", CPU=lambda x: x + 1)
    assert torch.ops.t.f(ONE).sum() == 8


@tries("not-defined", "Correct the name, in the call")
def misspelled_name(advice):
    assert (torch.ops.aten.relu if advice else torch.ops.aten.reluu)(ONE).sum() == ONE.sum()


@tries("not-defined", "keep the Library in a variable: its operators go with it")
def library_that_is_collected(advice):
    library = Library("t", "FRAGMENT")
    library.define("f(Tensor x) -> Tensor")
    library.impl("f", lambda x: x + 1, "CPU")
    if not advice:
        library._destroy()
    torch.ops.t.f(ONE)


@tries("other-text", "keep the object in a variable of the module", since="2.13")
def operator_that_is_gone(advice):
    library = Library("t", "DEF")
    library.define("f(Tensor x) -> Tensor")
    library.impl("f", lambda x: x + 1, "CPU")
    op = torch.ops.t.f.default
    op(ONE)
    if not advice:
        library._destroy()
    assert op(ONE).sum() == 8


@tries("not-defined", "`lib.define` comes before `impl` and `register_fake`")
def fake_before_the_operator(advice):
    if advice:
        define("t::f", "(Tensor x) -> Tensor")
    torch.library.register_fake("t::f", torch.empty_like)


@tries("not-defined", "Call an overload that `torch.ops.ns.name.overloads()` lists")
def overload_of_another_name(advice):
    define("t::f", "(Tensor x) -> Tensor", CPU=lambda x: x + 1)
    (overload,) = torch.ops.t.f.overloads() if advice else ("Tensor",)
    assert getattr(torch.ops.t.f, overload)(ONE).sum() == 8


OTHER_BUILD = "needs another build of an extension"
untried("not-defined", "for the installed PyTorch, Python and device", OTHER_BUILD)
untried("not-defined", "If `import torch` itself fails", "needs a broken installation")
untried("data-dependent", "Use a newer PyTorch: this one has no fake kernel", "needs an older PyTorch")
untried("data-dependent", "Use a newer PyTorch, which asks less", "needs an older PyTorch")
untried("no-dtype", "which computes this of integers as well", "needs an older PyTorch")
untried("data-dependent", "Or write it with a result of a known size", "needs an older PyTorch")
untried("not-defined", "before the program is loaded", "as the import before a call, which is tried")
untried("bad-registration", "does not read annotations that are strings", "needs an older PyTorch")
untried("no-kernel", "If it takes no tensors", "needs another build of a package")
untried("no-kernel", "its fallback has moved this call", "needs another device")
untried("no-kernel", "MPS is a device of macOS alone", "another device")
untried("wrong-mutation", "If you handed the result in", "leaves out what the program is about")
untried("no-derivative", "Train with PyTorch's own attention", "another program")
untried("data-dependent", "If the operator takes the size of its result", "needs a fake tensor mode without shapes")
untried("not-defined", "In a program of C++, Rust, Go or Java: link its library", "needs C++")
untried("data-dependent", "In torch.onnx.export: pass `dynamo=False`", "needs onnx")
untried("not-defined", "is not imported before the call: import it", "needs a package")
untried("not-defined", "A warning at the import of torchvision", "needs another build of an extension")
untried("not-defined", "Python modules of vLLM and its plugins define vllm::", "needs another build of an extension")
untried("not-defined", "Add torchvision's operators to the app", "needs a phone")
untried("not-defined", "These two versions belong together", "needs another build of an extension")
untried("not-defined", "Use an older PyTorch, or a function", "needs an older PyTorch")
untried("undefined-symbol", "Leave other libtorch folders out", "needs two builds")
untried("wrong-arguments", "made this call: use a newer PyTorch", "needs an older PyTorch")
untried("undefined-symbol", "above the import of the extension", "the programs run where torch is imported")


@tries("class-path", "or set `torch.classes.__path__ = []`")
def path_of_classes(advice):
    if advice:
        torch.classes.__path__ = []
    list(torch.classes.__path__) if advice else torch.classes.__path__._path


untried("not-exported", "Write it with plain operators for the export", "needs the packages of the exporter")
untried("no-strides", "Use a build that has it (`torch.backends.mkl", "needs a build without MKL")
untried("not-exported", "Give a translation", "needs the packages of the exporter")
untried("not-exported", "Make that dimension static", "needs the packages of the exporter")
untried("not-exported", "or `antialias=False` to the resize", "needs the packages of the exporter")
untried("not-in-runtime", "Write it with core operators", "needs ExecuTorch")
untried("no-dtype", "Use a newer PyTorch, which may take them", "needs a Mac")
untried("undefined-symbol", "Link libtorch, libtorch_cpu and libc10", "needs a C++ compiler")
untried("undefined-symbol", "Remove libraries of another PyTorch", "needs two builds")
untried("undefined-symbol", "With CMake, link libtorch_python as well", "needs a C++ compiler")
untried("no-api", "Install the {module} that the program", "needs a backend")
untried("bad-registration", "use PyTorch 2.8 or newer", "needs two builds")


untried("undefined-symbol", "The extension's nvcc was of another CUDA", "needs nvcc")


untried("no-library-file", "Import torch before the extension", "the programs run where torch is imported")
untried("no-subclass", "If the base class is one of PyTorch's", "needs another build")
untried("no-sharding", "Some parameters (clip_grad_norm_, an optimizer)", "needs several processes")
untried("no-dtype", "on a Mac with macOS 14 or newer", "needs a Mac")
untried("no-dtype", "If a loader initialises weights of a quantized model", "needs another package")
untried("fake-mixed", "Copy from XLA by `x.cpu()`", "needs XLA")
untried("no-sharding", "whose DTensor knows more operators", "needs an older PyTorch")
untried("no-dtype", "On a TPU use bfloat16 in place of float16", "needs a TPU")
untried("mixed-devices", "or the other tensors of the call", "needs a GPU")
untried("no-dtype", "Convert them before they are moved", "needs a Mac")
untried("no-library-file", "install the Visual C++ Redistributable", "needs Windows")
untried("no-library-file", "have no compiled part: install mmcv-full", "needs another package")
untried("no-library-file", "An extension: import torch before it", "needs Windows")
untried("no-library-file", "An extension: install its build", "needs Windows")
untried("no-library-file", "Install or build the extension for the installed PyTorch", OTHER_BUILD)
untried("no-library-file", "that matches the installed PyTorch and its CUDA", OTHER_BUILD)
untried(
    "no-library-file", "If the program works, you do not have to change anything", "the warnings are of other packages"
)
untried("undefined-symbol", "MKL 2024.1 took it away", OTHER_BUILD)
untried("undefined-symbol", "Leave LD_LIBRARY_PATH out", OTHER_BUILD)
untried("undefined-symbol", "On Windows and macOS int64_t is not long", "needs Windows")
untried("no-library-file", "That of PyTorch 2.4.0 needs", "needs Windows")


@tries("no-library-file", "There is no such file: build it", since="2.13")
def library_at_another_path(advice):
    with tempfile.TemporaryDirectory() as folder:
        path = torch.__file__.replace("__init__.py", "lib/libc10.so") if advice else f"{folder}/libmine.so"
        torch.ops.load_library(path)


untried("no-subclass", "Each mode needs a rule", "needs another build")

untried("not-defined", "leave the operators of Metal and Vulkan out", "needs another build")
untried("undefined-symbol", "Take the libtorch with cxx11-abi", "needs C++")
