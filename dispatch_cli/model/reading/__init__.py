"""Problems, budgets and a record of what was read, for all readers of files."""
