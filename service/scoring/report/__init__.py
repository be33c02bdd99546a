"""The results of an evaluation: collected as columns, measured by slice, written as Markdown."""
