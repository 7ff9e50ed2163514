"""Tiny checkpoints with random weights in the formats their publishers use, built without a network.

Each function writes one folder as the real checkpoint of that kind lies on a hub: the same files, the same
configuration keys, a model of a few thousand weights. For tests that load them as real ones are loaded.
Needs the ``torch`` extra; nothing is imported before a function is called.
"""

import functools
import importlib.util
import json
from pathlib import Path
from typing import Any

__all__ = [
    "TINY_DIM",
    "TINY_PICTURE",
    "TINY_UNI_ARGS",
    "TINY_WINDOW",
    "define_torchvision_operators",
    "tiny_bert",
    "tiny_biomed_clip",
    "tiny_chemberta",
    "tiny_clip_weights",
    "tiny_cross_encoder",
    "tiny_medcpt",
    "tiny_open_clip",
    "tiny_uni",
    "tiny_vit",
]

TINY_DIM, TINY_WINDOW, TINY_PICTURE = 32, 48, 32
# How UNI2-h's page says timm must build it, with small numbers.
TINY_UNI_ARGS: tuple[tuple[str, str | float | bool], ...] = (
    ("img_size", 28),
    ("patch_size", 14),
    ("depth", 2),
    ("num_heads", 4),
    ("init_values", 0.5),
    ("embed_dim", TINY_DIM),
    ("mlp_ratio", 2.66667 * 2),
    ("num_classes", 0),
    ("no_embed_class", True),
    ("mlp_layer", "SwiGLUPacked"),
    ("act_layer", "silu"),
    ("reg_tokens", 8),
    ("dynamic_img_size", True),
)
_SHAPE = {
    "hidden_size": TINY_DIM,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
}
_SMILES = ("CC(=O)Oc1ccccc1C(=O)O", "CN1C=NC2=C1C(=O)N(C(=O)N2C)C", "C1CCCCC1", "[Na+].[Cl-]")
_IMAGENET = {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}
_KEPT: list[Any] = []  # a torch library is gone when nobody refers to it


@functools.cache
def define_torchvision_operators() -> None:
    """Let torchvision be imported beside a torch that its compiled part does not fit.

    It then lacks the operators it wants to describe on import. They are declared, not implemented;
    nothing here detects objects. Call it before the first import of torchvision.
    """
    import torch

    found = importlib.util.find_spec("torchvision")
    folder = Path(found.origin).parent if found is not None and found.origin else Path()
    for compiled in sorted(folder.glob("_C*.so")):
        try:
            torch.ops.load_library(str(compiled))
        except OSError:
            continue
        return
    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    _KEPT.append(library)


def tiny_bert(folder: Path, *, seed: int = 0, masked: bool = False) -> Path:
    """Write a BERT encoder with ``vocab.txt``, as PubMedBERT lies on a hub.

    Args:
        folder: Created.
        seed: Of the weights.
        masked: Save it with its masked-language head instead of its pooler, as PubMedBERT is.
    """
    import torch
    import transformers

    torch.manual_seed(seed)
    config = _bert_config()
    kind = transformers.BertForMaskedLM if masked else transformers.BertModel
    _spread(kind(config)).save_pretrained(folder)
    _word_pieces(folder)
    return folder


def tiny_medcpt(folder: Path) -> tuple[Path, Path]:
    """Write MedCPT's two towers, whose weights differ; return the query's and the article's folder."""
    import torch
    import transformers

    torch.manual_seed(1)
    model = _spread(transformers.BertModel(_bert_config()))
    for name in ("query", "article"):
        model.save_pretrained(folder / name)
        _word_pieces(folder / name)
        transformers.AutoTokenizer.from_pretrained(folder / name).save_pretrained(folder / name)
        with torch.no_grad():
            for values in model.parameters():
                values.add_(torch.randn_like(values) * 0.01)
    return folder / "query", folder / "article"


def tiny_chemberta(folder: Path) -> Path:
    """Write a RoBERTa with a byte-level vocabulary and a pickled weights file, as ChemBERTa lies on a hub."""
    import tokenizers
    import torch
    import transformers

    torch.manual_seed(2)
    folder.mkdir(parents=True)
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    bpe = tokenizers.ByteLevelBPETokenizer()
    bpe.train_from_iterator(_SMILES, vocab_size=300, special_tokens=special, show_progress=False)
    bpe.save_model(str(folder))
    _write(folder / "tokenizer_config.json", {"model_max_length": TINY_WINDOW})
    config = transformers.RobertaConfig(
        vocab_size=bpe.get_vocab_size(),
        max_position_embeddings=TINY_WINDOW + 2,
        type_vocab_size=1,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        architectures=["RobertaForMaskedLM"],
        **_SHAPE,
    )
    config.save_pretrained(folder)
    model = _spread(transformers.RobertaForMaskedLM(config))
    torch.save(model.state_dict(), folder / "pytorch_model.bin")
    return folder


def tiny_cross_encoder(folder: Path, *, labels: int = 1) -> Path:
    """Write a BERT for sequence classification, as MedCPT's cross-encoder lies on a hub."""
    import torch
    import transformers

    torch.manual_seed(3)
    config = _bert_config(num_labels=labels)
    _spread(transformers.BertForSequenceClassification(config)).save_pretrained(folder)
    _word_pieces(folder)
    return folder


def tiny_biomed_clip(folder: Path) -> Path:
    """Write an open_clip model with a timm picture tower and a BERT text tower, as BiomedCLIP is."""
    bert = "nobody/tiny-bert-on-no-hub"
    text = {
        "hf_model_name": bert,
        "hf_tokenizer_name": bert,
        "hf_proj_type": "mlp",
        "hf_pooler_type": "cls_last_hidden_state_pooler",
        "context_length": TINY_WINDOW,
    }
    vision = {
        "timm_model_name": "test_vit",
        "timm_model_pretrained": False,
        "timm_pool": "",
        "timm_proj": "linear",
        "image_size": 160,  # the one this architecture has positions for
    }
    folder.mkdir(parents=True)
    _word_pieces(folder)
    _bert_config().save_pretrained(folder)
    own = text | {"hf_model_name": str(folder), "hf_model_pretrained": False}
    return _clip(folder, vision, text, text_cfg=own)


def tiny_open_clip(folder: Path) -> Path:
    """Write an open_clip model with open_clip's own towers and tokenizer."""
    folder.mkdir(parents=True)
    vision = {
        "image_size": TINY_PICTURE,
        "layers": 2,
        "width": 32,
        "head_width": 8,
        "patch_size": 8,
    }
    text = {"context_length": 77, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 2}
    return _clip(folder, vision, text)


def tiny_clip_weights(folder: Path, architecture: str) -> Path:
    """Write the weights of an architecture that open_clip knows, alone; return the file.

    Args:
        folder: Created.
        architecture: Registered with open_clip.
    """
    import open_clip
    import torch

    torch.manual_seed(4)
    folder.mkdir(parents=True)
    file = folder / "weights.pt"
    torch.save(open_clip.create_model(architecture).state_dict(), file)
    return file


def tiny_vit(folder: Path) -> Path:
    """Write a transformers vision model with its image processor's configuration."""
    import torch
    import transformers

    torch.manual_seed(5)
    config = transformers.ViTConfig(image_size=TINY_PICTURE, patch_size=8, **_SHAPE)
    _spread(transformers.ViTModel(config)).save_pretrained(folder)
    processor = {
        "image_processor_type": "ViTImageProcessor",
        "do_resize": True,
        "do_rescale": True,
        "do_normalize": True,
        "size": {"height": TINY_PICTURE, "width": TINY_PICTURE},
        "resample": 3,
        "rescale_factor": 1 / 255,
        "image_mean": [0.5, 0.5, 0.5],
        "image_std": [0.5, 0.5, 0.5],
    }
    _write(folder / "preprocessor_config.json", processor)
    return folder


def tiny_uni(folder: Path) -> Path:
    """Write a timm vision model whose shape is not in its configuration, as UNI2-h lies on a hub."""
    import timm
    import torch

    torch.manual_seed(6)
    folder.mkdir(parents=True)
    args = {name: value for name, value in TINY_UNI_ARGS if name != "mlp_layer"}
    model = timm.create_model("vit_giant_patch14_224", mlp_layer=timm.layers.SwiGLUPacked, **args)
    torch.save(_spread(model).state_dict(), folder / "pytorch_model.bin")
    own = {"input_size": [3, 28, 28], "crop_pct": 1.0, "interpolation": "bilinear", **_IMAGENET}
    config = {
        "architecture": "vit_giant_patch14_224",
        "num_classes": 0,
        "num_features": TINY_DIM,
        "pretrained_cfg": {
            **own,
            "num_classes": 0,
            "classifier": "head",
            "first_conv": "patch_embed.proj",
        },
    }
    _write(folder / "config.json", config)
    return folder


def _bert_config(**more: Any) -> Any:  # noqa: ANN401 - a transformers configuration
    import transformers

    return transformers.BertConfig(
        vocab_size=len(_pieces()), max_position_embeddings=TINY_WINDOW, **_SHAPE, **more
    )


def _clip(folder: Path, vision: dict[str, Any], text: dict[str, Any], **more: Any) -> Path:  # noqa: ANN401 - options of open_clip
    import open_clip
    import torch

    torch.manual_seed(7)
    config = {
        "model_cfg": {"embed_dim": TINY_DIM, "vision_cfg": vision, "text_cfg": text},
        "preprocess_cfg": _IMAGENET,
    }
    _write(folder / "open_clip_config.json", config)
    model = open_clip.create_model(f"local-dir:{folder}", **more)
    torch.save(_spread(model).state_dict(), folder / "open_clip_pytorch_model.bin")
    return folder


def _spread(model: Any) -> Any:  # noqa: ANN401 - a torch module
    """Return a model whose weights differ enough that inputs do, too: fresh ones are close to zero."""
    import torch

    with torch.no_grad():
        for values in model.parameters():
            if values.ndim > 1:
                values.add_(torch.randn_like(values) * 0.1)
    return model


def _word_pieces(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in _pieces()), "utf-8")
    config = {
        "tokenizer_class": "BertTokenizer",
        "do_lower_case": True,
        "model_max_length": TINY_WINDOW,
    }
    _write(folder / "tokenizer_config.json", config)


def _pieces() -> tuple[str, ...]:
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    whole = ("tumour", "cell", "drug", "survival", "word", "osimertinib")
    return (
        *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
        *letters,
        *(f"##{letter}" for letter in letters),
        *"()[]=+-.,:;%/#@?!",
        *whole,
    )


def _write(path: Path, values: dict[str, Any]) -> None:
    path.write_text(json.dumps(values, indent=2), "utf-8")
