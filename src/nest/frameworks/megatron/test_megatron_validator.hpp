// Megatron-LM's own arithmetic (validate_args, TransformerConfig, parallel_state), on the text of an argument
// file.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "nest/frameworks/test_validators.hpp"

namespace nest::test {
using namespace frameworks;

inline std::string check_megatron_pipeline(const Args& a, long pipeline, long micro_batches, long layers) {
  const bool layout = a.has("pipeline-model-parallel-layout");
  const bool virtual_ranks = a.has("num-virtual-stages-per-pipeline-rank");
  if (layout && virtual_ranks) return "two ways to interleave";
  long chunks = a.number("num-virtual-stages-per-pipeline-rank", 1);
  if (layout) {
    const std::string text = expanded_layout(a.text("pipeline-model-parallel-layout"));
    const long parts = std::count(text.begin(), text.end(), '|') + 1;
    if (parts % pipeline != 0) return "parts of the layout";
    chunks = parts / pipeline;
    if (std::count(text.begin(), text.end(), 't') != layers) return "layers of the layout";
    if (text.front() != 'E' || text.back() != 'L' || std::count(text.begin(), text.end(), 'E') != 1 ||
        std::count(text.begin(), text.end(), 'L') != 1)
      return "ends of the layout";
    if (text.find_first_not_of("EtmL|") != std::string::npos) return "letters of the layout";
    const std::string end = text.substr(text.rfind('|') + 1);
    if (std::count(text.begin(), text.end(), 'm') != a.number("mtp-num-layers", 0) ||
        std::count(end.begin(), end.end(), 'm') != a.number("mtp-num-layers", 0) ||
        text.find('m') < text.rfind('t'))
      return "prediction modules of the layout";
    if (text.find("||") != std::string::npos || text.ends_with("|")) return "an empty part";
  } else if (layers % (pipeline * chunks) != 0) {
    return "layers do not divide";
  }
  if (chunks > 1) {
    if (pipeline < (a.has("no-overlap-p2p-communication") ? 3 : 2)) return "interleaving without a pipeline";
    if (micro_batches < pipeline || micro_batches % pipeline != 0)
      return "micro-batches of an interleaved schedule";
  }
  return "";
}

inline std::string check_megatron(const Files& files) {
  const std::string& text = files.at("megatron_args.txt");
  const Args a = read_args(text);
  const long world = std::stol(text.substr(text.find("world size: ") + 12));
  const long t = a.number("tensor-model-parallel-size", 1);
  const long p = a.number("pipeline-model-parallel-size", 1);
  const long c = a.number("context-parallel-size", 1);
  const long e = a.number("expert-model-parallel-size", 1);
  const long x = a.number("expert-tensor-parallel-size", t);
  if (world % (t * p * c) != 0) return "world";
  if (world % (x * e * p) != 0) return "expert world";
  const long data = world / (t * p * c);
  const long expert_data = world / (x * e * p);
  const bool mapped = a.has("use-tp-pp-dp-mapping");
  if (mapped && p > 1 && expert_data != data) return "expert data with tp-pp-dp";
  const long batch = a.number("global-batch-size", 0);
  const long micro = a.number("micro-batch-size", 0);
  if (batch < 1 || micro < 1 || batch % (micro * data) != 0) return "batch";
  const long heads = a.number("num-attention-heads", 0);
  const long groups = a.has("group-query-attention") ? a.number("num-query-groups", 0) : heads;
  if (heads < 1 || heads % t != 0) return "heads";
  if (groups % t != 0 && t % groups != 0) return "query groups";
  if (a.number("ffn-hidden-size", 0) % t != 0) return "ffn";
  const bool experts = a.has("num-experts");
  if (e > 1 && !experts) return "no experts";
  if (experts && a.number("num-experts", 0) % e != 0) return "experts";
  if (experts && a.number("moe-ffn-hidden-size", 0) % x != 0) return "ffn of experts";
  if (a.has("moe-grouped-gemm") && !a.has("bf16")) return "grouped products without bf16";
  if (a.has("bf16") == a.has("fp16")) return "one of bf16 and fp16";
  const bool sequence_parallel = a.has("sequence-parallel");
  if (t > 1 && experts && !sequence_parallel) return "experts without sequence parallelism";
  if (sequence_parallel && t == 1) return "sequence parallelism without tensor ranks";
  const long sequence = a.number("seq-length", 0);
  if (c > 1 && sequence % (2 * c) != 0) return "sequence over context ranks";
  if (sequence_parallel && sequence / c % t != 0) return "sequence over tensor ranks";
  if (a.number("max-position-embeddings", 0) < sequence) return "positions";
  const std::string pipeline =
      check_megatron_pipeline(a, p, batch / (micro * data), a.number("num-layers", 0));
  if (!pipeline.empty()) return pipeline;
  if (a.has("overlap-param-gather") && !(a.has("use-distributed-optimizer") && a.has("overlap-grad-reduce")))
    return "overlapped gathers";
  const long instances = a.number("num-distributed-optimizer-instances", 1);
  if (data * c % instances != 0 || expert_data % instances != 0) return "optimizer instances";
  if (a.has("use-megatron-fsdp") && (a.text("ckpt-format") != "fsdp_dtensor" || mapped))
    return "Megatron-FSDP";
  const bool one = files.at("megatron.sh").find("CUDA_DEVICE_MAX_CONNECTIONS=1 ") != std::string::npos;
  if (a.has("use-megatron-fsdp") ? one : (t > 1 || c > 1) && !one) return "CUDA_DEVICE_MAX_CONNECTIONS";
  const std::string recompute = a.text("recompute-granularity");
  const bool counted = a.has("recompute-method") && a.has("recompute-num-layers");
  if (recompute == "full" ? !counted : a.has("recompute-method") || a.has("recompute-num-layers"))
    return "recomputation";
  return check_placement(files, t, c, p, mapped);
}

}  // namespace nest::test
