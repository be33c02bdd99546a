"""Values that every other room speaks in; nothing here can fail for outside reasons."""
