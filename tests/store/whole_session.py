"""A session that changes files in every way there is, takes all of it back, brings it back and takes it back again."""

from pathlib import Path

from codeagent.core.approvals import Mode
from codeagent.core.messages import ToolResult

EVERYWHERE = r"""
find . \( -name .git -prune \) -o -type f -size -2M -print0 | while IFS= read -r -d '' f; do
    case "$f" in ./.git) ;; *ignored*|*.tmp) ;; *) printf more >> "$f" ;; esac
done
chmod 700 a.txt; rm sub/b.txt; mkdir -p made/by; echo new > made/by/hand.txt; ln -sfn made new-link
"""
EXCHANGED = r"""
rm -r brand && echo file > brand
mkdir -p hand && mv made/by/hand.txt hand && rmdir made/by && ln -s ../hand made/by
rm new-link && mkdir new-link && echo in > new-link/in
mv a.txt a.moved && mkdir a.txt && mv a.moved a.txt/inner && mv a.txt A.TXT && mv A.TXT a.txt
ln -s a.txt/inner to-inner && rm -f link && mkdir -p link/deep
chmod 444 hand/hand.txt && chmod 555 hand && chmod 4711 a.txt/inner && chmod 1770 a.txt
"""
AWAY = r"""
chmod 755 hand
find . \( -name .git -prune \) -o \( -type f -o -type l \) -size -2M -print0 | while IFS= read -r -d '' f; do
    case "$f" in ./.git|*/.git) ;; *ignored*|*.tmp) ;; *) rm -- "$f" ;; esac
done
find . -depth -name .git -prune -o -type d -empty -not -path '*/.git/*' -print0 | xargs -0 rmdir 2> /dev/null; true
"""


def every_file_of_git(root: Path):
    """All of git's folders at and below a place: contents, kinds, modes and times of change.

    Objects, and the shared part of a split index, git itself marks as used whenever it reads them: their times go.
    """
    found = {}
    for path in sorted(root.rglob("*")):
        if ".git" in path.parts or "store.git" in path.parts:
            about = path.lstat()
            content = path.read_bytes() if path.is_file() and not path.is_symlink() else None
            is_marked = "objects" in path.parts or path.name.startswith("sharedindex.")
            found[str(path)] = (content, about.st_mode, 0 if is_marked else about.st_mtime_ns)
    return found


async def whole_session(ground, tree_of, *, between=lambda: None) -> None:
    """Changes the workspace of the ground in seven calls; each undo and redo must lead to the very tree of that time.

    ``between`` is called when everything was changed, before the first undo.
    """
    root = ground.root
    trees = [tree_of(root)]
    ground.mode = Mode.AUTO

    async def then(result: ToolResult) -> None:
        assert not result.is_error, result.text
        trees.append(tree_of(root))

    ground.turn(1)
    await then(await ground.write("a.txt", "written\nin two lines\n"))
    await then(await ground.edit("a.txt", "in two", "in more than two"))
    await then(await ground.write("brand/new.txt", "new\n"))
    ground.turn(2)
    await then(await ground.bash(EVERYWHERE))
    await then(await ground.bash(EXCHANGED))
    ground.reopen()
    ground.turn(3)
    await then(await ground.bash(AWAY))
    await then(await ground.write("anew.txt", "anew\n"))
    between()

    for number in range(len(trees) - 1, 0, -1):
        said = await ground.undo()
        assert tree_of(root) == trees[number - 1], (number, said)
    for number in range(1, len(trees)):
        said = await ground.redo()
        assert tree_of(root) == trees[number], (number, said)
    ground.reopen()
    await ground.timeline.carry_out(await ground.timeline.plan_rewind(1))
    assert tree_of(root) == trees[0]
