"""Layers of settings: the keys that exist, and the values that files and the environment give them.

Nothing here knows a default or a reason; those are in ``eagle_rag.kernel.sections``.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args, get_origin

import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource

from eagle_rag.errors import ConfigurationError

__all__ = [
    "ENV_PREFIX",
    "KeyInfo",
    "Layer",
    "checked_layer",
    "env_name",
    "expand_dotted",
    "known_keys",
    "leaves",
    "merge_layers",
    "read_environment",
    "read_file",
    "read_yaml",
]

Layer = dict[str, Any]

ENV_PREFIX = "EAGLE_RAG_"
_NESTED = "__"
_MAX_DEPTH = 50  # settings need five levels; Python's stack ends near a thousand
_ANY = "<name>"
# Read elsewhere, so not settings: the file to read, the weights' cache, the tests' data.
_NOT_SETTINGS = frozenset({"EAGLE_RAG_CONFIG"})
_TEST_PREFIX = "EAGLE_RAG_TEST_"  # where the tests find data, servers and models
_NAMESPACE_VARIABLE = "PLUGIN_NAMESPACE"


@dataclass(frozen=True, slots=True)
class KeyInfo:
    """One documented key.

    Args:
        path: Its segments; ``<name>`` stands for a label the user chooses.
        field: The pydantic field: default, type and description.
    """

    path: tuple[str, ...]
    field: FieldInfo

    @property
    def key(self) -> str:
        """Its dotted name."""
        return ".".join(self.path)


def known_keys(model: type[BaseModel], prefix: tuple[str, ...] = ()) -> Iterator[KeyInfo]:
    """Yield every key below a model that holds a value, in declaration order."""
    for name, field in model.model_fields.items():
        path = (*prefix, name)
        section, named = _inner(field)
        if section is None:
            yield KeyInfo(path, field)
        else:
            yield from known_keys(section, (*path, _ANY) if named else path)


def env_name(path: tuple[str, ...]) -> str:
    """Return the environment variable of a key."""
    return ENV_PREFIX + _NESTED.join(segment.upper() for segment in path)


def expand_dotted(values: Mapping[str, object]) -> Layer:
    """Return a layer from dotted keys (``router.rrf_k``), nested mappings, or both."""
    layer: Layer = {}
    for key, value in values.items():
        *above, last = key.split(".")
        nested: Layer = {last: value}
        for segment in reversed(above):
            nested = {segment: nested}
        layer = _merged(layer, nested)
    return layer


def merge_layers(layers: Mapping[str, Layer]) -> tuple[Layer, dict[str, str]]:
    """Merge layers, later ones over earlier, and say which one gave each value.

    Mappings merge key by key; anything else, lists included, is replaced whole.
    """
    merged: Layer = {}
    origins: dict[str, str] = {}
    for origin, layer in layers.items():
        merged = _merged(merged, layer)
        origins.update((key, origin) for key, _ in leaves(layer))
    return merged, origins


def leaves(layer: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Yield dotted key and value of everything that is not a filled mapping."""
    for key, value in layer.items():
        if isinstance(value, Mapping) and value:
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def checked_layer(layer: Mapping[str, object], model: type[BaseModel], origin: str) -> Layer:
    """Return the layer without empty sections.

    Raises:
        ConfigurationError: A key is unknown; the nearest known one is suggested.
    """
    return _checked(layer, model, (), (model, origin))


def read_yaml(text: str, origin: str) -> Layer:
    """Return the mapping a YAML text holds; an empty text gives an empty one.

    Raises:
        ConfigurationError: It is not YAML, nests too deeply, or is not a mapping.
    """
    try:
        _check_depth(text, origin)
        value = yaml.load(text, Loader=_UniqueKeys)  # noqa: S506 - a SafeLoader
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date such as 2024-13-45
        message = f"{origin} is not YAML: {error}"
        raise ConfigurationError(message) from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        message = f"{origin} must hold a mapping of sections, got {type(value).__name__}"
        raise ConfigurationError(message, remedy="start it with a section, such as `search:`")
    return value


def _check_depth(text: str, origin: str) -> None:
    """Refuse what only recursion deeper than the stack could load."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _MAX_DEPTH:
            line = event.start_mark.line + 1 if event.start_mark else 1
            message = f"{origin}, line {line}: lists or mappings nest more than {_MAX_DEPTH} deep"
            raise ConfigurationError(message, remedy="settings need five levels")


def read_environment(model: type[BaseSettings], environ: Mapping[str, str]) -> Layer:
    """Return what ``EAGLE_RAG_*`` and ``PLUGIN_NAMESPACE`` say; empty values count as unset.

    Raises:
        ConfigurationError: A variable names no setting, or its value cannot be read.
    """
    variables = {name.upper(): value for name, value in environ.items()}
    given = {
        name: value
        for name, value in variables.items()
        if name.startswith(ENV_PREFIX)
        and name not in _NOT_SETTINGS
        and not name.startswith(_TEST_PREFIX)
    }
    for name in sorted(given):
        _refuse_unknown_variable(name, model)
    source = _Environment(model)
    source.env_vars = {name.lower(): value for name, value in given.items() if value}
    layer: Layer = source()
    _decode_options(layer)
    namespace = variables.get(_NAMESPACE_VARIABLE)
    if namespace:
        layer = _merged(layer, {"plugins": {"default_namespace": namespace}})
    return layer


class _UniqueKeys(yaml.SafeLoader):
    """Safe YAML that refuses a key written twice: the first one would be lost without a word."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - signature of PyYAML
        """Return the mapping of a node."""
        keys = [key.value for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                problem = f"found {key!r} twice in one mapping"
                raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
        return super().construct_mapping(node, deep)


class _Environment(EnvSettingsSource):
    """Environment variables, with ``a,b`` beside JSON for lists."""

    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:  # noqa: ANN401 - signature of pydantic-settings
        """Return the list or mapping a variable holds."""
        del field
        text = str(value).strip()
        if text[:1] not in {"[", "{"}:
            return [item.strip() for item in text.split(",") if item.strip()]
        try:
            return json.loads(text)
        except ValueError as error:
            message = f"the environment's value for {field_name!r} is not JSON: {error}"
            raise ConfigurationError(message, remedy="write JSON, or a list as a,b") from error


def _decode_options(layer: Layer) -> None:
    """Read plugin options as YAML scalars, as a file would: no model says what type they have."""
    options = layer.get("plugins", {}).get("options")
    if isinstance(options, dict):
        layer["plugins"]["options"] = _scalars(options)


def _scalars(value: object) -> object:
    if isinstance(value, dict):
        return {key: _scalars(inner) for key, inner in value.items()}
    if isinstance(value, str):
        try:
            return yaml.safe_load(value)
        except yaml.YAMLError:
            return value
    return value


def _merged(base: Layer, over: Mapping[str, Any]) -> Layer:
    result = dict(base)
    for key, value in over.items():
        below = result.get(key)
        if isinstance(value, Mapping):
            result[key] = _merged(below if isinstance(below, dict) else {}, value)
        else:
            result[key] = value
    return result


def _inner(field: FieldInfo) -> tuple[type[BaseModel] | None, bool]:
    """Return the section below a field, and whether the user names its entries."""
    annotation = field.annotation
    if get_origin(annotation) is dict:
        annotation = get_args(annotation)[1]
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            return annotation, True
        return None, False
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation, False
    return None, False


def _checked(
    layer: Mapping[str, object],
    model: type[BaseModel],
    path: tuple[str, ...],
    root: tuple[type[BaseModel], str],
) -> Layer:
    result: Layer = {}
    for key, value in layer.items():
        here = (*path, str(key))
        field = model.model_fields.get(str(key))
        if field is None:
            raise _unknown(".".join(here), root[1], _suggestion(here, root[0]))
        section, named = _inner(field)
        if value is None and section is not None:
            continue
        if section is None or not isinstance(value, Mapping):
            result[str(key)] = value
        elif named:
            result[str(key)] = {
                str(name): _checked(entry, section, (*here, str(name)), root)
                if isinstance(entry, Mapping)
                else ({} if entry is None else entry)
                for name, entry in value.items()
            }
        else:
            result[str(key)] = _checked(value, section, here, root)
    return result


def _refuse_unknown_variable(name: str, model: type[BaseModel]) -> None:
    path = tuple(name.removeprefix(ENV_PREFIX).lower().split(_NESTED))
    here: type[BaseModel] | None = model
    named = False
    for segment in path:
        if named:
            named = False
            continue
        if here is None or segment not in here.model_fields:
            suggestion = _suggestion(path, model)
            raise _unknown(name, "the environment", env_name(suggestion) if suggestion else "")
        field = here.model_fields[segment]
        here, named = _inner(field)
        if get_origin(field.annotation) is dict and here is None:
            return


def _suggestion(path: tuple[str, ...], model: type[BaseModel]) -> tuple[str, ...]:
    """Return the known key whose name, or else whose last segment, is nearest; or nothing."""
    known = {info.key: info.path for info in known_keys(model)}
    near = get_close_matches(".".join(path), known, n=1, cutoff=0.75)
    if near:
        return known[near[0]]
    lasts = {key.rpartition(".")[2]: full for key, full in reversed(known.items())}
    near = get_close_matches(path[-1], lasts, n=1, cutoff=0.6)
    return lasts[near[0]] if near else ()


def _unknown(name: str, origin: str, suggestion: str | tuple[str, ...]) -> ConfigurationError:
    nearest = suggestion if isinstance(suggestion, str) else ".".join(suggestion)
    hint = f"did you mean {nearest}?" if nearest else "docs/configuration.md lists every key"
    return ConfigurationError(f"unknown setting {name!r} in {origin}", remedy=hint)


def read_file(path: Path) -> Layer:
    """Return what a configuration file holds.

    Raises:
        ConfigurationError: It cannot be read, is not YAML, or not a mapping.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        message = f"cannot read the configuration file {path}: {error}"
        raise ConfigurationError(message, remedy="check --config or EAGLE_RAG_CONFIG") from error
    return read_yaml(text, str(path))
