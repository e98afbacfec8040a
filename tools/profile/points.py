"""Which points are measured: grids, their estimated cost, thinning to a budget, order. No torch here.

A point is one shape of one kind; measuring it gives one or several rows (layouts, forward and backward).
All is deterministic: choices come from hashes of the keys, never from a clock or from an unseeded generator.
"""
import hashlib
import random
from dataclasses import dataclass

import models

# A plain roofline for estimates of time alone; no measured number depends on it.
RATE = 700e12
BANDWIDTH = 4e12
LAUNCH = 5e-6
SAMPLE_S = 0.015
SAMPLES = 3
OVERHEAD_S = 0.012  # Python, warm-up and graph capture for one row
LONGEST_MATMUL_S = 0.060
MOST_ELEMENTS = 2_000_000_000  # of one tensor
LAYOUTS = ("forward", "input", "weight")
HIDDEN = (768, 1024, 1600, 2048, 2560, 3072, 4096, 5120, 6144, 7168, 8192, 12288, 16384, 20480)
TOKENS = (256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
# Inner sizes of gated feed-forward blocks in published models, by hidden size; elsewhere about 8/3 of it.
GATED_FFN = {2048: (8192,), 3072: (8192,), 4096: (11008, 14336), 5120: (13824, 17408), 7168: (18432,),
             8192: (22016, 28672), 12288: (32768,), 16384: (53248,)}
KV_HEADS = 8
HEAD_DIM = 128
HEADS_OF_VOCAB = {32000: (4096, 5120, 8192),
                  51200: (768, 1024, 1600, 2048, 2560, 4096, 5120, 6144, 12288, 20480),
                  128256: (2048, 3072, 4096, 8192, 16384), 151936: (1024, 2048, 2560, 4096, 5120, 8192)}


@dataclass(frozen=True)
class Point:
    kind: str
    key: tuple  # ((name, value), ...), in the order of the table's columns
    call_s: float  # estimate of one call
    rows: int = 1
    extra_s: float = 0.0  # set-up beyond the usual: compiling, building a model

    def get(self, name):
        return dict(self.key)[name]

    @property
    def cost_s(self):
        row = OVERHEAD_S + SAMPLES * max(SAMPLE_S, self.call_s) + 2 * self.call_s
        return self.extra_s + self.rows * row

    @property
    def digest(self):
        text = self.kind + "|" + "|".join(f"{n}={v}" for n, v in self.key)
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")

    @property
    def split(self):
        """A third of the shapes is held out: all rows of a shape are on the same side."""
        return "test" if self.digest % 3 == 0 else "fit"


def make(kind, call_s, rows=1, extra_s=0.0, /, **key):
    return Point(kind, tuple(key.items()), call_s, rows, extra_s)


def roofline(flops, moved_bytes, rate=RATE):
    return max(flops / rate, moved_bytes / BANDWIDTH) + LAUNCH


def matmul_estimate(m, n, k):
    return roofline(2 * m * n * k, 2 * (m * n + m * k + n * k))


def thin(points, budget_s, group):
    """At most budget_s of points, round by round: each group gives its next point, in order of hashes."""
    groups = {}
    for point in sorted(set(points), key=lambda p: p.digest):
        groups.setdefault(group(point), []).append(point)
    chosen, spent = [], 0.0
    for round_number in range(max(map(len, groups.values()), default=0)):
        for members in groups.values():
            if round_number < len(members) and spent + members[round_number].cost_s <= budget_s:
                chosen.append(members[round_number])
                spent += members[round_number].cost_s
    return chosen


def weights_of_layers():
    """(n, k) of every Linear of the models' layers and heads under t = 1, 2, 4, 8, without doubles."""
    found = {}

    def add(n, k):
        if n >= 64 and k >= 64 and n % 8 == 0 and k % 8 == 0:
            found[(n, k)] = None

    for h in HIDDEN:
        for t in models.TENSOR_SLICES:
            add(3 * h // t, h)  # qkv, one key-value head per head
            if h >= 2048 and h % HEAD_DIM == 0:
                add(h // t + 2 * max(1, KV_HEADS // t) * HEAD_DIM, h)  # qkv, grouped
                add(h // t, h)  # q alone
                add(max(1, KV_HEADS // t) * HEAD_DIM, h)  # k or v alone
            add(h, h // t)  # output
            for ffn in (4 * h,) + GATED_FFN.get(h, (8 * h // 3 // 256 * 256,)):
                if ffn % (8 * t) == 0:
                    add(ffn // t, h)
                    add(h, ffn // t)
                    if ffn != 4 * h:
                        add(2 * ffn // t, h)  # gate and up side by side
    for vocab, hiddens in HEADS_OF_VOCAB.items():
        for h in hiddens:
            for t in models.TENSOR_SLICES:
                add(vocab // t, h)
    return list(found)


def matmul_point(m, n, k):
    return make("matmul", matmul_estimate(m, n, k), len(LAYOUTS), m=m, n=n, k=k)


def fits_matmul(m, n, k):
    return matmul_estimate(m, n, k) <= LONGEST_MATMUL_S and max(m * n, m * k, n * k) <= MOST_ELEMENTS


def off_grid(count=150, seed=7):
    """Shapes that no tile divides: multiples of 8, but not of 128."""
    source = random.Random(seed)

    def side(low, high):
        while True:
            value = 8 * round(low * (high / low) ** source.random() / 8)
            if value % 128:
                return value

    found = []
    while len(found) < count:
        shape = side(200, 20000), side(256, 30000), side(256, 20000)
        if matmul_estimate(*shape) <= LONGEST_MATMUL_S / 4:
            found.append(matmul_point(*shape))
    return found


def matmul(budget_s=240.0):
    odd = off_grid()
    grid = [matmul_point(m, n, k) for n, k in weights_of_layers() for m in TOKENS if fits_matmul(m, n, k)]
    budget = budget_s - sum(p.cost_s for p in odd)
    # One call below 8 ms costs little more than any other; a few long ones show the sustained rate.
    short = thin([p for p in grid if p.call_s <= 0.008], 0.93 * budget, lambda p: (p.get("n"), p.get("k")))
    long = thin([p for p in grid if p.call_s > 0.008], 0.07 * budget, lambda p: p.get("m"))
    return odd + short + long


def fp8_matmul():
    """Some of the matmul shapes again, with 8-bit inputs: sides that are multiples of 16."""
    able = [p for p in matmul() if all(v % 16 == 0 for _, v in p.key) and max(
        p.get("m") * p.get("k"), p.get("n") * p.get("k")) <= 500_000_000 and p.call_s < 0.02]
    chosen = sorted(able, key=lambda p: hashlib.sha256(repr(p.key).encode()).digest())[:60]
    return [make("fp8_matmul", p.call_s / 2, 2, m=p.get("m"), n=p.get("n"), k=p.get("k")) for p in chosen]


EXPERT_SIZES = ((2048, 768), (2048, 1408), (4096, 1536), (4096, 14336), (5120, 1536), (6144, 16384),
                (7168, 2048))


def grouped_matmul(budget_s=30.0):
    found = []
    for experts in (8, 16, 32, 64):
        for hidden, ffn in EXPERT_SIZES:
            for tokens in (1024, 4096, 16384, 65536):
                for n, k in ((2 * ffn, hidden), (hidden, ffn)):
                    weight = experts * n * k
                    call = roofline(2 * tokens * n * k, 2 * (tokens * (n + k) + weight))
                    if weight <= MOST_ELEMENTS and call < 0.03:
                        key = f"{experts}|{tokens}|{n}|{k}".encode()
                        skew = "uneven" if hashlib.sha256(key).digest()[0] % 2 else "even"
                        found.append(make("grouped_matmul", call, len(LAYOUTS), experts=experts,
                                          tokens=tokens, n=n, k=k, load=skew))
    return thin(found, budget_s, lambda p: (p.get("experts"), p.get("tokens")))


def interleave(points_by_kind, seed=1):
    """All kinds, each in a seeded random order spread evenly: a time-out costs each kind the same share."""
    placed = []
    for kind, points in points_by_kind.items():
        shuffled = list(points)
        random.Random(f"{seed}|{kind}").shuffle(shuffled)
        placed += [((i + 0.5) / len(shuffled), kind, i, p) for i, p in enumerate(shuffled)]
    return [p for _, _, _, p in sorted(placed, key=lambda entry: entry[:3])]
