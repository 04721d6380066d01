"""The server for programs: campaigns, judging and export as JSON, behind keys.

Thin like every face: a route reads what came, calls one function of `campaigns` or `store`, and writes what it says.

    keys        who asks, and what their key opens
    bodies      JSON that comes in: small, flat enough, each name once
    shapes      actions read from JSON, pages and receipts written as JSON
    schemas     JSON Schema of dataclasses, so that it cannot differ from them
    operations  what an operation is, and how one becomes a route
    campaigns, judging, exports     the operations
    document    all of them as OpenAPI, and as a page for people
    routes      what `make_app` takes: ROUTES and LARGE
"""
