"""Language models as assessors: what they are asked, what comes back, and what of it is a judgment.

Only an answer becomes a judgment.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qrowd.judge.asking import Job as Job
    from qrowd.judge.asking import ModelAnswers as ModelAnswers
    from qrowd.judge.asking import ask_models as ask_models
    from qrowd.judge.asking import plan_job as plan_job
    from qrowd.judge.chat import ChatModel as ChatModel
    from qrowd.judge.exchange import Reply as Reply
    from qrowd.judge.exchange import Request as Request
    from qrowd.judge.function import FunctionModel as FunctionModel
    from qrowd.judge.outcome import Outcome as Outcome
    from qrowd.judge.outcome import Statuses as Statuses
    from qrowd.judge.prices import Prices as Prices
    from qrowd.judge.prompts import Prompt as Prompt
    from qrowd.judge.prompts import prompt as prompt
    from qrowd.judge.questions import read_document_texts as read_document_texts
    from qrowd.judge.questions import read_topic_texts as read_topic_texts
    from qrowd.judge.record import Record as Record
    from qrowd.judge.record import Recorded as Recorded

_HOME = {
    "ChatModel": "chat",
    "FunctionModel": "function",
    "Job": "asking",
    "ModelAnswers": "asking",
    "Outcome": "outcome",
    "Prices": "prices",
    "Prompt": "prompts",
    "Record": "record",
    "Recorded": "record",
    "Reply": "exchange",
    "Request": "exchange",
    "Statuses": "outcome",
    "ask_models": "asking",
    "plan_job": "asking",
    "prompt": "prompts",
    "read_document_texts": "questions",
    "read_topic_texts": "questions",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'qrowd.judge' has no attribute {name!r}")
    return getattr(import_module(f"qrowd.judge.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
