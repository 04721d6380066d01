"""The pages of a campaign's owner. `ROUTES` go into `make_app(routes=...)`, `LARGE` into its `large`.

context      the request of an owner, and routes for it      formatting   numbers and times as text
sign_in      login, the printed link, accounts, keys               oidc         sign-in with OpenID Connect
campaign_pages   all campaigns, a new one, one as it runs; changing and deleting it, members, log
assessors    all, one of them                                invitations  links, panels
decision     which system is better by the answers so far    results      decision, agreement, files
review       answers, final answers, questions
"""

from starlette.routing import BaseRoute

from qrowd_server.web.owner import assessors, campaign_pages, invitations, oidc, results, review, sign_in

LARGE = campaign_pages.LARGE
ROUTES: list[BaseRoute] = [
    *sign_in.ROUTES,
    *oidc.ROUTES,
    *results.ROUTES,
    *campaign_pages.ROUTES,
    *assessors.ROUTES,
    *review.ROUTES,
    *invitations.ROUTES,
]
