from codeagent.core.approvals import Decision, VerdictPart


def shown(*words: str) -> str:
    return VerdictPart(words=words, decision=Decision.ASK, because="").shown


def test_each_word_of_a_command_is_told_apart():
    assert shown("git", "commit", "-m", "rename a to b") == 'git commit -m "rename a to b"'
    assert shown("grep", "", "a.py") == 'grep "" a.py'
    assert shown("echo", 'say "a b"') == "echo 'say \"a b\"'"


def test_a_command_that_is_no_list_of_words_stands_as_it_was_written():
    assert shown("for i in a b; do x; done") == "for i in a b; do x; done"
