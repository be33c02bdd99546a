"""Comments are judged, grouped, and judged by other versions."""
