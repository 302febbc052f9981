"""Measurements that are too slow or too particular for the tests."""
