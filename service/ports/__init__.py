"""What use cases need from outside that has two adapters, as Protocols; what stores take and give.

Every adapter raises `StoreUnavailableError` when its backend cannot be reached in time, and
nothing else for outside reasons.
"""
