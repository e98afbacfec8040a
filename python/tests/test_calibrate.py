"""Calibrations from logs, rows and profilers in memory."""

import json

import pytest

import nest

# A line of a log of Megatron-LM.
LINE = (
    " [2026-11-01 10:00:{second:02d}] iteration {iteration:8d}/  100 | consumed samples: {samples:12d} | "
    "elapsed time per iteration (ms): {ms:.1f} | throughput per GPU (TFLOP/s/GPU): 400.0 | "
    "learning rate: 1.0E-04 | global batch size: {batch:5d} | lm loss: 5.0E+00 | loss scale: 1.0 |\n"
)


@pytest.fixture(scope="module")
def plan():
    return nest.Question("llama3.1-8b", devices=16, global_batch=64).plan(tensor=2, zero=1)


def log_of(plan, slower):
    batch = plan.global_batch
    return "".join(
        LINE.format(second=i, iteration=i, samples=i * batch, ms=1000 * slower * plan.step, batch=batch)
        for i in range(1, 21)
    )


def test_a_log_moves_the_time_of_kernels(plan, tmp_path, program):
    text = log_of(plan, 1.08)
    learnt = nest.calibrate(text, plan=plan)
    assert 1.0 < learnt.multiples["kernel_time"] < 1.1
    assert learnt.learnt_from and learnt.unknown and learnt.warnings == []
    assert "kernel_time" in repr(learnt)
    slower = nest.Question("llama3.1-8b", devices=16, global_batch=64, calibration=learnt).plan(
        tensor=2, zero=1
    )
    assert slower.step > 1.02 * plan.step

    # By the command, and by its file.
    log, ran, out = (
        tmp_path / "train.log",
        plan.save(tmp_path / "plan.json"),
        tmp_path / "calibration.yaml",
    )
    log.write_text(text)
    said = program.json("calibrate", log, "--plan", ran, "-o", out)
    by_file = nest.calibrate(log, plan=ran)
    assert by_file.answer() == said
    assert by_file.multiples == learnt.multiples
    again = nest.Question(
        "llama3.1-8b", devices=16, global_batch=64, calibration=learnt.save(tmp_path / "mine.yaml")
    )
    assert again.plan(tensor=2, zero=1).step == slower.step
    by_command = nest.Question("llama3.1-8b", devices=16, global_batch=64, calibration=out)
    assert by_command.plan(tensor=2, zero=1).step == slower.step


def test_rows_and_tables(plan, tmp_path):
    rows = [{"plan": plan, "step_s": 1.2 * plan.step}]
    learnt = nest.calibrate(rows)
    file = plan.save(tmp_path / "plan.json")
    by_json = nest.calibrate(
        [{"plan": str(file), "step_s": 1.2 * plan.step, "memory_bytes": plan.price().memory_bytes}]
    )
    assert by_json.multiples["kernel_time"] == pytest.approx(learnt.multiples["kernel_time"], rel=0.02)
    pandas = pytest.importorskip("pandas")
    assert nest.calibrate(pandas.DataFrame(rows)).multiples == learnt.multiples
    frame = learnt.to_pandas()
    assert set(frame["what"]) == {"step"}
    assert nest.calibrate({"plan": plan, "step_s": 1.2 * plan.step}).multiples == learnt.multiples


def test_a_profiler_in_memory(plan):
    class Profiler:
        def export_chrome_trace(self, path):
            events = []
            for step in range(3):
                begin = 1e6 * step * plan.step
                events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}",
                "ts": begin,
                               "dur": 1e6 * plan.step, "pid": 1, "tid": 1})  # fmt: skip
                events.append({"ph": "X", "cat": "kernel", "name": "gemm", "ts": begin, "dur": 0.9e6 *
                plan.step,
                               "pid": 0, "tid": 7, "args": {"stream": 7}})  # fmt: skip
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"traceEvents": events}, file)

    learnt = nest.calibrate(Profiler(), plan=plan)
    assert any("profiled step" in one for one in learnt.learnt_from)


def test_what_cannot_be_used(plan, tmp_path):
    with pytest.raises(nest.InputError, match="does not say which plan ran"):
        nest.calibrate(log_of(plan, 1))
    with pytest.raises(nest.InputError, match="a float is no measurement"):
        nest.calibrate(1.5)
    with pytest.raises(nest.InputError, match="no such file"):
        nest.calibrate(tmp_path / "nothing.log", plan=plan)
