"""What the tests share: the program beside the package, and small questions."""

import json
import os
import pathlib
import shutil
import subprocess

import pytest

import nest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def program_path():
    """The command: NEST_PROGRAM, the build folder's, or none."""
    named = os.environ.get("NEST_PROGRAM")
    built = ROOT / "build" / "nest"
    return named or (str(built) if built.exists() else shutil.which("nest"))


class Program:
    """The command, to compare with."""

    def __init__(self, path):
        self.path = path

    def run(self, *words, expect=(0,)):
        result = subprocess.run(
            [self.path, *map(str, words)], capture_output=True, text=True, check=False
        )
        assert result.returncode in expect, f"{words}: {result.returncode}: {result.stderr}"
        return result

    def json(self, *words, expect=(0,)):
        return json.loads(self.run(*words, "--json", expect=expect).stdout)


@pytest.fixture(scope="session")
def program():
    path = program_path()
    if path is None:
        pytest.skip("the command is not built")
    return Program(path)


@pytest.fixture(scope="session")
def small():
    """Eight devices that a search answers at once."""
    return nest.Question(model="gpt2", devices=8, global_batch=64)


@pytest.fixture(scope="session")
def answer(small):
    return small.solve()


def without(value, *keys):
    """A dict without keys that may differ: times and versions."""
    return {key: one for key, one in value.items() if key not in keys}
