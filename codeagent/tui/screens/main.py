"""The main screen: header, transcript, questions, queued messages, prompt and status line, one below the other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import ClassVar, Literal

from textual import events, messages, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

from codeagent.core.approvals import ApprovalRequest, CommandPreview
from codeagent.core.desk import Habits, Workbench
from codeagent.core.first_words import GREETING, MARKER
from codeagent.core.keys import Place
from codeagent.core.messages import Draft
from codeagent.tui.keys import QUIT, OwnKeysScreen, Window, answers_that_begin_words, bindings
from codeagent.tui.later import load_what_draws_replies
from codeagent.tui.screens.letters import Letters
from codeagent.tui.screens.typing import Typing
from codeagent.tui.themes import Palette
from codeagent.tui.widgets.approval import ApprovalDialog
from codeagent.tui.widgets.completion import CompletionList, nothing_fits
from codeagent.tui.widgets.diff_layout import Side
from codeagent.tui.widgets.drawn_question import Room
from codeagent.tui.widgets.find_bar import FindBar
from codeagent.tui.widgets.header import Header
from codeagent.tui.widgets.prompt import Prompt
from codeagent.tui.widgets.question_lines import asked_command_lines
from codeagent.tui.widgets.queue import QueueLines
from codeagent.tui.widgets.session_transcript import SessionTranscript
from codeagent.tui.widgets.status import StatusLine
from codeagent.tui.widgets.typed_before import typed_in

_REMARK_SECONDS = 3.0
_TALL = 20  # lines
_HUGE = 10_000  # characters
_DRAFT_SECONDS = 8.0
QUIET_SECONDS = 0.4
"""So long nothing may have been typed before a question takes the keyboard by itself."""


class MainScreen(OwnKeysScreen[None]):
    """Where the work is done. It also decides when a question may take the keyboard."""

    class PersonNeeded(Message):
        """A question waits, or a turn is over that took ``turn_seconds``."""

        def __init__(self, turn_seconds: float | None) -> None:
            super().__init__()
            self.turn_seconds = turn_seconds

    DEFAULT_CSS = """
    MainScreen { background: $background; color: $text; overflow: hidden; }
    MainScreen #greeting { width: 1fr; height: auto; padding: 1 3; color: $text-muted; }
    MainScreen #bottom { dock: bottom; height: auto; max-height: 100%; padding-bottom: 2; background: $background; }
    MainScreen.-tall #bottom { padding: 1 0 2 0; }
    MainScreen StatusLine { dock: bottom; }
    MainScreen #prompt-row { height: auto; padding: 0 1; }
    MainScreen #marker { width: 2; height: 1; color: $accent; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Place.ANYWHERE), QUIT]
    VERTICAL_BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-low"), (_TALL, "-tall")]  # noqa: RUF012 - as Textual has it
    AUTO_FOCUS = "Prompt"

    def __init__(
        self, *, root: Path, palette: Palette, reduced_motion: bool, vi: bool, keymap: Mapping[str, str]
    ) -> None:
        """``keymap`` holds the person's own keys by the names of the key table."""
        super().__init__()
        self.header = Header(root)
        self.greeting = Static(GREETING, id="greeting", markup=False)
        self.transcript = SessionTranscript(palette, reduced_motion=reduced_motion)
        self.completions = CompletionList()
        self.find_bar = FindBar()
        self.prompt = Prompt(self.completions, keymap, vi=vi)
        self.approval = ApprovalDialog(palette, home=self.prompt, keymap=keymap)
        self.status = StatusLine(reduced_motion=reduced_motion, keymap=keymap)
        self.queue_lines = QueueLines(take_back=self.status.keys["take-back"])
        self.transcript.name_key(self.status.keys["open-panel"])
        self._typing = Typing(self.prompt, self.approval, answers_that_begin_words(keymap))
        self._letters = Letters(self.prompt, lambda text: self.status.remark(text, _REMARK_SECONDS))
        self._last_typed, self._shows_key = 0.0, False
        self._quiet: Timer | None = None
        self._bench: Workbench | None = None
        self._habits = Habits()
        self._writing = Lock()
        self._edits_back = self._draft_remark = ""
        self._palette = palette
        self.drawn: Callable[[], None] = lambda: None
        """Called when the whole screen was drawn."""
        self.on_look: Callable[[str, str], None] = lambda _text, _pointed: None
        """Called with the text of the prompt, and the completion the person has gone to, when either is another one."""

    def compose(self) -> ComposeResult:
        """All that can be seen at first, from top to bottom."""
        lines = self.app.size.height  # pyright: ignore[reportUnknownMemberType] - of any app
        self.add_class("-tall" if lines >= _TALL else "-low")  # at once; Textual looks a moment later
        yield self.header
        yield self.greeting
        yield self.transcript
        with Vertical(id="bottom"), Horizontal(id="prompt-row"):
            yield Static(MARKER, id="marker", markup=False)
            yield self.prompt
        yield self.status

    async def furnish(self) -> None:
        """Adds the parts that nothing can be seen of at first; the first frame does not wait for them."""
        bottom = self.query_one("#bottom", Vertical)
        await bottom.mount(self.approval, self.queue_lines, self.completions, self.find_bar, before="#prompt-row")

    @property
    def unsent(self) -> Draft:
        """What was typed and did not reach the model yet: what is queued, in the prompt, and at a question."""
        texts = [*(message.text for message in self.queue_lines.queued), self.prompt.full_text, *self.approval.typed()]
        return self.prompt.draft_of("\n".join(text for text in texts if text.strip()))

    async def take_habits(self, bench: Workbench) -> tuple[tuple[Draft, ...], Draft]:
        """What the person chose before is so again, and what they choose is kept; what they typed, and their draft."""
        self._bench = bench
        self._habits = habits = await asyncio.to_thread(bench.habits)
        typed, draft, edits = await asyncio.to_thread(typed_in, bench)
        self._edits_back = f"your edit of {' and '.join(edits)}" if edits else ""
        if edits and not draft.text:
            self.status.remark(f"{self._edits_back} from before · ↑ brings it", _DRAFT_SECONDS)
        self.transcript.show_times(is_shown=habits.shows_times)
        self.run_worker(load_what_draws_replies, thread=True, group="load", description="loads what draws replies")
        self.approval.use_side(Side.BESIDE if habits.side_by_side else Side.BELOW)
        return typed, draft

    def on_question_pane_side_chosen(self, event: ApprovalDialog.SideChosen) -> None:
        """Keeps how changes are laid out."""
        self._keep(replace(self._habits, side_by_side=event.side is Side.BESIDE))

    def _keep(self, habits: Habits) -> None:
        self._habits = habits
        if self._bench is not None:
            keep = partial(self._write_habits, self._bench)
            self.run_worker(keep, thread=True, group="habits", exclusive=True, description="keeps a habit")

    def _write_habits(self, bench: Workbench) -> None:
        with self._writing:  # the last to write has the newest
            bench.keep_habits(self._habits)

    def set_palette(self, palette: Palette) -> None:
        """Draws with other colours what does not follow the theme by itself."""
        self._palette = palette
        self.transcript.set_palette(palette)
        self.approval.set_palette(palette)

    async def make_ready_for(self, request: ApprovalRequest) -> None:
        """Lays a huge command out on a thread, so that keys are heard until it is asked about."""
        preview = request.preview
        if isinstance(preview, CommandPreview) and len(preview.command) > _HUGE:
            await asyncio.to_thread(asked_command_lines, request, preview, Room(*self.size).line_width, self._palette)

    # --- painting

    async def _on_update(self, message: messages.Update) -> None:
        """Notes what shows that a key was heard: whoever has the keyboard looks different, or the turn is stopping."""
        is_stopping = message.widget is self.status and self.status.status.is_stopping
        self._shows_key = self._shows_key or is_stopping or (message.widget is self.focused is not self.transcript)
        if message.widget is self.transcript:
            self.status.turn_along()

    async def _on_idle(self, event: events.Idle) -> None:
        """Paints what was typed at once; all else waits for Textual's clock, so that it is painted together."""
        del event
        if self._shows_key:
            self._shows_key = False
            self._on_timer_update()
            self.transcript.make_room()

    # --- who has the keyboard

    async def keeps(self, event: events.Key | events.Paste) -> bool:
        """Looks at what is typed before anyone gets it, and keeps a letter of which it is not clear what it means."""
        screen = self.app.screen  # pyright: ignore[reportUnknownMemberType] - of any app
        if not self.is_active:
            return isinstance(screen, Window) and await self._letters.keep(event, screen)
        self._last_typed = events.Focus().time  # when it arrived here: an old key must not look like a quiet moment
        is_kept = self._typing.keeps(event)
        if not is_kept and (self.focused is None or self.transcript in self.focused.ancestors_with_self):
            is_kept = await self._letters.keep(event, self)
        self.consider_question()  # never at once, since something was just typed
        return is_kept

    def consider_question(self) -> None:
        """Gives a waiting question the keyboard once the prompt is empty and nothing was typed for a while."""
        if not self.approval.waiting or not self._prompt_rests:
            return
        quiet_for = events.Focus().time - self._last_typed
        if self._quiet is not None:
            self._quiet.stop()
            self._quiet = None
        if quiet_for < QUIET_SECONDS:
            self._quiet = self.set_timer(QUIET_SECONDS - quiet_for + 0.01, self.consider_question)
        else:
            self.approval.take_keyboard(by_itself=True)

    @property
    def _prompt_rests(self) -> bool:
        return self.is_active and self.focused in {self.prompt, None} and self.prompt.is_empty

    def on_resize(self) -> None:
        """What shows more on a larger screen does so also where its own size stays as it was."""
        self.call_after_refresh(self.completions.fit)
        if self.approval.waiting:
            self.call_after_refresh(self.approval.fit)

    def on_prompt_edited(self) -> None:
        """The question makes room when the prompt grows; a draft that is sent or cleared is not spoken of."""
        self.look_along()
        if self.prompt.is_empty and self.status.status.remark == self._draft_remark:
            self.status.forget_remark()
        if self.approval.waiting:
            self.call_after_refresh(self.approval.fit)

    def on_prompt_text_too_long(self) -> None:
        """The editor takes what the prompt does not."""
        editor = self.status.keys["editor"]
        self.status.remark(f"Too long to be opened here: {editor} writes it in $EDITOR", _REMARK_SECONDS)

    @on(Prompt.Remarked)
    @on(ApprovalDialog.Remarked)
    def remark(self, event: Prompt.Remarked | ApprovalDialog.Remarked) -> None:
        """Says it in the status line."""
        self.status.remark(event.text, _REMARK_SECONDS)

    def on_prompt_nothing_to_take(self, event: Prompt.NothingToTake) -> None:
        """A question that waits gets the keyboard; else the person stays, and learns why nothing happened."""
        if self.approval.waiting:
            self.action_next_pane()
        elif event.is_whole:
            self.prompt.end_word()
        else:
            self.status.remark(nothing_fits(event.word), _REMARK_SECONDS)

    def on_prompt_draft_back(self, event: Prompt.DraftBack) -> None:
        """Text that nobody typed just now says where it comes from."""
        does = "↑ brings it" if event.is_in_history else f"{self.status.keys['copy-or-quit']} clears"
        edits = f"↑ {self._edits_back}" if self._edits_back else ""
        remark, self._edits_back = " · ".join(filter(None, ("draft from before", event.lost, does, edits))), ""
        self.status.remark(remark, _DRAFT_SECONDS)
        self._draft_remark = "" if event.is_in_history else remark

    def on_prompt_vi_mode_changed(self, event: Prompt.ViModeChanged) -> None:
        """The status line says when keys are vi's commands."""
        self.status.show(replace(self.status.status, vi_mode=event.mode))

    def on_question_pane_turned(self) -> None:
        """Another question is in view: it has to earn the keyboard."""
        self.consider_question()

    def on_screen_resume(self) -> None:
        """Drawn for the first time, or again after another screen: a question may have come meanwhile."""
        self.call_next(self.drawn)  # which Textual does with this same event, after this
        self.status.show(replace(self.status.status, is_covered=False))
        self.consider_question()

    def on_screen_suspend(self) -> None:
        """Another screen names its own keys."""
        self.status.show(replace(self.status.status, is_covered=True))

    def on_descendant_focus(self) -> None:
        """The status line names the keys of whoever has the keyboard."""
        around = self.focused.ancestors_with_self if self.focused else ()
        reads, finds = self.transcript in around, self.find_bar.display and self.find_bar in around
        answers = self.approval.has_keyboard
        self.status.show(replace(self.status.status, is_answering=answers, is_reading=reads, is_finding=finds))

    def on_question_pane_looked_aside(self, event: ApprovalDialog.LookedAside) -> None:
        """Esc goes back to the question first."""
        self.status.show(replace(self.status.status, is_aside=event.is_aside))

    def action_next_pane(self) -> None:
        """Prompt, question, transcript, and round again."""
        panes: list[Widget] = [self.prompt, self.transcript]
        if self.approval.waiting:
            panes.insert(1, self.approval)
        ancestors = self.focused.ancestors_with_self if self.focused is not None else []
        at = next((index for index, pane in enumerate(panes) if pane in ancestors), -1)
        following = panes[(at + 1) % len(panes)]
        if following is self.approval:
            self.approval.take_keyboard(by_itself=False)
        else:
            self.set_focus(following)

    def action_focus_prompt(self) -> None:
        """Back to typing."""
        self.set_focus(self.prompt)

    # --- the transcript

    def call_for_person(self, turn_seconds: float | None = None) -> None:
        """Says that a question waits, or that a turn is over."""
        self.post_message(self.PersonNeeded(turn_seconds))

    def start_over(self) -> None:
        """An empty transcript below the greeting."""
        self.transcript.start_over()
        self.greeting.display = True

    def end_greeting(self) -> None:
        """The greeting goes when there is something to read."""
        self.greeting.display = False

    def action_toggle_panels(self) -> None:
        """Opens or closes all panels."""
        self.transcript.toggle_all()

    def action_scroll_page(self, by: int) -> None:
        """Scrolls by pages, keeping two lines in view."""
        self.transcript.scroll_relative(y=by * max(self.transcript.size.height - 2, 1), animate=False)

    def action_scroll_to(self, by: int) -> None:
        """Scrolls to the first or the last line."""
        if by < 0:
            self.transcript.scroll_home(animate=False)
        else:
            self.transcript.scroll_to_end()

    def action_toggle_times(self) -> None:
        """Shows when each thing happened, or does not; so it stays."""
        self._keep(replace(self._habits, shows_times=not self._habits.shows_times))
        self.transcript.show_times(is_shown=self._habits.shows_times)

    def action_find(self) -> None:
        """Opens the line in which one types what to find."""
        if self.find_bar.is_attached:
            self.find_bar.open()
            self.on_find_bar_sought(FindBar.Sought(self.find_bar.words))

    def on_find_bar_sought(self, event: FindBar.Sought) -> None:
        """Goes where the words stand; what is typed meanwhile is sought instead."""
        self.run_worker(partial(self._seek, event.words), group="find", exclusive=True)

    async def _seek(self, words: str) -> None:
        self.find_bar.show(await self.transcript.seek(words))

    def action_find_next(self, by: int) -> None:
        """The next place above or below."""
        self.run_worker(partial(self._find_next, by), group="find")

    async def _find_next(self, by: int) -> None:
        self.find_bar.show(await self.transcript.find_next("previous" if by < 0 else "next"))

    def action_end_find(self, stays: bool) -> None:  # noqa: FBT001 - an action's arguments have no names
        """Leaves the search: for the panel where it stands, or back to where it began."""
        self.workers.cancel_group(self, "find")  # pyright: ignore[reportUnknownMemberType] - a list of all kinds
        self.find_bar.close()
        self.transcript.end_search(stays=stays)
        self.set_focus(self.transcript if stays else self.prompt)
        self.consider_question()

    def action_choose_panel(self, which: Literal["previous", "next"]) -> None:
        """Points at the panel above or below."""
        self.transcript.choose(which)

    def action_toggle_panel(self) -> None:
        """Opens or closes the panel pointed at."""
        self.transcript.toggle_chosen()

    def action_pin_panel(self) -> None:
        """Keeps the panel pointed at open, or lets it go."""
        self.transcript.pin_chosen()

    @on(CompletionList.Looked)
    def look_along(self) -> None:
        """Tells what is typed, and what of the list the person has gone to."""
        self.on_look(self.prompt.text, self.completions.looked_at)

    def on_completion_list_turned(self) -> None:
        """The status line names the keys that the list takes."""
        is_open, was_moved = self.completions.is_open, self.completions.was_moved
        self.status.show(replace(self.status.status, is_completing=is_open, is_choosing=is_open and was_moved))

    def on_completion_list_pointed(self, event: CompletionList.Pointed) -> None:
        """Reads the beginning of the file that is pointed at; what is pointed at next is read instead."""
        if self._bench is not None:
            show = partial(self._show_glimpse, self._bench, event.path, event.lines)
            self.run_worker(show, group="glimpse", exclusive=True, description="looks into a file")

    async def _show_glimpse(self, bench: Workbench, path: str, lines: int) -> None:
        self.completions.show_glimpse(path, await bench.glimpse(path, lines))

    def on_completion_list_clicked(self, event: CompletionList.Clicked) -> None:
        """Takes the clicked suggestion."""
        self.prompt.take(event.suggestion)
        self.prompt.focus()
