"""Changes that are tried out on a state, and what they lead to."""
