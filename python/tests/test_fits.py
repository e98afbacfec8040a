"""Whether a model can be trained on some devices."""

import math

import pytest

import nest


def test_it_fits_with_a_plan():
    found = nest.fits("llama3.1-8b", "h100-sxm", devices=8, global_batch=64)
    assert found and found.answer.plan.data >= 1
    assert 0 < found.memory_share <= 1 and 0.5 < found.probability <= 1
    assert found.advice == [] and "yes" in repr(found)
    assert found.answer.plan.devices()[0][0]


def test_it_does_not_and_says_what_would():
    found = nest.fits("llama3.1-8b", "h100-sxm", global_batch=8, sequence=2048)
    assert not found and math.isnan(found.memory_share) and found.probability == 0
    assert found.advice and "no" in repr(found)
    assert nest.fits("llama3.1-8b", "h100-sxm", global_batch=8, sequence=2048, train="lora:16")


def test_clusters_and_their_names():
    assert nest.fits("gpt2", "gb200-nvl72", devices=8, global_batch=8)
    assert nest.fits("gpt2", global_batch=8)
    with pytest.raises(nest.InputError, match="h100-sxn"):
        nest.fits("gpt2", "h100-sxn")
