"""The pages of a campaign's owner. `ROUTES` go into `make_app(routes=...)`, `LARGE` into its `large`.

context      the request of an owner, and routes for it      formatting   numbers and times as text
login        login, the printed link, logout                 campaigns    all, a new one, one as it runs
change       a campaign after its start
assessors    all, one of them, agreement                     invitations  links, platforms, payment
export_page  files, keys for programs
accounts     accounts, passwords                         oidc         sign-in with OpenID Connect
members      roles in a campaign, what owners did     review       answers, final answers, questions
"""

from starlette.routing import BaseRoute

from qrowd_server.web.owner import (
    accounts,
    assessors,
    campaigns,
    change,
    export_page,
    invitations,
    login,
    members,
    oidc,
    removal,
    review,
)

LARGE = {**change.LARGE, **campaigns.LARGE}
ROUTES: list[BaseRoute] = [
    *login.ROUTES,
    *accounts.ROUTES,
    *oidc.ROUTES,
    *members.ROUTES,
    *export_page.ROUTES,
    *campaigns.ROUTES,
    *change.ROUTES,
    *removal.ROUTES,
    *assessors.ROUTES,
    *review.ROUTES,
    *invitations.ROUTES,
]
