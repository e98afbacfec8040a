"""Every public name is explained, typed and used by a test."""

import inspect
import pathlib
import subprocess
import sys

import pytest

import nest

HERE = pathlib.Path(__file__).parent
TEXT = "".join(file.read_text(encoding="utf-8") for file in HERE.rglob("*.py"))


def members():
    """(name, object) of all public names and their own public members."""
    for name in nest.__all__:
        thing = getattr(nest, name)
        yield name, thing
        if inspect.isclass(thing):
            for member, value in vars(thing).items():
                if not member.startswith("_"):
                    yield f"{name}.{member}", value


def test_all_names_are_there_and_sorted():
    assert nest.__all__ == sorted(nest.__all__)
    for name in nest.__all__:
        assert getattr(nest, name) is not None


def test_every_name_has_a_text():
    for name, thing in members():
        if isinstance(thing, (property, type)) or callable(thing):
            # Attributes of named tuples have a text of their own in the class.
            assert inspect.getdoc(thing), name


def test_every_name_is_used_by_a_test():
    # What only strategies see is used inside their functions.
    for name, _ in members():
        last = name.rpartition(".")[2]
        assert last in TEXT, f"no test uses {name}"


def test_results_have_their_types(small, answer):
    plan = answer.plan
    found = {
        nest.Answer: answer,
        nest.Calibration: nest.calibrate([{"plan": plan, "step_s": 1.2 * plan.step}]),
        nest.Check: plan.check(),
        nest.Comparison: nest.compare(small, []),
        nest.Difference: plan.diff(small.plan(tensor=2)),
        nest.Drawing: plan.simulate().drawing(),
        nest.Explanation: plan.explain(),
        nest.Export: plan.export("megatron"),
        nest.Fits: nest.fits("gpt2", global_batch=8),
        nest.Plan: plan,
        nest.Price: plan.price(),
        nest.Prices: small.price(tensor=[1]),
        nest.Question: small,
        nest.Report: plan.report(),
        nest.Segment: plan.simulate().timeline[0],
        nest.Simulation: plan.simulate(),
        nest.Study: nest.sweep(small, zero=[1]),
        nest.WhyNot: answer.why_not(tensor=2),
    }
    for kind, value in found.items():
        assert type(value) is kind
    # Those of strategies and of callbacks are made by the library.
    assert {nest.Degrees, nest.Layer, nest.Operator, nest.Transform, nest.Progress}


def test_submodules_are_loaded_when_asked_for():
    code = (
        "import sys, nest\n"
        "heavy = {'torch', 'numpy', 'pandas', 'matplotlib', 'transformers', 'accelerate', 'tqdm', 'rich'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "assert nest.callbacks.Watch\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="has no attribute 'troch'"):
        nest.troch  # noqa: B018


def test_the_file_of_options_is_the_librarys_table():
    script = HERE.parents[1] / "tools" / "make_options"
    result = subprocess.run([sys.executable, script, "--check"], check=False)
    assert result.returncode == 0, "run tools/make_options"
