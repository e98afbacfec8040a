"""Where torch's traffic differs from a plan's price for a reason that we know. Each rule says by how many
bytes, from the shapes of the model alone, so that nothing is left unexplained where bytes agree after it.

    regather      A plan's sequence parallelism keeps the share of a gathered input and gathers it again in
                  the backward pass, as Megatron-LM does. DTensor keeps the gathered input.
    norms         Gradients of norms under sequence parallelism: a plan sums them once a step. FSDP2 sums
                  them before every reduction, which with ZeRO 2 and 3 is every micro-batch.
    accumulation  ZeRO 2 and 3 in a pipeline: a plan reduces gradients after every micro-batch. torch's
                  schedules do so once a step, and keep parameters gathered after a backward pass until the
                  next forward pass is over.
    ring          A plan's ring passes keys and values on c - 1 times, and in the backward pass both with
                  their gradients in 16 bits; a trace has these hops as one all-gather. torch's ring is made
                  of all-to-alls, and passes gradients on in fp32 and c times.
    loss          Memory only: torch's cross-entropy, if it is not compiled, holds three tensors of logits in
                  fp32 in its backward pass; a plan counts two, and one of 16 bits.
    gradients     Memory only: where the most micro-batches are in flight only before the first backward pass,
                  torch has no gradients yet; a plan counts them as well.
"""

from collections import Counter


def parameters(config, layers, t, e):
    """Dense and expert parameters of some layers on one rank, and those of norms."""
    hidden, last = config["hidden_size"], config["num_hidden_layers"] + 1
    heads = config["num_attention_heads"] + config["num_key_value_heads"]
    dense = experts = norms = 0
    for layer in layers:
        if layer in (0, last):
            dense += config["vocab_size"] * hidden // t
            norms += hidden if layer == last else 0
            continue
        dense += 2 * heads * config["head_dim"] * hidden // t
        ffn = 3 * config["intermediate_size"] * hidden
        number = config.get("num_local_experts", 0)
        dense += number * hidden if number else ffn // t
        experts += number * ffn // e
        norms += 2 * hidden
    return dense + norms, experts, norms


def gathers(order, zero):
    """How often each chunk is gathered in a step of torch's schedule."""
    out, whole = Counter(), set()
    for kind, chunk in order:
        if chunk not in whole:
            out[chunk] += 1
        whole.add(chunk)
        if kind == "F" and zero == 3:
            whole.discard(chunk)
    return out


def differences(config, plan, index, order):
    """{rule: Counter of bytes that torch has more}, by (kind, axis, members)."""
    p, training, stage = plan["parallelism"], plan["training"], plan["stages"][index]
    t, m, zero = p["tensor"], training["micro_batches"], p["zero"]
    chunks = stage.get("chunks") or [stage["layers"]]
    ranks = p["data"] * p["context"]
    shards = p["zero_shards"] if zero else ranks
    out = {}
    if t > 1 and p["sequence_parallel"]:
        last = config["num_hidden_layers"] + 1
        inputs = sum(0 if layer == 0 else 1 if layer == last else 2 for layer in stage["layers"])
        rows = training["micro_batch"] * training["sequence"] // p["context"]
        size = inputs * m * rows * config["hidden_size"] * 2
        out["regather"] = Counter({("all_gather", "tensor", t): -size})
        if p["pipeline"] == 1:
            norms = parameters(config, stage["layers"], t, 1)[2]
            times = m if zero >= 2 else 1
            out["norms"] = Counter({("all_reduce", "tensor", t): norms * 4 * (times - 1)})
    c = p["context"]
    if c > 1 and p["context_method"] == "ring":
        tokens = training["micro_batch"] * training["sequence"] // c
        pair = tokens * 2 * config["num_key_value_heads"] // t * config["head_dim"] * 2
        pairs = pair * m * sum(0 < layer <= config["num_hidden_layers"] for layer in stage["layers"])
        out["ring"] = Counter({("all_gather", "context", c): -3 * c * pairs,
                               ("all_to_all", "context", c): (2 * (c - 1) + 2 * c) * pairs})
    if zero >= 2 and p["pipeline"] > 1:
        count, found = gathers(order, zero), Counter()
        for place, chunk in zip(sorted(count), chunks):
            dense, experts, _ = parameters(config, chunk, t, p["expert"])
            planned = 2 * m if zero == 3 else 1
            for amount, size in ((dense, shards), (experts, ranks // p["expert"])):
                found["reduce_scatter", "data", size] -= amount * 4 * (m - 1)
                found["all_gather", "data", size] += amount * 2 * (count[place] - planned)
        out["accumulation"] = found
    return {rule: found for rule, found in out.items() if any(found.values())}


def in_flight(order, held):
    """The most bytes that passes which wait for their backward pass hold; held[chunk] of one pass."""
    now = most = 0
    for kind, chunk in order:
        now += held[chunk] if kind == "F" else -held[chunk]
        most = max(most, now)
    return most


def before_gradients(order):
    """Whether the most passes are in flight only before the first backward pass."""
    now, most, seen = 0, [0, 0], False
    for kind, _ in order:
        now += 1 if kind == "F" else -1
        seen = seen or kind == "B"
        most[seen] = max(most[seen], now)
    return most[0] > most[1]


def memory(config, plan, index, order):
    """{rule: bytes that torch holds more}."""
    p, training, stage = plan["parallelism"], plan["training"], plan["stages"][index]
    t, zero, last = p["tensor"], p["zero"], config["num_hidden_layers"] + 1
    chunks = stage.get("chunks") or [stage["layers"]]
    order = order or [("F", 0), ("B", 0)]
    places = sorted({chunk for _, chunk in order})
    tokens = training["micro_batch"] * training["sequence"] // p["context"]
    out = {}
    if t > 1 and p["sequence_parallel"]:
        one = tokens * config["hidden_size"] * 2 * (t - 1) // t
        held = [one * sum(0 if layer == 0 else 1 if layer == last else 2 for layer in c) for c in chunks]
        out["regather"] = in_flight(order, dict(zip(places, held)))
    if t == 1 and last in stage["layers"]:
        out["loss"] = tokens * config["vocab_size"] * 2
    dense, experts, _ = parameters(config, stage["layers"], t, p["expert"])
    if p["pipeline"] > 1 and before_gradients(order):
        out["gradients"] = -4 * (dense + experts)
    if zero >= 2 and p["pipeline"] > 1:
        ranks = p["data"] * p["context"]
        part = dense / p["zero_shards"] + experts / (ranks // p["expert"])
        out["accumulation"] = 4 * (dense + experts - part) + (2 * (dense + experts) if zero == 3 else 0)
    return out
