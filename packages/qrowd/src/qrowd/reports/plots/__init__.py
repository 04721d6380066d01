"""Pictures, one function each: results in, Matplotlib axes out, ready for a paper. One style (`style`)."""
