"""Reports that the views show: plain functions from a session and a place to a report and its command line."""
