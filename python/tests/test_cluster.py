"""Clusters: looked at by themselves, read from what other programs print, and measured."""

import copy
import json
import pickle

import pytest

import nest

TOPOLOGY = """SwitchName=leaf1 Nodes=node[001-002]
SwitchName=leaf2 Nodes=node[003-004]
SwitchName=spine Switches=leaf[1-2]
"""
NODES = """NodeName=node[001-003] Gres=gpu:h100:8(S:0-1) State=IDLE Arch=x86_64
NodeName=node004 Gres=gpu:h100:8(S:0-1) State=IDLE+DRAIN Arch=x86_64
"""
ALL_REDUCE = """$ mpirun -np 16 ./build/all_reduce_perf -b 1M -e 1G -f 16
# nThread 1 nGpus 1 minBytes 1048576 maxBytes 1073741824 step: 4(factor)
#  Rank  0 Group  0 Pid  1717 on    node-0 device  0 [0x19] NVIDIA H100 80GB HBM3
#  Rank  8 Group  0 Pid  1817 on    node-1 device  0 [0x19] NVIDIA H100 80GB HBM3
#       size         count      type   redop    root     time   algbw   busbw #wrong
  1073741824     268435456     float     sum      -1   50000.6  21.47  21.47      0
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "topology.conf").write_text(TOPOLOGY)
    (tmp_path / "scontrol.txt").write_text(NODES)
    return tmp_path / "topology.conf", tmp_path / "scontrol.txt"


def test_what_a_scheduler_prints(files, program):
    topology, nodes = files
    read = nest.Cluster.read(topology, nodes=nodes)
    said = program.json("import", "slurm", topology, "--nodes", nodes)
    assert read.to_dict() == said["cluster"]
    assert (read.devices, read.hosts) == (said["devices"], said["hosts"]) == (24, 4)
    assert (read.known, read.assumed, read.left_out) == (said["known"], said["assumed"], said["left_out"])
    assert read.left_out == ["1 host (node004): drained"]
    assert nest.Question("gpt2", read).cluster == "topology"
    whole = nest.Cluster.read(str(topology), nodes=[nodes], with_drained=True, name="hall", kind="slurm")
    assert (whole.name, whole.devices, whole.left_out) == ("hall", 32, [])
    assert nest.Cluster.read(topology, nodes=nodes, only="node[001-002]").devices == 16


def test_texts_in_place_of_files(files):
    topology, nodes = files
    by_text = nest.Cluster.read({"topology.conf": TOPOLOGY}, nodes={"scontrol.txt": NODES})
    by_file = nest.Cluster.read(topology, nodes=nodes)
    assert [level["size"] for level in by_text.to_dict()["levels"]] == [
        level["size"] for level in by_file.to_dict()["levels"]
    ]
    assert nest.Cluster.read({"a": TOPOLOGY}, accelerator="a100-80").devices == 32


def test_names_in_place_of_files():
    assert nest.Cluster.read("GB200-NVL72", kind="dgx", count=2).devices == 144
    assert nest.Cluster.read("v5p-256", kind="tpu").devices == 128


def test_what_cannot_be_read(tmp_path):
    (tmp_path / "empty.conf").write_text("")
    with pytest.raises(nest.InputError) as refused:
        nest.Cluster.read(tmp_path / "empty.conf")
    assert refused.value.what == "the file is empty"
    with pytest.raises(nest.InputError, match="notes: it is none of the formats that clusters are read from"):
        nest.Cluster.read({"notes": "buy milk"})
    with pytest.raises(nest.InputError, match="no such file"):
        nest.Cluster.read("DGX-H100")
    with pytest.raises(nest.InputError, match="they are slurm, "):
        nest.Cluster.read({"topology.conf": TOPOLOGY}, kind="slrum")
    with pytest.raises(nest.InputError, match="this is not what one host looks like inside"):
        nest.Cluster.read({"topology.conf": TOPOLOGY}, inside={"n": NODES})
    assert "slurm" in nest.cluster_kinds()


def test_looked_at(program, tmp_path):
    one = nest.Cluster("h100-spine-leaf")
    assert one.summary() == program.json("clusters", "show", "h100-spine-leaf")
    assert nest.Cluster(one.save(tmp_path / "c.yaml")).to_dict() == one.to_dict()
    assert "levels:" in one.to_yaml()
    assert nest.Cluster(one.to_dict()) == one == nest.Cluster() and hash(one) == hash(nest.Cluster())
    assert one.drawing().svg.startswith("<svg")
    assert one.hosts is None and one.known == []
    assert repr(one) == "<nest.Cluster h100-spine-leaf: 1,024 devices>"
    with pytest.raises(nest.InputError):
        nest.Cluster({"name": "x"})


def test_measured():
    before = nest.Cluster("h100-spine-leaf")
    after = before.measured({"all_reduce.txt": ALL_REDUCE})
    assert after != before
    assert len(after.known) == 1 and after.known[0].startswith("rack: 0.5")
    with pytest.raises(nest.InputError):
        before.measured({"notes": "buy milk"})


def test_pickles_and_copies(files):
    read = nest.Cluster.read(files[0], nodes=files[1])
    for other in (pickle.loads(pickle.dumps(read)), copy.deepcopy(read)):
        assert other == read
        assert (other.known, other.left_out, other.hosts) == (read.known, read.left_out, read.hosts)
    assert json.dumps(read.to_dict())
