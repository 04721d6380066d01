"""A campaign is written as a folder that is read as the same campaign."""

import base64
import io
import zipfile
from dataclasses import replace

import pytest

from collect.campaigns.test_form import DOCUMENTS, PNG, SentFile, check_form, form
from qrowd.collect.campaigns.changing import planned_changes
from qrowd.collect.campaigns.creation import create_campaign, plan_of
from qrowd.collect.campaigns.demo import demo_plans
from qrowd.collect.campaigns.documents import DocumentPlan
from qrowd.collect.campaigns.folder import plan_from_zip
from qrowd.collect.campaigns.plan import Plan, TopicPlan
from qrowd.collect.campaigns.plan_folder import plan_zip
from qrowd.collect.protocols.settings import GradesSettings, PreferenceSettings
from qrowd.collect.store.engine import open_store
from qrowd.errors import ArgumentError


def rich() -> Plan:
    """A plan with two arms, an image, a page in its own styles, guidelines with a picture, and platforms."""
    image = base64.b64encode(PNG).decode()
    documents = (
        DocumentPlan("d1", "", "One", image=image),
        DocumentPlan("d2", "<style>p {color: red}</style><p>Two</p>", html=True, layout="sandbox"),
        DocumentPlan("d3", "a\n  b", layout="pre", language="de", url="https://example.org/3"),
        DocumentPlan("d4", "<p>Four</p>", "Fo\u2028ur", html=True),
    )
    labels = tuple(one.label for one in documents)
    return Plan(
        "rich",
        'Rich "one"',
        {"absolute": GradesSettings(k=4), "pairs": PreferenceSettings()},
        (TopicPlan("t1", "a topic", labels, "what", "why", context=("a", "b")), TopicPlan("t2", "other", labels[1:])),
        documents,
        3,
        crowd={"prolific": {"codes": {"completed": "C1"}, "verified": False, "audience": "", "study_id": "",
                            "jwks_url": "https://example.org/keys"}},
        guidelines="![a](pictures/a.png)",
        pictures={"pictures/a.png": image},
        retention_days=30.5,
        questions=False,
    )  # fmt: skip


def gold() -> Plan:
    known = SentFile("gold", "gold.csv", b"topic,document,grade,reason\nt1,d1,3,About bees.\nt2,d2,0,\n")
    values = form(gold__bonus="0.9 1.5", gold__tolerance="1", campaign__consent='Line\n\nline \\ "quoted"')
    plan = check_form(values, [DOCUMENTS, known]).plan
    assert plan is not None
    return plan


@pytest.mark.parametrize("plan", [*demo_plans(), rich(), gold()], ids=lambda plan: plan.name)
def test_a_folder_of_a_campaign_is_read_as_the_same_campaign(plan: Plan, tmp_path: object) -> None:
    assert plan_from_zip(plan_zip(plan)) == plan
    with open_store(tmp_path / "judgments.db") as store:
        number = store.write(lambda connection: create_campaign(connection, plan, 0.0))
        again = store.read(lambda connection: plan_of(connection, number))
        changed = plan_from_zip(plan_zip(again))
        assert store.read(lambda connection: planned_changes(connection, changed)).is_empty


def test_what_no_folder_can_say_is_refused() -> None:
    plan = rich()
    pages = (replace(plan.documents[0], image="", pages=(plan.documents[0].image,)), *plan.documents[1:])
    with pytest.raises(ArgumentError, match="'d1' was a PDF file"):
        plan_zip(replace(plan, documents=pages))


def test_the_files_have_the_usual_names() -> None:
    with zipfile.ZipFile(io.BytesIO(plan_zip(gold()))) as archive:
        assert set(archive.namelist()) == {"campaign.toml", "topics.jsonl", "documents.jsonl", "pool.txt", "gold.jsonl"}
