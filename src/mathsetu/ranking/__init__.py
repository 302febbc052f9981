"""Ranking: pure functions that turn the scores of several parts into one order."""
