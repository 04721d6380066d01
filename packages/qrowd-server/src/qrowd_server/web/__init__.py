"""The judging server: pages for assessors, pages for owners, a JSON API, and arrivals from panels.

serving      a running server from a database's address      app         routes, middleware, error pages
assessor     the assessor's page and its forms               owner       the pages of a campaign's owner
api          campaigns, judging and export for programs      panel       assessors from a panel such as Prolific
security, server, forms, problems                            settings, sign-in and rate limits, reading, refusals
rendering, texts, documents, downloads                       pages, their texts, files
"""
