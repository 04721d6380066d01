"""Slow second implementations, in obvious loops and without qrowd or numpy, for the fast ones to be checked against."""
