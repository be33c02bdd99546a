"""The processes of Slopsieve. Each starts, does one thing, and stops on a signal."""
