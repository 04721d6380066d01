"""Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR."""
