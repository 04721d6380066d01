"""The papers behind qrowd, one folder each, and the simulations behind its claims, recomputed."""
