"""Keys, names, key sets and thread-local state against what live dispatchers answered."""

from __future__ import annotations

import re
import threading
from typing import Any

import pytest

from dispatch_cli import universes
from dispatch_cli.bindings import Bindings
from tests.support import UNIVERSE_OF, load_recording


@pytest.fixture(scope="module", params=list(UNIVERSE_OF))
def case(request: pytest.FixtureRequest) -> tuple[Bindings, dict[str, Any]]:
    recorded = load_recording(f"{request.param}.state")["universe"]
    return Bindings(universes.load(UNIVERSE_OF[request.param])), recorded


@pytest.fixture
def bindings() -> Bindings:
    return Bindings(universes.load("torch-2.15"))


def names(keyset: Any) -> list[str]:
    return re.findall(r"\w+", str(keyset).split("(", 1)[1])


def test_names_and_numbers(case: tuple[Bindings, dict[str, Any]]) -> None:
    bindings, recorded = case
    numbers = {name: int(getattr(bindings.DispatchKey, name)) for name in recorded["ids"]}
    assert numbers == recorded["ids"]
    for name, number in recorded["ids"].items():
        key = bindings.DispatchKey(number)
        assert (key.name, bindings._dispatch_key_name(key), repr(key)) == (
            name,
            name,
            f"<DispatchKey.{name}: {number}>",
        )
    assert [name for name in recorded["ids"] if bindings._parse_dispatch_key(name)] == recorded["parseable"]
    for name in set(recorded["ids"]) - set(recorded["parseable"]):
        with pytest.raises(RuntimeError, match=f"^could not parse dispatch key: {name}$"):
            bindings._dispatch_key_parse(name)


def test_key_sets(case: tuple[Bindings, dict[str, Any]]) -> None:
    bindings, recorded = case
    assert names(bindings._dispatch_keyset_full()) == recorded["runtime"]
    assert names(bindings._dispatch_autogradother_backends) == recorded["autogradother_backends"]
    assert names(bindings._after_autograd_keyset) == recorded["after_autograd"]
    assert names(bindings._after_ADInplaceOrView_keyset) == recorded["after_ADInplaceOrView"]
    key = bindings.DispatchKey
    full_after = {f: names(bindings._dispatch_keyset_full_after(getattr(key, f))) for f in recorded["functionality"]}
    assert full_after == recorded["full_after"]
    backends = {
        k: names(bindings._dispatch_get_backend_keyset_from_autograd(getattr(key, k))) for k in recorded["runtime"]
    }
    assert backends == recorded["autograd_backends"]
    for name in recorded["runtime"]:
        single = bindings.DispatchKeySet(getattr(key, name))
        assert (names(single), single.highestPriorityTypeId()) == ([name], getattr(key, name))


def test_functionalities_and_aliases(case: tuple[Bindings, dict[str, Any]]) -> None:
    bindings, recorded = case
    key = bindings.DispatchKey
    assert [name for name in recorded["ids"] if bindings._dispatch_is_alias_key(getattr(key, name))] == list(
        recorded["alias"]
    )
    for alias, covered in recorded["alias"].items():
        included = [k for k in recorded["runtime"] if bindings._dispatch_is_included_in_alias(getattr(key, k), alias)]
        assert included == covered
    for functionality in recorded["functionality"]:
        keys = bindings._functionality_to_backend_keys(functionality)
        assert [k.name for k in keys] == recorded["per_backend"].get(functionality, [functionality])
        assert {bindings._to_functionality_key(k).name for k in keys} == {functionality}
    assert bindings._dispatch_num_backends() == recorded["num_backends"]


def test_devices(case: tuple[Bindings, dict[str, Any]]) -> None:
    bindings, recorded = case
    assert {device: bindings._dispatch_key_for_device(device) for device in recorded["device_key"]} == (
        recorded["device_key"]
    )


@pytest.mark.parametrize(
    ("device", "message"),
    [
        ("", "Device string must not be empty"),
        ("cuda 1", "Invalid device string: 'cuda 1'"),
        ("cuda:01", "Invalid device string: 'cuda:01'"),
        ("cuda:0", "Expected device_type string to not have a device index; got cuda:0"),
        ("foo:0", "Expected one of cpu, cuda, .*, privateuseone device type at start of device string: foo"),
        ("mkldnn", "0 INTERNAL ASSERT FAILED at .* This is a grandfathered Caffe2 device type mkldnn, .*"),
    ],
)
def test_device_errors(bindings: Bindings, device: str, message: str) -> None:
    with pytest.raises(RuntimeError) as refused:
        bindings._dispatch_key_for_device(device)
    assert re.fullmatch(message, str(refused.value))


def test_default_thread_state(case: tuple[Bindings, dict[str, Any]]) -> None:
    bindings, recorded = case
    assert names(bindings._dispatch_tls_local_include_set()) == recorded["default_included"]
    assert names(bindings._dispatch_tls_local_exclude_set()) == recorded["default_excluded"]


def test_raw_bits_are_pytorchs(bindings: Bindings) -> None:
    """The numbers come from PyTorch 2.13, whose layout of bits is that of 2.15."""
    keys, sets = bindings.DispatchKey, bindings.DispatchKeySet
    raw = {
        "CPU": sets(keys.CPU).raw_repr(),
        "CPU by name": sets("CPU").raw_repr(),
        "Dense": sets(keys.Dense).raw_repr(),
        "start": sets(keys.StartOfQuantizedBackends).raw_repr(),
        "alias": sets(keys.Autograd).raw_repr(),
        "added": sets(keys.CPU).add("CUDA").raw_repr(),
        "removed": sets(keys.CPU).remove("CPU").raw_repr(),
        "full": bindings._dispatch_keyset_full().raw_repr(),
        "after AutogradCPU": bindings._dispatch_keyset_full_after("AutogradCPU").raw_repr(),
        "after an alias": bindings._dispatch_keyset_full_after("Autograd").raw_repr(),
        "AutogradOther's": bindings._dispatch_get_backend_keyset_from_autograd("AutogradOther").raw_repr(),
        "AutogradLazy's": bindings._dispatch_get_backend_keyset_from_autograd("AutogradLazy").raw_repr(),
        "included": bindings._dispatch_tls_local_include_set().raw_repr(),
        "excluded": bindings._dispatch_tls_local_exclude_set().raw_repr(),
    }
    assert raw == {
        "CPU": 65537,
        "CPU by name": 65537,
        "Dense": 65536,
        "start": 1048576,
        "alias": 0,
        "added": 65539,
        "removed": 1,
        "full": 4611686018427387903,
        "after AutogradCPU": 2305843077933170687,
        "after an alias": 2305843009213726719,
        "AutogradOther's": 33488895,
        "AutogradLazy's": 66048,
        "included": 17246978048,
        "excluded": 562400197607424,
    }


def test_functionality_and_backend_bits_are_kept_apart(bindings: Bindings) -> None:
    keys, sets = bindings.DispatchKey, bindings.DispatchKeySet
    both = sets(keys.CPU) | sets(keys.AutogradCUDA)
    assert repr(both) == "DispatchKeySet(CPU, CUDA, AutogradCPU, AutogradCUDA)"
    assert repr(both - sets(keys.CPU)) == "DispatchKeySet(AutogradCPU, AutogradCUDA)"
    assert repr(both & sets(keys.CUDA)) == "DispatchKeySet(CUDA)"
    assert both.highestPriorityTypeId() == keys.AutogradCUDA
    assert (both.has("AutogradCPU"), both.has("XLA"), both.has("Undefined")) == (True, False, True)
    assert sets.from_raw_repr(both.raw_repr()) == both
    assert sets.from_raw_repr(3).highestPriorityTypeId() == keys.Undefined


def test_a_functionality_without_a_backend_is_the_start_marker(bindings: Bindings) -> None:
    highest = [
        bindings.DispatchKeySet(name).highestPriorityTypeId()
        for name in ("Dense", "Quantized", "AutogradFunctionality")
    ]
    assert [(key.name, bindings._dispatch_key_name(key)) for key in highest] == [
        ("StartOfDenseBackends", "Undefined"),
        ("StartOfQuantizedBackends", "QuantizedUndefined"),
        ("StartOfAutogradFunctionalityBackends", "AutogradUndefined"),
    ]


def test_the_enum_behaves_as_pybinds(bindings: Bindings) -> None:
    keys = bindings.DispatchKey
    assert (repr(keys.CPU), str(keys.CPU), keys.CPU.name, keys.CPU.value) == (
        "<DispatchKey.CPU: 49>",
        "DispatchKey.CPU",
        "CPU",
        49,
    )
    assert keys(49) == keys.CPU
    assert keys.CPU != 49
    assert keys.CPU != keys.CUDA
    assert hash(keys.CPU) == 49
    assert ["a", "b"][keys.Dense] == "b"
    assert keys.EndOfDenseBackends == keys.Meta
    assert repr(keys(999)) == "<DispatchKey.???: 999>"
    assert bindings._dispatch_key_name(keys(999)) == "UnknownUnknown"
    for wrong in (-1, 70000, "CPU"):
        with pytest.raises(TypeError):
            keys(wrong)
    with pytest.raises(TypeError, match="unhashable"):
        hash(bindings.DispatchKeySet("CPU"))


def test_keys_of_two_universes_do_not_mix(bindings: Bindings) -> None:
    other = Bindings(universes.load("torch-2.4"))
    with pytest.raises(TypeError):
        bindings._dispatch_key_name(other.DispatchKey.CPU)
    with pytest.raises(TypeError):
        bindings.DispatchKeySet("CPU") | other.DispatchKeySet("CPU")


def test_undefined_is_in_no_alias_and_is_none(bindings: Bindings) -> None:
    assert bindings._dispatch_is_included_in_alias("Undefined", "CompositeImplicitAutograd") is False
    assert bindings._dispatch_is_included_in_alias("Autograd", "CompositeImplicitAutograd") is True
    assert bindings._dispatch_is_included_in_alias("CPU", "CPU") is True
    assert bindings._dispatch_is_included_in_alias("CPU", "Dense") is False
    with pytest.raises(RuntimeError, match=r"^t != DispatchKey::Undefined INTERNAL ASSERT FAILED"):
        bindings._dispatch_is_included_in_alias("CPU", "Undefined")


def raw_state(bindings: Bindings) -> tuple[str, str]:
    return (
        f"{bindings._dispatch_tls_local_include_set().raw_repr():x}",
        f"{bindings._dispatch_tls_local_exclude_set().raw_repr():x}",
    )


def test_guards_change_the_state_and_put_it_back(bindings: Bindings) -> None:
    """The numbers come from PyTorch 2.13."""
    keys, sets = bindings.DispatchKey, bindings.DispatchKeySet
    default = ("404000000", "1ff8000000000")
    guards = {
        "exclude": lambda: bindings._ExcludeDispatchKeyGuard(sets(keys.CPU) | sets(keys.AutogradCUDA)),
        "include": lambda: bindings._IncludeDispatchKeyGuard(keys.CUDA),
        "force": lambda: bindings._ForceDispatchKeyGuard(sets(keys.CPU), sets(keys.CUDA)),
        "set exclude": lambda: bindings._SetExcludeDispatchKeyGuard(keys.AutocastCPU, False),
        "preserve": lambda: bindings._PreserveDispatchKeyGuard(),
        "below autograd": lambda: bindings._AutoDispatchBelowAutograd(),
        "below views": lambda: bindings._AutoDispatchBelowADInplaceOrView(),
    }
    inside = {}
    for name, guard in guards.items():
        with guard() as nothing:
            assert nothing is None
            inside[name] = raw_state(bindings)
            bindings._dispatch_tls_set_dispatch_key_excluded("AutocastCPU", True)
        assert raw_state(bindings) == default, name
    assert inside == {
        "exclude": ("404000000", "1ff9000010003"),
        "include": ("404010002", "1ff8000000000"),
        "force": ("10001", "10002"),
        "set exclude": ("404000000", "1ff0000000000"),
        "preserve": default,
        "below autograd": ("404000000", "1ffb800000000"),
        "below views": ("404000000", "1ffbc00000000"),
    }


def test_setters_leave_backend_bits_behind(bindings: Bindings) -> None:
    bindings._dispatch_tls_set_dispatch_key_included("AutogradCPU", True)
    assert bindings._dispatch_tls_is_dispatch_key_included("AutogradCPU")
    bindings._dispatch_tls_set_dispatch_key_included("AutogradCPU", False)
    assert not bindings._dispatch_tls_is_dispatch_key_included("AutogradCPU")
    assert raw_state(bindings) == ("404000001", "1ff8000000000")
    assert bindings._dispatch_tls_is_dispatch_key_excluded("AutocastCPU")


def test_wrappers_of_tensors(bindings: Bindings) -> None:
    """The sets come from PyTorch 2.13."""
    sets = {
        "cpu functional": "CPU, Functionalize, ADInplaceOrView, AutogradCPU, AutocastCPU",
        "cpu batched": "CPU, ADInplaceOrView, AutogradCPU, AutocastCPU, FuncTorchBatched",
        "cpu grad-wrapped": "CPU, ADInplaceOrView, AutogradCPU, AutocastCPU, FuncTorchGradWrapper",
    }
    for text, keys in sets.items():
        assert str(bindings._dispatch_keys(text)) == f"DispatchKeySet({keys})"
        assert bindings._dispatch_isTensorSubclassLike(text)
    like = [bindings._dispatch_isTensorSubclassLike(text) for text in ("cpu", "cpu nested", "meta", "cpu sparse_csr")]
    assert like == [False, False, True, True]


def test_functorch_and_functionalization_follow_the_thread(bindings: Bindings) -> None:
    assert not bindings._are_functorch_transforms_active()
    with bindings._IncludeDispatchKeyGuard("FuncTorchDynamicLayerFrontMode"):
        assert bindings._are_functorch_transforms_active()
    assert not bindings._are_functorch_transforms_active()
    bindings._enable_functionalization(reapply_views=True)
    assert bindings._functionalization_reapply_views_tls()
    assert bindings._dispatch_tls_is_dispatch_key_included("Functionalize")
    with pytest.raises(RuntimeError, match="multiple layers of mode-style functionalization nesting"):
        bindings._enable_functionalization()
    bindings._disable_functionalization()
    assert not bindings._functionalization_reapply_views_tls()
    assert not bindings._dispatch_tls_is_dispatch_key_included("Functionalize")


def test_every_thread_has_a_state_of_its_own(bindings: Bindings) -> None:
    seen = []
    with bindings._AutoDispatchBelowAutograd():
        thread = threading.Thread(target=lambda: seen.append(raw_state(bindings)))
        thread.start()
        thread.join()
    assert seen == [("404000000", "1ff8000000000")]


def test_a_guard_that_goes_away_puts_the_state_back(bindings: Bindings) -> None:
    guard = bindings._AutoDispatchBelowAutograd()
    guard.__enter__()
    del guard
    assert raw_state(bindings) == ("404000000", "1ff8000000000")
