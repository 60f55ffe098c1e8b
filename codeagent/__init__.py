"""codeagent: a terminal coding agent that shows every change before it happens.

Which folder answers which question:

* ``core``       what are the things: messages, events, contracts, errors, diffs
* ``config``     what did the person set, and where
* ``workspace``  what does the machine allow: paths, files, locks, processes, git
* ``policy``     what do we allow: rules, shell commands, the gate, trust
* ``tools``      what can the model do
* ``providers``  who is the model
* ``agent``      what happens next: the session, the loop, one tool call
* ``store``      what is kept: the journal and the sessions
* ``tui``        what is seen
* ``cli``        how it starts
* ``wiring.py``  which concrete parts make one session

To learn the program, read ``core/events.py``, ``core/protocols.py``,
``agent/loop.py``, ``agent/tool_call.py`` and ``tui/bridge.py``, in that order.
"""

__version__ = "0.1.0"
