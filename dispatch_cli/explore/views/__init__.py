"""Widgets that the views are made of, and the parts of the screen around them."""
