"""onnxruntime on the CPU: loading a model, running it, and what its errors mean."""

import os
import re
from collections.abc import Sequence
from functools import cache
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eagle_rag.adapters.encoders import wire
from eagle_rag.adapters.encoders.memory import NotEnoughMemory
from eagle_rag.errors import EncoderLoadError
from eagle_rag.model.passage import FloatArray

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["TEXT_INPUTS", "OnnxModel", "OnnxSession", "is_quantized", "usual_threads"]

_ERRORS_ONLY = 3  # onnxruntime's log level; it logs to stderr
_USUAL_THREADS = 2
TEXT_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
# How onnxruntime words a failed allocation: there is no error type of its own for it.
_NO_MEMORY = re.compile(r"allocate memory|bad_alloc|bad allocation|out of memory", re.IGNORECASE)


class OnnxModel:
    """A loaded model; ``run`` may be called from several threads.

    Args:
        model: The model or the file it is in.
        name: The encoder's label, for messages.
        threads: Cores one run uses.

    Raises:
        EncoderLoadError: onnxruntime is missing, or the model does not load.
    """

    def __init__(self, model: bytes | Path, name: str, *, threads: int = 1) -> None:
        self._name = name
        failures, self._session = _open(model, name, threads)
        self._failures: tuple[type[Exception], ...] = (*failures, MemoryError)
        self.inputs = tuple(str(given.name) for given in self._session.get_inputs())
        self.outputs: dict[str, list[Any]] = {
            str(given.name): list(given.shape) for given in self._session.get_outputs()
        }

    def takes(self, required: str, *optional: str) -> None:
        """Check the names of the inputs.

        Raises:
            EncoderLoadError: ``required`` is missing, or there is one beyond these.
        """
        if required not in self.inputs or not set(self.inputs) <= {required, *optional}:
            message = f"the model of encoder {self._name!r} takes {sorted(self.inputs)}"
            extra = f" and may take {' and '.join(optional)}" if optional else ""
            raise EncoderLoadError(message, remedy=f"it must take {required}{extra}")

    def run(self, output: str, feeds: dict[str, "NDArray[Any]"], *, what: str) -> "NDArray[Any]":
        """Return one output.

        Args:
            output: Its name.
            feeds: Values of the inputs; those the model does not take are left out.
            what: What it runs on, for messages.

        Raises:
            NotEnoughMemory: The run did not fit into memory.
            EncoderLoadError: The model fails on these values.
        """
        given = {name: values for name, values in feeds.items() if name in self.inputs}
        try:
            result: NDArray[Any] = self._session.run([output], given)[0]
        except self._failures as error:
            message = f"the model of encoder {self._name!r} failed on {what}: {error}"
            if isinstance(error, MemoryError) or _NO_MEMORY.search(str(error)):
                raise NotEnoughMemory(
                    message, remedy="shorten the texts, or free memory"
                ) from error
            raise EncoderLoadError(
                message, remedy="check that vocabulary and max_tokens are those of the model"
            ) from error
        return result


class OnnxSession:
    """A loaded text model; ``run`` may be called from several threads, each using one core.

    Args:
        model: The model or the file it is in.
        name: The encoder's label, for messages.
        dim: Dimension the output must have; ``None`` for any.
        pools: The model gives one vector a text, not one a token.

    Raises:
        EncoderLoadError: onnxruntime is missing, or the model does not load or does not fit.
    """

    def __init__(self, model: bytes | Path, name: str, *, dim: int | None, pools: bool) -> None:
        self._name = name
        self._model = OnnxModel(model, name)
        self._model.takes(*TEXT_INPUTS)
        self._output = self._choose_output(dim, pools=pools)

    def run(self, ids: Sequence[int]) -> FloatArray:
        """Return the output for one text: ``(tokens, dim)``, or ``(dim,)`` of a model that pools.

        Raises:
            EncoderLoadError: The model fails on these ids, so the vocabulary is another model's.
        """
        row = np.array([ids], np.int64)
        feeds = dict(zip(TEXT_INPUTS, (row, np.ones_like(row), np.zeros_like(row)), strict=True))
        hidden: FloatArray = self._model.run(self._output, feeds, what=f"{len(ids)} tokens")[0]
        return hidden

    def _choose_output(self, dim: int | None, *, pools: bool) -> str:
        shapes = self._model.outputs
        wanted = ("sentence_embedding",) if pools else ("last_hidden_state", "token_embeddings")
        output = next((known for known in wanted if known in shapes), next(iter(shapes)))
        shape, axes = shapes[output], 2 if pools else 3
        wrong = dim is not None and isinstance(shape[-1], int) and shape[-1] != dim
        if len(shape) != axes or wrong:
            message = (
                f"output {output!r} of encoder {self._name!r} has shape {shape}, "
                f"expected {axes} axes, the last of {dim or 'any size'}"
            )
            raise EncoderLoadError(
                message, remedy="correct dimension or pooling in the encoder's settings"
            )
        return output


def usual_threads() -> int:
    """Return how many cores an encoder uses: two, or one where there is one.

    A third core is worth more to the parser and the index during an ingest.
    """
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    return min(_USUAL_THREADS, cores)


def is_quantized(model: Path) -> bool:
    """Return whether a model quantises its activations by their extremes at run time.

    Then what shares a run with a row changes the row's result.

    Raises:
        EncoderLoadError: The file cannot be read.
    """
    try:
        with model.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
            return data.find(b"DynamicQuantize") >= 0
    except (OSError, ValueError) as error:  # ValueError: an empty file
        message = f"{model} cannot be read: {error}"
        raise EncoderLoadError(message, remedy="export the checkpoint again") from error


def _open(model: bytes | Path, name: str, threads: int) -> tuple[tuple[type[Exception], ...], Any]:
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
    options = _options(threads)
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


def _options(threads: int = 1) -> Any:  # noqa: ANN401 - onnxruntime.SessionOptions, which has no type information
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = _ERRORS_ONLY
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
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
