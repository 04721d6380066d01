"""What came of a campaign: exports, progress, quality, review."""
