"""Calls of operators, and what is demanded of calls and tables: guards and promises."""
