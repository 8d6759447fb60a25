"""The `acepoint` command: one module a subcommand, each a frozen dataclass with a `run` method.

The fields are the arguments and their docstrings the help. A module imports what is slow to load
inside `run`, so that `--help` and bad arguments answer at once.
"""
