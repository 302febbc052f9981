"""Reranking: a model scores the question with each candidate and reorders them.

Nothing heavy is imported before a model is used.
"""

from mathsetu.ranking.rerank.reranker import CROSS_ENCODERS, Rerank, Reranker, check_reranker
from mathsetu.ranking.rerank.tiers import TIERS, Reranked

__all__ = ["CROSS_ENCODERS", "TIERS", "Rerank", "Reranked", "Reranker", "check_reranker"]
