"""WordPiece tokenizers: the vocabulary shipped here, or one that lies beside a checkpoint.

The shipped vocabulary is bert-base-uncased's (Apache-2.0, see ``NOTICE``), because the package that
brings the default weights brings no tokenizer.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from eagle_rag.adapters.encoders.surrogates import without_surrogates
from eagle_rag.errors import EncoderLoadError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["VOCABULARY", "TokenWindow", "bert_tokenizer", "folder_tokenizer"]

VOCABULARY = Path(__file__).with_name("bert_base_uncased_vocab.txt")

_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_LONGEST_WORD = 100  # characters; BERT's own limit, beyond which a word is [UNK]


class TokenWindow:
    """Texts to ids that fit an encoder.

    Args:
        tokenizer: Without truncation and padding.
        size: Most ids of a text, special ones included.

    Raises:
        EncoderLoadError: The window has no room beside the special tokens.
    """

    def __init__(self, tokenizer: "Tokenizer", size: int) -> None:
        self._tokenizer = tokenizer
        self._size = size
        self._specials: int = tokenizer.num_special_tokens_to_add(is_pair=False)
        if size <= self._specials:
            message = (
                f"a window of {size} tokens holds nothing beside {self._specials} special ones"
            )
            raise EncoderLoadError(message, remedy="raise max_tokens in the encoder's settings")

    def cut(self, text: str) -> tuple[list[int], bool]:
        """Return the ids of a text, special ones included, and whether the text was cut."""
        clean = without_surrogates(text)
        ids: list[int] = self._tokenizer.encode(clean).ids
        if len(ids) <= self._size:
            return ids, False
        # Tokenized again only then: the tokenizer knows where its special tokens go.
        plain = self._tokenizer.encode(clean, add_special_tokens=False)
        plain.truncate(self._size - self._specials)
        cut: list[int] = self._tokenizer.post_process(plain).ids
        return cut, True


def bert_tokenizer(vocabulary: Path = VOCABULARY, *, lowercase: bool = True) -> "Tokenizer":
    """Build BERT's tokenizer from a ``vocab.txt``, without truncation and padding.

    Args:
        vocabulary: One piece a line; the line number is the id.
        lowercase: Lower-case and strip accents, as the uncased models do.

    Raises:
        EncoderLoadError: The file is missing or lacks a special token.
    """
    from tokenizers import AddedToken, Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer
    from tokenizers.processors import TemplateProcessing

    ids = _read_vocabulary(vocabulary)
    tokenizer = Tokenizer(
        WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=_LONGEST_WORD)  # noqa: S106 - a vocabulary entry, no password
    )
    tokenizer.normalizer = BertNormalizer(
        clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=lowercase
    )
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, ids[token]) for token in ("[CLS]", "[SEP]")],
    )
    tokenizer.add_special_tokens(
        [AddedToken(token, normalized=False, special=True) for token in _SPECIAL]
    )
    return tokenizer


def folder_tokenizer(folder: Path) -> "Tokenizer":
    """Return the tokenizer of a checkpoint folder, without truncation and padding.

    ``tokenizer.json`` is used as it is; else ``vocab.txt``, lower-cased unless
    ``tokenizer_config.json`` says ``"do_lower_case": false``.

    Raises:
        EncoderLoadError: Neither file exists or the one that does is not readable.
    """
    from tokenizers import Tokenizer

    serialized = folder / "tokenizer.json"
    if not serialized.is_file():
        return bert_tokenizer(folder / "vocab.txt", lowercase=_lowercases(folder))
    try:
        tokenizer = Tokenizer.from_file(str(serialized))
    except Exception as error:  # tokenizers raises bare Exception for every bad file
        message = f"{serialized} is not a tokenizer: {error}"
        raise EncoderLoadError(message, remedy="export the checkpoint again") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _lowercases(folder: Path) -> bool:
    config = folder / "tokenizer_config.json"
    if not config.is_file():
        return True
    try:
        return bool(json.loads(config.read_text("utf-8")).get("do_lower_case", True))
    except (ValueError, AttributeError) as error:
        message = f"{config} is not a JSON object: {error}"
        raise EncoderLoadError(message, remedy="export the checkpoint again") from error


def _read_vocabulary(vocabulary: Path) -> dict[str, int]:
    try:
        text = vocabulary.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        message = f"no readable vocabulary at {vocabulary}: {error}"
        raise EncoderLoadError(
            message,
            remedy="put tokenizer.json or vocab.txt beside the model",
        ) from error
    # Not splitlines(): some pieces are characters that it takes for line ends.
    ids = {piece: at for at, piece in enumerate(text.removesuffix("\n").split("\n"))}
    missing = [token for token in _SPECIAL if token not in ids]
    if missing:
        message = f"the vocabulary at {vocabulary} lacks {', '.join(missing)}"
        raise EncoderLoadError(
            message,
            remedy="use the vocab.txt that belongs to the model",
        )
    return ids
