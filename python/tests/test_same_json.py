"""Any question asked in Python, by command and by server has the same answer, to the last digit.

NEST_SEED repeats a run; NEST_QUESTIONS says how many questions are asked.
"""

import json
import os
import pathlib
import random
import re
import subprocess
import urllib.request

import pytest

import nest

MODELS = ["gpt2", "gpt2-medium", "llama3.2-1b", "bert-large", "qwen3-30b-a3b"]
CLUSTERS = ["h100-spine-leaf", "dgx-a100-superpod", "gb200-nvl72", "dgx2-v100"]
# Values of an option; None: not asked.
OPTIONS = {
    "devices": [8, 16, 64],
    "global_batch": [None, 16, 64, 96, "60..66"],
    "sequence": [None, 512, "1K"],
    "precision": [None, "bf16", "fp16"],
    "optimizer": [None, "sgd"],
    "train": [None, None, "lora:8"],
    "tensor": [None, 1, [1, 2], "2..8", 3],
    "pipeline": [None, 1, [1, 2, 4]],
    "micro_batch": [None, [1, 2]],
    "zero": [None, 1, [0, 3]],
    "sequence_parallel": [None, True, False],
    "recompute": [None, "none", ["none", "full"]],
    "schedule": [None, "1f1b", "gpipe"],
    "for": [None, None, "megatron", "torchtitan"],
    "mixed": [None, None, True],
    "strict": [None, True],
    "risky": [None, True],
    "fits": [None, 0.8],
    "memory_margin": [None, "5%"],
    "gap": [None, 0.02],
    "top": [None, 1, 3],
    "price": [None, None, "2.5/h"],
    "mtbf": [None, None, "50000h"],
}
# What the server does not ask: it says nothing of money.
NOT_SERVED = {"price", "mtbf"}
CHOICES = {"tensor", "pipeline", "micro_batch", "zero", "sequence_parallel", "recompute", "schedule"}


def question(dice):
    asked = {"model": dice.choice(MODELS), "cluster": dice.choice(CLUSTERS)}
    for name, values in OPTIONS.items():
        value = dice.choice(values)
        if value is not None:
            asked[name] = value
    asked["work_limit"] = 300_000  # the same on every machine, unlike a time limit
    return asked


def words(asked):
    out = []
    for name, value in asked.items():
        option = "--" + name.replace("_", "-")
        if name in ("mixed", "strict", "risky"):
            out.append(option)
        elif isinstance(value, list):
            out += [option, ",".join(map(str, value))]
        else:
            out += [
                option,
                {True: "on", False: "off"}.get(value, str(value))
                if isinstance(value, bool)
                else str(value),
            ]
    return out


def body(asked):
    request = {"choices": {}}
    for name, value in asked.items():
        (request["choices"] if name in CHOICES else request)[name] = value
    return request


def by_python(asked):
    given = {("for_" if name == "for" else name): value for name, value in asked.items()}
    return nest.Question(**given).solve().to_dict()


def by_command(program, asked):
    result = program.run("plan", *words(asked), "--json", expect=(0, 1, 2, 3, 4))
    if result.returncode in (1, 2):
        return result.stderr.strip().splitlines()[-1]
    return json.loads(result.stdout)


def by_server(address, asked):
    request = urllib.request.Request(
        f"{address}/api/v1/plan", json.dumps(body(asked)).encode(), {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=120) as reply:
            return json.loads(reply.read())
    except urllib.error.HTTPError as error:
        return json.loads(error.read())


@pytest.fixture(scope="module")
def server(program):
    if not pathlib.Path(program.path).with_name("nest-server").exists():
        pytest.skip("the server is not built")
    process = subprocess.Popen([program.path, "serve", "--port", "0"], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)  # fmt: skip
    for line in process.stdout:
        found = re.search(r"http://[\d.]+:\d+", line)
        if found:
            break
    else:
        pytest.skip("the server did not begin")
    yield found[0]
    process.terminate()
    process.wait(timeout=30)


def test_python_command_and_server_say_the_same(program, server):
    seed = int(os.environ.get("NEST_SEED", random.randrange(10**9)))
    count = int(os.environ.get("NEST_QUESTIONS", "40"))
    print(f"NEST_SEED={seed} NEST_QUESTIONS={count}")
    dice = random.Random(seed)
    statuses = []
    for number in range(count):
        asked = question(dice)
        told = f"seed {seed}, question {number}: {asked}"
        said = by_command(program, asked)
        served = None if NOT_SERVED & set(asked) else by_server(server, asked)
        try:
            found = by_python(asked)
        except nest.InputError as error:
            assert isinstance(said, str), f"{told}\nonly Python refuses it: {error}"
            assert served is None or "error" in served, f"{told}\nonly the server answers it"
            assert error.what in said, told
            statuses.append("refused")
            continue
        assert not isinstance(said, str), f"{told}\nonly the command refuses it: {said}"
        assert found == said, told
        assert served is None or found == served, told
        statuses.append(found["status"])
    print({status: statuses.count(status) for status in set(statuses)})
    assert statuses.count("optimal") + statuses.count("feasible") > count // 5, (
        "hardly any question has a plan"
    )
