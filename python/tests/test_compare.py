"""Baselines of the library and of one's own, and strategies of one's own."""

import pytest

import nest


def greedy(question):
    """The fastest of a few plans: a baseline in three lines."""
    prices = question.price(tensor=[1, 2, 4, 8], zero=1)
    return prices.plan(prices.best())


def test_compares_with_baselines(small, program):
    found = nest.compare(small, ["manual", "phaze"])
    assert [row["name"] for row in found.rows] == ["nest", "manual", "phaze"]

    def timeless(value):
        return [
            {k: v for k, v in row.items() if not k.endswith("search_s") and k != "search_time_s"}
            for row in value
        ]

    said = program.json(
        "compare", "--model", "gpt2", "--devices", 8, "--global-batch", 64, "--with", "manual,phaze"
    )
    assert timeless(found.to_dict()["plans"]) == timeless(said["plans"])
    assert "manual" in str(found) and "manual" in repr(found)
    assert found.drawing().svg.startswith("<svg")
    assert set(found.plans) >= {"nest", "manual"}


def test_a_baseline_of_ones_own(small, answer):
    found = nest.compare(
        small,
        [],
        own={"greedy": greedy, "degrees": lambda q: {"data": 8, "zero": 2}, "none": lambda q: None},
    )
    names = {row["name"]: row for row in found.rows}
    assert set(names) == {"nest", "greedy", "degrees", "none"}
    assert found.plans["greedy"].step >= answer.step * (1 - 1e-9)
    assert (found.plans["degrees"].data, found.plans["degrees"].zero) == (8, 2)
    assert names["none"]["status"] == "infeasible"
    assert "none" not in found.plans
    pandas = pytest.importorskip("pandas")
    frame = found.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame.loc["greedy", "of_ours"] <= 1 + 1e-9


def test_exceptions_of_a_baseline_come_through(small):
    def broken(question):
        raise RuntimeError("no idea")

    with pytest.raises(RuntimeError, match="no idea"):
        nest.compare(small, [], own={"broken": broken})
    with pytest.raises(nest.InputError, match="did you mean 'manual'"):
        nest.compare(small, ["manaul"])


def replicate(transform):
    """Tensor ranks that share nothing: each computes the whole layer."""
    for operator in transform.take_operators():
        transform.push(operator)


def test_a_strategy_of_ones_own():
    seen = set()

    def check(layer, degrees):
        seen.add(layer.name)
        assert len(layer) > 0 and layer.operators and layer.shape(0)
        return None

    copies = nest.Strategy(
        "copies", replaces="tensor", active=lambda d: d.tensor == 2, apply=replicate, check=check
    )
    asked = dict(model="llama3.2-1b", devices=8, global_batch=64, sequence_parallel=False)
    own = nest.Question(strategies=[copies], **asked)
    usual = nest.Question(**asked)
    assert own.plan(tensor=2).price().breakdown["tensor"] == 0
    assert usual.plan(tensor=2).price().breakdown["tensor"] > 0
    assert own.plan(tensor=4).step == usual.plan(tensor=4).step
    assert seen
    found = own.solve(tensor=2)
    assert found.status == "optimal"
    with pytest.raises(nest.InputError, match="cannot be pickled"):
        own.__reduce__()
    assert "copies" in repr(copies)


def test_a_strategy_may_refuse_and_fail():
    asked = dict(model="gpt2", devices=8, global_batch=64, sequence_parallel=False)

    def strategy(**kwargs):
        return nest.Strategy("mine", replaces="tensor", active=lambda d: d.tensor == 2, **kwargs)

    refusing = strategy(apply=replicate, check=lambda layer, degrees: "it is Monday")
    with pytest.raises(nest.InputError, match="it is Monday"):
        nest.Question(strategies=[refusing], **asked).plan(tensor=2)

    def fail(transform):
        raise ZeroDivisionError("in apply")

    with pytest.raises(ZeroDivisionError, match="in apply"):
        nest.Question(strategies=[strategy(apply=fail)], **asked).plan(tensor=2)
    with pytest.raises(ZeroDivisionError, match="in apply"):
        nest.Question(strategies=[strategy(apply=fail)], **asked).solve()
    with pytest.raises(nest.InputError, match="there is no strategy 'tensr'"):
        nest.Question(
            strategies=[nest.Strategy("x", replaces="tensr", active=lambda d: False, apply=replicate)],
            **asked,
        )


def test_all_of_a_transform():
    """Ordinary column and row parallelism of the feed-forward part alone, by hand."""
    told = []

    def apply(t):
        degree = t.degrees.tensor
        for op in t.take_operators():
            axes = {axis for tensor in op.parameters for axis, _ in t.shape(tensor)}
            if op.kind == "matmul" and "ffn" in axes and not t.has(op.inputs[0], "ffn"):
                for tensor in [*op.parameters, *op.made()]:
                    t.split(tensor, "ffn", degree)
                    assert t.is_split(tensor) == t.has(tensor, "ffn")
                    t.set_inside(tensor)
                op.inputs = [t.push_enter(op.inputs[0], op.name + ".enter", backward="all_reduce")]
                t.push(op)
                told.append(op.name)
            elif op.kind == "matmul" and "ffn" in axes:
                for tensor in op.parameters:
                    t.split(tensor, "ffn", degree)
                t.push_reduced(op, "reduce", forward="all_reduce")
            else:
                if op.inputs and t.has(op.inputs[0], "ffn"):
                    for tensor in op.made():
                        t.split(tensor, "ffn", degree)
                t.push(op)

    mine = nest.Strategy("ffn", replaces="tensor", active=lambda d: d.tensor == 2, apply=apply)
    # A model whose kernels take longer than the host takes to issue them: collectives show.
    asked = dict(model="llama3.2-1b", devices=8, global_batch=64, sequence_parallel=False)
    price = nest.Question(strategies=[mine], **asked).plan(tensor=2, zero=1).price()
    assert told and price.breakdown["tensor"] > 0
    usual = nest.Question(**asked).plan(tensor=2, zero=1)
    assert price.breakdown["tensor"] < usual.price().breakdown["tensor"]
    beyond = nest.Strategy(
        "x", replaces="tensor", active=lambda d: d.tensor == 2, apply=lambda t: t.shape(10**6)
    )
    with pytest.raises(IndexError, match="there is no such tensor"):
        nest.Question("gpt2", devices=8, global_batch=8, strategies=[beyond]).plan(tensor=2)


def grid(rows, columns):
    """Two-dimensional tensor parallelism: heads, ffn and vocabulary over rows, hidden over columns."""

    def apply(t):
        def sum_over(over, **passes):
            members, stride = (rows, 1) if over == "rows" else (columns, rows)
            return {"members": members, "stride": stride, **passes}

        def split(tensor):
            for axis, size in t.shape(tensor):
                if axis in ("heads", "kv_heads", "ffn", "vocab"):
                    if axis == "vocab":
                        multiple = t.vocabulary_multiple * rows
                        t.pad(tensor, axis, -(-size // multiple) * multiple)
                    if axis == "kv_heads" and size < rows:
                        t.set_partial_gradient(tensor)
                    t.split(tensor, axis, rows)

        def has_axis(tensor):
            return any(t.has(tensor, axis) for axis in ("heads", "kv_heads", "ffn", "vocab"))

        opened = {}
        for tensor in range(len(t)):
            t.split(tensor, "hidden", columns)
        for op in t.take_operators():
            for tensor in [*op.parameters, *op.made()]:
                split(tensor)
            if op.kind == "matmul":
                by_row = has_axis(op.inputs[0])
                entering, leaving = ("columns", "rows") if by_row else ("rows", "columns")
                first = op.inputs[0]
                if first not in opened:
                    how = sum_over(entering, backward="all_reduce")
                    opened[first] = t.push_enter(first, op.name + ".enter", **how)
                op.inputs = [opened[first], *op.inputs[1:]]
                t.push_reduced(op, "reduce", **sum_over(leaving, forward="all_reduce"))
            elif op.kind == "embedding":
                t.push_reduced(op, "reduce", **sum_over("rows", forward="all_reduce"))
            else:
                if op.kind == "rms_norm" and t.has(op.inputs[0], "hidden"):
                    sums = sum_over("columns", forward="all_reduce", backward="all_reduce")
                    scale = t.copy(
                        op.keeps[-1] if op.keeps[-1] != op.inputs[0] else op.keeps[-2], ".sum"
                    )
                    t.push_collective(op.name + ".statistics", [op.inputs[0]], [scale], **sums)
                elif op.kind == "loss":
                    total = t.copy(op.outputs[-1], ".sum")
                    t.push_collective(op.name + ".sum", [op.inputs[0]], [total],
                                      **sum_over("rows", forward="all_reduce"))  # fmt: skip
                t.push(op)

    return nest.Strategy(
        "grid", replaces="tensor", active=lambda d: d.tensor == rows * columns, apply=apply
    )


def test_two_dimensional_tensor_parallelism():
    """examples/custom_strategy in Python: a grid of 8 x 2 takes fewer bytes to its sums than 16 ranks
    in a row."""
    asked = dict(
        model="llama3.1-70b", cluster="gb200-nvl72", devices=64, global_batch=4, sequence_parallel=False
    )
    wide = nest.Question(**asked).plan(tensor=16, zero=1, sequence_parallel=False).price()
    grown = nest.Question(strategies=[grid(8, 2)], **asked).plan(tensor=16, zero=1).price()
    assert grown.breakdown["tensor"] > 0
    assert grown.step != wide.step
    assert grown.step == pytest.approx(wide.step, rel=0.3)
