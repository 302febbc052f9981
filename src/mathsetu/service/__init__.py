"""The service interfaces: an API, pages for browsers, and tools for language models.

Each of them calls `mathsetu.service.engine` and shows its answers; none searches by itself.
"""
