"""Modules of torch become models by tracing, as configurations of transformers do by what they say."""

import pathlib
import tempfile

import pytest

import nest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("onnx")
pytest.importorskip("onnxscript")

SMALL = {
    "hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 8, "intermediate_size": 160,
    "vocab_size": 999, "max_position_embeddings": 128,
}  # fmt: skip
VIT = {
    "hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 8, "intermediate_size": 160,
    "image_size": 64, "patch_size": 16, "architectures": ["ViTForImageClassification"],
}  # fmt: skip
GPT2 = {"n_layer": 3, "n_embd": 64, "n_head": 4, "vocab_size": 999, "n_positions": 128}
CONFIGS = [
    ("LlamaConfig", {**SMALL, "num_key_value_heads": 2}, 64),
    ("GPT2Config", GPT2, 64),
    ("BertConfig", {**SMALL, "architectures": ["BertForMaskedLM"]}, 64),
    ("Qwen3Config", {**SMALL, "num_key_value_heads": 2, "head_dim": 16}, 64),
    ("ViTConfig", VIT, None),
]


@pytest.mark.parametrize(("kind", "keys", "sequence"), CONFIGS)
def test_a_trace_is_what_the_configuration_says(kind, keys, sequence):
    config = getattr(transformers, kind)(**keys)
    traced = nest.trace(config)
    told = nest.Model(config)
    a, b = traced.describe(sequence=sequence), told.describe(sequence=sequence)
    heads = sum(part["parameters"] for part in b["apart"] if part["in_graph"])
    assert a["parameters"] == b["parameters"] + heads
    assert a["blocks"] == b["blocks"]
    assert a["forward_flops"] == pytest.approx(b["forward_flops"], rel=0.02)
    assert a["counter_flops"] == pytest.approx(b["counter_flops"], rel=0.02)
    assert traced.warnings == []


def test_prices_are_those_of_the_configuration():
    config = transformers.LlamaConfig(
        num_hidden_layers=4, hidden_size=1024, intermediate_size=2816, num_attention_heads=16,
        vocab_size=32000, max_position_embeddings=2048,
    )  # fmt: skip
    traced = nest.trace(config, name="mine")
    assert traced.name == "mine"
    asked = dict(devices=16, global_batch=64)
    for degrees in ({"tensor": 2, "pipeline": 2}, {"zero": 3}, {"tensor": 4, "recompute": "full"}):
        a, b = (nest.Question(model, **asked).plan(**degrees) for model in (traced, config))
        assert a.step == pytest.approx(b.step, rel=0.02)
        assert a.price().memory_bytes == pytest.approx(b.price().memory_bytes, rel=0.02)


class Chain(torch.nn.Module):
    """A language model that no configuration describes."""

    def __init__(self, layers=3):
        super().__init__()
        self.table = torch.nn.Embedding(1000, 64)
        self.blocks = torch.nn.ModuleList(
            torch.nn.TransformerEncoderLayer(64, 4, batch_first=True, norm_first=True)
            for _ in range(layers)
        )
        self.head = torch.nn.Linear(64, 1000)

    def forward(self, tokens):
        x = self.table(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def test_a_module_of_ones_own(tmp_path):
    module = Chain().train()
    module.blocks[1].eval()
    traced = nest.trace(module, torch.zeros(2, 16, dtype=torch.long))
    assert traced.name == "Chain" and traced.warnings == []
    assert traced.parameters == sum(p.numel() for p in module.parameters())
    assert traced.describe(sequence=48)["sequence"] == 48
    assert [layer["type"] for layer in traced.layers].count(traced.layers[1]["type"]) == 3
    # The module is as it was.
    assert module.training and not module.blocks[1].training and module.blocks[2].dropout.training
    # Its tensor-parallel plans and its file work as any model's.
    q = nest.Question(traced, devices=4, global_batch=16, sequence=64)
    assert q.price(tensor=[1, 2, 3]).status[:2] == ["feasible", "feasible"]
    assert nest.Question(traced.save(tmp_path / "chain.json"), devices=4).model == "Chain"


def test_flops_are_those_of_torchs_counter():
    from torch.utils.flop_counter import FlopCounterMode

    module = Chain()
    tokens = torch.zeros(1, 32, dtype=torch.long)
    with FlopCounterMode(display=False) as counter:
        module(tokens)
    traced = nest.trace(module, tokens)  # of one sequence, and yet of any length
    assert traced.describe(sequence=32)["counter_flops"] == counter.get_total_flops()
    assert traced.describe(sequence=64)["sequence"] == 64


IMAGES = [
    "torchvision vit_b_16", "timm deit3_base_patch16_224", "timm eva02_base_patch14_224",
    "timm vit_base_patch16_clip_224", "timm vit_base_patch14_dinov2", "timm vit_base_patch16_dinov3",
    "timm aimv2_large_patch14_224", "timm convmixer_768_32",
]  # fmt: skip
REFUSED = [
    ("torchvision resnet50", "its blocks differ in width"),
    ("torchvision swin_t", "its blocks differ in width"),
    ("timm mixer_b16_224", "it sums over positions"),
    ("timm gmlp_s16_224", "it sums over positions"),
]


def image_model(name):
    """A model of another library on the meta device, and images of the size that it takes."""
    library, name = name.split()
    side = 224
    with torch.device("meta"):
        if library == "timm":
            module = pytest.importorskip("timm").create_model(name)
            side = module.default_cfg["input_size"][1]
        else:
            module = getattr(pytest.importorskip("torchvision").models, name)()
    return module.eval(), torch.zeros(2, 3, side, side)


@pytest.mark.parametrize("name", IMAGES)
def test_models_of_other_libraries(name):
    from torch.utils.flop_counter import FlopCounterMode

    module, images = image_model(name)
    traced = nest.trace(module, images)
    assert traced.warnings == []
    assert traced.parameters == sum(p.numel() for p in module.parameters())
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        module(images.to("meta"))
    assert 2 * traced.describe()["counter_flops"] == counter.get_total_flops()


@pytest.mark.parametrize(("name", "why"), REFUSED)
def test_models_that_are_not_understood(name, why):
    with pytest.raises(nest.InputError, match=why):
        nest.trace(*image_model(name))


def test_modules_with_a_configuration():
    config = transformers.LlamaConfig(**SMALL)
    with torch.device("meta"):
        module = transformers.AutoModelForCausalLM.from_config(config)
    q = nest.Question(module, devices=2, global_batch=8)
    assert q.inputs["model"]["model_type"] == "llama"  # nothing is traced where the configuration says it all
    module.lm_head = torch.nn.Sequential(
        torch.nn.Linear(64, 64, device="meta"), torch.nn.Linear(64, 999, device="meta")
    )
    changed = nest.Question(module, devices=2, global_batch=8, sequence=64)
    assert changed.inputs["model"]["format"] == "nest-model"
    assert nest.Model(module).parameters == sum(p.numel() for p in module.parameters())


def test_files_of_torch_onnx():
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "chain.onnx"
        tokens = torch.zeros(2, 16, dtype=torch.long)
        free = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
        module = Chain().eval()
        for parameter in module.parameters():  # equal tensors would be written once
            torch.nn.init.normal_(parameter)
        torch.onnx.export(module, (tokens,), file, dynamo=True, dynamic_shapes=(free,), verbose=False)
        q = nest.Question(file, devices=2, global_batch=8, sequence=64)
        assert q.model == "chain"
        assert nest.Model(str(file)).parameters == nest.trace(Chain(), tokens).parameters
    assert q.solve().feasible  # the file is not needed any more


def test_what_cannot_be_traced():
    with pytest.raises(nest.InputError) as refused:
        nest.trace(torch.nn.Linear(8, 8))
    assert str(refused.value).startswith("inputs: what Linear is called with is not known")
    with pytest.raises(nest.InputError, match="a float is no module and no configuration"):
        nest.trace(3.5)
    with pytest.raises(nest.InputError, match="a list is no tensor"):
        nest.trace(torch.nn.Linear(8, 8), [[1.0]])

    class Moody(torch.nn.Module):
        def forward(self, x):
            return x * 2 if x.sum() > 0 else x

    with pytest.raises(nest.InputError, match="torch cannot export Moody: ") as refused:
        nest.trace(Moody(), torch.zeros(2, 8))
    assert refused.value.hint == "give a configuration of transformers, or a layer profile"
    with pytest.raises(nest.InputError) as refused:
        nest.trace(torch.nn.Sequential(torch.nn.Linear(8, 8)), torch.zeros(2, 8))
    assert refused.value.file == "the graph of Sequential"
