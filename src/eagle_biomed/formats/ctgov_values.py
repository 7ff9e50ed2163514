"""How a reported value is written out."""

__all__ = ["share_text", "value_text"]


def value_text(value: str, *, spread: str = "", lower: str = "", upper: str = "") -> str:
    """Return a value with its dispersion: ``9.2 (7.3 to 13.3)``, ``26 (1.2)``, or as it is.

    Args:
        value: As written, empty when it was not reported.
        spread: A standard deviation or error.
        lower: Lower limit of an interval or range.
        upper: Its upper limit.
    """
    if lower or upper:
        return f"{value} ({lower or 'NA'} to {upper or 'NA'})".strip()
    return f"{value} ({spread})".strip() if spread else value


def share_text(affected: str, at_risk: str) -> str:
    """Return ``3/15``: how many of how many; the first alone where the second is not stated."""
    return f"{affected}/{at_risk}" if affected and at_risk else affected
