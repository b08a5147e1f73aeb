"""The page in a real Chromium, driven over the DevTools protocol with the standard library alone."""
