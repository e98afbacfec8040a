"""Launch files: as plans, and within a budget."""

import json

import pytest

import nest

TITAN = """[model]
name = "llama3"
flavor = "8B"

[training]
local_batch_size = 1
seq_len = 8192

[parallelism]
data_parallel_shard_degree = -1
tensor_parallel_degree = 2

[activation_checkpoint]
mode = "full"
"""


@pytest.fixture
def launch(tmp_path):
    file = tmp_path / "train.toml"
    file.write_text(TITAN)
    return file


def test_reads_a_launch_file(launch, program):
    plan = nest.read_launch(launch, devices=64)
    assert (plan.tensor, plan.model) == (2, "llama3.1-8b")
    assert plan.to_dict() == program.json("import", "torchtitan", launch, "--devices", 64)
    assert nest.read_launch(launch, kind="torchtitan", devices=64) == plan


def test_a_guard_for_a_repository(launch, program):
    found = nest.check(launch, "memory=95%", devices=64)
    assert found, found
    assert found.to_dict() == program.json("check", launch, "--devices", 64, "--budget", "memory=95%")
    over = nest.check(launch, "memory=1GiB,step=1ms", devices=64)
    assert not over
    assert over.to_dict() == program.json(
        "check", launch, "--devices", 64, "--budget", "memory=1GiB,step=1ms", expect=(1,)
    )


def test_plans_are_launch_files_too(tmp_path, small):
    plan = small.plan(zero=1)
    assert nest.check(plan.save(tmp_path / "plan.json"))
    assert nest.check(plan)
    degrees = tmp_path / "degrees.json"
    degrees.write_text(json.dumps({"parallelism": {"data": 8}, "training": {"global_batch": 64}}))
    assert nest.check(degrees, model="gpt2", devices=8)


def test_what_is_wrong(launch, tmp_path):
    with pytest.raises(nest.InputError, match="did you mean 'torchtitan'"):
        nest.read_launch(launch, kind="torchtitn")
    with pytest.raises(nest.InputError, match="there is no such option"):
        nest.read_launch(launch, device=8)
    with pytest.raises(nest.InputError, match="whole number from 1"):
        nest.read_launch(launch, devices=0)
    with pytest.raises(nest.InputError, match="none of its values"):
        nest.read_launch(launch, devices=64, precision="bf61")
    with pytest.raises(nest.InputError, match="none of its values"):
        nest.read_launch(launch, devices=64, recompute="half")
    with pytest.raises(nest.InputError, match="nothing that a budget can be set for"):
        nest.check(launch, "heat=3", devices=64)
    (tmp_path / "odd").write_text("hello")
    with pytest.raises(nest.InputError, match="neither a launch line"):
        nest.read_launch(tmp_path / "odd")
