"""Mutation testing: how many deliberate faults the tests detect (`benchmarks.mutations`)."""
