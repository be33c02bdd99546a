"""The HTTP edge: reads requests, calls one use case a route, answers."""
