"""A campaign while it runs: units given out, answers taken, decisions of its owners; every change is an event."""
