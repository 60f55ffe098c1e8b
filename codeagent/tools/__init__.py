"""What the model can do: read, write, edit, run commands, search."""
