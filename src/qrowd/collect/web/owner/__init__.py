"""What a campaign's owner sees and does. `ROUTES` go into `make_app(routes=...)`, `LARGE` into its `large`.

visits        who owns; what every page and form goes through     figures   numbers and times in words
doors         login, the printed link, logout                     campaigns all, a new one, one as it runs
people        assessors, one of them, agreement                   invitations  links, platforms, payment
taking_out    files, keys for programs
"""

from starlette.routing import BaseRoute

from qrowd.collect.web.owner import assessors, campaigns, export_page, invitations, login
from qrowd.collect.web.owner.login import owner_link

LARGE = campaigns.LARGE
ROUTES: list[BaseRoute] = [
    *login.ROUTES,
    *export_page.ROUTES,
    *campaigns.ROUTES,
    *assessors.ROUTES,
    *invitations.ROUTES,
]

__all__ = ["LARGE", "ROUTES", "owner_link"]
