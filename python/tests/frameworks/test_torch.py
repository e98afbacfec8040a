"""Meshes of torch with the plan's ranks; torch's fake backend stands for the devices."""

import numpy
import pytest

import nest
import nest.torch


@pytest.fixture(scope="module")
def plan():
    return nest.Question("llama3.1-8b", devices=32, global_batch=64).plan(
        tensor=2, pipeline=2, context=2, zero=1
    )


def test_ranks_have_the_plans_order(plan):
    mesh = nest.torch.rank_mesh(plan)
    assert dict(zip(nest.torch.DIMENSIONS, mesh.shape)) == {
        "pp": 2, "dp_replicate": 1, "dp_shard": 4, "cp": 2, "tp": 2,
    }  # fmt: skip
    assert sorted(mesh.ravel()) == list(range(32))
    for stage, copies in enumerate(plan.devices()):
        flat = [device for cell in copies for device in cell]
        assert mesh[stage].ravel().tolist() == flat


def test_idle_devices_have_no_rank():
    q = nest.Question("gpt2", devices=8, global_batch=8)
    plan = q.plan(tensor=1, pipeline=3, data=2)
    mesh = nest.torch.rank_mesh(plan)
    assert sorted(mesh.ravel()) == list(range(6))


def test_shards_inside_copies(plan):
    q = nest.Question("llama3.1-8b", devices=32, global_batch=64)
    some = nest.torch.rank_mesh(q.plan(tensor=2, zero=1, zero_shards=4))
    assert some.shape == (1, 4, 4, 1, 2)
    none = nest.torch.rank_mesh(q.plan(tensor=2, zero=0))
    assert none.shape == (1, 16, 1, 1, 2)
    with pytest.raises(nest.InputError, match="no dimension of a mesh"):
        nest.torch.rank_mesh(q.plan(tensor=2, context=2, zero=1, zero_shards=1))


def test_experts():
    q = nest.Question("mixtral-8x7b", devices=32, global_batch=64)
    plan = q.plan(expert=8, zero=1)
    mesh = nest.torch.rank_mesh(plan, experts=True)
    assert mesh.shape == (1, 4, 8, 1)
    assert mesh[0, 0, :, 0].tolist() == plan.devices()[0][0]


def test_a_mesh_of_torch(plan):
    torch = pytest.importorskip("torch")
    from torch import distributed
    from torch.testing._internal.distributed.fake_pg import FakeStore

    for rank in (0, 13, 31):
        distributed.init_process_group("fake", store=FakeStore(), rank=rank, world_size=32)
        try:
            mesh = nest.torch.device_mesh(plan, "cpu")
            assert mesh.mesh_dim_names == nest.torch.DIMENSIONS
            ranks = nest.torch.rank_mesh(plan)
            where = [int(i) for i in numpy.argwhere(ranks == rank)[0]]
            assert list(mesh.get_coordinate()) == where
            tensor_group = mesh["tp"].mesh.tolist()
            assert tensor_group == ranks[where[0], where[1], where[2], where[3], :].tolist()
            assert mesh["pp"].mesh.tolist() == ranks[:, where[1], where[2], where[3], where[4]].tolist()
            assert mesh["dp_shard"].get_local_rank() == where[2]
            assert isinstance(mesh.mesh, torch.Tensor)
            with pytest.raises(nest.InputError, match="32 ranks"):
                nest.torch.device_mesh(nest.Question("gpt2", devices=8).plan(), "cpu")
        finally:
            distributed.destroy_process_group()


def test_a_module_of_transformers_is_a_model():
    pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(
        hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, vocab_size=512, max_position_embeddings=256,
    )  # fmt: skip
    import torch

    with torch.device("meta"):
        module = transformers.LlamaForCausalLM(config)
    by_config = nest.Question(config, devices=2, global_batch=8)
    by_module = nest.Question(module, devices=2, global_batch=8)
    assert by_config.to_dict()["inputs"]["model"]["hidden_size"] == 128
    assert by_config == by_module
    assert by_config.solve().step == by_module.solve().step
