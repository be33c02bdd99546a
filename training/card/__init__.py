"""Cards of versions: figures, pages, provenance."""
