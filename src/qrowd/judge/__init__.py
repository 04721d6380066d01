"""Language models as assessors: what they are asked, what comes back, and what of it is a judgment.

Only an answer becomes a judgment.
"""
