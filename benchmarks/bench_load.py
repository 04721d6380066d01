"""How long an answer takes while 1,000 assessors judge for 15 minutes, written by `make load`.

QROWD_LOAD_SECONDS is how long they judge. Fewer assessors judge where the machine cannot hold 1,000, which is said.
"""

from __future__ import annotations

import os

from bench_server import load
from side_by_side import finish

if __name__ == "__main__":
    before = os.getloadavg()[0]
    print(f"load average before: {before:.1f} on {os.cpu_count()} cores")
    load(float(os.environ.get("QROWD_LOAD_SECONDS", "900")))
    finish()
