#include "nest/estimate/operators/operator_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>

#include "nest/base/closest.hpp"
#include "nest/base/error.hpp"
#include "nest/estimate/kernels/scan_work.hpp"
#include "nest/estimate/operators/operator_compiled.hpp"

namespace nest::estimate {
namespace {

using enum KernelKind;
using Sizes = std::array<std::int64_t, kMostSizes>;

constexpr std::int64_t kLargest = 1'000'000'000'000;
constexpr double kMostElements = 1e15;

// Where an argument goes: the kernel's sizes are in the order of the profile, the text's in the order people
// use.
struct Form {
  OperatorForm form;
  KernelKind forward;
  KernelKind backward;  // the same as forward where there is none
  std::size_t count;
  std::array<std::size_t, 6> place;
};

constexpr std::array<Form, 41> kForms{{
    {{"matmul", "m,n,k", "a Linear with weight [n,k] on m tokens"},
     matmul_forward,
     matmul_input,
     3,
     {0, 1, 2}},
    {{"fp8_matmul", "m,n,k", "the same with 8-bit operands, quantizing left out"},
     fp8_matmul,
     fp8_matmul,
     3,
     {0, 1, 2}},
    {{"grouped_matmul", "experts,rows,n,k", "a Linear for each expert, rows in all"},
     grouped_forward,
     grouped_input,
     4,
     {0, 1, 2, 3}},
    {{"attention", "b,s,heads,kv,d", "causal attention"},
     attention_forward,
     attention_backward,
     5,
     {0, 1, 2, 3, 4}},
    {{"attention_full", "b,s,heads,kv,d", "attention without a mask"},
     attention_forward,
     attention_backward,
     5,
     {0, 1, 2, 3, 4}},
    {{"attention_window", "b,s,heads,kv,d,keys", "causal, and each token sees its last keys alone"},
     attention_forward,
     attention_backward,
     6,
     {0, 1, 2, 3, 4, 5}},
    {{"choose_keys", "queries,keys,chosen", "the best scores of each query"},
     choose_keys,
     choose_keys,
     3,
     {0, 1, 2}},
    {{"convolution", "b,s,channels,taps", "each channel by itself, along the sequence"},
     convolution_forward,
     convolution_backward,
     4,
     {0, 1, 2, 4}},
    {{"state_space", "b,s,heads,groups,states,d", "Mamba 2"},
     state_space_forward,
     state_space_backward,
     6,
     {0, 1, 2, 3, 4, 5}},
    {{"selective_scan", "b,s,channels,states", "Mamba"},
     selective_scan_forward,
     selective_scan_backward,
     4,
     {0, 1, 2, 4}},
    {{"delta_rule", "b,s,heads,key_heads,d", "gated, with one decay for each head"},
     delta_rule_forward,
     delta_rule_backward,
     5,
     {0, 1, 2, 3, 4}},
    {{"channel_delta_rule", "b,s,heads,d", "gated, with a decay for each channel"},
     channel_delta_rule_forward,
     channel_delta_rule_backward,
     4,
     {0, 1, 2, 4}},
    {{"linear_attention", "b,s,heads,d", "with a fixed decay for each head"},
     linear_attention_forward,
     linear_attention_backward,
     4,
     {0, 1, 2, 4}},
    {{"rms_norm", "rows,hidden", ""}, rms_norm_forward, rms_norm_backward, 2, {0, 1}},
    {{"layer_norm", "rows,hidden", ""}, layer_norm_forward, layer_norm_backward, 2, {0, 1}},
    {{"swiglu", "rows,ffn", "silu(gate) * up"}, swiglu_forward, swiglu_backward, 2, {0, 1}},
    {{"geglu", "rows,ffn", "gelu(gate) * up"}, geglu_forward, geglu_backward, 2, {0, 1}},
    {{"gelu", "rows,ffn", ""}, gelu_forward, gelu_backward, 2, {0, 1}},
    {{"relu", "rows,ffn", ""}, relu_forward, relu_backward, 2, {0, 1}},
    {{"tanh", "rows,hidden", ""}, tanh_forward, tanh_backward, 2, {0, 1}},
    {{"scale", "rows,hidden", "times one number for each row"}, scale_forward, scale_backward, 2, {0, 1}},
    {{"add", "rows,hidden", "its gradient is handed on"}, add, add, 2, {0, 1}},
    {{"rotary", "b,s,heads,kv,d", "q and k turned by their positions"},
     rotary_forward,
     rotary_backward,
     5,
     {0, 1, 2, 3, 4}},
    {{"embedding", "tokens,hidden,vocab", "rows by token id"},
     embedding_forward,
     embedding_backward,
     3,
     {2, 1, 0}},
    {{"loss", "tokens,vocab", "cross-entropy over 16-bit logits"}, loss_forward, loss_backward, 2, {0, 1}},
    {{"router", "tokens,experts,top_k", "softmax and top-k"}, router_forward, router_backward, 3, {0, 1, 2}},
    {{"dispatch", "tokens,top_k,hidden", "rows to expert order"},
     dispatch_forward,
     dispatch_backward,
     3,
     {0, 1, 2}},
    {{"combine", "tokens,top_k,hidden", "rows back in token order"},
     combine_forward,
     combine_backward,
     3,
     {0, 1, 2}},
    {{"optimizer", "parameters", "fused AdamW on fp32 parameters"}, adam_fused_fp32, adam_fused_fp32, 1, {0}},
    {{"optimizer_bf16", "parameters", "the same on bf16 ones"}, adam_fused_bf16, adam_fused_bf16, 1, {0}},
    {{"optimizer_foreach", "parameters", "AdamW tensor by tensor, fp32"},
     adam_foreach_fp32,
     adam_foreach_fp32,
     1,
     {0}},
    {{"grad_norm", "parameters", "norm of fp32 gradients"}, norm_fp32, norm_fp32, 1, {0}},
    {{"grad_norm_bf16", "parameters", "norm of bf16 gradients"}, norm_bf16, norm_bf16, 1, {0}},
    {{"copy", "bytes", "on the device"}, copy, copy, 1, {0}},
    {{"fill", "bytes", "set to zero"}, fill, fill, 1, {0}},
    {{"cast_down", "elements", "fp32 to 16 bits"}, cast_down, cast_down, 1, {0}},
    {{"cast_up", "elements", "16 bits to fp32"}, cast_up, cast_up, 1, {0}},
    {{"accumulate", "elements", "fp32 += 16 bits"}, accumulate, accumulate, 1, {0}},
    {{"bias_gradient", "rows,columns", "rows added up"}, bias_gradient, bias_gradient, 2, {0, 1}},
    {{"fp8_row_matmul", "m,n,k", "8-bit operands, one scale for each row"},
     fp8_row_matmul,
     fp8_row_matmul,
     3,
     {0, 1, 2}},
    {{"optimizer_foreach_bf16", "parameters", ""}, adam_foreach_bf16, adam_foreach_bf16, 1, {0}},
}};

[[noreturn]] void refuse(const std::string& text, const std::string& what, const std::string& hint = {}) {
  throw InputError("", "--operator " + text, what, hint);
}

const Form& form_of(const std::string& text, const std::string& name) {
  std::vector<std::string> known;
  for (const Form& f : kForms) {
    if (f.form.name == name) return f;
    known.emplace_back(f.form.name);
  }
  std::string hint = did_you_mean(name, known);
  if (hint.empty()) {
    hint = "kinds:";
    for (const std::string& k : known) hint += " " + k;
  }
  refuse(text, "unknown operator '" + name + "'", hint);
}

std::vector<std::int64_t> numbers(const std::string& text, std::string_view list) {
  std::vector<std::int64_t> out;
  while (true) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view part = list.substr(0, comma);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc{} || end != part.data() + part.size())
      refuse(text, "'" + std::string(part) + "' is not a whole number");
    if (value < 1 || value > kLargest) refuse(text, "sizes are whole numbers from 1 to 1e12");
    out.push_back(value);
    if (comma == list.size()) return out;
    list.remove_prefix(comma + 1);
  }
}

// Keys are as many as values, and as wide, where the text does not say otherwise.
ScanSizes scan_sizes(const Sizes& s) {
  return {.batch = s[0],
          .positions = s[1],
          .heads = s[2],
          .key_heads = s[3] > 0 ? s[3] : s[2],
          .key_dim = s[4],
          .value_dim = s[5] > 0 ? s[5] : s[4]};
}

KernelCall call_of(const Form& form, KernelKind kind, const Sizes& sizes) {
  if (kind == choose_keys) return choice_call(sizes[0], sizes[1]);
  if (row_of(kind).family == KernelFamily::scan) return scan_call(kind, scan_sizes(sizes));
  KernelCall call{kind, sizes};
  if (form.form.name == "attention_window") {
    call.window = sizes[5] < sizes[1] ? sizes[5] : 0;
    call.sizes[5] = sizes[4];
  }
  return call;
}

Sizes sizes_of(const Form& form, const std::vector<std::int64_t>& given) {
  Sizes sizes{};
  for (std::size_t i = 0; i < given.size(); ++i) sizes[form.place[i]] = given[i];
  if (form.forward == attention_forward) {
    if (form.count < 6) sizes[5] = sizes[4];
    sizes[6] = form.form.name == "attention_full" ? 0 : 1;
  }
  if (form.form.name == "copy" || form.form.name == "fill")
    sizes[0] = std::max<std::int64_t>(1, sizes[0] / 2);
  return sizes;
}

}  // namespace

std::vector<OperatorForm> operator_forms() {
  std::vector<OperatorForm> out;
  out.reserve(kForms.size());
  for (const Form& f : kForms) out.push_back(f.form);
  return out;
}

std::vector<KernelUse> parse_operator(const std::string& text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const Form& form = form_of(text, text.substr(0, colon));
  const std::string usage = "write " + std::string(form.form.name) + ":" + std::string(form.form.arguments);
  if (colon == text.size()) refuse(text, "its sizes are missing", usage);
  const std::vector<std::int64_t> given = numbers(text, std::string_view(text).substr(colon + 1));
  if (given.size() != form.count)
    refuse(text, std::to_string(given.size()) + " sizes, not " + std::to_string(form.count), usage);
  double all = 1;
  for (const std::int64_t v : given) all *= static_cast<double>(v);
  if (form.count > 1 && all > kMostElements * 1e6) refuse(text, "larger than any device could hold");
  if (form.forward == attention_forward && given[2] % given[3] != 0)
    refuse(text, "heads are a multiple of key-value heads", usage);
  if (form.forward == choose_keys && given[2] > given[1])
    refuse(text, "more keys are chosen than there are", usage);

  const Sizes sizes = sizes_of(form, given);
  std::vector<KernelUse> out{{call_of(form, form.forward, sizes), Pass::forward}};
  if (form.backward != form.forward)
    out.push_back({call_of(form, form.backward, sizes), Pass::backward_input});
  if (form.forward == matmul_forward) out.push_back({{matmul_weight, sizes}, Pass::backward_weight});
  if (form.forward == grouped_forward) out.push_back({{grouped_weight, sizes}, Pass::backward_weight});
  if (form.forward == fp8_matmul || form.forward == fp8_row_matmul) {
    out.push_back({{form.forward, {sizes[0], sizes[2], sizes[1]}}, Pass::backward_input});
    out.push_back({{form.forward, {sizes[1], sizes[2], sizes[0]}}, Pass::backward_weight});
  }
  return out;
}

OperatorTime operator_time(const OperatorTimes& times, const std::string& text) {
  std::vector<KernelUse> uses = parse_operator(text);
  if (times.settings().compiled) fuse_streams(uses);
  OperatorTime out;
  for (const KernelUse& use : uses)
    out.add(use.pass, times.kernels().seconds(use.call), use.repeats, use.launches);
  return out;
}

}  // namespace nest::estimate
