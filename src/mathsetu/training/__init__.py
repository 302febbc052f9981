"""Training of encoders and rerankers on judgments; large libraries are imported when used."""
