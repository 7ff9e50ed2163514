"""onnxruntime on the CPU: one model, one text a run."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eagle_rag.adapters.encoders import wire
from eagle_rag.errors import EncoderLoadError
from eagle_rag.model.passage import FloatArray

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["OnnxSession"]

_ERRORS_ONLY = 3  # onnxruntime's log level; it logs to stderr
_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})


class OnnxSession:
    """A loaded text model; ``run`` may be called from several threads, each using one core.

    Args:
        model: The model or the file it is in.
        name: The encoder's label, for messages.
        dim: Dimension the output must have.
        pools: The model gives one vector a text, not one a token.

    Raises:
        EncoderLoadError: onnxruntime is missing, or the model does not load or does not fit.
    """

    def __init__(self, model: bytes | Path, name: str, *, dim: int, pools: bool) -> None:
        self._name = name
        self._failures, self._session = _open(model, name)
        self._inputs = frozenset(given.name for given in self._session.get_inputs())
        if "input_ids" not in self._inputs or not self._inputs <= _INPUTS:
            message = f"the model of encoder {name!r} takes {sorted(self._inputs)}"
            raise EncoderLoadError(
                message,
                remedy="it must take input_ids and may take attention_mask and token_type_ids",
            )
        self._output = self._choose_output(dim, pools=pools)

    def run(self, ids: Sequence[int]) -> FloatArray:
        """Return the output for one text: ``(tokens, dim)``, or ``(dim,)`` of a model that pools.

        Raises:
            EncoderLoadError: The model fails on these ids, so the vocabulary is another model's.
        """
        row = np.array([ids], np.int64)
        feeds: dict[str, NDArray[np.int64]] = {"input_ids": row}
        if "attention_mask" in self._inputs:
            feeds["attention_mask"] = np.ones_like(row)
        if "token_type_ids" in self._inputs:
            feeds["token_type_ids"] = np.zeros_like(row)
        try:
            hidden: FloatArray = self._session.run([self._output], feeds)[0][0]
        except self._failures as error:
            message = f"the model of encoder {self._name!r} failed on {len(ids)} tokens: {error}"
            raise EncoderLoadError(
                message, remedy="check that vocabulary and max_tokens are those of the model"
            ) from error
        return hidden

    def _choose_output(self, dim: int, *, pools: bool) -> str:
        shapes = {given.name: given.shape for given in self._session.get_outputs()}
        wanted = ("sentence_embedding",) if pools else ("last_hidden_state", "token_embeddings")
        output = str(next((known for known in wanted if known in shapes), next(iter(shapes))))
        shape, axes = shapes[output], 2 if pools else 3
        if len(shape) != axes or (isinstance(shape[-1], int) and shape[-1] != dim):
            message = (
                f"output {output!r} of encoder {self._name!r} has shape {shape}, "
                f"expected {axes} axes, the last of {dim}"
            )
            raise EncoderLoadError(
                message, remedy="correct dimension or pooling in the encoder's settings"
            )
        return output


def _open(model: bytes | Path, name: str) -> tuple[tuple[type[Exception], ...], Any]:
    """Return the errors onnxruntime raises, which share no base class, and a session."""
    try:
        import onnxruntime  # type: ignore[import-untyped]  # it ships no stubs
        from onnxruntime.capi import onnxruntime_pybind11_state as state  # type: ignore[import-untyped]  # as above
    except ImportError as error:
        message = f"encoder {name!r} needs the package onnxruntime: {error}"
        raise EncoderLoadError(message, remedy="pip install onnxruntime") from error
    failures: tuple[type[Exception], ...] = (
        state.Fail,
        state.InvalidArgument,
        state.InvalidGraph,
        state.InvalidProtobuf,
        state.NoSuchFile,
        state.NotImplemented,
        state.RuntimeException,
    )
    onnxruntime.disable_telemetry_events()
    options = _options()
    if _int8_overflows():
        # Slower but right (onnxruntime_session_options_config_keys.h). Not set where it is not needed:
        # it nearly doubles the time of a text there, too, and changes no number.
        options.add_session_config_entry("session.x64quantprecision", "1")
    source = model if isinstance(model, bytes) else str(model)
    try:
        session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    except failures as error:
        message = f"the model of encoder {name!r} does not load: {error}"
        raise EncoderLoadError(
            message, remedy="export it again, or install onnxruntime 1.22 or newer"
        ) from error
    return failures, session


def _options() -> Any:  # noqa: ANN401 - onnxruntime.SessionOptions, which has no type information
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = _ERRORS_ONLY
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return options


@cache
def _int8_overflows() -> bool:
    """Return whether this CPU gets sums of 8-bit products wrong.

    An x86 CPU without VNNI adds two products of unsigned and signed bytes in 16 bits, where
    2 x 255 x 127 does not fit. Tried out rather than looked up: there is no portable way to ask.
    """
    import onnxruntime

    size = 64  # fills the vector registers of every kernel
    probe = wire.model(
        [wire.node("MatMulInteger", ["left", "right"], ["product"])],
        [wire.tensor("right", np.full((size, size), 127, np.int8))],
        inputs=[wire.value("left", "uint8", [size, size])],
        outputs=[wire.value("product", "int32", [size, size])],
        opsets={"": 17},
    )
    session = onnxruntime.InferenceSession(probe, _options(), providers=["CPUExecutionProvider"])
    product = session.run(None, {"left": np.full((size, size), 255, np.uint8)})[0]
    return bool((product != size * 255 * 127).any())
