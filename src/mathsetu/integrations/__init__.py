"""Integrations with other packages: one module for each, which imports the package.

    frames         runs, judgments and evaluations as data frames (pandas or polars)
    pyterrier      a transformer for PyTerrier pipelines
    langchain      a retriever for LangChain
    llama_index    a retriever for LlamaIndex

Each needs the extra of its name; data frames need pandas or polars (docs/integrations.md).
"""
