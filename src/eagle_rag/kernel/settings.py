"""Settings: defaults < profile < file < environment < flags, and where each value came from."""

import os
import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import Field, PrivateAttr, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from eagle_rag.errors import ConfigurationError
from eagle_rag.kernel.layers import (
    ENV_PREFIX,
    Layer,
    checked_layer,
    env_name,
    expand_dotted,
    leaves,
    merge_layers,
    read_environment,
    read_file,
    read_yaml,
)
from eagle_rag.kernel.sections import (
    BUILT_IN_COLLECTIONS,
    BUILT_IN_ENCODERS,
    AuditSettings,
    CollectionSettings,
    EncoderSettings,
    IngestSettings,
    LlmSettings,
    Name,
    PassageSettings,
    PluginSettings,
    RegistrySettings,
    RerankSettings,
    RouterSettings,
    SearchSettings,
    StoreSettings,
)

__all__ = ["DEFAULT_FILE", "Settings", "load_settings", "profiles"]

DEFAULT_FILE = "eagle.yaml"
_CONFIG_VARIABLE = "EAGLE_RAG_CONFIG"
_DEFAULT_PROFILE = "embedded"
_SECRET = re.compile(r"(api_?key|token|secret|passw(or)?d|credentials?)$", re.IGNORECASE)
_URL_PASSWORD = re.compile(r"(?<=://)([^/@:]*):[^/@]*@")
_URL_SECRET = re.compile(r"([?&](?:password|token|api_?key|secret)=)[^&#]*", re.IGNORECASE)
_HIDDEN = "***"


def _encoders() -> dict[str, EncoderSettings]:
    return {
        name: EncoderSettings.model_validate(values) for name, values in BUILT_IN_ENCODERS.items()
    }


def _collections() -> dict[str, CollectionSettings]:
    return {
        name: CollectionSettings.model_validate(values)
        for name, values in BUILT_IN_COLLECTIONS.items()
    }


class Settings(BaseSettings):
    """Everything that can be configured; frozen. Build it with ``load_settings``."""

    model_config = SettingsConfigDict(
        frozen=True, extra="forbid", env_prefix=ENV_PREFIX, env_nested_delimiter="__"
    )

    profile: str = Field(
        default=_DEFAULT_PROFILE,
        description="Overlay merged over the defaults: `embedded` runs offline from what pip "
        "installed; `literature`, `biomed`, `core`.",
    )
    workspace: Name = Field(
        default="default", description="Tenant; nothing crosses from one to another."
    )
    kb_name: Name = Field(
        default="default", description="Knowledge base when nobody names one, so one is enough."
    )
    data_dir: Path = Field(
        default=Path(".eagle"),
        description="Folder of everything that is written, in the working directory: an index "
        "belongs to a project, and deleting the folder undoes it.",
    )
    registry: RegistrySettings = Field(default_factory=RegistrySettings)
    store: StoreSettings = Field(default_factory=StoreSettings)
    encoders: dict[Name, EncoderSettings] = Field(default_factory=_encoders)
    collections: dict[Name, CollectionSettings] = Field(default_factory=_collections)
    passages: PassageSettings = Field(default_factory=PassageSettings)
    ingest: IngestSettings = Field(default_factory=IngestSettings)
    router: RouterSettings = Field(default_factory=RouterSettings)
    search: SearchSettings = Field(default_factory=SearchSettings)
    rerank: RerankSettings = Field(default_factory=RerankSettings)
    llm: LlmSettings = Field(default_factory=LlmSettings)
    plugins: PluginSettings = Field(default_factory=PluginSettings)
    audit: AuditSettings = Field(default_factory=AuditSettings)

    _origins: dict[str, str] = PrivateAttr(default_factory=dict)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Take values from the arguments alone; ``load_settings`` has merged the rest."""
        del settings_cls, env_settings, dotenv_settings, file_secret_settings
        return (init_settings,)

    @property
    def registry_url(self) -> str:
        """``registry.url``, or SQLite in ``data_dir``."""
        return self.registry.url or f"sqlite:///{self.data_dir / 'registry.db'}"

    @property
    def store_path(self) -> Path:
        """``store.path``, or ``store`` in ``data_dir``."""
        return self.store.path or self.data_dir / "store"

    @property
    def origins(self) -> Mapping[str, str]:
        """Where each value came from, by dotted key: default, profile, file, env or flag."""
        values = leaves(self.model_dump())
        return {key: _origin_of(key, self._origins) or "default" for key, _ in values}

    def redacted(self) -> dict[str, Any]:
        """Return all values, JSON-ready, with passwords, keys and tokens replaced by ``***``."""
        return {key: _redact(key, value) for key, value in self.model_dump(mode="json").items()}


def profiles() -> tuple[str, ...]:
    """Return the names of the shipped profiles, sorted."""
    folder = files("eagle_rag.kernel") / "profiles"
    names = (entry.name for entry in folder.iterdir())
    return tuple(sorted(name.removesuffix(".yaml") for name in names if name.endswith(".yaml")))


def load_settings(
    *,
    config_file: Path | None = None,
    overrides: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """Return the settings in force.

    Args:
        config_file: YAML file; ``None`` takes ``EAGLE_RAG_CONFIG``, or else ``eagle.yaml`` in the
            working directory when it is there.
        overrides: Flags, by dotted key (``router.rrf_k``) or nested.
        environ: Environment; ``None`` takes the process's.

    Raises:
        ConfigurationError: A key is unknown, a value is wrong, or a file or profile is missing.
    """
    environment = os.environ if environ is None else environ
    given: dict[str, Layer] = {
        "file": _file_layer(config_file, environment),
        "env": checked_layer(read_environment(Settings, environment), Settings, "the environment"),
        "flag": checked_layer(expand_dotted(overrides or {}), Settings, "the flags"),
    }
    chosen = [layer["profile"] for layer in given.values() if "profile" in layer]
    profile = str(chosen[-1]) if chosen else _DEFAULT_PROFILE
    built_in: Layer = {"encoders": BUILT_IN_ENCODERS, "collections": BUILT_IN_COLLECTIONS}
    merged, origins = merge_layers(
        {"default": built_in, "profile": _profile_layer(profile)} | given
    )
    try:
        settings = Settings(**merged)
    except ValidationError as error:
        raise _refusal(error, origins) from error
    settings._origins.update(origins)  # noqa: SLF001 - the class's own builder
    return settings


def _file_layer(config_file: Path | None, environ: Mapping[str, str]) -> Layer:
    named = config_file or (
        Path(environ[_CONFIG_VARIABLE]) if environ.get(_CONFIG_VARIABLE) else None
    )
    if named is None and not Path(DEFAULT_FILE).is_file():
        return {}
    path = named or Path(DEFAULT_FILE)
    return checked_layer(read_file(path), Settings, str(path))


def _profile_layer(name: str) -> Layer:
    known = profiles()
    if name not in known:
        message = f"unknown profile {name!r}; known: {', '.join(known)}"
        raise ConfigurationError(message, remedy="set EAGLE_RAG_PROFILE to one of them")
    text = (files("eagle_rag.kernel") / "profiles" / f"{name}.yaml").read_text(encoding="utf-8")
    return checked_layer(read_yaml(text, f"profile {name}"), Settings, f"profile {name}")


def _refusal(error: ValidationError, origins: Mapping[str, str]) -> ConfigurationError:
    problems = []
    for problem in error.errors():
        path = tuple(str(segment) for segment in problem["loc"])
        key = ".".join(path)
        origin = _origin_of(key, origins)
        where = {"env": f"environment, {env_name(path)}", "": "default"}.get(origin, origin)
        reason = problem["msg"].removeprefix("Value error, ")
        value = _redact(path[-1], problem["input"]) if path else ""
        shown = "" if isinstance(value, Mapping) else f", got {value!r}"
        problems.append(f"{key}: {reason}{shown} (from {where})")
    message = "wrong settings: " + "; ".join(problems)
    return ConfigurationError(message, remedy="docs/configuration.md says what each key takes")


def _origin_of(key: str, origins: Mapping[str, str]) -> str:
    """Return the origin of a key or of the nearest key above or below it; empty when nobody set it."""
    above = key
    while above:
        if above in origins:
            return origins[above]
        above = above.rpartition(".")[0]
    below = [origin for name, origin in origins.items() if name.startswith(f"{key}.")]
    return below[-1] if below else ""


def _redact(key: str, value: object) -> Any:  # noqa: ANN401 - JSON-ready values of any type
    if isinstance(value, Mapping):
        return {name: _redact(str(name), inner) for name, inner in value.items()}
    if value and isinstance(value, str) and _SECRET.search(key):
        return _HIDDEN
    if isinstance(value, (list, tuple)):
        return [_redact(key, inner) for inner in value]
    if isinstance(value, str):
        return _URL_SECRET.sub(rf"\1{_HIDDEN}", _URL_PASSWORD.sub(rf"\1:{_HIDDEN}@", value))
    return value
