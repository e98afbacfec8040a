#!/usr/bin/env python3
"""Compares measured training steps of data/profiles/h200.launches.json with what NEST predicts for them.

    python3 tools/profile/compare_steps.py --nest build/nest

Each row is priced by `nest evaluate` on one H200 with the recipe `transformers`; rows with autocast keep
weights, gradients and states in 32 bits. Prints one line a row, then median errors by group.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

import launch_models

HERE = pathlib.Path(__file__).resolve().parent
MEASURED = HERE.parent.parent / "data" / "profiles" / "h200.launches.json"
CLUSTER = """name: one-h200
accelerator: h200
levels:
  - {name: node, kind: switch, size: 1, bandwidth: 450 GB/s, latency: 1 us}
"""
WIDE = ("parameter_dtype", "gradient_dtype", "reduce_dtype", "optimizer_dtype")
AUTOCAST = "framework: transformers\n" + "".join(f"{key}: fp32\n" for key in WIDE)
OUTSIDE_MIB = 701  # estimate/layers/fixed_memory.cpp: context and libraries, without communicators
ALLOCATED = ("weights", "gradients", "optimizer", "activations", "workspace")


def config_of(shape):
    config = {"model_type": shape.family, "hidden_size": shape.hidden,
              "num_hidden_layers": shape.layers, "num_attention_heads": shape.heads,
              "num_key_value_heads": shape.kv_heads, "head_dim": shape.head_dim,
              "vocab_size": shape.vocab, "tie_word_embeddings": shape.tied,
              "intermediate_size": shape.ffn, "max_position_embeddings": 32768}
    if shape.experts:
        config.update(num_experts=shape.experts, num_experts_per_tok=shape.top_k,
                      moe_intermediate_size=shape.ffn, decoder_sparse_step=1, mlp_only_layers=[],
                      norm_topk_prob=True)
    return config


def plan_of(row):
    return {"training": {"global_batch": row["batch"], "micro_batch": row["batch"], "micro_batches": 1,
                         "sequence": row["sequence"]},
            "parallelism": {"tensor": 1, "pipeline": 1, "data": 1,
                            "recompute": "full" if row["checkpointing"] else "none"}}


def price(nest, folder, row):
    model = folder / (row["model"] + ".json")
    model.write_text(json.dumps(config_of(launch_models.SHAPES[row["model"]])))
    recipe = str(folder / "autocast.yaml") if row["variant"] == "autocast" else "transformers"
    command = [nest, "evaluate", "--model", str(model), "--cluster", str(folder / "one.yaml"),
               "--recipe", recipe, "--jsonl", "-"]
    line = json.dumps(plan_of(row)) + "\n"
    done = subprocess.run(command, input=line, capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout)
    memory = answer["stages"][0]["memory"]
    allocated = sum(memory[part + "_bytes"] for part in ALLOCATED)
    return answer["predicted"]["step_s"], allocated, allocated + memory["fragmentation_bytes"]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nest", default="build/nest", help="the program (build/nest)")
    nest = parser.parse_args().nest
    rows = json.loads(MEASURED.read_text())["sections"]["trainer"]["rows"]
    groups, shares = {}, {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "one.yaml").write_text(CLUSTER)
        (folder / "autocast.yaml").write_text(AUTOCAST)
        for row in rows:
            step, memory, reserved = price(nest, folder, row)
            errors = step / row["step_s"] - 1, memory / row["peak_allocated_bytes"] - 1
            policy = "full recomputation" if row["checkpointing"] else "no recomputation"
            shares.setdefault(f"{row['variant']}, {policy}", []).append(
                (row["peak_reserved_bytes"] / row["peak_allocated_bytes"] - 1,
                 reserved / row["peak_reserved_bytes"] - 1,
                 (reserved + OUTSIDE_MIB * 2**20) / row["used_bytes"] - 1))
            experts = ", experts one after the other" if row.get("experts_implementation") == "eager" else \
                ", experts" if "moe" in row["model"] else ""
            group = f"{row['variant']}{experts}, {row['batch'] * row['sequence']} tokens"
            groups.setdefault(group, []).append(errors)
            print(f"{row['model']:19} {row['variant']:9} {row['batch']} x {row['sequence']:5} "
                  f"{'full' if row['checkpointing'] else 'none':5} "
                  f"step {row['step_s'] * 1e3:7.1f} ms {errors[0]:+7.1%}  "
                  f"memory {row['peak_allocated_bytes'] / 2**30:6.2f} GiB {errors[1]:+7.1%}")
    for group, errors in sorted(groups.items()):
        times, memories = zip(*errors)
        print(f"{group}: {len(errors)} rows, step {statistics.median(map(abs, times)):.1%} "
              f"(bias {statistics.median(times):+.1%}), memory {statistics.median(map(abs, memories)):.1%} "
              f"(bias {statistics.median(memories):+.1%})")
    for group, numbers in sorted(shares.items()):
        share, reserved, used = (statistics.median(column) for column in zip(*numbers))
        print(f"{group}: {len(numbers)} rows, reserved beyond allocated {share:.1%}, "
              f"error of what is reserved {reserved:+.1%}, of what the driver reports {used:+.1%}")


if __name__ == "__main__":
    main()
