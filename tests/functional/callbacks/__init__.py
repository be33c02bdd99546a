"""Tests of callbacks as sites and operators meet them."""
