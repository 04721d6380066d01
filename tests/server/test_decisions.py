"""The page of decisions names the defaults that are in force."""

import json
import re
from dataclasses import fields
from pathlib import Path

from qrowd_server.campaigns.plan.plan import Plan
from qrowd_server.protocols.settings import SETTINGS, JourneySettings

PAGE = Path(__file__).parents[2] / "docs" / "decisions.md"


def test_each_default_among_the_decisions_on_protocols_is_the_default():
    section = PAGE.read_text().partition("## Protocols\n")[2].partition("\n## ")[0]
    columns = [line.split("|")[2] for line in section.splitlines() if line.startswith("| ")]
    stated = [(key, json.loads(value)) for cell in columns for key, value in re.findall(r"`(\w+)=([^`]+)`", cell)]
    assert len(stated) >= 12
    for key, value in stated:
        kinds = [kind for kind in (*SETTINGS.values(), JourneySettings, Plan) if key in kind.__dataclass_fields__]
        defaults = [field.default for kind in kinds for field in fields(kind) if field.name == key]
        assert value in defaults, (key, value, defaults)
