"""Models, looked at by themselves."""

import json
import pickle

import pytest

import nest

CONFIG = {
    "model_type": "llama", "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 4,
    "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 1000,
    "max_position_embeddings": 512, "_name_or_path": "tiny",
}  # fmt: skip


def test_says_what_the_command_says(program):
    for name, words, asked in (
        ("gpt2", [], {}),
        ("deepseek-v3", ["--mtp", "--sequence", 4096], {"mtp": True, "sequence": 4096}),
        ("mixtral-8x7b", ["--micro-batch", 2], {"micro_batch": 2}),
    ):
        said = program.json("models", "show", name, *words)
        assert nest.Model(name).describe(**asked) == said
    model = nest.Model("mixtral-8x7b")
    assert model.active_parameters < model.parameters == 46702792704
    assert model.forward_flops > 0 and len(model.layers) == 34


def test_configs_and_files(tmp_path):
    model = nest.Model(CONFIG)
    assert (model.name, model.to_nest()) == ("tiny", CONFIG)
    file = model.save(tmp_path / "tiny.json")
    assert json.loads(file.read_text()) == CONFIG
    assert nest.Question(file).model == nest.Question(model).model == "tiny"
    other = nest.Model({**CONFIG, "model_type": "nobody_knows"}, like="llama")
    assert other.parameters == model.parameters
    assert nest.Question(other, devices=8, global_batch=8).solve().feasible
    assert nest.Model({**CONFIG, "num_hiden_layers": 4}).warnings
    with pytest.raises(nest.InputError, match="nobody_knows"):
        nest.Model({**CONFIG, "model_type": "nobody_knows"})
    with pytest.raises(nest.InputError, match="gpt2 is a name"):
        nest.Model("gpt2").save(tmp_path / "x.json")
    with pytest.raises(nest.InputError, match="no such file"):
        nest.Model(tmp_path / "nothing.onnx")


def test_equal_ones():
    model = nest.Model(CONFIG)
    assert pickle.loads(pickle.dumps(model)) == model == nest.Model(dict(CONFIG))
    assert hash(model) == hash(nest.Model(CONFIG))
    assert model != nest.Model("gpt2") and nest.Model("gpt2") == nest.Model("gpt2")
    assert repr(model) == f"<nest.Model tiny: {model.parameters:,} parameters>"
    pandas = pytest.importorskip("pandas")
    assert isinstance(model.to_pandas(), pandas.DataFrame)
