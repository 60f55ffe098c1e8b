"""What the machine allows: paths, files, locks, processes, git."""
