"""The edge for outgoing requests; the only one that calls URLs set by users."""
