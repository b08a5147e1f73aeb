"""`check-invariants` over public projects as a new user runs it: one path and no options."""
