"""MathSetu: search for mathematics across languages."""
