"""Puts exports of random plans through the frameworks' own code: torchtitan's parser of job configs and its
check of degrees, DeepSpeedConfig, accelerate's loader, and Megatron-core's config, layout and rank
generator.

    exports.py --nest PROGRAM [--count N] [--seed N]     the last line is "N passed, N failed, N skipped"
"""

import argparse
import contextlib
import io
import json
import logging
import os
import sys
import tempfile
import traceback
import warnings

from random_plans import random_exports, run

logging.disable(logging.WARNING)
warnings.filterwarnings("ignore")


def world_of(plan):
    p = plan["parallelism"]
    return p["tensor"] * p["context"] * p["pipeline"] * p["data"]


def check_torchtitan(plan, folder):
    from torchtitan.config import ConfigManager
    from torchtitan.distributed.parallel_dims import ParallelDims
    from torchtitan.protocols.train_spec import get_train_spec

    file = os.path.join(folder, "train.toml")
    if not os.path.exists(file):
        return False  # a plan for the main branch only
    config = ConfigManager().parse_args(["--job.config_file", file])
    parallel, p = config.parallelism, plan["parallelism"]
    dims = ParallelDims(dp_replicate=parallel.data_parallel_replicate_degree,
                        dp_shard=parallel.data_parallel_shard_degree, cp=parallel.context_parallel_degree,
                        tp=parallel.tensor_parallel_degree, pp=parallel.pipeline_parallel_degree,
                        ep=parallel.expert_parallel_degree, etp=parallel.expert_tensor_parallel_degree,
                        world_size=world_of(plan))
    assert (dims.tp, dims.cp, dims.pp, dims.ep) == (p["tensor"], p["context"], p["pipeline"], p["expert"])
    assert config.training.global_batch_size == plan["training"]["global_batch"]
    # A model that torchtitan does not have is the user's to name.
    if config.model.name != "your_model":
        assert config.model.flavor in get_train_spec(config.model.name).model_args
    return True


def check_deepspeed(plan, folder):
    import torch.distributed as dist
    from deepspeed import comm
    from deepspeed.runtime.config import DeepSpeedConfig
    from torch.testing._internal.distributed.fake_pg import FakeStore

    if not dist.is_initialized():
        dist.init_process_group("fake", rank=0, world_size=world_of(plan), store=FakeStore())
        comm.init_distributed("fake", auto_mpi_discovery=False, verbose=False)

    class Ranks:
        get_data_parallel_world_size = staticmethod(lambda: plan["parallelism"]["data"])

    with open(os.path.join(folder, "ds_config.json"), encoding="utf-8") as file:
        config = DeepSpeedConfig(json.load(file), mpu=Ranks())
    training = plan["training"]
    assert config.world_size == plan["parallelism"]["data"]
    assert config.train_batch_size == training["global_batch"]
    assert config.train_micro_batch_size_per_gpu == training["micro_batch"]
    assert config.gradient_accumulation_steps == training["micro_batches"]
    assert int(config.zero_optimization_stage) == plan["parallelism"]["zero"]
    dist.destroy_process_group()
    comm.comm.cdb = None
    return True


def check_accelerate(plan, folder):
    from accelerate import ParallelismConfig
    from accelerate.commands.config.config_args import load_config_from_file

    config = load_config_from_file(os.path.join(folder, "accelerate.yaml"))
    degrees = {key.removeprefix("parallelism_config_"): int(value)
               for key, value in (getattr(config, "parallelism_config", None) or {}).items()
               if key.endswith("_size")}
    parallel = ParallelismConfig(**degrees)
    p = plan["parallelism"]
    assert config.num_processes == world_of(plan)
    if degrees:
        assert parallel.total_size == world_of(plan)
        assert (parallel.tp_size, parallel.cp_size * parallel.sp_size) == (p["tensor"], p["context"])
    return True


def check_megatron(plan, folder):
    from megatron_core import check_config, check_ranks

    check_config(plan, folder)
    check_ranks(plan, folder)
    return True


CHECKS = {"torchtitan": check_torchtitan, "deepspeed": check_deepspeed, "accelerate": check_accelerate,
          "megatron": check_megatron}


def check_target(nest, target, count, seed):
    """Passed, failed, and plans that say nothing of this release."""
    passed = failed = other = 0
    with tempfile.TemporaryDirectory() as folder:
        for plan, export in random_exports(nest, target, 4 * count, seed, folder):
            said = io.StringIO()
            try:
                with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                    counts = CHECKS[target](plan, export)
            except (Exception, SystemExit):
                failed += 1
                print(f"{target}: {json.dumps(plan['parallelism'])} of {plan['model']['name']}")
                print(said.getvalue()[-800:])
                traceback.print_exc(file=sys.stdout)
                counts = None
            passed, other = passed + (counts is True), other + (counts is False)
            if passed + failed >= count:
                break
    return passed, failed, other


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nest", default="build/nest")
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=20261116)
    parser.add_argument("--only", default=",".join(CHECKS))
    options = parser.parse_args()
    nest = os.path.abspath(options.nest)
    known = json.loads(run([nest, "export", "--list", "--json"]).stdout)["targets"]
    targets = {target["name"] for target in known}
    total = [0, 0, 0]
    for target in options.only.split(","):
        if target not in targets:
            print(f"{target}: skipped, nest has no such target")
            total[2] += 1
            continue
        passed, failed, other = check_target(nest, target, options.count, options.seed)
        rest = f", {other} more are not for this release" if other else ""
        print(f"{target}: {passed} of {passed + failed} plans, seed {options.seed}{rest}", flush=True)
        total[0], total[1] = total[0] + passed, total[1] + failed
    print(f"{total[0]} passed, {total[1]} failed, {total[2]} skipped")
    return total[1] > 0


if __name__ == "__main__":
    sys.exit(main())
