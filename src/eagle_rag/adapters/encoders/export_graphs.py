"""torch modules to ONNX files, and ONNX files to int8."""

import contextlib
import io
import logging
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eagle_rag.adapters.encoders.libraries import needed
from eagle_rag.errors import EncoderLoadError

__all__ = ["Graph", "quantize", "write_graph"]

_OPSET = 17
_NEWER_OPSET = 18  # the least the exporter of newer torch releases writes
# What exporters raise for what they cannot express; ONNX's own errors are RuntimeErrors.
_FAILURES = (RuntimeError, TypeError, ValueError, NotImplementedError, AttributeError, IndexError,
             KeyError, AssertionError)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Graph:
    """A function of a torch module to be written.

    Args:
        call: Takes the inputs in order and returns one tensor.
        module: The torch module whose weights it uses.
        inputs: An example of each input by name, in order.
        output: Name of the output.
        free: Axes of each input whose length may be another, by input and position.
        free_output: Likewise of the output.
    """

    call: Callable[..., Any]
    module: Any
    inputs: Mapping[str, Any]
    output: str
    free: Mapping[str, Mapping[int, str]]
    free_output: Mapping[int, str] = field(default_factory=dict)


def write_graph(graph: Graph, path: Path, label: str) -> int:
    """Write a function as ONNX and return the length of its last axis.

    Weights of more than 2 GB, which a protobuf does not hold, lie beside it in one file of its name and
    ``.data``.

    Args:
        graph: What to write.
        path: The file.
        label: The checkpoint, for messages.

    Raises:
        EncoderLoadError: There is no ONNX form of it.
    """
    torch = needed("torch", label)

    class Traced(torch.nn.Module):  # type: ignore[misc,name-defined]  # torch is imported here, and has no types
        def __init__(self) -> None:
            super().__init__()
            self.inner = graph.module

        def forward(self, *given: Any) -> Any:  # noqa: ANN401 - torch tensors
            return graph.call(*given)

    module = Traced().eval()
    try:
        with torch.inference_mode(), _quiet():
            dim = int(module(*graph.inputs.values()).shape[-1])
        with tempfile.TemporaryDirectory(dir=path.parent) as place:
            written = Path(place) / path.name
            _traced(torch, module, graph, written)
            _moved(written, path, label)
    except _FAILURES as error:
        message = f"{label} cannot be written as ONNX: {' '.join(str(error).split())[:300]}"
        raise EncoderLoadError(
            message, remedy="use the checkpoint itself, with runtime torch"
        ) from error
    return dim


def _traced(torch: Any, module: Any, graph: Graph, path: Path) -> None:  # noqa: ANN401 - the library, a module
    """Write it by tracing, whose graphs run a quarter faster; by torch.export where that is gone."""
    names = {"input_names": list(graph.inputs), "output_names": [graph.output]}
    example = tuple(graph.inputs.values())
    with _quiet():
        try:
            axes = {**graph.free, graph.output: graph.free_output}
            torch.onnx.export(
                module,
                example,
                str(path),
                opset_version=_OPSET,
                dynamo=False,
                dynamic_axes=axes,
                **names,
            )
        except _FAILURES:
            any_length = torch.export.Dim.DYNAMIC
            shapes = tuple(dict.fromkeys(graph.free[name], any_length) for name in graph.inputs)
            torch.onnx.export(
                module,
                example,
                str(path),
                opset_version=_NEWER_OPSET,
                dynamo=True,
                dynamic_shapes={"given": shapes},
                **names,
            )


def _moved(written: Path, path: Path, label: str) -> None:
    if len(list(written.parent.iterdir())) == 1:
        shutil.move(written, path)
        return
    onnx = needed("onnx", label)
    model = onnx.load(str(written))
    onnx.save_model(
        model,
        str(path),
        save_as_external_data=True,
        all_tensors_to_one_file=True,
        location=f"{path.name}.data",
    )


def quantize(path: Path, label: str) -> None:
    """Make the linear layers of an ONNX file 8-bit, with a scale a channel; activations at run time.

    Args:
        path: Replaced, with the weights beside it.
        label: The checkpoint, for messages.

    Raises:
        EncoderLoadError: onnxruntime cannot quantize it.
    """
    quantization = needed("onnxruntime.quantization", label)
    with tempfile.TemporaryDirectory(dir=path.parent) as place:
        smaller = Path(place) / path.name
        try:
            with _quiet():
                quantization.quantize_dynamic(
                    str(path),
                    str(smaller),
                    op_types_to_quantize=["MatMul", "Gemm"],
                    per_channel=True,
                    weight_type=quantization.QuantType.QInt8,
                    use_external_data_format=path.with_name(f"{path.name}.data").exists(),
                )
        except _FAILURES as error:
            message = f"{label} cannot be quantized: {' '.join(str(error).split())[:300]}"
            raise EncoderLoadError(message, remedy="export it with precision fp32") from error
        for old in path.parent.glob(f"{path.name}*"):
            old.unlink()
        for new in Path(place).iterdir():
            shutil.move(new, path.parent / new.name)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep what exporters write about themselves off the terminal; what matters is compared later."""
    root, handler = logging.getLogger(), logging.NullHandler()
    # Without a handler, the first warning of onnxruntime's quantizer would give the process one.
    root.addHandler(handler)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        root.removeHandler(handler)
