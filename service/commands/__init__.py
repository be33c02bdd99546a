"""The command line, one group of commands a file."""
