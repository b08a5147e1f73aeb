"""Answers to questions, one room each: a report (plain data), its document (blocks) and what makes them."""
