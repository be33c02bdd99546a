"""What operators watch: counters and their exposition."""
