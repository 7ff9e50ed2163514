"""Decisions are kept, counted, written, and never fail the caller."""

import json
from collections.abc import Sequence
from pathlib import Path

from eagle_rag.errors import RegistryError
from eagle_rag.kernel.audit import AuditLog
from eagle_rag.model.records import AuditEvent


def _event(number: int = 0, category: str = "route_query") -> AuditEvent:
    return AuditEvent(category, "core", f"query {number}", "one plan", (("rule", "default"),))


def test_the_ring_keeps_the_latest_and_counts_all() -> None:
    log = AuditLog(2)
    for number in range(3):
        log.log_decision(_event(number))
    log.log_decision(_event(3, "hook_failure"))
    assert [event.subject for event in log.recent()] == ["query 2", "query 3"]
    assert [event.subject for event in log.recent(1)] == ["query 3"]
    assert log.recent(0) == ()
    assert len(log.recent(9)) == 2
    assert log.stats().counts == (("hook_failure", 1), ("route_query", 3))


def test_the_file_gets_one_line_a_decision(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "audit.jsonl"
    log = AuditLog(2, jsonl_path=path)
    log.log_decision(_event(1))
    log.log_decision(AuditEvent("c", "p", "line\nbreak \u03b1", "d"))
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert lines[0]["detail"] == {"rule": "default"}
    assert lines[1]["subject"] == "line\nbreak \u03b1"


def test_a_file_that_cannot_be_written_is_counted_not_raised(tmp_path: Path) -> None:
    log = AuditLog(2, jsonl_path=tmp_path)
    log.log_decision(_event())
    assert log.recent() == (_event(),)
    assert log.stats().sink_failures == 1
    assert str(tmp_path) in log.stats().last_failure


def test_the_sink_gets_every_decision() -> None:
    kept: list[AuditEvent] = []
    log = AuditLog(1, sink=kept.extend)
    log.log_decision(_event(1))
    log.log_decision(_event(2))
    assert kept == [_event(1), _event(2)]


def test_a_sink_that_fails_is_counted_not_raised() -> None:
    def full(events: Sequence[AuditEvent]) -> None:
        raise RegistryError(f"no room for {len(events)}")

    log = AuditLog(1, sink=full)
    log.log_decision(_event())
    assert log.stats().sink_failures == 1
    assert "no room for 1" in log.stats().last_failure
