"""Languages: analysis of text, scripts, detection, masking, translation and a glossary."""
