"""The plans of the witness: small models, and for each row what `nest plan` is asked for on eight devices of
one node. The search chooses the rest."""

import json
import os
import subprocess

DENSE = {
    "model_type": "llama", "vocab_size": 32768, "hidden_size": 1024, "intermediate_size": 4096,
    "num_hidden_layers": 8, "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 64,
    "max_position_embeddings": 8192, "tie_word_embeddings": False, "rms_norm_eps": 1e-5,
    "rope_theta": 500000.0,
}
EXPERTS = DENSE | {
    "model_type": "mixtral", "intermediate_size": 2048, "num_local_experts": 8, "num_experts_per_tok": 2,
    "num_hidden_layers": 6, "sliding_window": None,
}
MODELS = {"dense": DENSE, "experts": EXPERTS}

# Plain eager torch: nothing is fused or compiled, and memory is what tensors take. FSDP2 holds parameters in
# fp32 in shards, and gathers them in 16 bits: below ZeRO 3 that is a 16-bit model with master weights.
PLAIN = {"compiled": False, "fused_projections": False, "fused_passes": False, "library_memory": False,
         "fragmentation": 0, "reserve": 0}
SHARDED = {"framework": "torchtitan"} | PLAIN
GATHERED = SHARDED | {"parameter_dtype": "bf16", "master_weights": True}

# Model, ZeRO, and further choices. Two micro-batches or more, so that gradients are there while activations
# are.
PLANS = [
    ("dense", 0, "--data 8 --micro-batch 2"),
    ("dense", 1, "--data 8 --micro-batch 2"),
    ("dense", 2, "--data 8 --micro-batch 2"),
    ("dense", 3, "--data 8 --micro-batch 2"),
    ("dense", 1, "--data 8 --micro-batch 1"),
    ("dense", 3, "--data 8 --micro-batch 1"),
    ("dense", 3, "--data 8 --micro-batch 2 --zero-shards 4"),
    ("dense", 1, "--data 8 --micro-batch 2 --zero-shards 2"),
    ("dense", 0, "--tensor 2 --pipeline 1 --micro-batch 4"),
    ("dense", 1, "--tensor 2 --pipeline 1 --micro-batch 4"),
    ("dense", 2, "--tensor 2 --pipeline 1 --micro-batch 4"),
    ("dense", 3, "--tensor 2 --pipeline 1 --micro-batch 4"),
    ("dense", 1, "--tensor 4 --pipeline 1 --micro-batch 8"),
    ("dense", 0, "--tensor 8 --micro-batch 16"),
    ("dense", 0, "--tensor 1 --pipeline 2 --interleave 1"),
    ("dense", 1, "--tensor 1 --pipeline 2 --interleave 1 --micro-batch 2"),
    ("dense", 1, "--tensor 1 --pipeline 4 --interleave 1"),
    ("dense", 1, "--tensor 2 --pipeline 2 --interleave 1"),
    ("dense", 0, "--tensor 2 --pipeline 4 --interleave 1"),
    ("dense", 1, "--tensor 1 --pipeline 2 --interleave 2"),
    ("dense", 0, "--tensor 1 --pipeline 4 --interleave 2"),
    ("dense", 1, "--tensor 2 --pipeline 2 --interleave 2"),
    ("dense", 2, "--tensor 1 --pipeline 2 --interleave 1"),
    ("dense", 3, "--tensor 2 --pipeline 2 --interleave 1"),
    ("dense", 3, "--tensor 1 --pipeline 1 --context 2 --context-method ring --micro-batch 4"),
    ("dense", 1, "--tensor 1 --pipeline 1 --context 4 --context-method ring --micro-batch 8"),
    ("dense", 1, "--tensor 1 --pipeline 1 --context 2 --context-method all_to_all --micro-batch 4"),
    ("dense", 1, "--tensor 2 --pipeline 1 --context 2 --context-method all_to_all --micro-batch 8"),
    ("experts", 1, "--tensor 1 --pipeline 1 --expert 1 --micro-batch 2"),
    ("experts", 1, "--tensor 1 --pipeline 1 --expert 2 --micro-batch 2"),
    ("experts", 0, "--tensor 1 --pipeline 1 --expert 4 --micro-batch 2"),
    ("experts", 1, "--tensor 1 --pipeline 1 --expert 8 --micro-batch 2"),
    ("experts", 3, "--tensor 1 --pipeline 1 --expert 4 --micro-batch 2"),
    ("experts", 2, "--tensor 1 --pipeline 1 --expert 2 --micro-batch 2"),
    ("experts", 1, "--tensor 1 --pipeline 2 --expert 4 --interleave 1"),
    ("experts", 1, "--tensor 1 --pipeline 2 --expert 2 --interleave 2"),
]


def make_plan(nest, folder, row):
    """Writes model, recipe and plan of a row into the folder; gives the model and the plan's file."""
    name, zero, choices = PLANS[row]
    files = {}
    for what, content in (("model", MODELS[name]), ("recipe", SHARDED if zero == 3 else GATHERED)):
        files[what] = os.path.join(folder, f"{what}{row}.json")
        with open(files[what], "w", encoding="utf-8") as file:
            json.dump(content, file)
    plan = os.path.join(folder, f"plan{row}.json")
    command = [nest, "plan", "--model", files["model"], "--recipe", files["recipe"], "--devices", "8",
               "--global-batch", "32", "--sequence", "2048", "--recompute", "none", "--zero", str(zero),
               *choices.split(), "-o", plan]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command[1:])}: {done.stderr.strip() or done.stdout[-300:]}")
    return MODELS[name], plan
