"""Integrations with other programs: one module for each, which imports it when used.

    frames         runs, judgments and evaluations as data frames (pandas or polars)
    pyterrier      a transformer for PyTerrier pipelines
    langchain      a retriever for LangChain
    llama_index    a retriever for LlamaIndex

Each needs the extra of its name, except that data frames want pandas or polars, whichever is there
(docs/integrations.md).
"""
