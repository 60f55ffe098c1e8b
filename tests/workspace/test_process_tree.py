from codeagent.workspace.process_tree import parse_ps

LISTING = """
    1     0     1 Ss   /sbin/launchd
  500     1   500 Ss   bash --noprofile --norc -c make HOME=/h CODEAGENT_COMMAND=7:0:3 TERM=dumb
  501   500   500 S    sleep 5
  502   501   502 S    helper --quiet
  503     1   503 S    daemon -d CODEAGENT_COMMAND=7:0:3
  504     1   504 S    daemon -d CODEAGENT_COMMAND=7:0:30
  505   500   500 Z    (gone)
  506     1   506 S    unrelated
"""


def is_ours(mark):
    return mark == "7:0:3"


def test_where_there_is_no_proc_members_are_found_by_mark_group_and_descent():
    found = parse_ps(LISTING, is_ours, 500)
    assert [member.pid for member in found] == [500, 501, 502, 503]


def test_without_a_shell_only_the_mark_counts():
    found = parse_ps(LISTING, is_ours)
    assert [member.pid for member in found] == [500, 503]


def test_a_name_from_ps_stops_before_the_mark():
    assert str(parse_ps(LISTING, is_ours, 500)[3]) == "daemon -d (pid 503)"
