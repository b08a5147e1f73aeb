"""Sources that an extension of a ``setup.py`` surely has."""

import pytest

from dispatch_cli.extract.source_lists import setup_lists

BOTH, A, GLOB = {"a.cpp", "b.cpp"}, {"a.cpp"}, {"csrc/*.cpp"}
TEMPLATE = """
name = "p"
def get_extensions():
    extension = CUDAExtension if use_cuda else CppExtension
    this_dir = os.path.dirname(os.path.curdir)
    folder = os.path.join(this_dir, name, "csrc")
    S = list(glob.glob(os.path.join(folder, "*.cpp")))
    cuda = list(glob.glob(os.path.join(folder, "cuda", "*.cu")))
    if use_cuda:
        S += cuda
    return [extension(f"{name}._C", S, extra_link_args=[])]
setup(ext_modules=get_extensions())
"""
"""The template of PyTorch (extension-cpp)."""


@pytest.mark.parametrize(
    ("sources", "known"),
    [
        ('["a.cpp", "b.cpp"]', BOTH),
        ('["a.cpp"] + ["b.cpp"]', BOTH),
        ('["a.cpp"] + more()', A),
        ('glob.glob("csrc/*.cpp")', GLOB),
        ('list(glob.glob(os.path.join("csrc", "*.cpp")))', GLOB),
        ('[s for s in glob.glob("csrc/*.cpp") if want(s)]', set()),
        ('list(filter(want, glob.glob("csrc/*.cpp")))', set()),
        ('glob.glob("csrc/**/*.cpp", recursive=True)', set()),
        ('glob.glob("*.cpp", root_dir="csrc")', set()),
        ('glob.glob("*/a.cpp")', set()),
        ('["a.cpp"] if new else ["b.cpp"]', set()),
        ('["a.cpp" if new else "b.cpp"]', set()),
        ('[["a.cpp"], ["b.cpp"]][new]', set()),
        ('["a.cpp"] * new', set()),
    ],
)
def test_a_list(sources: str, known: set[str]) -> None:
    assert setup_lists(f'CppExtension("p._C", {sources})') == [("p._C", known)]


@pytest.mark.parametrize(
    ("change", "known"),
    [
        ("", A),
        ('S += ["c.cpp"]', A),
        ('if new:\n    S.append("c.cpp")', A),
        ("for s in S:\n    print(s)", A),
        ('S.remove("a.cpp")', set()),
        ("if new:\n    S.pop()", set()),
        ("S.clear()", set()),
        ("S[:] = []", set()),
        ("def f():\n    del S[:]", set()),
        ("S = [s for s in S if want(s)]", set()),
        ("prune(S)", set()),
        ("prune(sources=S)", set()),
        ("T = S\nT.pop()", set()),
        ("if (T := S):\n    T.pop()", set()),
        ("f = lambda: S.pop()", set()),
        ('getattr(S, "pop")()', set()),
        ("for S in x:\n    pass", set()),
        ("from m import S", set()),
        ("from m import *", set()),
        ("with f() as S:\n    pass", set()),
        ("def f():\n    global S\n    S = []", set()),
    ],
)
def test_a_variable(change: str, known: set[str]) -> None:
    text = f'S = ["a.cpp"]\n{change}\nCppExtension("p._C", sources=S)\n'
    assert setup_lists(text) == [("p._C", known)]


@pytest.mark.parametrize(
    "text",
    [
        'for each in extensions:\n    each.sources = []\nCppExtension("p._C", ["a.cpp"])',
        '"""CppExtension("p._C", ["a.cpp"])"""',
        'os.chdir("csrc")\nCppExtension("p._C", ["a.cpp"])',
        'print "x"\nCppExtension("p._C", ["a.cpp"])',
    ],
)
def test_no_extension(text: str) -> None:
    assert setup_lists(text) == []


def test_the_template() -> None:
    assert setup_lists(TEMPLATE) == [("p._C", {"./p/csrc/*.cpp"})]


def test_a_long_text_is_not_followed() -> None:
    doubled = "".join(f'a{number + 1} = f"{{a{number}}}{{a{number}}}"\n' for number in range(40))
    text = f'a0 = "a"\n{doubled}CppExtension(a5, ["a.cpp", a40])\n'
    assert setup_lists(text) == [("a" * 32, A)]
