"""Studies: analyses that join rooms, one module for each paper they come from."""
