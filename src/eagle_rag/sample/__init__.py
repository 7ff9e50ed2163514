"""The sample corpus: thirteen fictional oncology papers in JATS, data files only."""

from pathlib import Path

__all__ = ["sample_paths"]


def sample_paths() -> tuple[Path, ...]:
    """Return the paths of the sample papers, sorted by file name."""
    return tuple(sorted(Path(__file__).parent.glob("*.xml")))
