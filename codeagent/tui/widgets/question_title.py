"""The line on top of a question: tool and object, how much changes, how sure the place is, how many wait."""

from __future__ import annotations

from textual.content import Content

from codeagent.core.approvals import ApprovalRequest, CommandPreview, DiffPreview, ProjectPreview, TextPreview
from codeagent.core.diff import ChangeKind
from codeagent.core.text import show_command, show_disguised
from codeagent.tui.widgets.lines import path_within

_SHORTEST_PATH = 16


def question_title(
    request: ApprovalRequest,
    width: int,
    waiting: str,
    *,
    rule_style: str,
    is_anew: bool,
    is_edited: bool,
    counts: tuple[int, int],
) -> Content:
    """The title in at most ``width`` cells; ``waiting`` stands at the right end of a rule.

    ``is_anew`` says that what was shown before was changed from outside, ``is_edited`` that the person is
    changing the proposal, ``counts`` how many lines come and go.
    """
    told = _told_of_edit(request, is_anew=is_anew) if is_edited else _told(request, counts, is_anew=is_anew)
    waiting = "" if is_edited else waiting
    room = max(width - len(waiting) - 3, 8) if waiting else width
    name = Content.styled(_name(request, room - told.cell_length), "bold $text")
    left = Content.assemble(name, told).truncate(room, ellipsis=True)
    if not waiting:
        return left
    rule = "─" * max(width - left.cell_length - len(waiting) - 2, 0)
    return Content.assemble(left, " ", (rule, rule_style), " ", waiting)


def _told_of_edit(request: ApprovalRequest, *, is_anew: bool) -> Content:
    """What stands behind the name while the person changes the proposal."""
    what = "change the command" if isinstance(request.preview, CommandPreview) else "change what is proposed"
    told = ("the file was changed just now by someone else", "$warning") if is_anew else (what, "$text-muted")
    return Content.assemble(" · ", told)


def _told(request: ApprovalRequest, counts: tuple[int, int], *, is_anew: bool) -> Content:
    """What stands behind the name."""
    told = Content()
    if isinstance(request.preview, DiffPreview):
        added, removed = counts
        told = Content.assemble((f"  +{added:,}", "$success"), " ", (f"−{removed:,}", "$error"))
    if is_anew:
        told = Content.assemble(told, " · ", ("changed just now by someone else", "$warning"))
    certainty, is_sure = _certainty(request)
    if certainty:
        told = Content.assemble(told, " · ", (show_disguised(certainty), "$text-muted" if is_sure else "$warning"))
    return told


def _name(request: ApprovalRequest, room: int) -> str:
    """The tool and its object in a few words, safe to show; of a path that has no room the end."""
    preview, tool = request.preview, show_disguised(request.tool)
    if isinstance(preview, DiffPreview):
        return f"{tool} {path_within(show_command(preview.diff.path), max(room - len(tool) - 1, _SHORTEST_PATH))}"
    if isinstance(preview, CommandPreview):
        return f"{tool} in the background" if preview.background else tool
    if isinstance(preview, TextPreview):
        return show_disguised(preview.title)
    if isinstance(preview, ProjectPreview):
        return f"Do you trust what {show_disguised(preview.root.name) or 'this folder'} brings along?"
    written = next((touch.written for touch in request.touches if touch.written), "")
    return f"{tool} {show_command(written)}".rstrip()


def _certainty(request: ApprovalRequest) -> tuple[str, bool]:
    """How sure the place of an edit is, in words, and whether that is beyond doubt."""
    preview = request.preview
    if not isinstance(preview, DiffPreview):
        return "", True
    if preview.diff.change is ChangeKind.CREATED:
        return "new file", True
    if request.tool == "write":
        return "whole file", True
    if request.tool != "edit":
        return "put back as it was", True
    return ("exact match", True) if preview.level == "exact" else (preview.level, False)
