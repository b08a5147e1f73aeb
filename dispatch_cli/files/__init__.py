"""Access to files in the working tree, or in the tree of a git revision. Everything that reads files goes through it.

A file at a revision has the name ``REV:PATH``, as in git, with PATH from the top of the repository. Such names exist
once `asked.resolve` has opened their revision; `paths` does with them what ``os.path`` does with the others.
"""
