"""The options of `nest.Question`, made by tools/make_options from the library's table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict, Union

One = Union[bool, int, float, str]
Asked = Union[One, Sequence[One], None]
"""A value, several of them, or a text as the command takes it: 8, [1, 2], "2..16"."""


class Options(TypedDict, total=False):
    """What may be asked of a plan; `nest plan --help` says the same."""

    devices: Asked
    """Use N devices: this changes the size of the cluster's outermost level."""
    global_batch: Asked
    """The number of sequences in a step (default 1024); 512±5%, 480..512 or a list allows any of
    them."""
    sequence: Asked
    """The number of tokens in a sequence, such as 4096, 128K or 1M (default: the model's positions,
    but at most 8192)."""
    lengths: Asked
    """The lengths of documents, which are packed into sequences and see themselves alone: rows
    'length,count' of a CSV file, or 512:900,8K:100 (default: one document fills a sequence)."""
    images: Asked
    """Images in a sequence, such as 3, 0.5 or 0 (text alone), for a model with a vision tower
    (default 1)."""
    image_tokens: Asked
    """The tokens that an image takes in its sequence (default: as the model is configured)."""
    precision: Asked
    """Bf16, fp16, fp8, fp8-block, mxfp8 or nvfp4 (default: the recipe's)."""
    optimizer: Asked
    """Adam (adamw is the same), sgd or muon (default: the recipe's)."""
    train: Asked
    """Train all of the model (all, the default), adapters of a rank beside products (lora:16, or
    lora:16:q_proj+v_proj; without names, beside the attention's projections), or some of its layers
    ('layers 24..')."""
    freeze: Asked
    """Parts of the model that stay as they are, such as embedding, head, vision, router or 'layers
    0..11'."""
    frozen_bits: Asked
    """Hold the weights of products that are not trained in 4, 8 or 16 bits (default 16)."""
    mtp: bool
    """Train the model's modules for multi-token prediction too, in the last stage."""
    micro_batch: Asked
    """The number of sequences in a micro-batch (default: 1, 2, 4, 8, 16, and more for short
    inputs)."""
    tensor: Asked
    """The tensor-parallel degree (default: the divisors of the innermost level's size)."""
    sequence_parallel: Asked
    """On or off (default: on if the tensor degree is above 1 and divides the positions)."""
    context: Asked
    """The context-parallel degree (default: 1, and up to 16 for sequences of 16,384 tokens or
    more)."""
    context_method: Asked
    """Ring (default), all_to_all, hybrid (all_to_all in small groups, a ring of these); auto tries
    all three."""
    context_inner: Asked
    """With hybrid: the number of ranks in one all_to_all (default: those proper divisors of the
    context degree that fit in the innermost level beside the tensor ranks)."""
    expert: Asked
    """The expert-parallel degree (default: the divisors of the number of experts)."""
    expert_tensor: Asked
    """The tensor degree of the experts (default: 1 and the tensor degree)."""
    dispatcher: Asked
    """How tokens travel to their experts: alltoall, deepep, hybridep (default: the recipe's)."""
    expert_overlap: Asked
    """Whether exchanges with experts run beside the compute of another micro-batch (default: the
    recipe's, and on with dualpipe-v; on,off tries both)."""
    pipeline: Asked
    """The number of pipeline stages (default: 1 to the number of layers)."""
    data: Asked
    """The data-parallel degree as Megatron counts it (default: every possible one)."""
    data_inner: Asked
    """The number of copies whose devices lie next to each other (default: the divisors of the
    number of copies)."""
    block_devices: Asked
    """The number of devices that are set aside for one block of copies (default: a few values)."""
    first_stage_first: Asked
    """Whether the first stage starts at device 0 (default: both orders)."""
    zero: Asked
    """ZeRO stage: 0, 1, 2, 3 (default: all)."""
    zero_shards: Asked
    """The number of ranks that ZeRO shards over (default: the whole group, or the part of it inside
    a domain of each level)."""
    reshard: Asked
    """With ZeRO 3, what becomes of gathered parameters after a forward pass: always freed, never,
    first:N (never for a stage's first N layers), group:N (N ranks keep a part each); auto tries
    several (default: always, or what the framework of --for does)."""
    recompute: Asked
    """None, selective, full, full:N for N layers of a stage, modules:layernorm+moe_act for a set of
    modules, or modules for the model's best sets (default: all of them)."""
    gradient_dtype: Asked
    """The dtype in which gradients of weights are added up: fp32, bf16, fp16; auto tries fp32 and
    bf16 (default: the recipe's)."""
    reduce_dtype: Asked
    """The dtype in which ranks send each other gradients: fp32, bf16, fp16; auto tries fp32 and
    bf16 (default: the recipe's)."""
    optimizer_dtype: Asked
    """The dtype of the optimizer's moments: fp32, bf16, fp16, fp8; auto tries fp32, bf16 and fp8
    (default: the recipe's)."""
    master_weights: Asked
    """Whether the optimizer holds a copy of the weights in fp32; auto tries both (default: the
    recipe's)."""
    offload: Asked
    """What lies in host memory: none, optimizer for the optimizer's states, which the host then
    updates, activations for what layers keep for their backward passes, or activations+optimizer;
    auto tries all four (default: none)."""
    schedule: Asked
    """1f1b and interleaved (the default), gpipe, zb-h1, zb-v or dualpipe-v."""
    interleave: Asked
    """The number of chunks in a stage (default 1,2,3,4,6,8)."""
    uniform: bool
    """Use one strategy for all stages (default)."""
    mixed: bool
    """Allow strategies to differ from stage to stage."""
    for_: Asked
    """Only consider plans that a framework of 'nest export --list' can run, such as megatron;
    megatron@core_v0.16 names a release."""
    objective: Asked
    """Minimize the step time (step, the default), the number of devices that reach a target
    (devices), or what a token costs (cost: the rented devices times the step)."""
    target_tokens_per_s: Asked
    """The throughput that --objective devices must reach."""
    fits: Asked
    """Only consider plans that fit in memory with this probability, by our errors on measured runs
    (default 0.95)."""
    memory_margin: Asked
    """Keep this share of every device's memory free, such as 8%, in place of --fits."""
    risky: bool
    """Allow plans that fit by the estimate alone, without --fits and --memory-margin."""
    strict: bool
    """Take the plan with the shortest step even where a simpler one, or one with fewer devices that
    wait less, takes hardly longer."""
    gap: Asked
    """Stop when the best plan is within this share of the lower bound, such as 2% (default 0)."""
    time_limit: Asked
    """Stop after this many seconds, all searches together, and return the best plan found so
    far."""
    work_limit: Asked
    """Stop after this much work; unlike a time limit, this gives the same answer on every
    machine."""
    memory_limit: Asked
    """Stop when tables and open nodes take this much memory, and return the best plan found so far
    (default 2 GB)."""
    threads: Asked
    """The number of threads (default: one per core); it does not change the answer."""
    without: Asked
    """Switch prunings off by name; the answer is the same but takes longer."""
    top: Asked
    """Show the K best plans that differ in a degree (default 1)."""
    runners_up: Asked
    """Plans to compare the best with, in short."""
    pipeline_model: Asked
    """The formula for the pipeline: 1f1b (the default, exact for each schedule), sum-max, or paper,
    which is (m + p - 1) times the longest stage."""
    price: Asked
    """The price of one device for one hour, in any currency, such as 2.5/h, or for each kind of
    accelerator: h100-sxm=2.5,b200=5."""
    power: Asked
    """The power of one device with its share of the server and the cooling, such as 1.2kW (default:
    the most that its board draws)."""
    electricity: Asked
    """The price of electricity, which is added to the cost."""
    mtbf: Asked
    """The mean time between failures of one device, such as 50000h, of one node (6000h/node) or of
    the whole run (3h/all)."""
    checkpoint_size: Asked
    """The size of a checkpoint (default: the weights and the optimizer's states)."""
    checkpoint_bandwidth: Asked
    """The bandwidth at which checkpoints are written: of each device (125MB/s, the default), of
    each node (1GB/s/node) or of the whole storage (2TB/s/all)."""
    restart: Asked
    """The time from a failure until the run goes on (default 10min)."""
    repair: Asked
    """The time until a node that failed is back (default 24h)."""
