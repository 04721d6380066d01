"""Arrays in, arrays out: the loops everything else rests on. No labels, no files, no options with names."""
