"""Where a campaign is kept: its events, what they add up to, and who may do what, in SQLite or PostgreSQL.

schema            the tables
engine            open_store, and bringing tables up to date; base says what a store does, sqlite and postgres how
events            the log
state             what the log adds up to: assessors, assignments, answers
materials         what campaigns are made of
counts            rows added up: progress, and how assessors judge
accounts          who is who: accounts, invitations, persons; sessions, keys and settings of the server
export, writers   everything out again
"""
