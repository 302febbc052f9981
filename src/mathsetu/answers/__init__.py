"""Results of the library as plain values, with the same JSON in every interface."""
