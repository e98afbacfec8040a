"""Many plans at once."""

import math
import random

import pytest

import nest

numpy = pytest.importorskip("numpy")


@pytest.fixture(scope="module")
def question():
    return nest.Question("llama3.1-8b", devices=64, global_batch=256)


def test_rows_columns_and_tables_are_the_same(question):
    rows = [
        {"tensor": 2, "zero": 1},
        {"tensor": 4, "pipeline": 2, "recompute": "full"},
        {"tensor": 3, "data": 16},
    ]
    prices = question.price(rows)
    columns = question.price(
        tensor=[2, 4, 3],
        pipeline=[0, 2, 0],
        zero=numpy.array([1, 0, 0]),
        recompute=["", "full", ""],
        data=[0, 0, 16],
    )
    assert len(prices) == 3
    assert prices.status == ["feasible", "feasible", "invalid"] == columns.status
    numpy.testing.assert_array_equal(prices.step, columns.step)
    assert math.isnan(prices.step[2]) and "tensor 3" in prices.reasons[2]
    assert list(prices.fits) == [True, True, False]
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rows)
    numpy.testing.assert_array_equal(question.price(frame).step, prices.step)
    assert list(prices.to_pandas()["status"]) == prices.status
    assert "<table" in prices._repr_html_()


def test_each_is_the_price_of_its_plan(question):
    seed = random.randrange(10**6)
    print("seed", seed)
    dice = random.Random(seed)
    rows = [
        {
            "tensor": dice.choice([1, 2, 4, 8]), "pipeline": dice.choice([1, 2, 4]),
            "zero": dice.choice([0, 1, 2, 3]), "micro_batch": dice.choice([1, 2]),
            "recompute": dice.choice(["none", "selective", "full"]),
            "sequence_parallel": dice.choice([True, False, None]),
        }
        for _ in range(60)
    ]  # fmt: skip
    prices = question.price(rows)
    for index, row in enumerate(rows):
        one = prices[index]
        assert one.status == prices.status[index], (seed, row)
        if one.status == "invalid":
            continue
        assert one.step == prices.step[index]
        assert one.memory_bytes == prices.memory_bytes[index]
        plan = prices.plan(index)
        assert plan.price().step == pytest.approx(one.step, rel=1e-12)
        degrees = {
            **{k: v for k, v in plan.parallelism.items() if k in ("tensor", "pipeline", "data", "zero")}
        }
        assert degrees["data"] * degrees["tensor"] * degrees["pipeline"] == 64
        line = question.plan(
            {"parallelism": {**plan.parallelism}, "training": {"micro_batch": plan.micro_batch}}
        )
        assert line.step == pytest.approx(one.step, rel=1e-12), (seed, row)
    total = sum(prices.breakdown.values())
    numpy.testing.assert_allclose(total[prices.fits], prices.step[prices.fits], rtol=1e-9)


def test_the_same_as_evaluate(question, program, tmp_path):
    rows = [{"tensor": 2, "data": 32, "zero": 1}, {"tensor": 8, "pipeline": 2, "data": 4}]
    import json

    file = tmp_path / "plans.jsonl"
    training = {"global_batch": 256}
    file.write_text(
        "".join(json.dumps({"training": training, "parallelism": row}) + "\n" for row in rows)
    )
    lines = program.run("evaluate", "--model", "llama3.1-8b", "--jsonl", file).stdout.splitlines()
    assert [json.loads(line) for line in lines] == [one.to_dict() for one in question.price(rows)]


def test_the_best_of_them(question):
    prices = question.price(tensor=[8, 4, 2, 1], zero=1)
    best = prices.best()
    assert prices.step[best] == numpy.nanmin(prices.step[prices.fits])
    assert prices.plan(best).step == prices.step[best]
    with pytest.raises(nest.NoPlan):
        question.price(tensor=[3]).best()


def test_columns_of_results(question):
    prices = question.price(tensor=[1, 2], zero=1)
    for column in (prices.tokens_per_s, prices.mfu, prices.fits_probability, prices.bubble_fraction):
        assert column.shape == (2,) and column.dtype == numpy.float64
    assert list(prices.devices) == [64, 64]
    assert prices[-1].to_dict() == prices[1].to_dict()
    with pytest.raises(IndexError, match="there are 2 plans"):
        prices[2]
    step = prices.step
    del prices  # arrays keep what they show
    assert numpy.isfinite(step).all()
    assert not step.flags.writeable


def test_what_is_wrong_names_the_column(question):
    for columns, what in [
        (dict(tensr=[1]), "did you mean 'tensor'"),
        (dict(tensor=[1.5]), "whole numbers are expected"),
        (dict(tensor=[-1]), "outside 0 to"),
        (dict(schedule=["1f2b"]), "is none of"),
        (dict(tensor=[1, 2], zero=[1, 2, 3]), "has 3 values"),
        ({}, "nothing is priced"),
    ]:
        with pytest.raises(nest.InputError, match=what):
            question.price(**columns)
    with pytest.raises(nest.InputError, match="a list of dicts"):
        question.price(["tensor=8"])


def test_what_the_question_pins_holds():
    q = nest.Question("llama3.1-8b", devices=64, global_batch=256, tensor=4, sequence_parallel=False,
                      recompute="full", pipeline="1..4", zero=1)  # fmt: skip
    prices = q.price(pipeline=[1, 2])
    for index, pipeline in enumerate([1, 2]):
        plan = prices.plan(index)
        assert (plan.tensor, plan.sequence_parallel, plan.recompute) == (4, False, "full")
        assert (plan.pipeline, plan.zero) == (pipeline, 1)
    assert q.plan(tensor=8).tensor == 8
    assert q.plan().pipeline == 1


def test_many(question):
    prices = question.price(tensor=numpy.tile([1, 2, 4, 8], 5000), zero=1)
    assert len(prices) == 20_000
    assert numpy.unique(prices.step).size <= 4
    assert "20,000 plans" in repr(prices)
