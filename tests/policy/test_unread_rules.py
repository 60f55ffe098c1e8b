"""While limits cannot be read, nothing is allowed that they might deny: all of it is asked about."""

from __future__ import annotations

import json

import pytest

from codeagent.core.approvals import CommandPreview, Decision, Hold, Mode, Scope
from codeagent.core.errors import ConfigError
from codeagent.policy.gate import ToolGate
from codeagent.policy.grants import Grant, load_grants, store_grants
from codeagent.policy.rules import RuleSet
from codeagent.workspace.paths import PathSandbox

FAULT = "/shop/.codeagent/config.toml, line 2: permissions.deny: 'bash(' is no permission rule."


@pytest.fixture
def root(tmp_path):
    (tmp_path / "shop").mkdir()
    return tmp_path / "shop"


def gate_of(root, *, grants=None, faults=(), **rules):
    return ToolGate(
        PathSandbox(root),
        RuleSet.parse(**rules),
        None,
        lambda _: None,
        lambda: Mode.ASK,
        hold=Hold.WHOLE,
        grants_file=grants,
        faults=faults,
    )


def decided(gate, root, command, mode=Mode.ASK):
    return gate.judge("bash", (), CommandPreview(command=command, cwd=root, timeout=1.0), mode)


@pytest.mark.parametrize("mode", [Mode.ASK, Mode.EDITS, Mode.AUTO, Mode.PLAN])
def test_what_mode_and_rules_allow_is_asked_about_with_the_fault(root, mode):
    assert decided(gate_of(root), root, "ls", mode).decision is Decision.ALLOW
    verdict = decided(gate_of(root, faults=[FAULT], allow=["bash(ls)"]), root, "ls", mode)
    assert (verdict.decision, verdict.remedy) == (Decision.ASK, "")
    assert FAULT in verdict.because


def test_what_is_denied_stays_denied(root):
    verdict = decided(gate_of(root, faults=[FAULT], deny=["bash(rm *)"]), root, "rm x")
    assert verdict.decision is Decision.DENY


@pytest.mark.parametrize("kept", [{"deny": ["bash("]}, {"ask": ["nosuch"]}, {"deny": [3]}, {"deny": "bash(rm *)x"}])
def test_a_stored_limit_that_cannot_be_read_is_one(root, tmp_path, kept):
    grants = tmp_path / "grants.json"
    grants.write_text(json.dumps({"always": kept}))
    gate = gate_of(root, grants=grants)
    assert len(gate.faults) == 1
    assert str(grants) in gate.faults[0]
    assert decided(gate, root, "ls").decision is Decision.ASK


def test_a_stored_rule_that_allows_and_cannot_be_read_takes_nothing_away(root, tmp_path):
    grants = tmp_path / "grants.json"
    grants.write_text(json.dumps({"always": {"allow": ["bash("], "deny": ["bash(rm *)"]}}))
    gate = gate_of(root, grants=grants)
    assert gate.faults == ()
    assert decided(gate, root, "rm x").decision is Decision.DENY


@pytest.mark.parametrize("text", ["{", "[]", "[" * 100_000, "\udc80"])
def test_a_damaged_file_of_stored_rules_is_said_asked_about_and_never_written_over(root, tmp_path, text):
    grants = tmp_path / "grants.json"
    grants.write_text(text, errors="surrogateescape")
    before = grants.read_bytes()
    gate = gate_of(root, grants=grants)
    assert decided(gate, root, "ls").decision is Decision.ASK
    with pytest.raises(ConfigError, match="cannot be read"):
        load_grants(grants, root)
    with pytest.raises(OSError, match="damaged"):
        store_grants(grants, root, [Grant(rule="bash(ls)", scope=Scope.ALWAYS)])
    assert grants.read_bytes() == before


def test_no_file_of_stored_rules_is_none_that_is_damaged(root, tmp_path):
    assert gate_of(root, grants=tmp_path / "none" / "grants.json").faults == ()
