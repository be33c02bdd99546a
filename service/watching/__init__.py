"""What operators watch: counters, their exposition, traces."""
