"""What scripts/prove-on-gpu is made of."""
