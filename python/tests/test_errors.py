"""Errors say where, what and what would help, and survive a process boundary."""

import pickle

import pytest

import nest
from nest import _core


def test_parts_of_an_error(tmp_path):
    file = tmp_path / "cluster.yaml"
    file.write_text(
        "name: x\naccelerator: h100-sxm\nlevels:\n  - {name: node, size: 8, bandwith: 1 GB/s}\n"
    )
    with pytest.raises(nest.InputError) as raised:
        nest.Question("gpt2", file)
    error = raised.value
    assert error.file == str(file)
    assert error.place.startswith("line 4")
    assert "bandwith" in error.what
    assert error.hint == "did you mean 'bandwidth'?"
    assert str(error) == f"{error.file}: {error.place}: {error.what}; {error.hint}"
    assert isinstance(error, ValueError)


def test_the_sentence_is_the_commands(program):
    said = program.run("plan", "--model", "llama3.1-88b", expect=(1,)).stderr.strip()
    with pytest.raises(nest.InputError) as raised:
        nest.Question("llama3.1-88b")
    assert said == f"nest: {raised.value}"


def test_pickles():
    error = nest.InputError("f: p: w; h", "f", "p", "w", "h")
    other = pickle.loads(pickle.dumps(error))
    assert (str(other), other.file, other.place, other.what, other.hint) == (
        "f: p: w; h",
        "f",
        "p",
        "w",
        "h",
    )
    assert nest.InputError("only").what == "only"


def test_raised_from_python():
    with pytest.raises(nest.InputError) as raised:
        _core.fail("file", "place", "what", "hint")
    assert str(raised.value) == "file: place: what; hint"


def test_values_that_json_has_not():
    with pytest.raises(nest.InputError, match="63 bits"):
        nest.Question("gpt2", devices=2**70)
    nested = []
    nested.append(nested)
    with pytest.raises(nest.InputError, match="nested too deep"):
        nest.Question("gpt2", tensor=nested)
    with pytest.raises(nest.InputError, match="a complex is no number"):
        nest.Question("gpt2", tensor=1j)
