import pytest

from eagle_rag.adapters.encoders.hub import CLIP_WEIGHTS, WEIGHTS, weight_files


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["pytorch_model.bin", "model.safetensors", "tf_model.h5"], ["model.safetensors"]),
        (["pytorch_model.bin", "flax_model.msgpack"], ["pytorch_model.bin"]),
        (
            [
                "model-00002-of-00002.safetensors",
                "model-00001-of-00002.safetensors",
                "model.safetensors.index.json",
                "model-other.safetensors",
            ],
            [
                "model.safetensors.index.json",
                "model-00001-of-00002.safetensors",
                "model-00002-of-00002.safetensors",
            ],
        ),
        (["open_clip_pytorch_model.bin", "README.md"], []),
        ([], []),
    ],
)
def test_weights_are_those_that_transformers_loads(names: list[str], chosen: list[str]) -> None:
    assert list(weight_files(names, WEIGHTS)) == chosen


def test_weights_of_open_clip_come_before_those_of_transformers() -> None:
    names = ["model.safetensors", "open_clip_pytorch_model.bin"]
    assert weight_files(names, CLIP_WEIGHTS) == ("open_clip_pytorch_model.bin",)
