"""Retrieval: from queries to scored posts or formulas, each retriever in its own file."""
