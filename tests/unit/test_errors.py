"""Errors cross process borders whole."""

import pickle

import pytest

from eagle_rag.errors import (
    ConfigurationError,
    EagleError,
    HookFailed,
    IndexLocked,
    UnknownName,
    UnreadableDocument,
)

ERRORS = (
    ConfigurationError("wrong", remedy="mend it"),
    HookFailed("lab", "parse", KeyError("x")),
    IndexLocked("lock", "pid 1"),
    UnknownName("encoder", "x", ("a", "b"), remedy="install it"),
    UnreadableDocument("a.xml", "empty", "is empty", remedy="fill it"),
)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_survives_the_trip_from_a_worker(error: EagleError) -> None:
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert vars(copy).keys() == vars(error).keys()


def test_what_a_plugin_raised_may_be_unpicklable() -> None:
    error = HookFailed("lab", "parse", ValueError(lambda: None))
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert (copy.plugin, copy.hook) == ("lab", "parse")
    assert "ValueError" in str(copy.error)


def test_a_remedy_follows_its_message() -> None:
    assert str(ERRORS[0]) == "wrong. mend it"
    assert str(EagleError("wrong")) == "wrong"


def test_an_unknown_name_lists_what_is_known() -> None:
    assert "known: a, b" in str(ERRORS[3])
    assert "known: none" in str(UnknownName("encoder", "x", ()))
