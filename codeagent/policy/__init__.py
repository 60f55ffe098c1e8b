"""What we allow: rules, shell commands, the gate, trust."""
