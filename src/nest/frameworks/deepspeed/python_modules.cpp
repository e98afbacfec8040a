#include "nest/frameworks/deepspeed/python_modules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "nest/base/document/value.hpp"

namespace nest::frameworks {
namespace {

constexpr std::string_view kPipeline = R"py(

class NestPipelineModule(PipelineModule):
    """A PipelineModule whose stages hold the layers of BOUNDS.

    `sizes` says how many of `layers` make up each of LAYERS, such as [1] * 17 + [2] where a norm and the head
    are two; without it there is one for each. Other arguments are those of PipelineModule.
    """

    def __init__(self, layers, sizes=None, **arguments):
        layers = list(layers)
        sizes = [1] * len(LAYERS) if sizes is None else list(sizes)
        if len(sizes) != len(LAYERS) or sum(sizes) != len(layers):
            raise ValueError(f"the plan has {len(LAYERS)} layers; given are {len(layers)}, {len(sizes)} sizes")
        ends = list(accumulate(sizes, initial=0))
        bounds = [ends[bound] for bound in BOUNDS]
        self.nest_bounds = bounds  # before PipelineModule's own __init__, which asks for the partition
        arguments.setdefault("topology",
                             PipeModelDataParallelTopology(num_pp=STAGES, num_mp=TENSOR, num_dp=DATA))
        arguments.setdefault("activation_checkpoint_interval", ACTIVATION_CHECKPOINT_INTERVAL)
        super().__init__(layers, **arguments)

    def _partition_layers(self, method="uniform"):
        del method
        stage = self._topo.get_coord(self.global_rank).pipe
        self.parts = list(self.nest_bounds)
        self._set_bounds(start=self.parts[stage], stop=self.parts[stage + 1])
)py";

constexpr std::string_view kUlysses = R"py(

def register(model_name_or_path, core_attn_implementation="flash_attention_2"):
    """Ulysses for a model of Transformers, before it is loaded; the mpu is for deepspeed.initialize."""
    from deepspeed.runtime.sequence_parallel.ulysses_sp import UlyssesSPAttentionHF
    return UlyssesSPAttentionHF.register_with_transformers(
        model_name_or_path=model_name_or_path,
        core_attn_implementation=core_attn_implementation,
        sequence_parallel_size=CONTEXT,
        micro_batch_size=MICRO_BATCH,
        seq_length=SEQUENCE,
        seq_length_is_variable=False)


def shard(loader, mpu, device):
    """A data loader whose batches are cut along the sequence."""
    from deepspeed.runtime.sequence_parallel.ulysses_sp import UlyssesSPDataLoaderAdapter
    return UlyssesSPDataLoaderAdapter(
        loader,
        sp_rank=mpu.get_sequence_parallel_rank(),
        sp_group=mpu.get_sequence_parallel_group(),
        sp_world_size=mpu.get_sequence_parallel_world_size(),
        device=device)
)py";

// A list of JSON is one of Python.
std::string python_list(const std::vector<std::string>& names) {
  Value list = Value::array();
  for (const std::string& name : names) list.push(name);
  return to_json_line(list);
}

}  // namespace

std::vector<std::int64_t> stage_bounds(const ExportFacts& facts) {
  std::vector<std::int64_t> bounds{0};
  for (const PipelinePart& part : facts.parts)
    bounds.push_back(bounds.back() + static_cast<std::int64_t>(part.layers.size()));
  return bounds;
}

std::string pipeline_module(const ExportFacts& facts) {
  const Parallelism& p = facts.parallelism();
  const bool full = facts.plan().stages.front().recompute.policy == RecomputePolicy::full;
  return fmt::format(
             R"py("""The stages of a plan by nest for DeepSpeed {release}, with this folder in PYTHONPATH:

    from nest_pipeline import NestPipelineModule
    model = NestPipelineModule(layers, loss_fn=loss)
    engine, _, _, _ = deepspeed.initialize(model=model, config="ds_config.json", ..)
"""
from itertools import accumulate

from deepspeed.pipe import PipelineModule
from deepspeed.runtime.pipe.topology import PipeModelDataParallelTopology

STAGES, DATA, TENSOR = {stages}, {data}, {tensor}
ACTIVATION_CHECKPOINT_INTERVAL = {interval}
BOUNDS = [{bounds}]  # stage i has the layers from BOUNDS[i] up to BOUNDS[i + 1]
LAYERS = {layers}
)py",
             fmt::arg("release", facts.release->name), fmt::arg("stages", p.pipeline),
             fmt::arg("data", p.data), fmt::arg("tensor", p.strategy.tensor),
             fmt::arg("interval", full ? 1 : 0), fmt::arg("bounds", fmt::join(stage_bounds(facts), ", ")),
             fmt::arg("layers", python_list(facts.layers))) +
         std::string(kPipeline);
}

std::string ulysses_module(const ExportFacts& facts) {
  const Parallelism& p = facts.parallelism();
  const Training& t = facts.plan().training;
  const std::string mesh =
      p.strategy.tensor == 1
          ? fmt::format(
                "# For deepspeed.initialize(.., mesh_param=MESH) and a model of your own whose attention is\n"
                "# deepspeed.sequence.layer.DistributedAttention.\nMESH = ({}, {})\n",
                p.data, p.strategy.context)
          : "";
  return fmt::format(
             R"py("""Context parallelism of a plan by nest for DeepSpeed {release}, with this folder in PYTHONPATH:

    import nest_ulysses
    mpu = nest_ulysses.register("meta-llama/Llama-3.1-8B")
    engine, _, _, _ = deepspeed.initialize(model=model, config="ds_config.json", mpu=mpu, ..)
    for batch in nest_ulysses.shard(loader, mpu, engine.device): ..
"""
CONTEXT = {context}
MICRO_BATCH, SEQUENCE = {micro_batch}, {sequence}
)py",
             fmt::arg("release", facts.release->name), fmt::arg("context", p.strategy.context),
             fmt::arg("micro_batch", t.micro_batch), fmt::arg("sequence", t.sequence)) +
         mesh + std::string(kUlysses);
}

}  // namespace nest::frameworks
