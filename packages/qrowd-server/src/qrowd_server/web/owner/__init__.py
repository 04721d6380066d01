"""The pages of a campaign's owner. `ROUTES` go into `make_app(routes=...)`, `LARGE` into its `large`.

context      the request of an owner, and routes for it      formatting   numbers and times as text
sign_in      login, the printed link, accounts, keys         oidc         sign-in with OpenID Connect
campaign_pages   all campaigns, a new one, and the progress of one
setup        what is judged and by whom                      results      decision, agreement, what to settle, files
assessors    one person, and how well all judge              decision     which system is better by the answers so far
review       answers to a document, questions of assessors
"""

from starlette.routing import BaseRoute

from qrowd_server.campaigns.plan.campaign_files import MAX_ZIP
from qrowd_server.web.owner import assessors, campaign_pages, oidc, results, review, setup, sign_in

LARGE = dict.fromkeys((campaign_pages.NEW, setup.SENT), MAX_ZIP + (1 << 20))  # bytes that a form may have
ROUTES: list[BaseRoute] = [
    *sign_in.ROUTES,
    *oidc.ROUTES,
    *results.ROUTES,
    *campaign_pages.ROUTES,
    *assessors.ROUTES,
    *review.ROUTES,
    *setup.ROUTES,
]
