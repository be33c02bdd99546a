"""The values that all packages share; nothing here does I/O."""
