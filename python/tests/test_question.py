"""Questions: what they take, and what they refuse."""

import copy
import json
import pickle

import pytest

import nest


def test_takes_the_options_of_the_command():
    q = nest.Question(
        "llama3.1-8b", "h100-spine-leaf", devices=64, tensor=[1, 2], pipeline="1..4", zero=1,
        sequence_parallel=True, recompute=["none", "full:2"], for_="megatron", gap=0.02, strict=True,
    )  # fmt: skip
    assert q.options == {
        "devices": "64", "tensor": "1,2", "pipeline": "1..4", "zero": "1", "sequence-parallel": "on",
        "recompute": "none,full:2", "for": "megatron", "gap": "0.02", "strict": "on",
    }  # fmt: skip
    assert (q.model, q.cluster, q.devices) == ("llama3.1-8b", "h100-spine-leaf", 64)


def test_every_option_of_the_table_is_a_keyword():
    names = list(nest.options())
    assert {"devices", "for", "time-limit", "runners-up", "threads"} <= set(names)
    for name in names:
        with pytest.raises(nest.InputError) as refused:
            nest.Question("gpt2", **{name.replace("-", "_"): {}})
        assert refused.value.place == name.replace("-", "_")
        assert "is expected" in str(refused.value)


def test_none_is_not_asked():
    assert nest.Question("gpt2", devices=None, tensor=None).options == {}


def test_ranges_and_numbers_of_numpy():
    numpy = pytest.importorskip("numpy")
    q = nest.Question("gpt2", devices=numpy.int64(8), tensor=numpy.array([1, 2]), pipeline=range(1, 3))
    assert q.options == {"devices": "8", "tensor": "1,2", "pipeline": "1,2"}


def test_other_things_asked_besides(small):
    other = small.but(tensor=2, global_batch=32)
    assert other.options == {"devices": "8", "global-batch": "32", "tensor": "2"}
    assert small.options == {"devices": "8", "global-batch": "64"}
    assert small.but(devices=16).devices == 16  # of the whole cluster


def test_models_as_files_and_dicts(tmp_path):
    config = {
        "model_type": "llama", "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 4,
        "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 1000,
        "max_position_embeddings": 512, "_name_or_path": "tiny",
    }  # fmt: skip
    file = tmp_path / "config.json"
    file.write_text(json.dumps(config))
    by_file = nest.Question(file, devices=8, global_batch=8)
    by_dict = nest.Question(config, devices=8, global_batch=8)
    by_text = nest.Question(str(file), devices=8, global_batch=8)
    assert by_dict.model == "tiny"
    steps = {q.solve().step for q in (by_file, by_dict, by_text)}
    assert len(steps) == 1
    with pytest.raises(nest.InputError, match="num_attention_heads"):
        nest.Question({**config, "num_attention_heads": "four"})


def test_clusters_and_recipes_as_dicts():
    cluster = {
        "name": "mine",
        "accelerator": "h100-sxm",
        "levels": [{"name": "node", "size": 8, "bandwidth": "450 GB/s", "latency": "1 us"}],
    }
    q = nest.Question("gpt2", cluster, {"framework": "megatron", "reserve": "3 GiB"}, global_batch=64)
    assert (q.cluster, q.devices) == ("mine", 8)
    assert q.inputs["recipe"]["reserve"] != nest.Question("gpt2").inputs["recipe"]["reserve"]
    with pytest.raises(nest.InputError) as refused:
        nest.Question("gpt2", {**cluster, "levls": []})
    assert str(refused.value) == "cluster: unknown key 'levls'; did you mean 'levels'?"
    assert (refused.value.file, refused.value.place) == ("cluster", "")
    with pytest.raises(nest.InputError) as refused:
        nest.Question("gpt2", {**cluster, "levels": [{**cluster["levels"][0], "latency": "1 parsec"}]})
    assert refused.value.place == "levels[0].latency"


def test_a_config_with_the_methods_of_transformers():
    class Config:
        model_type = "gpt2"

        def to_json_string(self, use_diff):
            assert not use_diff
            return '{"n_embd": 768, "n_layer": 2, "n_head": 12, "n_positions": 256, "vocab_size": 500}'

    assert nest.Question(Config(), devices=1, global_batch=1).solve().feasible


def test_what_describes_itself_is_a_model():
    class Traced:
        def to_nest(self):
            return "gpt2"

    assert nest.Question(Traced(), devices=8).model == "gpt2"


def test_what_is_no_model():
    with pytest.raises(
        nest.InputError, match="a float is no name, file, group of keys, config or module"
    ):
        nest.Question(3.5)
    with pytest.raises(nest.InputError, match="a list is no name"):
        nest.Question(model=["gpt2"])
    with pytest.raises(nest.InputError, match="cluster: a name, a file or a group of keys is expected"):
        nest.Question("gpt2", cluster=8)
    with pytest.raises(nest.InputError, match="a type is no number, text, list or group of keys"):
        nest.Question("gpt2", recipe=object)


def test_refusals_name_the_keyword():
    cases = {
        "devices": dict(devices=0),
        "tensor": dict(tensor="eight"),
        "global_batch": dict(global_batch=0),
        "for": dict(for_="megatorn"),
        "top": dict(top=0),
    }
    for place, options in cases.items():
        with pytest.raises(nest.InputError) as refused:
            nest.Question("llama3.1-8b", **options)
        assert refused.value.place == place, refused.value
        assert refused.value.what
    with pytest.raises(nest.InputError) as refused:
        nest.Question("llama3.1-8b", devices=100)
    assert refused.value.file == "h100-spine-leaf"
    assert refused.value.hint == "the nearest numbers that do are 96 and 128"


def test_pickles_and_copies(small):
    recipe = {**small.inputs["recipe"], "reserve": "3 GiB"}
    for q in (small, nest.Question("gpt2", recipe=recipe, devices=16, tensor=[1, 2], calibration=None)):
        other = pickle.loads(pickle.dumps(q))
        assert other == q
        assert other.to_dict() == q.to_dict()
        assert copy.deepcopy(q) == q
        assert hash(other) == hash(q)
    assert small != small.but(devices=16)


def test_shows_itself(small):
    assert repr(small) == "<nest.Question: gpt2 on 8 devices of h100-spine-leaf, global-batch 64>"


def test_names_that_come_with_it():
    assert "llama3.1-70b" in nest.models()
    assert "h100-spine-leaf" in nest.clusters()
    assert "megatron" in nest.recipes()
    assert "h100-sxm" in nest.accelerators()
    assert {"manual", "alpa"} <= {one["name"] for one in nest.baselines()}
    assert {"megatron", "torchtitan"} <= {one["name"] for one in nest.targets()}
    assert {"placement", "timeline", "memory"} <= set(nest.report_sections())
    assert nest.__version__.count(".") == 2


def test_prediction_modules_are_trained():
    asked = dict(devices=256, global_batch=256, sequence=4096, pipeline=8, tensor=1, expert=32, micro_batch=1)
    q = nest.Question("deepseek-v3", mtp=True, **asked)
    assert q.options["mtp"] == "on"
    plan = q.solve(time_limit=60).plan
    assert plan.to_dict()["training"]["mtp"] is True
    assert q.plan(tensor=1, pipeline=8, expert=32).to_dict()["training"]["mtp"] is True
    assert "mtp" not in nest.Question("deepseek-v3", **asked).solve(time_limit=60).plan.training
    with pytest.raises(nest.InputError) as refused:
        nest.Question("gpt2", mtp=True)
    assert refused.value.place == "mtp"


def test_a_schedule_of_pairs():
    q = nest.Question("llama3.1-8b", devices=16, global_batch=64, schedule="dualpipe-v", pipeline=4)
    plan = q.solve().plan
    assert plan.parallelism["schedule"] == "dualpipe-v" and plan.parallelism["interleave"] == 2
    assert plan.simulate().step == pytest.approx(plan.step, rel=0.1)
    prices = q.price([{"pipeline": 4, "schedule": "dualpipe-v", "zero": 1}])
    assert prices.status == ["feasible"] and prices.plan(0).parallelism["schedule"] == "dualpipe-v"
