"""Says which packages a version was made with."""

from __future__ import annotations

# What a trained network depends on.
PACKAGES = ("torch", "transformers", "openvino", "tokenizers", "numpy", "scikit-learn")
