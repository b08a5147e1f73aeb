"""Backend fallbacks of several libraries at one key, in every order, on a live PyTorch dispatcher.

usage: python record_fallbacks.py OUT.json.xz

histories: those of ``record_sequences.py``; each begins with PyTorch's own fallbacks. Libraries register at one key, and
are destroyed. second: the keys at which a second fallback is accepted, of those that PyTorch's parser knows.
"""
import itertools, json, lzma, os, re, sys
import torch, torch._C as C

REPLACED = "AutogradPrivateUse1"
KEYS = (REPLACED, "AutogradPrivateUse2", "PrivateUse1", "AutogradCPU", "AutogradFunctionality", "Autograd")
"""With an own fallback from some version on; two without; one with; a functionality; an alias."""


def state(name):
    holds = attempt(lambda: C._dispatch_check_invariants(name)) is None
    return {"dump": C._dispatch_dump(name), "table": C._dispatch_dump_table(name), "invariants": holds}


def attempt(act):
    """Do it; the error without its trace."""
    try:
        act()
    except RuntimeError as error:
        return str(error).split("\nException raised from ")[0]
    return None


def orders(count):
    """The orders in which libraries come and go: each number twice, first it comes, then it goes. They come in turn."""
    every = sorted({*itertools.permutations([*range(count)] * 2)})
    return [order for order in every if [*dict.fromkeys(order)] == [*range(count)]]


def history(index, key, order):
    """The steps of one order. A library that was refused does not go."""
    schema, name = "foo(Tensor x) -> Tensor", f"seq{index}::foo"
    fragment = C._dispatch_library("FRAGMENT", f"seq{index}", "")
    fragment.def_(schema)
    steps = [{"do": "def", "schema": schema, "alias": "", "error": None, "after": state(name)}]
    came, refused = {}, set()
    for number in order:
        if number in refused:
            continue
        if number in came:
            place, library = came.pop(number)
            step = {"do": "drop", "step": place}
            library.reset()
        else:
            library = C._dispatch_library("IMPL", "_", key, "/dev/null", number)
            step = {"do": "fallback_fallthrough", "key": key, "line": number}
            step["error"] = attempt(library.fallback_fallthrough)
            if step["error"] is None:
                came[number] = len(steps), library
            else:
                refused.add(number)
        steps.append({**step, "after": state(name)})
    return steps


def second():
    """The keys at which a second fallback is accepted."""
    names = re.findall(r"\w+", str(C._dispatch_keyset_full()).split("(", 1)[1])
    return [name for name in names if (key := parsed(name)) is not None and accepts_second(name, key)]


def parsed(name):
    """The key of a name; None where PyTorch's parser does not know it."""
    try:
        return C._parse_dispatch_key(name)
    except RuntimeError:
        return None


def accepts_second(name, key):
    libraries = [C._dispatch_library("IMPL", "_", name) for _ in range(1 if C._dispatch_has_backend_fallback(key) else 2)]
    return [attempt(library.fallback_fallthrough) for library in libraries][-1] is None


def apart(act):
    """The answer in a copy of this process: PyTorch's own fallbacks are as they were for the next one."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        with open(writer, "w") as out:
            json.dump(act(), out)
        os._exit(0)
    os.close(writer)
    with open(reader) as answer:
        answers = json.load(answer)
    os.wait()
    return answers


def main(out):
    cases = [(key, order) for key in KEYS for order in orders(3 if key == REPLACED else 2)]
    histories = [apart(lambda: history(index, *case)) for index, case in enumerate(cases)]
    doc = {"torch": torch.__version__, "histories": histories, "second": apart(second)}
    with lzma.open(out, "wt", preset=9) as file:
        json.dump(doc, file)
    print(doc["torch"], len(histories), "histories", sum(map(len, histories)), "steps", doc["second"])


main(sys.argv[1])
