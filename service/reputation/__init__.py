"""What comments and senders are remembered by, how memory fades, and lists of senders; pure."""
