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


def test_default_thread_state(case: tuple[Bindings, dict[str, Any]]) -> None:
    bindings, recorded = case
    assert names(bindings._dispatch_tls_local_include_set()) == recorded["default_included"]
    assert names(bindings._dispatch_tls_local_exclude_set()) == recorded["default_excluded"]


def test_keys_of_two_universes_do_not_mix(bindings: Bindings) -> None:
    other = Bindings(universes.load("torch-2.4"))
    with pytest.raises(TypeError):
        bindings._dispatch_key_name(other.DispatchKey.CPU)
    with pytest.raises(TypeError):
        bindings.DispatchKeySet("CPU") | other.DispatchKeySet("CPU")


def raw_state(bindings: Bindings) -> tuple[str, str]:
    return (
        f"{bindings._dispatch_tls_local_include_set().raw_repr():x}",
        f"{bindings._dispatch_tls_local_exclude_set().raw_repr():x}",
    )


def test_every_thread_has_a_state_of_its_own(bindings: Bindings) -> None:
    seen = []
    with bindings._AutoDispatchBelowAutograd():
        thread = threading.Thread(target=lambda: seen.append(raw_state(bindings)))
        thread.start()
        thread.join()
    assert seen == [("404000000", "1ff8000000000")]
