"""What nest says of a plan: the collectives of each stage's first rank, from the trace that `nest export --to
chakra` writes, and the memory of each stage, from `nest evaluate`."""

import json
import os
import subprocess
import tempfile
from collections import Counter

KINDS = {0: "all_reduce", 2: "all_gather", 6: "all_to_all", 7: "reduce_scatter"}
SEND, COLLECTIVE = 5, 7


def fields(data):
    """The fields of a protobuf message: (number, value), a value being a number or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 2:
            size = varint()
            yield key >> 3, data[at:at + size]
            at += size
        else:
            yield key >> 3, varint()


def messages(data):
    """Messages one after the other, each after its length."""
    at = 0
    while at < len(data):
        size = shift = 0
        while True:
            byte = data[at]
            at += 1
            size |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        yield data[at:at + size]
        at += size


def nodes(data):
    """The nodes of a trace as dictionaries of their name, type and attributes."""
    for message in list(messages(data))[1:]:
        node = {}
        for number, value in fields(message):
            if number == 2:
                node["name"] = value.decode()
            elif number == 3:
                node["type"] = value
            elif number == 10:
                attribute = list(fields(value))
                content = attribute[1][1]
                node[attribute[0][1].decode()] = content.decode() if isinstance(content, bytes) else content
        yield node


def axis_of(name, members, tensor_group):
    if members == tensor_group and ("tensor" in name or "gradients" in name):
        return "tensor"
    return next((axis for axis in ("tensor", "expert", "context") if axis in name.split()), "data")


def calls(trace, groups, tensor_group):
    """A Counter of bytes by (kind, axis, members), counted as docs/collectives.md does."""
    out = Counter()
    for node in nodes(trace):
        if node["type"] == SEND and "norm" not in node["name"]:
            out["send", "pipeline", 2] += node["comm_size"]
        elif node["type"] == COLLECTIVE:
            members = groups[node["pg_name"]] if "pg_name" in node else groups["all"]
            kind = KINDS[node.get("comm_type", 0)]
            whole = node["comm_size"] * (len(members) if kind == "all_gather" else 1)
            out[kind, axis_of(node["name"], members, tensor_group), len(members)] += whole
    return out


def ours(nest, plan_file, plan):
    """[{"calls": Counter, "memory": {...}}] of all stages."""
    priced = json.loads(subprocess.run([nest, "evaluate", plan_file], check=True, capture_output=True).stdout)
    tensor = plan["parallelism"]["tensor"]
    out = []
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.join(folder, "chakra")
        subprocess.run([nest, "export", plan_file, "--to", "chakra", "--out", folder], check=True,
                       capture_output=True)
        with open(os.path.join(folder, "comm_groups.json"), encoding="utf-8") as file:
            groups = json.load(file)
        groups["all"] = list(range(plan["cluster"]["devices"]))
        for stage, cost in zip(plan["stages"], priced["stages"]):
            cell = stage["devices"][0]
            with open(os.path.join(folder, f"trace.{cell[0]}.et"), "rb") as file:
                out.append({"calls": calls(file.read(), groups, cell[:tensor]), "memory": cost["memory"]})
    return out
