"""Systems against systems, from scores alone."""
