"""The judging server: pages for assessors, pages for owners, a JSON API, and arrivals from crowd platforms.

serving      a running server from a database's address      app         routes, middleware, error pages
assessor     the assessor's page and its forms               owner       the pages of a campaign's owner
api          campaigns, judging and export for programs      crowd       Prolific, Mechanical Turk, panels
security, server, forms, problems                            settings, sign-in and rate limits, reading, refusals
rendering, texts, highlight, downloads, payment    pages, their texts, files, payment codes
"""
