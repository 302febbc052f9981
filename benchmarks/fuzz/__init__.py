"""Continuous fuzzing: mutated inputs for every reader, the doors and the library files."""
