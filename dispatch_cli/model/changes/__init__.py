"""Changes of a history of registrations: how they are named, and how they are made."""
