"""What the shared options amount to: settings, and an engine opened from them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from eagle_rag.errors import ConfigurationError

if TYPE_CHECKING:
    from eagle_rag.engine import Engine
    from eagle_rag.kernel.settings import Settings

__all__ = ["Session"]


@dataclass(frozen=True, slots=True)
class Session:
    """Options every command shares; nothing is loaded until a command needs it."""

    config: Path | None
    overrides: dict[str, object]

    @classmethod
    def from_options(
        cls,
        config: Path | None,
        data_dir: Path | None,
        profile: str | None,
        assignments: tuple[str, ...],
    ) -> "Session":
        """Turn options into setting overrides.

        Raises:
            ConfigurationError: An assignment is not ``key=value``.
        """
        overrides: dict[str, object] = {}
        if data_dir is not None:
            overrides["data_dir"] = str(data_dir)
        if profile is not None:
            overrides["profile"] = profile
        for assignment in assignments:
            key, equals, value = assignment.partition("=")
            if not equals or not key:
                message = f"--set takes key=value, got {assignment!r}"
                raise ConfigurationError(message, remedy="for example --set search.top_k=5")
            try:
                overrides[key] = yaml.safe_load(value)
            except (yaml.YAMLError, ValueError, RecursionError) as error:
                message = f"--set {key} takes a YAML value, got {value[:200]!r}"
                raise ConfigurationError(message, remedy="put text in quotes") from error
        return cls(config, overrides)

    def settings(self) -> "Settings":
        """Load the settings."""
        from eagle_rag.kernel.settings import load_settings

        return load_settings(config_file=self.config, overrides=self.overrides)

    @contextmanager
    def engine(self) -> Iterator["Engine"]:
        """Open an engine and close it afterwards."""
        from eagle_rag.engine import open_engine

        engine = open_engine(self.settings())
        try:
            yield engine
        finally:
            engine.close()
