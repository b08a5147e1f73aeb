"""Reports that the views show, plain functions from a session and a place, and their documents with what parts open."""
