"""Answers: plans with proofs, and answers without a plan."""

import json
import math

import pytest

import nest


def test_an_answer_has_a_plan_with_its_proof(answer):
    assert answer.status == "optimal"
    assert answer.feasible and bool(answer)
    assert answer.bound == pytest.approx(answer.step)
    assert answer.gap == pytest.approx(0, abs=1e-9)
    assert answer.plan.step == answer.step
    assert answer.reason == ""
    assert repr(answer).startswith("<nest.Answer, optimal: ")


def test_alternatives_are_slower(small):
    found = small.solve(top=3)
    assert len(found.alternatives) == 2
    steps = [found.step, *(plan.step for plan in found.alternatives)]
    assert steps == sorted(steps)
    assert found.to_dict()["alternatives"][0]["predicted"]["step_s"] == steps[1]


def test_the_answer_is_a_file_of_the_command(answer, tmp_path, program):
    file = answer.save(tmp_path / "plan.json")
    assert json.loads(file.read_text()) == answer.to_dict() == json.loads(answer.to_json())
    line = program.json("evaluate", file)
    assert line["predicted"]["step_s"] == answer.step


def test_without_a_plan_it_says_why_and_what_would_help():
    found = nest.Question("gpt3-175b", devices=8, global_batch=8).solve()
    assert (found.status, found.feasible) == ("infeasible", False)
    assert "GiB" in found.reason
    assert found.advice[0]["sentence"]
    with pytest.raises(nest.NoPlan, match="GiB"):
        found.plan  # noqa: B018
    assert "infeasible" in repr(found)
    assert found._repr_html_().startswith("<pre>")
    assert nest.Question("gpt3-175b", devices=8, global_batch=8).solve(advise=False).advice == []


def test_a_limit_is_a_status():
    found = nest.Question("llama3.1-70b", work_limit=0).solve(advise=False)
    assert found.status in ("limit", "feasible")
    assert found.status == "feasible" or "limit" in found.reason


def test_why_not(answer):
    other = answer.why_not("tensor=2")
    assert other.status == "optimal"
    assert other.cost > 0 and math.isfinite(other.cost)
    assert other.loses_most_by["change_s"] > 0
    assert nest.load_plan(other.plan).tensor == 2
    assert all(one["factor"] > 0 for one in other.relaxations)
    assert answer.why_not(tensor=2, zero=1).cost >= other.cost - 1e-12
    assert answer.why_not(tensor=answer.plan.tensor).chosen
    forbidden = answer.why_not(tensor=16)
    assert forbidden.cost == math.inf and forbidden.reason
    for one in (other, forbidden):
        assert "nest.WhyNot" in repr(one)
    with pytest.raises(nest.InputError, match="choice"):
        answer.why_not("tensr=2")


def test_why_not_this_plan(answer, small):
    rival = small.plan(tensor=4, zero=1)
    other = answer.why_not(rival)
    assert other.cost == pytest.approx(rival.step - answer.step)


def test_why(answer):
    pytest.importorskip("pandas")
    frame = answer.why()
    assert {"degree", "value", "sentence"} <= set(frame.columns)
    assert "tensor" in set(frame["degree"])


def test_statistics_where_they_are_asked(answer):
    assert "search" not in answer.to_dict()
    assert answer.to_dict(stats=True)["search"]["work"] > 0


def test_a_table_of_the_plans(small):
    pytest.importorskip("pandas")
    frame = small.solve(top=2).to_pandas()
    assert list(frame["step_s"]) == sorted(frame["step_s"])
    assert "tensor" in frame.columns


def test_objectives_money_and_batches():
    q = nest.Question("gpt2", devices=16, global_batch="64±5%", price="2.5/h")
    found = q.solve()
    assert found.to_dict()["cost"]["rented_devices"] == 16
    assert abs(found.plan.global_batch - 64) <= 3
    with pytest.raises(nest.InputError, match="price"):
        nest.Question("gpt2", price="b200=5")


def test_warnings_of_inputs_and_question():
    q = nest.Question("gpt2", "dgx2-v100", devices=8, global_batch=8)
    assert any("has no bf16" in one for one in q.warnings)
    assert any("has no bf16" in one for one in q.solve().warnings)


def test_what_is_said_beside_the_plan():
    # A simpler plan stands in the place of the fastest one, which is the first of the others, once.
    simpler = nest.Question("llama3.1-8b", devices=64, global_batch=512).solve()
    assert simpler.strict["step_s"] < simpler.step and simpler.strict["why"]
    assert [plan.step for plan in simpler.alternatives] == [simpler.strict["step_s"]]
    assert simpler.near_ties == simpler.to_dict()["near_ties"] != []
    strict = nest.Question("llama3.1-8b", devices=64, global_batch=512, strict=True).solve()
    assert strict.strict is None and strict.step == simpler.strict["step_s"]
    # The margin of memory costs something.
    safe = nest.Question("llama3.1-8b", devices=8, global_batch=64).solve()
    assert safe.safety["share"] > 0 and safe.safety["risky_step_s"] < safe.step
    assert nest.Question("llama3.1-8b", devices=8, global_batch=64, risky=True).solve().safety is None
    assert not safe.further_stopped


def test_a_limit_that_ends_what_is_looked_for_besides():
    found = nest.Question("llama3.1-70b", devices=256, global_batch=512).solve(time_limit=0.05)
    assert found.further_stopped == found.to_dict().get("further_stopped", False)
