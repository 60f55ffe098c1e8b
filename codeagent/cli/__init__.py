"""How it starts: the command line, headless runs, the demo."""
