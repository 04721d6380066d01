"""What an evaluation is made of: judgments, runs, scales, measures by name, scores. Frozen, columnar, no files."""
