"""Words of the owner's pages for what the program knows by a name: states, roles, columns. English, for catalogues."""

from __future__ import annotations

from typing import Final

from qrowd.collect.protocols.messages import N_

YES: Final = N_("yes")
NO: Final = N_("no")

STATUS: Final[dict[str, str]] = {
    "arrived": N_("arrived"),
    "consented": N_("consented"),
    "practised": N_("ready to judge"),  # also where no practice is asked for
    "qualified": N_("qualified"),
    "working": N_("working"),
    "check_failed_once": N_("looking again"),
    "completed": N_("completed"),
    "ended": N_("ended"),
    "screened_out": N_("screened out"),
    "submitted_to_platform": N_("submitted"),
    "paid": N_("paid"),
    "excluded": N_("excluded"),
    "open": N_("open"),
    "failed": N_("failed"),
    "expired": N_("expired"),
    "withdrawn": N_("withdrawn"),
    "running": N_("running"),
    "paused": N_("paused"),
    "stopped": N_("stopped"),
    "decided": N_("decided"),
}
PROTOCOL: Final[dict[str, str]] = {
    "magnitude": N_("magnitudes"),
    "grades": N_("grades"),
    "preference": N_("preferences"),
}
JUDGMENTS: Final = N_("Judgments")
ANSWERS: Final[dict[str, str]] = {"preference": N_("Preferences"), "": N_("Answers")}  # by protocol; else judgments

ROLE: Final[dict[str, str]] = {
    "administrator": N_("administrator"),
    "member": N_("member"),
    "owner": N_("owner"),
    "viewer": N_("viewer"),
    "none": N_("none"),
}
ACCOUNT: Final[dict[str, str]] = {  # that belong to nobody
    "Owner, by link": N_("Owner, by link"),
    "command line": N_("command line"),
}
LEVEL: Final[dict[str, str]] = {
    "nominal": N_("nominal"),
    "ordinal": N_("ordinal"),
    "interval": N_("interval"),
    "ratio": N_("ratio"),
}
PROVIDER: Final[dict[str, str]] = {
    "link": N_("link"),
    "panel": N_("panel"),
    "api": N_("program"),
    "model": N_("model"),
}
IDENTIFIED: Final[dict[str, str]] = {
    "link": N_("an invitation"),
    "url": N_("the address, without a signature"),
    "signed": N_("a signed address"),
    "key": N_("the key of a program"),
}
TABLE: Final[dict[str, str]] = {
    "judgments": N_("Judgments"),
    "preferences": N_("Preferences"),
    "duplicates": N_("Documents called the same"),
    "units": N_("Units"),
    "gold": N_("Gold questions"),
    "payment": N_("Payment"),
    "revisions": N_("Events"),
    "design": N_("Design"),
    "archive": N_("Archive"),
    "final": N_("Final answers"),
}
OUTCOME: Final[dict[str, str]] = {
    "completed": N_("completed"),
    "failed": N_("failed"),
    "screened_out": N_("screened out"),
    "practice_failed": N_("practice failed"),
    "declined": N_("declined"),
}
FATE: Final[dict[str, str]] = {  # of the answers and texts of a person who was deleted
    "keep": N_("kept"),
    "kept": N_("kept"),
    "withdraw": N_("withdrawn"),
    "withdrawn": N_("withdrawn"),
    "remove": N_("removed"),
    "removed": N_("removed"),
}
EVENT: Final[dict[str, str]] = {
    "changed": N_("changed the campaign"),
    "imported": N_("imported the campaign"),
    "person_deleted": N_("deleted a person"),
    "erased": N_("deleted a person"),
}
