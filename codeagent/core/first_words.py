"""The words of the first picture: the instant prompt shows them before the app is loaded, and then the app."""

NAME = "codeagent"
MARKER = "›"
PLACEHOLDER = "Ask for a change, or type / for commands, @ for files, ! for a shell command"
STARTING = "starting…"
WAITS_FOR = "the session to open"
AGAIN_QUITS = "again quits"
NO_SHELL = "no shell to go back to"
GOES_ON = " \t\n,.;:?!)"
"""What begins so goes on with a text that came back; all else that is typed right behind it is a line of its own."""
IDLE_HINTS = "enter send · ctrl+p commands · f1 keys"
ASK_BACKGROUND = "\x1b]11;?\x1b\\\x1b[c"
"""Asks the terminal for its background; every terminal answers the second question, so an end of waiting is known."""
BRING_TITLE_BACK = "\x1b[23;2t"
"""Titles of windows are a stack, as xterm has it."""
GREETING = """\
What shall we do?

Describe a change, or ask about the code.
@ names a file  ·  / lists the commands  ·  ! runs a shell command

Every change is shown before it happens."""


def end_of_path(path: str, most: int) -> str:
    """The end of a path, which says more than its beginning, in so many characters, from a / on where it can be."""
    if len(path) <= most:
        return path
    end = path[-(most - 1) :]
    _, _, whole = end.partition("/")
    return f"…/{whole}" if whole else f"…{end}"
