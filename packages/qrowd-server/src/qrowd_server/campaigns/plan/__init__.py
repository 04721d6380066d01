"""What a campaign is made from: its settings, topics and documents, read and checked before anything is written."""
