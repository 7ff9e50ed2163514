"""``eagle stats``, ``plugins``, ``doctor`` and ``config show``: what is there, and is it well."""

from typing import TYPE_CHECKING, Annotated

import typer

from eagle_rag.surfaces.cli.hints import warn_of_unknown_kbs
from eagle_rag.surfaces.cli.output import print_json, print_rows
from eagle_rag.surfaces.schemas import to_json

if TYPE_CHECKING:
    from eagle_rag.surfaces.cli.session import Session

__all__ = ["register"]

_PARTIAL = 3
Json = Annotated[bool, typer.Option("--json", help="JSON on stdout.")]


def stats(
    context: typer.Context,
    *,
    kb: Annotated[list[str] | None, typer.Option("--kb", help="Only this knowledge base.")] = None,
    as_json: Json = False,
) -> None:
    """Count what is in the index.

    Example: eagle stats --kb lung --json
    """
    session: Session = context.obj
    with session.engine() as engine:
        names = tuple(kb) if kb else None
        counts = to_json(engine.stats(kb_names=names))
        warn_of_unknown_kbs(engine, names)
    if as_json:
        print_json(counts)
    else:
        rows = [
            (name.replace("_", " "), value) for name, value in counts.items() if name[:3] != "by_"
        ]
        rows.extend((f"knowledge base {name}", count) for name, count in counts["by_kb"])
        rows.extend((f"format {name}", count) for name, count in counts["by_format"])
        print_rows(rows)


def plugins(context: typer.Context, *, as_json: Json = False) -> None:
    """List plugins with the hooks each implements, and encoders and collections they bring.

    Example: eagle plugins
    """
    session: Session = context.obj
    with session.engine() as engine:
        listing = engine.plugins()
    if as_json:
        print_json(to_json(listing))
        return
    for plugin in listing.plugins:
        rows = [
            ("version", plugin.version),
            ("namespace", plugin.namespace),
            ("priority", plugin.priority),
        ]
        print_rows([*rows, ("hooks", ", ".join(plugin.hooks) or "none")], title=plugin.name)
    print_rows(
        [
            (card.label, f"{card.modality}, {card.dim}-d, {card.runtime}")
            for card in listing.encoders
        ],
        title="encoders",
    )
    print_rows(
        [
            (
                item.name,
                f"{item.dim}-d, filled by {item.default_encoder or 'nothing in this profile'}",
            )
            for item in listing.collections
        ],
        title="collections",
    )
    if listing.available:
        print_rows([("installed, not enabled", ", ".join(listing.available))])


def doctor(context: typer.Context, *, as_json: Json = False) -> None:
    """Check settings, storage, encoders and collections; exit code 3 when something is wrong.

    Example: eagle doctor
    """
    session: Session = context.obj
    with session.engine() as engine:
        checks = engine.doctor()
    if as_json:
        print_json([to_json(check) for check in checks])
    else:
        print_rows(
            [(f"{'ok  ' if check.ok else 'FAIL'} {check.name}", check.message) for check in checks]
        )
    if not all(check.ok for check in checks):
        raise typer.Exit(_PARTIAL)


def config_show(context: typer.Context, *, as_json: Json = False) -> None:
    """Print every setting and where it came from; secrets are hidden.

    Example: eagle config show
    """
    session: Session = context.obj
    settings = session.settings()
    values, origins = settings.redacted(), settings.origins
    if as_json:
        print_json({"settings": values, "origins": dict(origins)})
        return
    print_rows(
        (name, f"{value}  [{origins.get(name, 'default')}]") for name, value in _flat(values, "")
    )


def _flat(value: object, prefix: str) -> list[tuple[str, object]]:
    if isinstance(value, dict) and value:
        return [
            pair
            for name, inner in value.items()
            for pair in _flat(inner, f"{prefix}.{name}" if prefix else str(name))
        ]
    return [(prefix, value)]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("stats")(stats)
    app.command("plugins")(plugins)
    app.command("doctor")(doctor)
    config = typer.Typer(help="Settings.", no_args_is_help=True)
    config.command("show")(config_show)
    app.add_typer(config, name="config")
