"""What the library found, as every door gives it: plain values, and the same JSON everywhere."""
