"""Training: fits encoders and rerankers to judgments. Large libraries are imported when used."""
