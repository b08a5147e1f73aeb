"""Support: for each operator, the outcome of a call in each context a user cares about, and the reason."""
