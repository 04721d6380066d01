"""The server for programs: progress, judging and exports as JSON, behind keys. `make_app` takes `ROUTES`.

GET   /api/v1/campaigns                                     those that the key opens
GET   /api/v1/campaigns/{campaign}                          how far it has come
GET   /api/v1/campaigns/{campaign}/{table}                  an export; ?format=, ?everything=true, ?names=true, ?arm=,
                                                            ?adjudicated=
GET   /api/v1/campaigns/{campaign}/assessors                those that programs speak for
POST  /api/v1/campaigns/{campaign}/assessors                {"name", "about"}: an assessor arrives
GET   /api/v1/campaigns/{campaign}/assessors/{assessor}/page    all that a person would see, and nothing else
POST  /api/v1/campaigns/{campaign}/assessors/{assessor}/act     {"do", ..., "shown", "key"}: an action

Every request carries a key: `Authorization: Bearer qrowd_...`. What is wrong is said as JSON: `code` is for programs,
`message` is one line for people, `field` names what it is about, `reference` where the log has more.
"""

from __future__ import annotations

from starlette.routing import BaseRoute

from qrowd_server.web.api import exports, judging
from qrowd_server.web.api.endpoints import routes_of

ROUTES: list[BaseRoute] = routes_of((*judging.ENDPOINTS, *exports.ENDPOINTS))
