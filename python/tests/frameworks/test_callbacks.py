"""Measured beside predicted, in loops of one's own and in the Trainer."""

import logging
import time
import warnings

import pytest

import nest
from nest.callbacks import Comparison, Deviation, TrainerWatch, Watch


@pytest.fixture(scope="module")
def plan():
    return nest.Question("gpt2", devices=2, global_batch=8).plan(zero=1)


def test_as_predicted_nobody_is_warned(plan, caplog):
    watch = Watch(plan, warm_up=2, every=4)
    assert watch.compare() is None
    with warnings.catch_warnings(), caplog.at_level(logging.INFO, "nest"):
        warnings.simplefilter("error")
        for _ in range(2):
            watch.add(100 * plan.step)  # warm-up
        for _ in range(8):
            watch.add(1.1 * plan.step)
    found = watch.compare()
    assert found.step_error == pytest.approx(0.1)
    assert (found.memory_error, found.part) == (0.0, "")
    assert found.sentences(0.15) == []
    assert len([r for r in caplog.records if "predicted" in r.message]) == 2


def test_a_slow_step_is_told_once_with_the_part_that_is_off(plan):
    watch = Watch(plan, warm_up=0, every=2)
    optimizer = watch.predicted_parts["optimizer"]
    with pytest.warns(Deviation, match="most of it is 'between steps'") as told:
        for _ in range(6):
            parts = {
                "passes": plan.step - optimizer,
                "optimizer": optimizer,
                "between steps": 0.3 * plan.step,
            }
            watch.add(1.3 * plan.step, parts)
    assert len(told) == 1
    assert "+30.0 % of the predicted" in str(told[0].message)
    assert watch.compare().part == "between steps"


def test_memory_is_compared_too(plan):
    found = Comparison(1.0, 1.0, 12 * 2**30, 10 * 2**30)
    assert found.memory_error == pytest.approx(0.2)
    assert found.sentences(0.15) == [
        "memory: the allocator holds 12.0 GiB, +20.0 % of the predicted 10.0 GiB"
    ]
    memory = plan.price().stages[0]["memory"]
    assert Watch(plan).predicted_memory_bytes == memory["total_bytes"] - memory["reserve_bytes"]


def test_the_rank_has_the_memory_of_its_stage():
    plan = nest.Question("gpt2", devices=4, global_batch=8).plan(pipeline=2, data=2)
    stages = plan.price().stages
    by_stage = [s["memory"]["total_bytes"] - s["memory"]["reserve_bytes"] for s in stages]
    for stage, copies in enumerate(plan.devices()):
        for cell in copies:
            assert Watch(plan, rank=cell[0]).predicted_memory_bytes == by_stage[stage]


def test_a_loop_of_ones_own(plan):
    watch = Watch(plan, warm_up=0)
    for _ in range(2):
        with watch.step():
            time.sleep(0.01)
    assert 0.01 <= watch.compare().step_s < 5


def test_events_of_the_trainer(plan):
    callback = TrainerWatch(plan, warm_up=0)
    callback.on_train_begin(None, None, None)
    for _ in range(2):
        callback.on_step_begin(None, None, None)
        callback.on_substep_end(None, None, None)
        callback.on_pre_optimizer_step(None, None, None)
        callback.on_step_end(None, None, None)
    logs = {}
    callback.on_log(None, None, None, logs=logs)
    assert logs["nest/step_s"] > 0 and logs["nest/predicted_step_s"] == plan.step
    assert set(callback.watch.compare().parts) == {"passes", "optimizer", "between steps"}
    with pytest.raises(AttributeError):
        callback.nothing


def test_the_trainer_takes_it(plan, tmp_path, capsys):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    config = transformers.GPT2Config(n_embd=32, n_layer=1, n_head=2, n_positions=32, vocab_size=64)
    rows = [{"input_ids": torch.arange(16), "labels": torch.arange(16)} for _ in range(16)]
    arguments = transformers.TrainingArguments(
        output_dir=str(tmp_path), max_steps=4, per_device_train_batch_size=2, logging_steps=2,
        report_to=[], use_cpu=True, save_strategy="no", disable_tqdm=True,
    )  # fmt: skip
    watch = TrainerWatch(plan, warm_up=1, every=2)
    trainer = transformers.Trainer(
        transformers.GPT2LMHeadModel(config), arguments, train_dataset=rows, callbacks=[watch]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Deviation)
        trainer.train()
    assert watch.watch.compare().step_s > 0
    assert "nest/predicted_step_s" in capsys.readouterr().out  # what the Trainer prints of its logs
