"""The list of permission rules: what holds and where it is kept, with a line to add one and a key to take one out."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from codeagent.core.approvals import Decision, Scope
from codeagent.core.desk import StoredRule, Workbench
from codeagent.core.errors import CodeagentError
from codeagent.core.text import show_invisible
from codeagent.tui.keys import Window
from codeagent.tui.screens.pages import hung
from codeagent.tui.screens.picker import OptionRows
from codeagent.tui.widgets.text_field import LineField, read_back

_WIDEST = 120
_AROUND, _FRAME = 2, 4
_MOST_ROWS = 12
_SCOPES = (Scope.SESSION, Scope.PROJECT, Scope.ALWAYS)
_SCOPE_WORDS = {
    Scope.ONCE: "once",
    Scope.SESSION: "this session",
    Scope.PROJECT: "this project",
    Scope.ALWAYS: "every project",
}
_STYLES = {Decision.DENY: "$error", Decision.ASK: "$warning", Decision.ALLOW: "$success"}
_CORNERS = 6
_ADDING = ("tab how long", "enter store", "esc back")
_NONE = "There are no rules: the mode alone decides."
_HINT = "allow bash(pytest *), ask edit(src/**), deny read(*.log) …"


class RulesScreen(Window[None]):
    """All rules in force; those of the settings are only shown. What is changed holds at once."""

    DEFAULT_CSS = """
    RulesScreen { align: center middle; background: $veil; &:ansi { background: $veil; } }
    RulesScreen > Vertical {
        width: 100%; max-width: 120; height: auto; max-height: 100%; margin: 1; padding: 0 1;
        background: $surface; border: round $accent;
        border-title-color: $text; border-title-background: $surface;
        border-subtitle-color: $text-muted; border-subtitle-background: $surface;
    }
    RulesScreen.-roomy > Vertical { margin: 2 1; }
    RulesScreen OptionList, RulesScreen OptionList:focus {
        border: none; height: auto; max-height: 12; padding: 0; background: $surface; color: $text;
        scrollbar-size-vertical: 1;
        & > .option-list--option-highlighted {
            background: $screen-selection-background; color: $text; text-style: bold;
        }
    }
    RulesScreen Input, RulesScreen Input:focus { border: none; height: 1; padding: 0; background: $surface; }
    RulesScreen #new { display: none; height: auto; border-top: solid $rule; }
    RulesScreen.-adding #new { display: block; }
    RulesScreen #about { height: auto; min-height: 2; color: $text-muted; border-top: solid $rule; }
    RulesScreen.-empty #new, RulesScreen.-empty #about { border-top: none; }
    RulesScreen.-empty #about { min-height: 1; }
    """
    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", show=False, priority=True),  # at once: what follows is for the screen below
        Binding("q", "close", show=False),
        Binding("a", "add", show=False),
        Binding("x,delete", "remove", show=False),
        Binding("u", "put_back", show=False),
        Binding("tab", "next_scope", show=False, priority=True),
        Binding("down,j", "move(1)", show=False),
        Binding("up,k", "move(-1)", show=False),
    ]

    def __init__(self, bench: Workbench) -> None:
        super().__init__()
        self._bench = bench
        self._rules: tuple[StoredRule, ...] = ()
        self._removed: list[StoredRule] = []
        self._scope = Scope.PROJECT
        self._list = OptionRows()
        self._list.can_focus = False
        self._input = LineField(placeholder=_HINT, select_on_focus=False)
        self._input.cursor_blink = False
        self._about = Static(markup=False, id="about")

    def compose(self) -> ComposeResult:
        """The list, the line to type a rule in, and what is chosen or typed in words."""
        with Vertical() as box:
            box.border_title = Content("Permissions")
            yield self._list
            with Vertical(id="new"):
                yield self._input
            yield self._about

    def on_mount(self) -> None:
        """Shows what holds."""
        self._list_rules()
        self._to_list()

    def on_resize(self) -> None:
        """Rows are made for the width, and as many keys named as fit."""
        self._list_rules()
        self._name_keys()

    def action_move(self, by: int) -> None:
        """Another rule, stopping at the ends."""
        if self._rules and self._list.highlighted is not None and not self._is_adding:
            self._list.highlighted = min(max(self._list.highlighted + by, 0), len(self._rules) - 1)

    @on(OptionList.OptionHighlighted)
    def _looked_at(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        if not self._is_adding:
            self._say_chosen()

    def action_add(self) -> None:
        """Opens the line for a new rule."""
        self.add_class("-adding")
        self._name_keys()
        self._input.focus()
        self._explain(self._input.whole_text)

    def action_next_scope(self) -> None:
        """Another time for which the new rule is to hold."""
        if self._is_adding:
            self._scope = _SCOPES[(_SCOPES.index(self._scope) + 1) % len(_SCOPES)]
            self._explain(self._input.whole_text)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._explain(read_back(event.value))

    @on(Input.Submitted)
    async def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        decision, rule = _parts(read_back(event.value))
        try:
            self._bench.rule_meaning(decision, rule)
            await self._bench.add_rule(decision, rule, self._scope)
        except CodeagentError as error:
            self._about.update(Content.styled(show_invisible(str(error)), "$warning"))
            return
        self._input.value = ""
        self._list_rules()
        self._to_list()
        added = [at for at, one in enumerate(self._rules) if (one.decision, one.rule) == (decision, rule)]
        self._list.highlighted = added[-1] if added else self._list.highlighted

    async def action_remove(self) -> None:
        """Takes the chosen rule out; ``u`` brings it back."""
        rule = self._chosen
        if rule is None or self._is_adding:
            return
        try:
            await self._bench.remove_rule(rule)
        except CodeagentError as error:
            self._about.update(Content.styled(show_invisible(str(error)), "$warning"))
            return
        self._removed.append(rule)
        self._list_rules()
        self._say_chosen()

    async def action_put_back(self) -> None:
        """Stores the rule again that was last taken out here."""
        if not self._removed or self._is_adding:
            return
        rule = self._removed.pop()
        try:
            await self._bench.add_rule(rule.decision, rule.rule, rule.scope)
        except CodeagentError as error:
            self._about.update(Content.styled(show_invisible(str(error)), "$warning"))
            return
        self._list_rules()
        self._say_chosen()

    def action_back(self) -> None:
        """Leaves the line for a new rule, or the list."""
        if self._is_adding:
            self._to_list()
        else:
            self.dismiss()

    def action_close(self) -> None:
        """Leaves."""
        self.dismiss()

    @property
    def _is_adding(self) -> bool:
        return self.has_class("-adding")

    @property
    def _box(self) -> Vertical:
        return self.query_exactly_one("RulesScreen > Vertical", Vertical)

    @property
    def _chosen(self) -> StoredRule | None:
        at = self._list.highlighted
        return self._rules[at] if at is not None and at < len(self._rules) else None

    def _to_list(self) -> None:
        self.remove_class("-adding")
        self.set_focus(None)
        self._say_chosen()

    def _list_rules(self) -> None:
        at = self._list.highlighted or 0
        self._rules = self._bench.rules()
        self._list.clear_options()
        self._list.add_options([Option(self._row(rule)) for rule in self._rules])
        self._list.highlighted = min(at, len(self._rules) - 1) if self._rules else None
        self._list.display = bool(self._rules)
        self.set_class(not self._rules, "-empty")

    def _row(self, rule: StoredRule) -> Content:
        room = min(self.size.width - _AROUND, _WIDEST) - _FRAME - (len(self._rules) > _MOST_ROWS)
        held = "settings" if not rule.can_be_removed else _SCOPE_WORDS[rule.scope]
        right = Content.styled(f"  {held}", "$text-muted")
        decision = Content.styled(f"{rule.decision:<6} ", _STYLES[rule.decision])
        *above, last = hung(decision, Content(show_invisible(rule.rule)), room)
        if last.cell_length + right.cell_length > room:
            above, last = [*above, last], Content()
        gap = " " * (room - last.cell_length - right.cell_length)
        return Content("\n").join([*above, Content.assemble(last, gap, right)])

    def _say_chosen(self) -> None:
        """What the chosen rule covers, and where it is kept."""
        self._name_keys()
        rule = self._chosen
        removed = [f"Removed {self._removed[-1].rule}. u puts it back."] if self._removed else []
        if rule is None:
            self._about.update(Content("\n".join([_NONE, *map(show_invisible, removed)])))
            return
        try:
            meaning = self._bench.rule_meaning(rule.decision, rule.rule)
        except CodeagentError as error:
            meaning = str(error)
        if not rule.can_be_removed:
            where = "It stands in the settings or on the command line, and is changed there."
        elif rule.place:
            where = f"It is kept in {rule.place}."
        else:
            where = "It ends with this session."
        self._about.update(Content("\n".join(map(show_invisible, [meaning, where, *removed]))))

    def _name_keys(self) -> None:
        """The keys that do something now; where not all fit, the last."""
        rule = self._chosen
        keys = [
            *(["↑ ↓ choose"] if len(self._rules) > 1 else []),
            "a add",
            *(["x remove"] if rule is not None and rule.can_be_removed else []),
            *(["u put back"] if self._removed else []),
            "esc leave",
        ]
        if self._is_adding:
            keys = [*_ADDING]
        room = min(self.size.width - _AROUND, _WIDEST) - _CORNERS
        while len(" · ".join(keys)) > room and len(keys) > 1:
            del keys[0]
        self._box.border_subtitle = Content(" · ".join(keys))

    def _explain(self, text: str) -> None:
        """What the typed rule would cover, and for how long it would hold."""
        scope = Content.assemble("Holds for ", (_SCOPE_WORDS[self._scope], "$accent"), ".")
        decision, rule = _parts(text)
        if not rule:
            first = Content("Begin with allow, ask or deny; without one of them it is allow.")
        else:
            try:
                first = Content(show_invisible(self._bench.rule_meaning(decision, rule)))
            except CodeagentError as error:
                first = Content.styled(show_invisible(str(error)), "$warning")
        self._about.update(Content("\n").join([first, scope]))


def _parts(text: str) -> tuple[Decision, str]:
    """The outcome that a typed rule begins with, and the rule."""
    word, _, rest = text.strip().partition(" ")
    if word in set(Decision):
        return Decision(word), rest.strip()
    return Decision.ALLOW, text.strip()
