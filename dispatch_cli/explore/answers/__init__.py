"""What the views show, as plain functions: a report, and the command line that prints it. Nothing imports textual."""
