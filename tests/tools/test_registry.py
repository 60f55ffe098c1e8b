import json

import pytest

from codeagent.core.errors import ConfigError, UnknownTool
from codeagent.core.protocols import ConcurrencySafe, HasTimeout, Interruptible, Interruption, Labels, ReadOnly
from codeagent.tools.ls import LsTool
from codeagent.tools.registry import Registry
from codeagent.workspace.paths import PathSandbox


def test_tools_are_listed_in_one_order(at):
    assert [spec.name for spec in at.tools.specs()] == ["bash", "edit", "glob", "grep", "job", "ls", "read", "write"]


def test_all_the_model_is_told_of_tools_is_short(at):
    assert sum(len(f"{spec.name}{spec.description}{spec.schema_json}".encode()) for spec in at.tools.specs()) < 4_000


def test_a_name_twice_is_refused(tmp_path):
    tool = LsTool(PathSandbox(tmp_path))
    with pytest.raises(ConfigError, match="two tools named ls"):
        Registry([tool, tool])


def test_an_unknown_name_is_answered_with_the_known_ones(at):
    with pytest.raises(UnknownTool, match="bash, edit, glob, grep, job, ls, read, write"):
        at.tools.find("Bash")


def test_schemas_are_flat_objects_without_references(at):
    for spec in at.tools.specs():
        schema = json.loads(spec.schema_json)
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        assert not {"$defs", "anyOf", "oneOf", "allOf"} & schema.keys()
        assert "$ref" not in spec.schema_json
        assert "null" not in spec.schema_json


def test_schemas_name_the_arguments_models_are_trained_on(at):
    names = {spec.name: set(json.loads(spec.schema_json)["properties"]) for spec in at.tools.specs()}
    assert names == {
        "read": {"path", "offset", "limit"},
        "write": {"path", "content"},
        "edit": {"path", "old", "new", "replace_all", "edits"},
        "bash": {"command", "cwd", "timeout", "background"},
        "job": {"id", "action"},
        "grep": {"pattern", "path", "glob", "context", "literal"},
        "glob": {"pattern", "path"},
        "ls": {"path"},
    }


def arguments(at, name, **more):
    return at.tools.find(name).Arguments.model_validate(more)


LOOKS = {"read": {"path": "a"}, "grep": {"pattern": "a"}, "glob": {"pattern": "a"}, "ls": {}}
CHANGES = {"write": {"path": "a", "content": ""}, "edit": {"path": "a", "old": "a", "new": "b"}}


@pytest.mark.parametrize("name", LOOKS)
def test_looking_runs_beside_others_and_may_be_cancelled(at, name):
    tool, made = at.tools.find(name), arguments(at, name, **LOOKS[name])
    assert isinstance(tool, ReadOnly)
    assert tool.is_read_only(made) is True
    assert isinstance(tool, ConcurrencySafe)
    assert tool.is_concurrency_safe(made) is True
    assert isinstance(tool, Interruptible)
    assert tool.interruption(made) is Interruption.CANCEL
    assert not isinstance(tool, HasTimeout)


@pytest.mark.parametrize("name", CHANGES)
def test_changing_a_file_runs_beside_others_and_is_not_cancelled(at, name):
    tool = at.tools.find(name)
    assert tool.is_concurrency_safe(arguments(at, name, **CHANGES[name])) is True
    assert not isinstance(tool, Interruptible)
    assert not isinstance(tool, ReadOnly)


def test_a_command_is_what_its_analysis_says(at):
    bash = at.tools.find("bash")
    reading, changing = arguments(at, "bash", command="cat a"), arguments(at, "bash", command="rm a")
    assert (bash.is_read_only(reading), bash.is_read_only(changing)) == (True, False)
    assert (bash.interruption(reading), bash.interruption(changing)) == (Interruption.CANCEL, Interruption.BLOCK)
    assert bash.timeout(reading) is None
    assert not isinstance(bash, ConcurrencySafe)


def test_every_tool_names_the_object_of_a_call(at):
    calls = {**LOOKS, **CHANGES, "bash": {"command": "a"}, "ls": {"path": "a"}}
    for name, call in calls.items():
        tool = at.tools.find(name)
        assert isinstance(tool, Labels)
        assert tool.label(arguments(at, name, **call)) == "a"
