"""What things are: messages, events, contracts, errors, diffs and safe text."""
