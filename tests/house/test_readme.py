"""The README's tables are those of the program, and its commands do what .ci/run does."""

import ast
import inspect
import re
from itertools import pairwise
from pathlib import Path

import pytest

from codeagent.config import settings
from codeagent.config.settings import Settings
from codeagent.core.commands import COMMANDS
from codeagent.core.keys import key_rows

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def keys_table() -> list[str]:
    return [
        f"| {place} | {', '.join(f'`{key}`' for key in keys.split(', '))} | {what} |"
        for place, keys, what in key_rows({})
    ]


def commands_table() -> list[str]:
    return [f"| `{command.usage}` | {command.summary} |" for command in COMMANDS]


def sentences() -> dict[tuple[str, str], str]:
    """What stands below each setting in its table's class; the program itself has no use for it."""
    found = {}
    for table in ast.parse(inspect.getsource(settings)).body:
        if isinstance(table, ast.ClassDef):
            for field, sentence in pairwise(table.body):
                if isinstance(field, ast.AnnAssign) and isinstance(sentence, ast.Expr):
                    found[table.name, field.target.id] = inspect.cleandoc(sentence.value.value)
    return found


def settings_table() -> list[str]:
    rows, said = [], sentences()
    for table, model in Settings():
        if isinstance(model, dict):
            rows.append(f"| `[{table}]` | {model or 'none'} | {said['Settings', table]} |")
            continue
        for name in type(model).model_fields:
            default = getattr(model, name)
            shown = "not set" if default is None else "none" if default == () else str(default).lower()
            rows.append(f"| `{table}.{name}` | {shown} | {said[type(model).__name__, name]} |")
    return rows


TABLES = {"keys": keys_table, "commands": commands_table, "settings": settings_table}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_says_what_the_program_says(name):
    body = README.partition(f"<!-- {name}:")[2].partition("\n\n|")[2]
    rows = ("|" + body).split("\n\n")[0].splitlines()[2:]
    assert rows == TABLES[name]()


def test_every_picture_is_there():
    pictures = re.findall(r"!\[[^]]*\]\(([^)]+)\)", README)
    assert pictures
    assert [picture for picture in pictures if not (ROOT / picture).is_file()] == []


def test_there_is_one_command_to_start_and_one_to_test():
    commands = re.findall(r"^python3 -m venv .*$", README, re.MULTILINE)
    assert [command.split()[-1].endswith("codeagent") for command in commands] == [True, False]
    assert "pytest" in commands[1]
