"""What the person set: every setting, and which source wins."""
