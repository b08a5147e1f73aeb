"""A terminal application that shows a state from all sides. Only this package imports textual."""
