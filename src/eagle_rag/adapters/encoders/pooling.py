"""From a model's numbers to vectors of a space."""

import numpy as np

from eagle_rag.errors import EncoderLoadError
from eagle_rag.model.passage import FloatArray

__all__ = ["fitted", "scaled"]


def fitted(vectors: FloatArray, dim: int, *, name: str, fit: bool) -> FloatArray:
    """Return vectors of ``dim`` numbers: as they are, or cut or padded with zeros when ``fit``.

    Args:
        vectors: Shape ``(n, d)``.
        dim: The dimension wanted.
        name: The encoder's label, for messages.
        fit: Change the dimension instead of refusing another one.

    Raises:
        EncoderLoadError: ``d`` is not ``dim`` and ``fit`` is not set.
    """
    given = vectors.shape[1]
    if given == dim:
        return vectors
    if not fit:
        message = f"encoder {name!r} gave vectors of {given} dimensions, its card says {dim}"
        raise EncoderLoadError(message, remedy="correct the dimension, or set fit_dim")
    if given > dim:
        return vectors[:, :dim]
    return np.pad(vectors, ((0, 0), (0, dim - given)))


def scaled(vectors: FloatArray, *, name: str, normalized: bool = True) -> FloatArray:
    """Return the vectors as ``float32``, at unit length when ``normalized``.

    Raises:
        EncoderLoadError: A vector is zero or not finite.
    """
    lengths = np.sqrt(np.einsum("nd,nd->n", vectors, vectors, dtype=np.float64))
    odd = lengths[~np.isfinite(lengths) | (lengths == 0)]
    if odd.size:
        message = f"encoder {name!r} gave a vector of length {odd[0]}"
        raise EncoderLoadError(
            message, remedy="the weights are damaged or not those of this card; install them again"
        )
    if not normalized:
        return vectors.astype(np.float32, copy=False)
    unit: FloatArray = (vectors / lengths[:, None]).astype(np.float32)
    return unit
