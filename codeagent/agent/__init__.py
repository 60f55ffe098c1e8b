"""What happens next: the session, the loop, one tool call, the history.

Read ``session.py`` (what a screen calls), ``loop.py`` (one turn), ``tool_call.py``
(one call in twelve numbered steps; the gate is asked in step 9); the other files
are what these three call.
"""
