"""The examples of docs/python.md and of README.md run, line by line, and print what stands below them."""

import contextlib
import importlib.util
import io
import pathlib
import re

import numpy
import pytest

import nest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"```python\n(.*?)```(?:\n\n```\n(.*?)```)?", re.S)
LOG = " iteration {0:8d}/ 100 | elapsed time per iteration (ms): {1:.1f} | global batch size: {2:5d} |"
TOPOLOGY = "SwitchName=leaf1 Nodes=node[001-004]\n"
NODES = "NodeName=node[001-004] Gres=gpu:h100:8(S:0-1) State=IDLE Arch=x86_64\n"
ALL_REDUCE = """$ mpirun -np 16 ./build/all_reduce_perf -b 1M -e 1G -f 16
# nThread 1 nGpus 1 minBytes 1048576 maxBytes 1073741824 step: 4(factor)
#  Rank  0 Group  0 Pid  1717 on    node-0 device  0 [0x19] NVIDIA H100 80GB HBM3
#  Rank  8 Group  0 Pid  1817 on    node-1 device  0 [0x19] NVIDIA H100 80GB HBM3
#       size         count      type   redop    root     time   algbw   busbw #wrong
  1073741824     268435456     float     sum      -1   50000.6  21.47  21.47      0
"""
# What needs packages that the tests of python/tests/frameworks have, which use all of these names.
OTHERS = ("torch", "transformers", "accelerate", "trainer", "nest.trace")


def files(plan):
    """What the examples read."""
    pathlib.Path("topology.conf").write_text(TOPOLOGY)
    pathlib.Path("scontrol.txt").write_text(NODES)
    pathlib.Path("all_reduce.txt").write_text(ALL_REDUCE)
    lines = [LOG.format(i, 1070 * plan.step, plan.global_batch) for i in range(1, 21)]
    pathlib.Path("train.log").write_text("\n".join(lines))


def run(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"text": TOPOLOGY, "tensor_column": numpy.array([4, 8]), "pipeline_column": numpy.array([4, 4])}
    ran = 0
    for code, printed in BLOCK.findall(document.read_text(encoding="utf-8")):
        told = io.StringIO()
        for statement in re.split(r"\n(?=\S)", code):
            if any(word in statement for word in OTHERS):
                continue
            with contextlib.redirect_stdout(told):
                exec(statement, names)
            ran += 1
            if "a" in names and "plan" not in names:
                names["plan"] = names["a"].plan
                names["other"] = names["q"].plan(tensor=8, pipeline=4, zero=1)
                files(names["plan"])
        if printed:
            assert told.getvalue() == printed
    return ran


def test_the_page_of_the_package(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    assert run(ROOT / "docs" / "python.md", tmp_path, monkeypatch) > 25
    assert (tmp_path / "launch").is_dir() and (tmp_path / "plan.json").exists()


def test_the_first_page(tmp_path, monkeypatch):
    assert run(ROOT / "README.md", tmp_path, monkeypatch) >= 4


def test_the_examples_name_what_exists():
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    for name in set(re.findall(r"\bnest\.([A-Za-z_]+)", text)) - {"toml"}:
        assert hasattr(nest, name) or importlib.util.find_spec(f"nest.{name}"), name
