"""torch as a runtime: device, loading of transformers models, and what its errors mean."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from eagle_rag.adapters.encoders.libraries import needed
from eagle_rag.adapters.encoders.memory import NotEnoughMemory
from eagle_rag.errors import EncoderLoadError
from eagle_rag.model.passage import FloatArray

__all__ = ["TorchRuntime", "check_window", "floats"]

_NO_MEMORY = ("not enough memory", "out of memory", "can't allocate memory")  # as torch words it
_LOADING = threading.Lock()  # transformers' verbosity is one setting of the process


class TorchRuntime:
    """What every torch encoder needs: the library, the device, the translation of its errors.

    CUDA when there is a device, else the CPU; always float32, so that both give the same vectors.

    Args:
        label: The encoder's label, for messages.

    Raises:
        EncoderLoadError: torch is not installed.
    """

    def __init__(self, label: str) -> None:
        self.label = label
        self.torch = needed("torch", label)
        self.on_gpu = bool(self.torch.cuda.is_available())
        self.device = self.torch.device("cuda" if self.on_gpu else "cpu")

    def load(self, make: Callable[[], Any], source: str) -> Any:  # noqa: ANN401 - a torch module
        """Return a model in evaluation mode, in float32, on the device.

        Args:
            make: Builds it, with its weights.
            source: What it is loaded from, for messages.

        Raises:
            EncoderLoadError: It does not load.
        """
        try:
            return make().eval().float().to(self.device)
        except EncoderLoadError:
            raise
        except Exception as error:  # safetensors and pickle raise bare Exception for damaged files
            message = f"encoder {self.label!r}: {source} does not load: {error}"
            raise EncoderLoadError(
                message, remedy="check that it holds a checkpoint of this encoder's kind"
            ) from error

    def pretrained(self, kind: str, folder: Path, *, unused: str = "") -> Any:  # noqa: ANN401 - as above
        """Return a transformers model with all its weights.

        Args:
            kind: The auto class, such as ``AutoModel``.
            folder: The checkpoint.
            unused: Start of the names of weights that may be missing, because nothing reads them.

        Raises:
            EncoderLoadError: It does not load, or weights are missing, which transformers would draw
                at random.
        """
        transformers = needed("transformers", self.label)

        def make() -> Any:  # noqa: ANN401 - as above
            with _quiet(transformers):
                model, info = getattr(transformers, kind).from_pretrained(
                    str(folder), local_files_only=True, output_loading_info=True
                )
            missing = sorted(
                name for name in info["missing_keys"] if not (unused and name.startswith(unused))
            )
            if missing or info["mismatched_keys"]:
                wrong = missing or sorted(map(str, info["mismatched_keys"]))
                message = f"encoder {self.label!r}: {folder} lacks {len(wrong)} weights of its model, such as {wrong[0]}"
                raise EncoderLoadError(
                    message, remedy="use the checkpoint this model was saved to"
                )
            return model

        return self.load(make, str(folder))

    def tokenizer(self, folder: Path) -> Any:  # noqa: ANN401 - a transformers tokenizer
        """Return the tokenizer of a checkpoint.

        Raises:
            EncoderLoadError: It does not load.
        """
        transformers = needed("transformers", self.label)
        try:
            with _quiet(transformers):
                return transformers.AutoTokenizer.from_pretrained(
                    str(folder), local_files_only=True
                )
        except Exception as error:  # tokenizers raises bare Exception for damaged files
            message = f"encoder {self.label!r}: the tokenizer in {folder} does not load: {error}"
            raise EncoderLoadError(
                message, remedy="put the tokenizer's files beside the weights"
            ) from error

    @contextmanager
    def running(self, what: str) -> Iterator[None]:
        """Run a model without gradients.

        Args:
            what: What it runs on, for messages.

        Raises:
            NotEnoughMemory: The run did not fit into memory.
            EncoderLoadError: The model fails on these values.
        """
        try:
            with self.torch.inference_mode():
                yield
        except (RuntimeError, IndexError, MemoryError, TypeError, ValueError) as error:
            message = f"the model of encoder {self.label!r} failed on {what}: {error}"
            if self._short_of_memory(error):
                if self.on_gpu:
                    self.torch.cuda.empty_cache()
                raise NotEnoughMemory(
                    message, remedy="shorten the input, or free memory"
                ) from error
            raise EncoderLoadError(
                message, remedy="check that vocabulary and max_tokens are those of the model"
            ) from error

    def _short_of_memory(self, error: Exception) -> bool:
        if isinstance(error, (MemoryError, self.torch.OutOfMemoryError)):
            return True
        return any(words in str(error).lower() for words in _NO_MEMORY)


def floats(tensor: Any) -> FloatArray:  # noqa: ANN401 - a torch tensor
    """Return a tensor as a float32 array on the CPU."""
    return np.asarray(tensor.float().cpu().numpy(), np.float32)


def check_window(config: Any, size: int, *, label: str) -> None:  # noqa: ANN401 - a transformers configuration
    """Refuse a window longer than the positions a model knows: CUDA would abort the process there.

    Raises:
        EncoderLoadError: The card's window is longer.
    """
    positions = getattr(config, "max_position_embeddings", None)
    if positions is None:
        return
    # RoBERTa counts positions from behind the padding id (transformers, modeling_roberta.py).
    offset = 0
    if "roberta" in str(getattr(config, "model_type", "")):
        offset = int(getattr(config, "pad_token_id", 0) or 0) + 1
    if size > positions - offset:
        message = (
            f"encoder {label!r}: a window of {size} tokens, its model has {positions - offset}"
        )
        raise EncoderLoadError(message, remedy="lower max_tokens in the encoder's settings")


@contextmanager
def _quiet(transformers: Any) -> Iterator[None]:  # noqa: ANN401 - the module
    """Keep transformers from writing progress and reports to stderr; what matters is raised here."""
    logging = transformers.utils.logging
    with _LOADING:
        verbosity, progress = logging.get_verbosity(), logging.is_progress_bar_enabled()
        logging.set_verbosity_error()
        logging.disable_progress_bar()
        try:
            yield
        finally:
            logging.set_verbosity(verbosity)
            if progress:
                logging.enable_progress_bar()
