"""What the use cases need from the outside, each as a Protocol whose docstrings are its contract.

Every adapter raises `StoreUnavailableError` when its backend cannot be reached in time, and
nothing else for outside reasons.
"""
