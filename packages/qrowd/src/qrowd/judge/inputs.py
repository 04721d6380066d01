"""What callers give: models, prompts and texts, in any form that `ask_models` takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from qrowd.judge.chat import model_at
from qrowd.judge.exchange import Model, Request
from qrowd.judge.function import FunctionModel
from qrowd.judge.prompts import Prompt, prompt

TextOf = Mapping[str, str | Mapping[str, str]]
AnyModel = Model | str | Callable[[Request], Any]
AnyPrompt = Prompt | str


def prompts_of(prompts: AnyPrompt | Sequence[AnyPrompt]) -> tuple[Prompt, ...]:
    """Prompts from their names or files, or as they are; of one or several."""
    return tuple(one if isinstance(one, Prompt) else prompt(one) for one in _several(prompts))


def models_of(models: AnyModel | Sequence[AnyModel]) -> tuple[Model, ...]:
    """Models as `model_of` takes them; of one or several."""
    return tuple(model_of(one) for one in _several(models))


def model_of(model: AnyModel) -> Model:
    """A model from "URL#NAME", from a function, or as it is.

    Raises
    ------
    ArgumentError
        A text of another form.
    """
    if isinstance(model, str):
        return model_at(model)
    if hasattr(model, "ask"):
        return cast(Model, model)
    return FunctionModel(model, getattr(model, "__name__", "function"))


def topic_texts(text: str | Mapping[str, str]) -> dict[str, str]:
    """The texts of a topic by the names that prompts have for them."""
    if isinstance(text, str):
        return {"topic": text}
    names = {"topic": "title", "description": "description", "narrative": "narrative"}
    return {ours: text.get(theirs) or "" for ours, theirs in names.items()}


def document_text(text: str | Mapping[str, str]) -> str:
    """Title and text of a document."""
    if isinstance(text, str):
        return text
    return "\n\n".join(part for part in (text.get("title"), text.get("text")) if part)


def texts_by_topic(topics: TextOf) -> dict[str, dict[str, str]]:
    """{topic: its texts}, of those that have one."""
    texts = {label: topic_texts(text) for label, text in topics.items()}
    return {label: one for label, one in texts.items() if one["topic"].strip()}


def texts_by_document(documents: TextOf) -> dict[str, str]:
    """{document: title and text}, of those that have any."""
    return {label: text for label, one in documents.items() if (text := document_text(one)).strip()}


def _several(one: Any) -> list[Any]:
    return list(one) if isinstance(one, list | tuple) else [one]
