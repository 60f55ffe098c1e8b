"""Completion scripts for bash, zsh and fish, made from the command line's own parser."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping

from pydantic import BaseModel

from codeagent.cli.command_line import Flag, flags
from codeagent.config.settings import Settings, words_for
from codeagent.config.theme_files import AUTO, theme_files
from codeagent.keys import KEY_VARIABLES

COMMANDS: Mapping[str, str] = {
    "demo": "",
    "doctor": "",
    "sessions": "list search show export rename fork delete replay undo",
    "config": "path set unset set-key remove-key models completion",
    "trust": "",
    "permissions": "check list add remove",
}
"""The subcommands, and the words that can follow each."""

_MODEL_NAME = "model.name"
"""The setting whose value is a model."""

_MODELS = "codeagent config models 2>/dev/null"
_FOLDERS = frozenset({"--cd", "--add-dir"})


def script_for(shell: str) -> str:
    """The script to load in that shell."""
    return SHELLS[shell]()


def _after_config() -> Iterator[tuple[str, str]]:
    """What can follow the words of ``codeagent config``; the models come after the setting that takes one.

    So do the words of a setting that takes few.
    """
    names = " ".join(f"{table}.{key}" for table, made in _tables() for key in made.model_fields)
    yield "set|unset", names
    for table, made in _tables():
        for key in made.model_fields:
            if words := _words_for(table, key):
                yield f"{table}.{key}", " ".join(words)
    yield "set-key|remove-key", " ".join(KEY_VARIABLES)
    yield "completion", " ".join(SHELLS)


def _words_for(table: str, key: str) -> tuple[str, ...]:
    return (AUTO, *theme_files([])) if (table, key) == ("ui", "theme") else words_for(table, key)


def _tables() -> Iterator[tuple[str, type[BaseModel]]]:
    for table, field in Settings.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield table, field.annotation


def _bash() -> str:
    cases = "\n".join(_bash_cases())
    return f"""\
# codeagent completion for bash: eval "$(codeagent config completion bash)"
_codeagent() {{
    local line="${{COMP_LINE:0:COMP_POINT}}" word="" before="" words name
    read -ra words <<<"$line"
    [[ "$line" == *[[:space:]] ]] && words+=("")
    word="${{words[${{#words[@]}}-1]}}"
    (( ${{#words[@]}} > 1 )) && before="${{words[${{#words[@]}}-2]}}"
    if [[ "$word" == --*=* ]]; then before="${{word%%=*}}" word="${{word#*=}}"; fi
    COMPREPLY=()
    [[ "${{words[1]}}" == config && ${{#words[@]}} -gt 3 ]] && before="config $before"
    case "$before" in
{cases}
        *)
            if [[ "$word" == -* ]]; then
                COMPREPLY=($(compgen -W "{" ".join(name for flag in flags() for name in flag.names)}" -- "$word"))
            elif (( ${{#words[@]}} == 2 )); then
                COMPREPLY=($(compgen -W "{" ".join(COMMANDS)}" -- "$word"))
            fi ;;
    esac
    # bash takes a word with these characters as several: only its last part is still to be written
    local breaks="" i
    for i in : @; do [[ "$COMP_WORDBREAKS" == *"$i"* ]] && breaks+="$i"; done
    if [[ -n "$breaks" && "$word" == *["$breaks"]* ]]; then
        local written="${{word%"${{word##*["$breaks"]}}"}}"
        for i in "${{!COMPREPLY[@]}}"; do COMPREPLY[i]="${{COMPREPLY[i]#"$written"}}"; done
    fi
}}
complete -o bashdefault -o default -F _codeagent codeagent
"""


def _bash_cases() -> Iterator[str]:
    for flag in flags():
        if flag.takes_value and (values := _bash_values(flag)):
            yield f"        {'|'.join(flag.names)}) {values} ;;"
    for command, words in COMMANDS.items():
        if words:
            yield f'        {command}) COMPREPLY=($(compgen -W "{words}" -- "$word")) ;;'
    yield f'        "config {_MODEL_NAME}") {_bash_models()} ;;'
    for before, words in _after_config():
        pattern = "|".join(f'"config {word}"' for word in before.split("|"))
        yield f'        {pattern}) COMPREPLY=($(compgen -W "{words}" -- "$word")) ;;'


def _bash_models() -> str:
    """Fills COMPREPLY, which bash does not quote: names that it would read as more than names are not offered."""
    fits = '[[ "$name" == "$word"* && "$name" != *[^a-zA-Z0-9._:/@+-]* ]]'
    return f'while IFS= read -r name; do {fits} && COMPREPLY+=("$name"); done < <({_MODELS})'


def _bash_values(flag: Flag) -> str:
    """What fills COMPREPLY with the values that a flag can have."""
    if "--model" in flag.names:
        return _bash_models()
    if _FOLDERS & set(flag.names):
        return "return"  # to bash's own completion of files, which quotes them
    return f'COMPREPLY=($(compgen -W "{" ".join(flag.choices)}" -- "$word"))' if flag.choices else ""


def _zsh() -> str:
    cases = "\n".join(_zsh_cases())
    described = " ".join(shlex.quote(f"{name}:{flag.what}") for flag in flags() for name in flag.names)
    return f"""\
#compdef codeagent
# codeagent completion for zsh: source <(codeagent config completion zsh)
_codeagent() {{
    local -a found
    local before="${{words[CURRENT-1]}}"
    if [[ "${{words[CURRENT]}}" == --*=* ]] && compset -P 1 '*='; then before="${{words[CURRENT]%%=*}}"; fi
    [[ "${{words[2]}}" == config ]] && (( CURRENT > 3 )) && before="config $before"
    case "$before" in
{cases}
    esac
    if [[ "${{words[CURRENT]}}" == -* ]]; then
        found=({described})
        _describe option found
    elif (( CURRENT == 2 )); then
        compadd -- {" ".join(COMMANDS)}
    else
        _files
    fi
}}
(( $+functions[compdef] )) && compdef _codeagent codeagent
"""


def _zsh_cases() -> Iterator[str]:
    for flag in flags():
        names = "|".join(flag.names)
        if "--model" in flag.names:
            yield f"        {names}) {_ZSH_MODELS} ;;"
        elif _FOLDERS & set(flag.names):
            yield f"        {names}) _files -/; return ;;"
        elif flag.choices:
            yield f"        {names}) compadd -- {' '.join(flag.choices)}; return ;;"
    for command, words in COMMANDS.items():
        if words:
            yield f"        {command}) compadd -- {words}; return ;;"
    yield f'        "config {_MODEL_NAME}") {_ZSH_MODELS} ;;'
    for before, words in _after_config():
        pattern = "|".join(f'"config {word}"' for word in before.split("|"))
        yield f"        {pattern}) compadd -- {words}; return ;;"


_ZSH_MODELS = f'found=("${{(@f)$({_MODELS})}}"); compadd -a found; return'


def _fish() -> str:
    lines = ["# codeagent completion for fish: codeagent config completion fish | source"]
    lines += [f"complete -c codeagent -n __fish_use_subcommand -a {command}" for command in COMMANDS]
    after = [(command, words) for command, words in COMMANDS.items() if words]
    after += [(_MODEL_NAME, f"({_MODELS})"), *_after_config()]
    for before, words in after:
        command = before if before in COMMANDS else "config"
        follows = f"contains -- (commandline -opc)[-1] {before.replace('|', ' ')}"
        condition = shlex.quote(f"__fish_seen_subcommand_from {command}; and {follows}")
        lines.append(f"complete -c codeagent -n {condition} -f -a {shlex.quote(words)}")
    lines += [_fish_flag(flag) for flag in flags()]
    return "\n".join(lines) + "\n"


_FISH_MODELS = f"({_MODELS} | string replace -r '$' '\\tmodel')"
"""Models with a word of their own behind them, where fish would repeat what the flag is for."""


def _fish_word(word: str) -> str:
    return f"{word}\\t"


def _fish_flag(flag: Flag) -> str:
    words = ["complete -c codeagent"]
    words += [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in flag.names]
    if "--model" in flag.names:
        words.append(f"-x -a {shlex.quote(_FISH_MODELS)}")
    elif _FOLDERS & set(flag.names):
        words.append("-x -a '(__fish_complete_directories)'")
    elif flag.choices:
        words.append(f"-x -a {shlex.quote(' '.join(_fish_word(choice) for choice in flag.choices))}")
    elif flag.takes_value:
        words.append("-x" if flag.needs_value else "")
    words.append(f"-d {shlex.quote(flag.what)}")
    return " ".join(word for word in words if word)


SHELLS: Mapping[str, Callable[[], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
"""The shells that can be completed in, and what makes the script for each."""
