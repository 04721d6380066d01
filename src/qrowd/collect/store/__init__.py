"""Where a campaign is kept: its events, what they add up to, and who may do what, in SQLite or PostgreSQL.

schema, migrate              the tables, and bringing a database up to date
engine                       open_store; base says what a store does and what can fail, sqlite and postgres how
events                       the log
materials, assessors, assignments, answers      rows of campaigns, and of what their events add up to
counts                       rows added up: progress, and how assessors judge
sessions, accounts           the server's own: who a browser is, settings, who may run campaigns
export, backup               everything out again
"""
