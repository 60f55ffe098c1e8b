"""What is kept: the journal of each session, and finding them again."""
