"""The command line; each module holds one group of commands."""
