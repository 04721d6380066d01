"""Ferrante, Ferro & Maistro (2017), AWARE: Exploiting Evaluation Measures to Combine Multiple Assessors."""
