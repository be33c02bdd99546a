"""The review queue: lists, one comment, rulings, campaigns."""
