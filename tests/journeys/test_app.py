"""The whole program in a real terminal: see the diff, approve, deny, steer, stop, quit."""

import json
import os
import signal

import pytest

from tests.journeys.conftest import NAP, PROGRAM, UNTIL_GO, sleeping
from tests.server.replies import Call, Reply, Say

pytestmark = [pytest.mark.journey, pytest.mark.timeout(120)]

READ = Call("read", {"path": "cart.py"})
FIX = {"path": "cart.py", "old": "full / (1 + discount)", "new": "full * (1 - discount)"}


def send(terminal, text):
    terminal.wait("›")
    terminal.type(text)
    terminal.press("enter")


def results_of(request):
    return json.dumps(request.messages[-1])


def test_an_edit_is_shown_as_a_diff_and_written_when_approved(place, model_server):
    model_server.reply(
        Reply(parts=(READ,)),
        Reply(parts=(Say("Here is the fix."), Call("edit", FIX))),
        Reply(parts=(Say("All done."),)),
    )
    with place.open() as terminal:
        send(terminal, "fix the total")
        terminal.wait(r"[-−] +return full / \(1 \+ discount\)")
        terminal.wait(r"\+ +return full \* \(1 - discount\)")
        assert "1 + discount" in (place.root / "cart.py").read_text()
        terminal.wait_for_answer("y approve")
        terminal.type("y")
        terminal.wait("All done")
        assert "1 - discount" in (place.root / "cart.py").read_text()
        terminal.press("ctrl+d")
        assert terminal.wait_for_exit() == 0


def test_all_that_a_turn_does_is_on_the_screen_when_it_is_over(place, model_server):
    look = Reply(parts=(Say("First look."), READ))
    again = Reply(parts=(Say("Second look."), Call("read", {"path": "cart.py", "limit": 2})))
    model_server.reply(look, again, Reply(parts=(Say("Seen twice."),)))
    with place.open(columns=80, lines=24) as terminal:
        terminal.wait("sandbox")
        send(terminal, "look")
        terminal.wait("Seen twice")
        for shown in ("First look", "Second look", "✓ read"):
            terminal.wait(shown)


def test_a_denial_with_a_reason_reaches_the_model(place, model_server):
    model_server.reply(Reply(parts=(Call("bash", {"command": "rm cart.py"}),)), Reply(parts=(Say("Then I won't."),)))
    with place.open() as terminal:
        send(terminal, "clean up")
        terminal.wait("rm cart.py")
        terminal.wait_for_answer("t deny and say why")
        terminal.type("t")
        terminal.wait("why not, for the model")
        terminal.type("we still need it")
        terminal.press("enter")
        terminal.wait("Then I won't")
        assert (place.root / "cart.py").exists()
        assert "we still need it" in results_of(model_server.requests[-1])


def test_a_message_typed_while_a_command_streams_reaches_the_model_after_it(place, model_server):
    command = f"echo line 1; echo line 2; {UNTIL_GO}; echo line 3; touch ended"
    model_server.reply(Reply(parts=(Call("bash", {"command": command}),)), Reply(parts=(Say("I have read it."),)))
    with place.open("--allow", "bash(*)", "--mode", "auto", "--sandbox", "off") as terminal:
        send(terminal, "run the loop")
        terminal.wait("line 2")
        terminal.type("also check the tests")
        terminal.press("enter")
        terminal.wait("queued: “also check the tests”")
        (place.root / "go").touch()
        terminal.wait("I have read it")
        assert "also check the tests" in results_of(model_server.requests[-1])
        assert "line 3" in results_of(model_server.requests[-1])
        assert model_server.refusals == []


def test_alt_enter_queues_for_later_on_a_plain_terminal(place, model_server):
    model_server.reply(
        Reply(parts=(Call("bash", {"command": UNTIL_GO}),)),
        Reply(parts=(Say("First answer."),)),
        Reply(parts=(Say("Second answer."),)),
    )
    with place.open("--mode", "auto", "--sandbox", "off") as terminal:
        send(terminal, "wait a little")
        terminal.wait("until")
        terminal.type("and then this")
        terminal.press("alt+enter")
        terminal.wait("later: “and then this”")
        (place.root / "go").touch()
        terminal.wait("Second answer")
        assert "and then this" not in results_of(model_server.requests[1])
        assert "and then this" in results_of(model_server.requests[2])


def test_esc_stops_a_long_command_with_no_process_left_and_gives_queued_text_back(place, model_server):
    model_server.reply(Reply(parts=(Call("bash", {"command": f"touch begun; {NAP}71 & {NAP}72"}),)))
    with place.open("--mode", "auto", "--sandbox", "off") as terminal:
        send(terminal, "wait for ever")
        terminal.wait_for_file(place.root / "begun")
        terminal.type("do not lose me")
        terminal.press("alt+enter")
        terminal.wait("later: “do not lose me”")
        terminal.press("esc")
        terminal.wait("[Ss]topped")
        terminal.wait("› do not lose me")
        assert sleeping(f"{NAP}7[12]") == []
        model_server.reply(Reply(parts=(Say("Heard."),)))
        terminal.press("enter")
        terminal.wait("Heard")
        assert model_server.refusals == []


def test_keys_typed_before_the_question_has_the_keyboard_never_answer_it(place, model_server):
    model_server.reply(
        Reply(parts=(Call("bash", {"command": "touch answered"}),), delay=0.5), Reply(parts=(Say("Over."),))
    )
    with place.open() as terminal:
        send(terminal, "go")
        terminal.type("yes a y yes y all of it " * 3, pause=0.05)
        terminal.wait("touch answered")
        terminal.wait("yes a y yes y all of it yes a y yes y all of it yes a y yes y all of it")
        assert not (place.root / "answered").exists()


def test_a_file_saved_while_the_question_is_open_is_asked_about_anew(place, model_server):
    model_server.reply(Reply(parts=(READ,)), Reply(parts=(Call("edit", FIX),)), Reply(parts=(Say("Done."),)))
    with place.open() as terminal:
        send(terminal, "fix the total")
        terminal.wait(r"\+ +return full \*")
        cart = place.root / "cart.py"
        cart.write_text("# the person's own line\n" + cart.read_text())
        terminal.wait("own line")
        terminal.wait_for_answer("y approve")
        terminal.type("y")
        terminal.wait("Done")
        assert cart.read_text().startswith("# the person's own line\n")
        assert "1 - discount" in cart.read_text()


def test_a_rule_for_the_session_is_shown_before_it_is_stored_and_then_holds(place, model_server):
    model_server.reply(
        Reply(parts=(Call("bash", {"command": "touch one.txt"}),)),
        Reply(parts=(Call("bash", {"command": "touch one.txt"}),)),
        Reply(parts=(Say("Both done."),)),
    )
    with place.open() as terminal:
        send(terminal, "touch it twice")
        terminal.wait_for_answer("a always")
        terminal.type("a")
        terminal.wait(r"bash\(touch one.txt\)")
        terminal.wait_for_answer("1 or enter for this session")
        terminal.type("1")
        terminal.wait("Both done")


def test_without_a_key_the_welcome_says_what_to_do_and_offers_the_demo(place):
    place.environ.pop("CODEAGENT_MODEL")
    place.environ.pop("ANTHROPIC_API_KEY")
    with place.open() as terminal:
        terminal.wait("ANTHROPIC_API_KEY")
        terminal.wait("demo")


def test_the_demo_plays_through(place):
    with place.open("demo", lines=40) as terminal:
        terminal.wait("python3 -m unittest -v", 30)
        terminal.wait_for_answer("y approve")
        terminal.type("y")
        terminal.wait("FAILED", 30)
        terminal.wait(r"\+ +return round\(self.full_price\(\) \*", 30)
        terminal.wait_for_answer("y approve")
        terminal.type("y")
        terminal.wait("[-−] +def test_everything_off", 30)
        terminal.wait_for_answer("n deny")
        terminal.type("n")
        terminal.wait("long_check", 30)
        terminal.wait_for_answer("y approve")
        terminal.type("y")
        terminal.wait("batch +2 of 12", 30)
        terminal.type("please be quick")
        terminal.press("enter")
        terminal.wait("seen before", 30)
        terminal.wait_for_answer("y approve", 30)
        terminal.type("y")
        terminal.wait("That was a whole session", 30)
        terminal.press("ctrl+d")
        assert terminal.wait_for_exit() == 0
    assert list(place.root.iterdir()) == [place.root / "cart.py"]


def test_the_demo_hears_each_no(place):
    with place.open("demo", lines=40) as terminal:
        for heard in ("The tests did not run", "the totals stay wrong", "The test stays", "That check did not run"):
            terminal.wait("y approve", 30)
            terminal.wait_for_answer("n deny")
            terminal.type("n")
            terminal.wait(heard, 30)
        terminal.wait_for_answer("n deny", 30)
        terminal.type("n")
        terminal.wait("commands and changes that you saw", 30)
        terminal.press("ctrl+d")
        assert terminal.wait_for_exit() == 0


def test_the_terminal_is_given_back_clean_when_the_program_is_ended(place):
    with place.open() as terminal:
        terminal.wait("›")
        os.kill(terminal.pid, signal.SIGTERM)
        terminal.wait_for_exit()
        assert b"\x1b[?1049l" in terminal.raw
        assert b"\x1b[?25h" in terminal.raw


@pytest.mark.parametrize("editor", ["no-such-editor", "false"])
def test_an_editor_that_fails_gives_the_terminal_back(place, editor):
    with place.open(environ={"EDITOR": editor, "VISUAL": editor}) as terminal:
        terminal.wait("claude-test")
        terminal.type("a draft")
        terminal.press("ctrl+g")
        terminal.wait("did not start|exit code 1")
        terminal.type(" goes on")
        terminal.wait("a draft goes on")


def test_c_goes_on_with_the_conversation_whatever_was_typed_last(place, model_server):
    model_server.reply(Reply(parts=(Say("Nice to meet you."),)))
    with place.open() as terminal:
        send(terminal, "hello there")
        terminal.wait("Nice to meet you")
        terminal.type("!echo mine")
        terminal.press("enter")
        terminal.wait("^ +mine$")
        terminal.press("ctrl+d")
        assert terminal.wait_for_exit() == 0
    with place.open("-c") as terminal:
        terminal.wait("Nice to meet you")
        assert "damaged" not in terminal.text


def test_what_a_stopped_command_of_ones_own_had_said_stays_there_for_the_model_too(place, model_server):
    model_server.reply(Reply(parts=(Say("Nice to meet you."),)), Reply(parts=(Say("I see."),)))
    with place.open() as terminal:
        send(terminal, "hello there")
        terminal.wait("Nice to meet you")
        terminal.type("!echo begun $((40+2)); sleep 60")
        terminal.press("enter")
        terminal.wait("begun 42")
        terminal.press("esc")
        terminal.wait("stopped · ")
        assert "begun 42" in terminal.text
        terminal.press("ctrl+d")
        assert terminal.wait_for_exit() == 0
    with place.open("-c") as terminal:
        terminal.wait("stopped · ")
        assert "begun 42" in terminal.text
        send(terminal, "and now?")
        terminal.wait("I see")
    assert "begun 42\\n[stopped]" in json.dumps(model_server.requests[-1].messages)


def test_a_session_that_is_open_elsewhere_goes_on_as_a_copy(place, model_server):
    model_server.reply(Reply(parts=(Say("First."),)), Reply(parts=(Say("In the copy."),)))
    with place.open() as first:
        send(first, "hello")
        first.wait("First")
        with place.open("-c") as second:
            second.wait("open in another codeagent")
            second.press("enter")
            second.wait("A copy of the session")
            send(second, "and on")
            second.wait("In the copy")
    assert "hello" in json.dumps(model_server.requests[-1].messages)


def test_a_session_that_is_open_elsewhere_is_refused_without_a_screen_and_the_remedy_works(place, model_server):
    model_server.reply(Reply(parts=(Say("First."),)), Reply(parts=(Say("In the copy."),)))
    with place.open() as first:
        send(first, "hello")
        first.wait("First")
        refused = place.run("-c", "-p", "and on")
        assert refused.returncode == 1
        assert "--fork" in refused.stderr
        assert place.run("-c", "--fork", "-p", "and on").stdout == "In the copy.\n"


def test_a_call_that_a_kill_cut_off_is_shown_when_the_session_goes_on(place, model_server):
    model_server.reply(Reply(parts=(Say("Waiting."), Call("bash", {"command": "touch begun; sleep 81"}))))
    with place.open("--mode", "auto", "--sandbox", "off") as terminal:
        send(terminal, "wait")
        terminal.wait_for_file(place.root / "begun")
        os.kill(terminal.pid, signal.SIGKILL)
        terminal.wait_for_exit()
    with place.open("-c") as terminal:
        terminal.wait("Waiting")
        terminal.wait("bash +touch begun; sleep 81")


def test_resume_without_an_id_lists_the_sessions_and_goes_on_with_the_chosen_one(place, model_server):
    model_server.reply(*[Reply(parts=(Say(text),)) for text in ("One.", "Two.", "Back again.")])
    place.run("-p", "mend the totals")
    place.run("-p", "write the readme")
    with place.open("-r") as terminal:
        terminal.wait("write the readme")
        terminal.type("totals")
        terminal.wait_gone("write the readme")
        terminal.press("enter")
        terminal.wait("One\\.")
        send(terminal, "and now?")
        terminal.wait("Back again")
    assert "mend the totals" in json.dumps(model_server.requests[-1].messages)


def test_a_new_session_starts_with_nothing_and_the_old_one_can_be_opened_again(place, model_server):
    model_server.reply(*[Reply(parts=(Say(text),)) for text in ("One.", "Two.", "Three.")])
    with place.open() as terminal:
        send(terminal, "first words")
        terminal.wait("One\\.")
        send(terminal, "/new")
        terminal.wait("What shall we do")
        send(terminal, "second words")
        terminal.wait("Two\\.")
        assert "first words" not in json.dumps(model_server.requests[-1].messages)
        send(terminal, "/resume")
        terminal.wait("first words")
        terminal.press("enter")
        terminal.wait("One\\.")
        send(terminal, "third words")
        terminal.wait("Three\\.")
    assert "first words" in json.dumps(model_server.requests[-1].messages)


@pytest.mark.parametrize("milliseconds", range(100, 700, 100))
def test_a_signal_during_the_start_leaves_the_terminal_as_it_was(place, milliseconds):
    script = f"""
        before=$(stty -g)
        ( sleep {milliseconds / 1000}; pkill -TERM -P $$ -f codeagent ) &
        {" ".join(PROGRAM)}
        [ "$before" = "$(stty -g)" ] && echo the same || echo other
    """
    with place.run_script(script) as terminal:
        terminal.wait("the same|other", 30)
        assert "the same" in terminal.text
        if b"\x1b[?1049h" in terminal.raw:
            assert terminal.raw.rindex(b"\x1b[?1049l") > terminal.raw.rindex(b"\x1b[?1049h")


def test_a_terminal_that_cannot_draw_is_said(place):
    with place.open(environ={"TERM": "dumb"}) as terminal:
        assert terminal.wait_for_exit() == 2
        assert "-p" in terminal.text


def test_a_broken_config_ends_the_start_in_one_sentence(place):
    (place.home / "config").mkdir(parents=True)
    (place.home / "config/config.toml").write_text("[ui\n")
    with place.open("do this") as terminal:
        assert terminal.wait_for_exit() == 2
        said = "".join(terminal.text.replace("─", "").split())  # it goes over the end of a line, wherever that is
        assert "isnotvalidTOML" in said
        assert "do this" in terminal.text
