"""Continuous fuzzing: mutated inputs for every reader, the interfaces and the library files."""
