"""Plans: of a search, of one's own, and what can be done with them."""

import json
import pickle

import pytest

import nest


@pytest.fixture(scope="module")
def plan(small):
    return small.plan(tensor=2, pipeline=2, zero=1, micro_batch=2)


def test_degrees_as_attributes(plan):
    assert (plan.tensor, plan.pipeline, plan.data, plan.zero, plan.zero_shards) == (2, 2, 2, 1, 2)
    assert (plan.sequence_parallel, plan.context, plan.expert, plan.expert_tensor) == (True, 1, 1, 2)
    assert (plan.interleave, plan.schedule, plan.recompute) == (1, "1f1b", "none")
    assert (plan.global_batch, plan.micro_batch, plan.micro_batches) == (64, 2, 16)
    assert (plan.sequence, plan.precision) == (1024, "bf16")
    assert (plan.model, plan.cluster) == ("gpt2", "h100-spine-leaf")
    assert plan.status == "feasible"
    assert plan.parallelism["tensor"] == 2 and plan.training["global_batch"] == 64
    assert len(plan.stages) == 2
    assert nest.Plan.tensor.key == "tensor"


def test_devices_of_stages_and_copies(plan):
    devices = plan.devices()
    assert [len(stage) for stage in devices] == [2, 2]
    assert sorted(d for stage in devices for cell in stage for d in cell) == list(range(8))
    assert all(cell == [cell[0], cell[0] + 1] for stage in devices for cell in stage)


def test_price(plan, program, tmp_path):
    price = plan.price()
    assert price.fits and price.status == "feasible" and price.reason == ""
    assert sum(price.breakdown.values()) == pytest.approx(price.step)
    assert price.memory_bytes == max(s["memory"]["total_bytes"] for s in price.stages)
    assert 0 < price.mfu < 1 and price.tokens_per_s > 0
    assert price.to_dict() == program.json("evaluate", plan.save(tmp_path / "p.json"))
    assert "feasible" in repr(price)


def test_a_plan_of_ones_own_as_a_plan_file_has_it(small):
    plan = small.plan({"parallelism": {"tensor": 2, "data": 4}, "training": {"micro_batch": 2}})
    assert (plan.tensor, plan.data, plan.micro_batch, plan.global_batch) == (2, 4, 2, 64)
    with pytest.raises(nest.InputError, match="tensor 5"):
        small.plan(tensor=5, data=1)
    with pytest.raises(nest.InputError, match="did you mean 'pipeline'"):
        small.plan(pipelin=2)


def test_files(plan, tmp_path):
    file = plan.save(tmp_path / "plan.json")
    assert json.loads(plan.to_json()) == plan.to_dict()
    assert nest.load_plan(file) == plan == nest.load_plan(str(file)) == nest.load_plan(plan.to_dict())
    degrees = tmp_path / "degrees.json"
    degrees.write_text('{"parallelism": {"tensor": 2, "data": 4}, "training": {"global_batch": 64}}')
    assert nest.load_plan(degrees, model="gpt2").data == 4
    with pytest.raises(nest.InputError) as refused:
        nest.load_plan(degrees)
    assert refused.value.file == str(degrees)
    with pytest.raises(nest.InputError, match="no such file"):
        nest.load_plan(tmp_path / "nothing.json")
    (tmp_path / "bad.json").write_text('{"inputs": {"model": "gpt2",}}')
    with pytest.raises(nest.InputError) as refused:
        nest.load_plan(tmp_path / "bad.json")
    assert "line 1" in refused.value.place


def test_pickles(plan, answer):
    for one in (plan, answer.plan):
        other = pickle.loads(pickle.dumps(one))
        assert other == one and hash(other) == hash(one)
        assert other.price().to_dict() == one.price().to_dict()
    assert plan != answer.plan


def test_simulation(plan, program, tmp_path):
    run = plan.simulate()
    assert run.to_dict() == program.json("simulate", plan.save(tmp_path / "p.json"))
    assert run.step == pytest.approx(run.priced, rel=0.1)
    assert run.cause and 0 <= run.bubble_fraction < 1
    assert len(run.stages) == 2
    kinds = {segment.kind for segment in run.timeline}
    assert {"forward", "backward", "optimizer"} <= kinds
    assert {segment.chunk for segment in run.timeline} == {0}
    assert any(segment.background for segment in run.timeline)
    assert max(s.end for s in run.timeline if s.kind in ("forward", "backward")) <= run.step
    assert run.drawing().svg.startswith("<svg")
    assert json.loads(run.trace(tmp_path / "trace.json").read_text())["traceEvents"]
    assert plan.simulate(timeline=False).timeline == []
    everyone = plan.simulate(all_devices=True)
    assert len({s.copy for s in everyone.timeline}) == 2
    assert "simulated" in repr(run)


def test_explanation(plan, program, tmp_path):
    found = plan.explain()
    assert found.binds and found.effects[0]["change"] == "10 % more compute"
    assert found.shadow_prices == []
    assert found.to_dict() == program.json("explain", plan.save(tmp_path / "p.json"), "--no-search")
    more = plan.explain(search=True, time_limit=20)
    assert {one["kind"] for one in more.shadow_prices} >= {"bandwidth", "memory"}
    assert found.binds[0] in repr(found)


def test_difference(plan, answer, program, tmp_path):
    found = plan.diff(answer.plan)
    assert sum(found.terms.values()) == pytest.approx(answer.step - plan.step)
    assert {one["what"] for one in found.choices} >= {"tensor", "pipeline"}
    assert found.to_dict() == program.json(
        "diff", plan.save(tmp_path / "a.json"), answer.plan.save(tmp_path / "b.json")
    )
    assert "s a step" in repr(found)


def test_export(plan, tmp_path):
    found = plan.export("megatron", tmp_path / "launch")
    assert found.folder == tmp_path / "launch"
    assert "--tensor-model-parallel-size 2" in found.text("megatron_args.txt")
    assert (found.folder / "megatron_args.txt").read_bytes() == found.files["megatron_args.txt"]
    assert found.next and found.releases and isinstance(found.lost, list)
    assert plan.export("megatron").files == found.files
    with pytest.raises(nest.InputError, match="is not empty"):
        plan.export("megatron", tmp_path / "launch")
    plan.export("megatron", tmp_path / "launch", force=True)
    with pytest.raises(nest.InputError, match="did you mean 'megatron'"):
        plan.export("megatorn")
    with pytest.raises(nest.InputError, match="torchtitan cannot run this plan"):
        plan.export("torchtitan")
    assert "nest.Export to megatron" in repr(found)
    hosts = plan.export("placement", hosts=["a"], devices_per_host=8)
    assert any(b"a" in text for text in hosts.files.values())


def test_check(plan):
    assert plan.check("memory=95%")
    over = plan.check("memory=1%,mfu=99%")
    assert not over and not over.within
    assert len(over.budgets) == len(over.sentences) == 2
    assert over.to_dict()["status"] == "feasible"
    assert "over" in repr(over)
    with pytest.raises(nest.InputError, match="try memory=95%"):
        plan.check("memory=much")


def test_tables_and_plots(plan):
    pytest.importorskip("pandas")
    assert list(plan.price().to_pandas().index) == [0, 1]
    assert "share" in plan.explain().to_pandas().columns
    assert len(plan.simulate().to_pandas()) == len(plan.simulate().timeline)
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    assert plan.price().plot().patches
    assert plan.simulate().plot().get_xlabel() == "seconds"
