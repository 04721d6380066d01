"""The people of a campaign: roles, what is kept of assessors, and how it goes."""
