"""Compares two states operator by operator, also across universes.

    old, new = Side(old_state), Side(new_state)            # sides.py: a state as it is compared; views of its operators
    slots = SlotComparison(old, new)                       # slots.py: what two tables answer, by pairs of patterns
    change = compare_operator(old.view(name), new.view(name), slots)      # operators.py: None where nothing differs
    changes = compare_states(old_state, new_state)         # states.py: everything at once

`Side.view` gives an `OperatorView`: schema, tags, alias analysis, the kernels of each key with their identities, Python
kernels. It is cheap for an operator of a captured state: no schema is parsed. `Side.slot` says what a slot holds.
`sides.same_kernel` is the one rule by which two states' kernels are the same.
"""
