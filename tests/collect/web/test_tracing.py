"""Traces for OpenTelemetry: one span a request, named by its route, without tokens, names or queries."""

from pathlib import Path

import pytest

pytest.importorskip("opentelemetry.instrumentation.asgi")

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from collect.web.siege import fort
from qrowd.collect.web.tracing import is_traced

SWITCH = {"OTEL_TRACES_EXPORTER": "none"}
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    return exporter


def test_a_trace_has_the_route_and_no_token_name_or_query(tmp_path: Path, spans: InMemorySpanExporter) -> None:
    with fort(tmp_path, environ=SWITCH) as place:
        walker = place.walker("sizes", who="ann").come()
        walker.browser.get("/c/sizes?id=Annabel", {"traceparent": PARENT, "user-agent": "Annabel"})
        answer = walker.browser.get("/nothing/Annabel")
        token = place.links["sizes ann"]
    found = spans.get_finished_spans()
    names = [span.name for span in found]
    assert names[:2] == ["GET /join/{token}", "POST /join/{token}"]
    assert names[-2:] == ["GET /c/{campaign}", "GET"]
    assert found[-2].context is not None
    assert f"{found[-2].context.trace_id:032x}" == PARENT.split("-")[1]
    assert (found[-1].attributes or {})["qrowd.request"] == answer.header("x-request-id")
    text = "".join(span.to_json() for span in found)
    assert "/c/sizes" in text
    for hidden in (token, "Annabel", walker.browser.cookies["__Host-qrowd"], walker.browser.address):
        assert hidden not in text


def test_nothing_is_traced_unless_the_environment_says_where_traces_go() -> None:
    assert is_traced(SWITCH)
    assert not is_traced({})
    assert not is_traced({"OTEL_TRACES_EXPORTER": ""})
