"""Languages: text to terms, scripts, detection, masking, translation and a glossary."""
