"""Training: fits encoders and rerankers to judgments. Nothing heavy is imported before use."""
