"""Commands that collect judgments; `qrowd` finds them by an entry point."""
