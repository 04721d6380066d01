"""The pages of a campaign's owner. `ROUTES` go into `make_app(routes=...)`, `LARGE` into its `large`.

context      the request of an owner, and routes for it      formatting   numbers and times as text
sign_in      login, the printed link, accounts               oidc         sign-in with OpenID Connect
campaign_pages   all campaigns, a new one, one as it runs; changing and deleting it, members, log
assessors    all, one of them, agreement                     invitations  links, panels
decision     which system is better by the answers so far
export_page  files, keys for programs                        review       answers, final answers, questions
"""

from starlette.routing import BaseRoute

from qrowd_server.web.owner import assessors, campaign_pages, export_page, invitations, oidc, review, sign_in

LARGE = campaign_pages.LARGE
ROUTES: list[BaseRoute] = [
    *sign_in.ROUTES,
    *oidc.ROUTES,
    *export_page.ROUTES,
    *campaign_pages.ROUTES,
    *assessors.ROUTES,
    *review.ROUTES,
    *invitations.ROUTES,
]
