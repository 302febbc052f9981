"""Training of the graph encoder: pairs, graphs of them, losses, the fit and experiments."""
