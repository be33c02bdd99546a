"""What an evaluation found: collected as columns, measured slice by slice, told in Markdown."""
