"""Sites: settings, keys, lists, callbacks."""
