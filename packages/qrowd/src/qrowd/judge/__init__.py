"""Language models as assessors: what they are asked, what comes back, and what of it is a judgment.

Only an answer becomes a judgment.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qrowd.judge.answers import read_reply as read_reply
    from qrowd.judge.asking import ask_models as ask_models
    from qrowd.judge.asking import plan_job as plan_job
    from qrowd.judge.batch_files import read_batches as read_batches
    from qrowd.judge.batch_files import write_batches as write_batches
    from qrowd.judge.chat import ChatModel as ChatModel
    from qrowd.judge.chat import FunctionModel as FunctionModel
    from qrowd.judge.exchange import Model as Model
    from qrowd.judge.prompts import Prompt as Prompt
    from qrowd.judge.prompts import built_in_prompts as built_in_prompts
    from qrowd.judge.prompts import prompt as prompt
    from qrowd.judge.questions import read_document_texts as read_document_texts
    from qrowd.judge.questions import read_topic_texts as read_topic_texts
    from qrowd.judge.record import Record as Record
    from qrowd.judge.running import AskOptions as AskOptions

_HOME = {
    "AskOptions": "running",
    "ChatModel": "chat",
    "FunctionModel": "chat",
    "Model": "exchange",
    "Prompt": "prompts",
    "Record": "record",
    "ask_models": "asking",
    "built_in_prompts": "prompts",
    "plan_job": "asking",
    "prompt": "prompts",
    "read_batches": "batch_files",
    "read_document_texts": "questions",
    "read_reply": "answers",
    "read_topic_texts": "questions",
    "write_batches": "batch_files",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'qrowd.judge' has no attribute {name!r}")
    thing = getattr(import_module(f"qrowd.judge.{_HOME[name]}"), name)
    globals()[name] = thing
    return thing


def __dir__() -> list[str]:
    return sorted(__all__)
