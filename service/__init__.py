"""The running system: receives comments, queues them, judges them, shows them to moderators."""
