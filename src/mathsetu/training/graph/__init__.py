"""Training of the graph encoder: pairs of texts, their graphs, the loss and the fit."""
