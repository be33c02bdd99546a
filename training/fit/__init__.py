"""Fits the members other than the network, and the weights of all evidence."""
