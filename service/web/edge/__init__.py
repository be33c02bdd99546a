"""Authentication, rate limits, request parsing, errors, headers and health checks."""
