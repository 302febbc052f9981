"""The interfaces that machines and browsers use: an API, pages, and tools for language models.

Every interface asks `mathsetu.service.engine` and shows what it says; none searches by itself.
"""
