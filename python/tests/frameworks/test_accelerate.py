"""Plans as Accelerate's ParallelismConfig."""

import pytest

import nest
import nest.accelerate


@pytest.fixture(scope="module")
def plan():
    return nest.Question("llama3.1-8b", devices=16, global_batch=64, for_="accelerate").solve().plan


def test_sizes_are_those_of_the_export(plan):
    sizes = nest.accelerate.sizes(plan)
    assert (
        sizes["dp_shard_size"] * sizes["dp_replicate_size"] * sizes["tp_size"] * sizes["cp_size"] == 16
    )
    assert sizes["tp_size"] == plan.tensor


def test_plans_that_it_cannot_run():
    q = nest.Question("llama3.1-8b", devices=16, global_batch=64)
    with pytest.raises(nest.InputError, match="Accelerate cannot run this plan"):
        nest.accelerate.sizes(q.plan(pipeline=2))


def test_plans_that_deepspeed_runs_for_it():
    q = nest.Question("llama3.1-8b", recipe="deepspeed", devices=16, global_batch=64)
    plan = q.plan(zero=1, recompute="full")
    with pytest.raises(nest.InputError, match="by DeepSpeed"):
        nest.accelerate.sizes(plan)


def test_plain_copies_need_none():
    plan = nest.Question("gpt2", devices=8, global_batch=64, for_="accelerate").plan(zero=0)
    with pytest.raises(nest.InputError, match="as plain copies"):
        nest.accelerate.sizes(plan)


def test_a_parallelism_config(plan):
    pytest.importorskip("accelerate")
    config = nest.accelerate.parallelism_config(plan)
    assert config.total_size == 16
    assert config.dp_shard_size == nest.accelerate.sizes(plan)["dp_shard_size"]
