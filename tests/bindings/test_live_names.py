"""Names, signatures and keys of ``dispatch_cli.bindings`` against those of PyTorch."""

from __future__ import annotations

import inspect
import json
import re
import threading
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli import universes
from dispatch_cli.bindings import Bindings
from tests import in_pytorch
from tests.capture.support import live_universe, torch_python
from tests.support import UNIVERSE_OF, load_recording

LEFT_OUT = {
    "_dispatch_call_boxed": "it calls an operator, with tensors",
    "_dispatch_clear_leaked_python_filenames": "it frees memory of a running PyTorch",
    "_dispatch_get_computed_kernel_for_dispatch_key": "it gives a kernel that can be called",
    "_dispatch_set_report_error_callback": "it is called when an operator is",
    "_functionalization": "a module of functions of tensors",
    "_functorch": "a module of functions of tensors",
    "_DispatchModule.impl_with_aoti_compile": "it compiles and loads a kernel",
    "_DispatchModule.register_ad_inplace_or_view_fallback": "it makes a kernel of PyTorch's for one operator",
    "_DispatchOperatorHandle.redispatch_boxed": "it calls an operator, with tensors",
}
"""Names that are not offered, and why."""
LEFT_OUT_ELSEWHERE = {
    "_dispatch_make_pyobj_dispatch_fns": "it calls Python functions with tensors; since 2.15",
    "_dispatch_is_main_interpreter": "there is one interpreter here; 2.4",
}
"""Those that not every version has."""
OF_PYBIND = ("__init__", "__getstate__", "__setstate__")
"""Methods of key sets: they are made in a way of our own, and do not pickle."""


@pytest.fixture
def bindings() -> Bindings:
    return Bindings(universes.load("torch-2.15"))


PARAMETER = re.compile(r"(\*{0,2}\w+)(?:: [^=]*?)?(?: = ('[^']*'|\[\]|[\w.]+))?$")


def parameters_of(signature: str) -> list[tuple[str | None, str | None]]:
    """The parameters that pybind tells: names, but for those without one, and defaults."""
    inside = signature[signature.index("(") + 1 : signature.rindex(") ->")]
    names = []
    for part in re.split(r", (?=[\w*]+(?::|$|,)|/)", inside):
        match = PARAMETER.match(part)
        if match is not None and match[1] not in ("self", "/"):
            names.append((None if re.fullmatch(r"arg\d+", match[1]) else match[1], match[2]))
    return names


def own_parameters(function: Any) -> list[tuple[str | None, str | None]]:
    """The same of one of ours; an empty tuple stands for an empty list."""
    parameters = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == "self":
            continue
        default = None if parameter.default is parameter.empty else repr(parameter.default).replace("()", "[]")
        parameters.append((None if parameter.kind is parameter.POSITIONAL_ONLY else parameter.name, default))
    return parameters


@pytest.mark.live
def test_names_and_signatures() -> None:
    done = in_pytorch.run([torch_python(), str(Path(__file__).with_name("live_names.py"))])
    live, bindings = json.loads(done.stdout), Bindings(universes.from_data(live_universe()))
    missing, wrong, seen = [], [], set()
    for name, texts in live.items():
        if name in LEFT_OUT or name in LEFT_OUT_ELSEWHERE:
            seen.add(name)
            assert not hasattr(bindings, name), f"{name} is offered, and stands in the list of those that are not"
            continue
        if not hasattr(bindings, name):
            missing.append(name)
            continue
        ours = getattr(bindings, name)
        members = texts if isinstance(texts, dict) else {"": texts} if texts and texts.startswith(f"{name}(") else {}
        for member, signature in members.items():
            if signature is None or (name == "DispatchKeySet" and member in OF_PYBIND):
                continue
            if f"{name}.{member}" in LEFT_OUT:
                seen.add(f"{name}.{member}")
                continue
            if member and not hasattr(ours, member):
                missing.append(f"{name}.{member}")
            elif not (member == "__init__" and name in ("_DispatchModule", "_DispatchOperatorHandle")):
                function = ours if not member or member == "__init__" else getattr(ours, member)
                mine, theirs = own_parameters(function), parameters_of(signature)
                if mine != theirs:
                    wrong.append(f"{name}.{member}: {mine}, PyTorch {theirs}")
    assert missing == []
    assert wrong == []
    assert seen >= LEFT_OUT.keys() or not live.get("_functionalization")
    assert len(live) > 50


def test_a_tensor_that_can_not_be(bindings: Bindings) -> None:
    for wrong in ("cpuu", "cpu nonsense", "fpga sparse"):
        with pytest.raises(TypeError):
            bindings._dispatch_keys(wrong)
    assert bindings._dispatch_key_set("cpu sparse") == str(bindings._dispatch_keys("cpu sparse"))


@pytest.mark.parametrize("version", UNIVERSE_OF)
def test_names_and_numbers(version: str) -> None:
    bindings, recorded = Bindings(universes.load(UNIVERSE_OF[version])), load_recording(f"{version}.state")["universe"]
    for name, number in recorded["ids"].items():
        key = bindings.DispatchKey(number)
        assert key == getattr(bindings.DispatchKey, name)
        assert (key.name, bindings._dispatch_key_name(key)) == (name, name)
        assert repr(key) == f"<DispatchKey.{name}: {number}>"
    assert [name for name in recorded["ids"] if bindings._parse_dispatch_key(name)] == recorded["parseable"]
    for name in set(recorded["ids"]) - set(recorded["parseable"]):
        with pytest.raises(RuntimeError, match=f"^could not parse dispatch key: {name}$"):
            bindings._dispatch_key_parse(name)


def test_keys_of_two_universes_do_not_mix(bindings: Bindings) -> None:
    other = Bindings(universes.load("torch-2.4"))
    with pytest.raises(TypeError):
        bindings._dispatch_key_name(other.DispatchKey.CPU)
    with pytest.raises(TypeError):
        bindings.DispatchKeySet("CPU") | other.DispatchKeySet("CPU")


def test_every_thread_has_a_state_of_its_own(bindings: Bindings) -> None:
    seen: list[int] = []

    def look() -> None:
        seen.append(bindings._dispatch_tls_local_include_set().raw_repr())
        seen.append(bindings._dispatch_tls_local_exclude_set().raw_repr())

    guards: Any = bindings
    with guards._AutoDispatchBelowAutograd():
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert seen == [0x404000000, 0x1FF8000000000]
