"""What all readers of files share: problems, budgets, and a record of what was read."""
