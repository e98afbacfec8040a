"""Clusters: from the catalog, from files, and from what schedulers, drivers and clouds print."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Union

from . import _core
from ._inputs import as_cluster
from ._views import Drawing

Source = Union[str, "os.PathLike[str]"]
Texts = Mapping[str, str]
"""Names of files with their texts."""
Sources = Union[Source, Texts, Sequence[Union[Source, Texts]]]


class Cluster:
    """A cluster, as questions take it.

    Args:
        cluster: a name, a file, or a dict with the keys of a cluster file.

    Examples:
        >>> import nest
        >>> nest.Cluster("h100-spine-leaf").devices
        1024
        >>> eight = nest.Cluster.read("DGX-H100", kind="dgx", count=8)
        >>> eight.devices, eight.assumed[1]
        (64, 'latencies of the network are typical figures')
        >>> nest.Question("gpt2", eight).devices
        64
    """

    known: list[str]
    """What the files said, a sentence each; empty for clusters that were not read by `read`."""
    assumed: list[str]
    """What no file says, and what was taken in its place."""
    left_out: list[str]
    """What of the files is not in the cluster, and why."""
    hosts: int | None
    """Hosts that were read; None for clusters that were not read by `read`."""

    def __init__(self, cluster: object = None) -> None:
        self._core = _core.open_cluster(as_cluster(cluster))
        self.known, self.assumed, self.left_out, self.hosts = [], [], [], None

    @classmethod
    def read(
        cls,
        *files: Source | Texts,
        kind: str = "",
        nodes: Sources = (),
        inside: Sources = (),
        accelerator: str = "",
        count: int | None = None,
        only: str = "",
        with_drained: bool = False,
        name: str = "",
    ) -> Cluster:
        """What schedulers, drivers and clouds print of a cluster, as `nest import` reads it.

        Args:
            files: files, or dicts of names with texts: `{"topology.conf": text}`. With a `kind` that
                takes names, names such as "DGX-H100" or "v5p-256".
            kind: slurm, nvidia-smi, kubernetes, aws, .. (`nest.cluster_kinds()`); without it, what each
                file shows.
            nodes: further lists of hosts.
            inside: what one host looks like inside: `nvidia-smi topo -m` and the like.
            accelerator: of the hosts, where no file says it.
            count: hosts, racks or slices of a file or name that stands for one.
            only: take these hosts: names such as node[001-064], instance types, partitions, zones.
            with_drained: also take hosts that are out of service.
            name: of the cluster; without it, that of the first file.
        """
        options = {
            "name": name,
            "accelerator": accelerator,
            "count": count,
            "only": only,
            "with_drained": with_drained,
        }
        value = _core.import_cluster(kind, _pairs(files), _pairs(nodes), _pairs(inside), options)
        made = cls(value["cluster"])
        made.known, made.assumed = value["known"], value["assumed"]
        made.left_out, made.hosts = value["left_out"], value["hosts"]
        return made

    def measured(self, *files: Source | Texts, level: str = "", links: float | None = None) -> Cluster:
        """The cluster with its levels as nccl-tests, ib_write_bw or ib_write_lat measured them.

        Args:
            files: what the programs printed, as files or as dicts of names with texts.
            level: that a test of links is about; without it, the first one outside hosts.
            links: such links of a device.
        """
        value = self._core.measured(_pairs(files), level, links)
        made = Cluster(value["cluster"])
        made.known, made.assumed = [*self.known, *value["known"]], list(self.assumed)
        made.left_out, made.hosts = list(self.left_out), self.hosts
        return made

    @property
    def name(self) -> str:
        """The cluster's name."""
        return self._core.name

    @property
    def devices(self) -> int:
        """All of its devices."""
        return self._core.devices

    def summary(self) -> dict[str, Any]:
        """What `nest clusters show --json` prints: levels with their domains, bandwidths and bisections."""
        return self._core.summary()

    def to_dict(self) -> dict[str, Any]:
        """The keys of its cluster file, in plain SI numbers."""
        return self._core.value()

    def to_yaml(self) -> str:
        """Its cluster file for people, with units."""
        return self._core.yaml()

    def save(self, file: str | os.PathLike[str]) -> Path:
        """Writes its cluster file, which every command takes."""
        path = Path(file)
        path.write_text(self.to_yaml(), encoding="utf-8")
        return path

    def drawing(self) -> Drawing:
        """The hierarchy as a picture."""
        return Drawing(self._core.svg())

    def _repr_svg_(self) -> str:
        return self._core.svg()

    def __repr__(self) -> str:
        return f"<nest.Cluster {self.name}: {self.devices:,} devices>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cluster) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.name, self.devices))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.to_dict(), self.known, self.assumed, self.left_out, self.hosts)


def _restore(
    value: dict[str, Any], known: list[str], assumed: list[str], left_out: list[str], hosts: int | None
) -> Cluster:
    made = Cluster(value)
    made.known, made.assumed, made.left_out, made.hosts = known, assumed, left_out, hosts
    return made


def _pairs(sources: Sources) -> list[tuple[str, str | None]]:
    """Names with texts; None where the library opens the file."""
    if isinstance(sources, (str, os.PathLike)):
        return [(os.fspath(sources), None)]
    if isinstance(sources, Mapping):
        return list(sources.items())
    return [pair for one in sources for pair in _pairs(one)]
