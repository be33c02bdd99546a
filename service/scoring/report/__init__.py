"""The results of an evaluation: collected as rows, measured by slice, written as Markdown."""
