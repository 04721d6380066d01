"""Where a campaign is kept: its events, what they add up to, and who may do what, in SQLite or PostgreSQL.

schema, migrate   the tables, and bringing a database up to date
engine            open_store; base says what a store does and what can fail, sqlite and postgres how
events            the log
state             what the log adds up to: assessors, assignments, answers
materials         what campaigns are made of
counts            rows added up: progress, and how assessors judge
accounts          who is who: accounts, keys, invitations, sessions; settings of the server
export, writers   everything out again
"""
