"""The sample corpus: thirteen fictional oncology papers in JATS, and records of other kinds; data files only."""

from pathlib import Path

__all__ = ["RECORDS_NAMESPACE", "record_paths", "sample_paths"]

RECORDS_NAMESPACE = "biomed"
"""The namespace whose plugin reads the records; the core alone reads the papers."""


def sample_paths() -> tuple[Path, ...]:
    """Return the paths of the sample papers, sorted by file name."""
    return tuple(sorted(Path(__file__).parent.glob("*.xml")))


def record_paths() -> tuple[Path, ...]:
    """Return the paths of the sample's labels, trials, patent, compounds, structure and image, sorted."""
    return tuple(sorted((Path(__file__).parent / "records").glob("[!.]*")))
