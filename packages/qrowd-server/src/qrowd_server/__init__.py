"""Collecting judgments: protocols, the store, campaigns and the judging server."""
