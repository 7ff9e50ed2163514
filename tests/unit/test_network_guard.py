"""The guard of ``tests/conftest.py`` works: an unmarked test cannot leave this machine."""

import socket

import pytest


@pytest.mark.parametrize(
    ("family", "address"),
    [(socket.AF_INET, ("192.0.2.1", 80)), (socket.AF_INET6, ("2001:db8::1", 80))],
)
def test_an_unmarked_test_that_leaves_this_machine_fails(
    family: socket.AddressFamily, address: tuple[str, int]
) -> None:
    with socket.socket(family) as connection, pytest.raises(pytest.fail.Exception):
        connection.connect(address)


def test_loopback_is_allowed() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as connection,
    ):
        assert connection.getpeername() == server.getsockname()
