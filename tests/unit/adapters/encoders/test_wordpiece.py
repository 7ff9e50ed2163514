import json
from pathlib import Path

import pytest

from eagle_rag.adapters.encoders.wordpiece import TokenWindow, bert_tokenizer, folder_tokenizer
from eagle_rag.errors import EncoderLoadError

# Ids of the tokenizer.json published with all-MiniLM-L6-v2.
PUBLISHED: list[tuple[str, list[int]]] = [
    (
        "EGFR T790M-positive",
        [101, 1041, 25708, 2099, 1056, 2581, 21057, 2213, 1011, 3893, 102],
    ),
    (
        "TGF-\u03b21 \u03b1\u0394 \u03ac 5\u00b5m",
        [101, 1056, 25708, 1011, 1156, 2487, 1155, 29722, 1155, 1019, 29659, 2213, 102],
    ),
    ("\uff21\uff22\uff11 \uff71", [101, 100, 100, 102]),
    ("a\x00b\x07c\u200b\ufeff\u00add\u2028e\x85f", [101, 5925, 2094, 1041, 2546, 102]),
    ("[CLS] x [MASK][SEP]", [101, 101, 1060, 103, 102, 102]),
    ("\u6f22\u5b57", [101, 1904, 100, 102]),
    ("\u0130\u00dfe\u0301 \ufb01", [101, 1045, 17499, 1984, 102]),
    ("x" * 101, [101, 100, 102]),
    ("\U0001f9ec", [101, 100, 102]),
    ("", [101, 102]),
]
MINIMAL = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nA\n"


@pytest.mark.parametrize(("text", "ids"), PUBLISHED)
def test_ids_are_those_of_the_published_tokenizer(text: str, ids: list[int]) -> None:
    assert bert_tokenizer().encode(text).ids == ids


def test_shipped_vocabulary_is_whole() -> None:
    assert bert_tokenizer().get_vocab_size() == 30_522


def test_pairs_have_a_second_type() -> None:
    assert bert_tokenizer().encode("a", "b").type_ids == [0, 0, 0, 1, 1]


def test_folder_without_a_tokenizer_is_named(tmp_path: Path) -> None:
    with pytest.raises(EncoderLoadError, match=r"no readable vocabulary at .*vocab\.txt"):
        folder_tokenizer(tmp_path)


def test_vocabulary_without_special_tokens_is_refused(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("a\nb\n[PAD]\n", "utf-8")
    with pytest.raises(EncoderLoadError, match=r"lacks \[UNK\], \[CLS\], \[SEP\], \[MASK\]"):
        folder_tokenizer(tmp_path)


def test_tokenizer_json_comes_before_vocab_txt_and_does_not_truncate(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text(MINIMAL, "utf-8")
    other = bert_tokenizer()
    other.enable_truncation(4)
    other.enable_padding(length=4)
    other.save(str(tmp_path / "tokenizer.json"))
    assert folder_tokenizer(tmp_path).encode("a a a a a a").ids == [101, *[1037] * 6, 102]


def test_damaged_tokenizer_json_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}", "utf-8")
    with pytest.raises(EncoderLoadError, match=r"tokenizer\.json is not a tokenizer"):
        folder_tokenizer(tmp_path)


@pytest.mark.parametrize(("config", "ids"), [(None, [2, 5, 3]), (False, [2, 6, 3])])
def test_cased_model_keeps_case(tmp_path: Path, config: bool | None, ids: list[int]) -> None:  # noqa: FBT001 - a parameter of a test
    (tmp_path / "vocab.txt").write_text(MINIMAL, "utf-8")
    if config is not None:
        values = json.dumps({"do_lower_case": config})
        (tmp_path / "tokenizer_config.json").write_text(values, "utf-8")
    assert folder_tokenizer(tmp_path).encode("A").ids == ids


@pytest.mark.parametrize("text", ["[1]", "{"])
def test_damaged_tokenizer_config_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "vocab.txt").write_text(MINIMAL, "utf-8")
    (tmp_path / "tokenizer_config.json").write_text(text, "utf-8")
    with pytest.raises(EncoderLoadError, match="is not a JSON object"):
        folder_tokenizer(tmp_path)


def test_lone_surrogate_is_read_as_a_question_mark() -> None:
    window = TokenWindow(bert_tokenizer(), 16)
    assert window.cut("a\ud800b") == window.cut("a?b")


def test_k2_window_counts_special_tokens() -> None:
    window = TokenWindow(bert_tokenizer(), 4)
    assert window.cut("a a") == ([101, 1037, 1037, 102], False)
    assert window.cut("a a b") == ([101, 1037, 1037, 102], True)
