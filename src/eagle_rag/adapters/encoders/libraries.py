"""Libraries that only the ``torch`` extra brings, imported when a checkpoint needs them."""

import importlib
import importlib.util
from typing import Any

from eagle_rag.errors import EncoderLoadError

__all__ = ["EXTRA", "needed", "require_installed"]

EXTRA = "pip install 'eagle-rag[torch]'"


def require_installed(module: str, label: str) -> None:
    """Refuse an encoder whose library is missing, without importing the library.

    Raises:
        EncoderLoadError: It is not installed; the extra is named.
    """
    if importlib.util.find_spec(module) is None:
        message = f"encoder {label!r} needs the package {module}, which is not installed"
        raise EncoderLoadError(message, remedy=EXTRA)


def needed(module: str, label: str) -> Any:  # noqa: ANN401 - a module without type information here
    """Return an imported library.

    Raises:
        EncoderLoadError: It is not installed or does not import; the extra is named.
    """
    try:
        return importlib.import_module(module)
    except (ImportError, OSError, RuntimeError) as error:
        # OSError: a shared library is missing. RuntimeError: a torchvision of another torch, which
        # finds its operators unregistered.
        message = f"encoder {label!r} needs the package {module}: {error}"
        raise EncoderLoadError(
            message, remedy=f"{EXTRA}, with torchvision of torch's release"
        ) from error
