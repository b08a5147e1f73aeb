"""Macros: how a ``#define`` is read, and how one is expanded, with ``#``, ``##`` and ``__VA_OPT__``.

After the C++ standard, [cpp.replace], by the algorithm of Dave Prosser: every token keeps the set of the macros that do
not expand it any more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from dispatch_cli.extract.cpp.preprocessor.tokens import CppToken, tokens_of
from dispatch_cli.extract.work import WorkBudget

COMMAND_LINE = "<command line>"
"""The name of the file in which macros of ``-D`` are defined."""


class Macro(NamedTuple):
    """A macro. parameters: None for one without parentheses. variadic: the last parameter takes all that are left."""

    name: str
    parameters: tuple[str, ...] | None
    variadic: bool
    body: tuple[CppToken, ...]
    place: CppToken | None = None

    def same(self, other: Macro) -> bool:
        """True if both replace in the same way."""
        return (
            self.parameters == other.parameters
            and self.variadic == other.variadic
            and [(token.text, token.space) for token in self.body[1:]]
            == [(token.text, token.space) for token in other.body[1:]]
            and [token.text for token in self.body[:1]] == [token.text for token in other.body[:1]]
        )


def read_macro(tokens: Sequence[CppToken]) -> Macro | None:
    """Read what is behind ``#define``; None where it is malformed."""
    if not tokens or tokens[0].kind != "name":
        return None
    name = tokens[0]
    if len(tokens) < 2 or tokens[1].text != "(" or tokens[1].space:
        return Macro(name.text, None, False, tuple(tokens[1:]), name)
    parameters: list[str] = []
    variadic = False
    index = 2
    while index < len(tokens) and tokens[index].text != ")":
        token = tokens[index]
        if token.text == "...":
            if variadic or index + 1 == len(tokens) or tokens[index + 1].text != ")":
                return None
            variadic = True
            if index > 2 and tokens[index - 1].kind == "name":
                pass  # GNU: ``args...`` names what is left
            else:
                parameters.append("__VA_ARGS__")
        elif token.kind == "name":
            parameters.append(token.text)
        elif token.text != ",":
            return None
        index += 1
    if index == len(tokens):
        return None
    return Macro(name.text, tuple(parameters), variadic, tuple(tokens[index + 1 :]), name)


def defined_as(name: str, value: str) -> Macro:
    """The macro that ``-D NAME=VALUE`` defines; *name* may have parameters."""
    macro = read_macro(tokens_of(f"{name} {value}", COMMAND_LINE))
    return macro or Macro(name, None, False, ())


Expand = Callable[[list[CppToken]], list[CppToken]]


def substituted(macro: Macro, arguments: list[list[CppToken]], expand: Expand, work: WorkBudget) -> list[CppToken]:
    """The body with the arguments in place of the parameters. expand: replaces all macros of an argument.

    work: the tokens and characters that are made are counted in it. Errors: OverWork.
    """
    parameters = {name: index for index, name in enumerate(macro.parameters or ())}
    expanded: dict[int, list[CppToken]] = {}

    def argument(index: int) -> list[CppToken]:
        if index not in expanded:
            expanded[index] = expand(list(arguments[index]))
        return expanded[index]

    return _without_placemarkers(_replaced(macro, list(macro.body), parameters, arguments, argument, work))


def _replaced(
    macro: Macro,
    body: list[CppToken],
    parameters: dict[str, int],
    raw: list[list[CppToken]],
    argument: Callable[[int], list[CppToken]],
    work: WorkBudget,
) -> list[CppToken]:
    result: list[CppToken] = []
    index = 0
    function_like = macro.parameters is not None
    while index < len(body):
        token = body[index]
        following = body[index + 1] if index + 1 < len(body) else None
        pasted_left = index > 0 and body[index - 1].text == "##" and bool(result)
        index += 1
        part: list[CppToken]
        if function_like and token.text == "#" and following is not None and following.text in parameters:
            part = [token._replace(kind="string", text=_stringized(raw[parameters[following.text]], work))]
            index += 1
        elif token.text == "##" and result and following is not None:
            continue
        elif function_like and token.text == "__VA_OPT__" and macro.variadic and following and following.text == "(":
            close = _closing(body, index)
            inner = [part for part in body[index + 1 : close] if part.text != "__VA_OPT__"]  # it does not nest
            work.spend(len(inner))
            part = _replaced(macro, inner, parameters, raw, argument, work) if argument(len(raw) - 1) else []
            part = part or [_placemarker(token)]
            index = close + 1
        elif token.text in parameters:
            number = parameters[token.text]
            next_paste = index < len(body) and body[index].text == "##"
            part = list(raw[number] if pasted_left or next_paste else argument(number))
            if part:
                part[0] = part[0]._replace(space=token.space)
            else:
                part = [_placemarker(token)]
        else:
            part = [token]
        work.spend(len(part))
        if pasted_left and not (function_like and result[-1].text == "," and _is_rest(macro, token)):
            result[-1:] = _pasted(result[-1], part[0], work)
            result.extend(part[1:])
        elif pasted_left and part[0].kind == "placemarker":
            result.pop()  # GNU: ``, ## __VA_ARGS__`` drops the comma before nothing
        else:
            result.extend(part)
    return result


def _is_rest(macro: Macro, token: CppToken) -> bool:
    assert macro.parameters is not None
    return macro.variadic and token.text == macro.parameters[-1]


def _closing(tokens: list[CppToken], opening: int) -> int:
    depth = 0
    for index in range(opening, len(tokens)):
        depth += (tokens[index].text == "(") - (tokens[index].text == ")")
        if depth == 0:
            return index
    return len(tokens)


def _placemarker(token: CppToken) -> CppToken:
    return token._replace(kind="placemarker", text="")


def _without_placemarkers(tokens: list[CppToken]) -> list[CppToken]:
    return [token for token in tokens if token.kind != "placemarker"]


def _pasted(left: CppToken, right: CppToken, work: WorkBudget) -> list[CppToken]:
    if left.kind == "placemarker":
        return [right._replace(space=left.space)]
    if right.kind == "placemarker":
        return [left]
    work.make(len(left.text) + len(right.text))
    tokens = tokens_of(left.text + right.text)
    hide = left.hide & right.hide
    return [
        left._replace(kind=token.kind, text=token.text, hide=hide, space=left.space if index == 0 else token.space)
        for index, token in enumerate(tokens)
    ]


def _stringized(argument: list[CppToken], work: WorkBudget) -> str:
    parts: list[str] = []
    work.make(sum(len(token.text) for token in argument))
    for token in argument:
        text = token.text
        if token.kind in ("string", "raw", "character"):
            text = text.replace("\\", "\\\\").replace('"', '\\"')
        parts.append(f" {text}" if token.space and parts else text)
    return '"' + "".join(parts).replace("\n", "\\n") + '"'
