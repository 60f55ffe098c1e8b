"""What happens next: the session, the loop, one tool call."""
