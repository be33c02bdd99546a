"""What a comment is remembered by, how memory fades, and how records become a `History`; pure."""
