"""What we allow: rules, shell commands, the gate, trust.

How a shell command is judged, and where:

* ``gate``           asks the judge about each call, and a person where the judge does not decide
* ``judge``          answers for paths itself, and for each command with a ``command_case``
* ``commands``       finds all that a command would run: ``shell_*`` read its text, ``wrappers`` look into ``sh -c``
* ``read_only_*``    know by table and by program what changes nothing, and which files it reads (``reading``)
* ``named_paths``    says what stands against the files that are named, ``trees`` against whole folders
* ``fed_readers``, ``files_in_code``, ``run_in_texts``  follow names through pipes, code and texts
* ``git_*``          tell which programs git would run here, and what it would show
* ``losses``         say what would be lost (``destructive``), and whether that comes back
* ``beyond_sandbox`` knows what confinement does not hold
* ``rules``          are compared with all that was found
* ``effort``         bounds all of this: a line that is too much to look at is asked about
"""
