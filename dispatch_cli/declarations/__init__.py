"""Declaration files: what they say, and everything that is wrong with them."""
