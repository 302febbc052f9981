"""Deliberate faults: how many of them the tests notice (`python -m benchmarks.mutations`)."""
