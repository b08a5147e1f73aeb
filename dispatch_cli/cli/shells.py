"""Shell completion in bash, zsh and fish: the scripts, and what goes between them and `dispatch_cli.cli.completion`.

click's own scripts lose the word at each ``::`` in bash, set a blank behind a name that goes on, and split at blanks
within quotes. These pass the whole line on. Imported only where a shell asks.
"""

from __future__ import annotations

import os
from typing import ClassVar, NamedTuple

from click.shell_completion import CompletionItem, ShellComplete, add_completion_class

LINE, WORD = "_DISPATCH_CLI_LINE", "_DISPATCH_CLI_WORD"
"""The variables in which a shell passes the line up to the cursor, and the part of it that it replaces."""
PART = "part"
"""The type of a completion after which the word goes on."""
_SPECIAL = frozenset(" \t\"'\\$&|;<>()*?[]{}!#~`")

_BASH = """\
%(complete_func)s() {
    local IFS=$'\\n' answer kind value
    COMPREPLY=()
    answer=$(%(complete_var)s=bash_complete _DISPATCH_CLI_LINE="${COMP_LINE:0:COMP_POINT}" _DISPATCH_CLI_WORD="$2" \
"$1" 2>/dev/null)
    while IFS=$'\\t' read -r kind value; do
        case $kind in
            part) compopt -o nospace; COMPREPLY+=("$value") ;;
            plain) COMPREPLY+=("$value") ;;
            file) compopt -o default ;;
        esac
    done <<< "$answer"
}
complete -F %(complete_func)s %(prog_name)s
"""
_ZSH = """\
#compdef %(prog_name)s
%(complete_func)s() {
    local kind value
    local -a whole parts
    local line="${(j: :)words[1,CURRENT-1]} "
    while IFS=$'\\t' read -r kind value; do
        case $kind in
            part) parts+=("$value") ;;
            plain) whole+=("$value") ;;
            file) _files ;;
        esac
    done < <(%(complete_var)s=zsh_complete _DISPATCH_CLI_LINE="$line" _DISPATCH_CLI_WORD="${(Q)PREFIX}" ${(Q)words[1]} \
2>/dev/null)
    (( $#parts )) && compadd -M 'm:{a-zA-Z}={A-Za-z}' -S '' -a parts
    (( $#whole )) && compadd -M 'm:{a-zA-Z}={A-Za-z}' -a whole
    return 0
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    %(complete_func)s "$@"
else
    compdef %(complete_func)s %(prog_name)s
fi
"""
_FISH = """\
function %(complete_func)s
    set -l line (commandline -cp | string collect)
    set -l tokens (commandline -cpo)
    for answer in (env %(complete_var)s=fish_complete _DISPATCH_CLI_LINE=$line $tokens[1] 2>/dev/null)
        set -l pair (string split -m1 \\t -- $answer)
        if test $pair[1] = file
            __fish_complete_path (commandline -ct)
        else
            echo $pair[2]
        end
    end
end
complete --no-files --command %(prog_name)s --arguments "(%(complete_func)s)"
"""


class Line(NamedTuple):
    """A command line up to the cursor. words: those before the current one, without quotes. word: the current one.

    quoted: where in *word* the text begins that is within quotes which are still open; None where there are none.
    """

    words: list[str]
    word: str
    quoted: int | None


def read_line(text: str) -> Line:
    """Split a line as shells do: at blanks that are not quoted."""
    words: list[str] = []
    word, quote, started, quoted = "", "", False, None
    letters = iter(text)
    for letter in letters:
        if quote:
            if letter == quote:
                quote, quoted = "", None
            else:
                word += next(letters, "") if letter == "\\" and quote == '"' else letter
        elif letter in "\"'":
            quote, quoted, started = letter, len(word), True
        elif letter in " \t\n":
            words += [word] if started else []
            word, started = "", False
        else:
            word, started = word + (next(letters, "") if letter == "\\" else letter), True
    return Line(words, word, quoted)


class _Shell(ShellComplete):
    """Base of every shell's completion. Nothing is written where it fails: a prompt is no place for messages."""

    word: str
    """The current word, without quotes."""

    def get_completion_args(self) -> tuple[list[str], str]:
        """The arguments before the current word, and that word."""
        line = self.line()
        self.word = line.word
        return line.words[1:], line.word

    def line(self) -> Line:
        """The line, as the shell passes it."""
        return read_line(os.environ.get(LINE, ""))

    def complete(self) -> str:
        """Text for the shell: a line for each completion, with its type and its text."""
        try:
            return super().complete()
        except Exception:
            return ""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[str]]:
        """The completions, but those that go on with a control character that the line has."""
        return [item for item in super().get_completions(args, incomplete) if item.value.isprintable()]

    def format_completion(self, item: CompletionItem[str]) -> str:
        """The type and what takes the place of the current word."""
        option, equals, _ = self.word.partition("=")
        whole = f"{option}={item.value}" if equals and option.startswith("--") else item.value
        return f"{item.type}\t{self.replacement(whole)}"

    def replacement(self, whole: str) -> str:
        """Text that the shell inserts for a whole word."""
        return whole


class Bash(_Shell):
    """bash, which replaces only what stands after the last of COMP_WORDBREAKS (``:`` and ``=`` among them)."""

    name: ClassVar[str] = "bash"
    source_template: ClassVar[str] = _BASH

    def line(self) -> Line:
        """The line; the start of what bash replaces is taken from it, too."""
        line = super().line()
        self._quoted = line.quoted is not None
        if line.quoted is not None:
            self._kept = line.quoted
        else:
            self._kept = len(line.word) - len(read_line(os.environ.get(WORD, "")).word)
        return line

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[str]]:
        """The completions. Within quotes a single one would close them, so a segment is replaced by what follows it."""
        items = super().get_completions(args, incomplete)
        if self._quoted and len(items) == 1 and items[0].type == PART:
            return super().get_completions(args, items[0].value) or items
        return items

    def replacement(self, whole: str) -> str:
        """The part after the last word break, with its special characters quoted."""
        rest = whole[self._kept :]
        return rest if self._quoted else "".join(f"\\{char}" if char in _SPECIAL else char for char in rest)


class Zsh(_Shell):
    """zsh, which quotes by itself."""

    name: ClassVar[str] = "zsh"
    source_template: ClassVar[str] = _ZSH

    def line(self) -> Line:
        """The words before the current one, and the current one without its quotes."""
        words = read_line(os.environ.get(LINE, "")).words
        return Line(words, os.environ.get(WORD, ""), None)


class Fish(_Shell):
    """fish, which quotes by itself."""

    name: ClassVar[str] = "fish"
    source_template: ClassVar[str] = _FISH


for _shell in (Bash, Zsh, Fish):
    add_completion_class(_shell)
