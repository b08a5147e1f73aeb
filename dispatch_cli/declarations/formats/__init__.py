"""The fields of declaration files: names, types and meanings."""
