"""Where a campaign is kept: what happened, what it adds up to, and who may do what, in SQLite or PostgreSQL.

schema, migrate              the tables, and bringing a database up to date
engine                       open_store; base says what a store does, sqlite and postgres how, errors what can fail
events                       the log
sessions, accounts, settings the server's own: who a browser is, who may run campaigns, the secret
export, writers, backup      everything out again
"""
