"""Fits what stands beside the network, and weighs all evidence."""
