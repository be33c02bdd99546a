"""What every SQL store uses: engine, types, statements, rows."""
