#include <algorithm>
#include <map>
#include <string>

#include "nest/model/onnx/infer_rules.hpp"

namespace nest::model {
namespace {

std::string both(std::int64_t a, std::int64_t b) {
  return std::to_string(a) + " and " + std::to_string(b);
}

std::int64_t times(const InferStep& step, std::int64_t a, std::int64_t b) {
  if (static_cast<double>(a) * static_cast<double>(b) > 1e15) step.fail("it makes more than 10^15 elements");
  return a * b;
}

// Positions that a window of a convolution or a pool takes along one axis.
std::int64_t positions(InferStep& step, std::int64_t size, std::size_t axis, std::int64_t kernel,
                       std::size_t axes) {
  const auto number = [&](const char* name, std::size_t i, std::int64_t fallback) {
    const OnnxAttribute* a = step.node().find(name);
    const std::int64_t n = a != nullptr && i < a->wholes.size() ? a->wholes[i] : fallback;
    if (n < 0 || n > 1'000'000'000) step.fail(std::string("its ") + name + " are no sizes");
    return n;
  };
  const std::int64_t stride = number("strides", axis, 1);
  const std::int64_t dilation = number("dilations", axis, 1);
  if (stride == 0 || dilation == 0 || kernel < 1 || kernel > 1'000'000)
    step.fail("its window or stride has no size");
  const OnnxAttribute* automatic = step.node().find("auto_pad");
  if (automatic != nullptr && automatic->text.starts_with("SAME")) return (size + stride - 1) / stride;
  const bool valid = automatic != nullptr && automatic->text == "VALID";
  const std::int64_t pads = valid ? 0 : number("pads", axis, 0) + number("pads", axis + axes, 0);
  const std::int64_t room = size + pads - dilation * (kernel - 1) - 1;
  if (room < 0) step.fail("its window is larger than its input");
  const bool up = step.node().whole_or("ceil_mode", 0) != 0;
  return (room + (up ? stride - 1 : 0)) / stride + 1;
}

// Heads and the width of one, of a value [batch, sequence, heads * width] or [batch, heads, sequence, width].
struct HeadShape {
  std::int64_t batch = 0;
  std::int64_t heads = 0;
  std::int64_t length = 0;
  std::int64_t width = 0;
};

HeadShape heads_of(InferStep& step, std::size_t i, std::int64_t heads) {
  const OnnxShape& s = step.shape(i);
  if (s.size() == 4) return {s[0], s[1], s[2], s[3]};
  if (s.size() != 3 || heads < 1 || s[2] % heads != 0) step.fail("its heads do not divide what it reads");
  return {s[0], heads, s[1], s[2] / heads};
}

}  // namespace

void infer_matmul(InferStep& step) {
  if (!step.knows(0) || !step.knows(1)) return;
  OnnxShape a = step.shape(0);
  OnnxShape b = step.shape(1);
  if (a.empty() || b.empty()) step.fail("a factor has no axes");
  if (step.node().whole_or("transA", 0) != 0 && a.size() > 1) std::swap(a[a.size() - 1], a[a.size() - 2]);
  if (step.node().whole_or("transB", 0) != 0 && b.size() > 1) std::swap(b[b.size() - 1], b[b.size() - 2]);
  const bool row = a.size() == 1;
  const bool column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  if (a.back() != b[b.size() - 2])
    step.fail("factors of " + both(a.back(), b[b.size() - 2]) + " do not go together");
  const std::int64_t m = a[a.size() - 2];
  const std::int64_t n = b.back();
  OnnxShape out = broadcast(step, OnnxShape(a.begin(), a.end() - 2), OnnxShape(b.begin(), b.end() - 2));
  if (!row) out.push_back(m);
  if (!column) out.push_back(n);
  step.make(0, std::move(out));
}

void infer_gemm(InferStep& step) {
  if (!step.knows(0) || !step.knows(1)) return;
  const OnnxShape& a = step.shape(0);
  const OnnxShape& b = step.shape(1);
  if (a.size() != 2 || b.size() != 2) step.fail("a factor has not two axes");
  const bool turn_a = step.node().whole_or("transA", 0) != 0;
  const bool turn_b = step.node().whole_or("transB", 0) != 0;
  const std::int64_t k = a[turn_a ? 0 : 1];
  const std::int64_t other = b[turn_b ? 1 : 0];
  if (k != other) step.fail("factors of " + both(k, other) + " do not go together");
  step.make(0, {a[turn_a ? 1 : 0], b[turn_b ? 0 : 1]});
}

void infer_einsum(InferStep& step) {
  const OnnxAttribute* given = step.node().find("equation");
  if (given == nullptr) step.fail("it has no equation");
  std::string text;
  std::ranges::copy_if(given->text, std::back_inserter(text), [](char c) { return c != ' '; });
  const std::size_t arrow = text.find("->");
  if (arrow == std::string::npos || text.find('.') != std::string::npos) return;
  std::map<char, std::int64_t> sizes;
  std::size_t input = 0;
  std::size_t axis = 0;
  for (std::size_t i = 0; i <= arrow; ++i) {
    if (i < arrow && text[i] != ',') {
      if (!step.knows(input)) return;
      if (axis >= step.shape(input).size()) step.fail("its equation has more axes than its inputs");
      const std::int64_t size = step.shape(input)[axis++];
      const auto [known, made] = sizes.try_emplace(text[i], size);
      if (!made && known->second != size && known->second != 1 && size != 1)
        step.fail("axes of " + both(known->second, size) + " do not go together");
      known->second = std::max(known->second, size);
      continue;
    }
    if (!step.knows(input)) return;
    if (axis != step.shape(input).size()) step.fail("its equation has fewer axes than its inputs");
    ++input;
    axis = 0;
  }
  OnnxShape out;
  for (const char c : text.substr(arrow + 2)) {
    if (!sizes.contains(c)) step.fail("its equation makes an axis that no input has");
    out.push_back(sizes[c]);
  }
  step.make(0, std::move(out));
}

void infer_conv(InferStep& step) {
  if (!step.knows(0) || !step.knows(1)) return;
  const OnnxShape& in = step.shape(0);
  const OnnxShape& kernel = step.shape(1);
  const std::int64_t groups = step.node().whole_or("group", 1);
  if (in.size() < 3 || kernel.size() != in.size()) step.fail("its input and its kernel have other axes");
  if (kernel[1] < 1 || in[1] % kernel[1] != 0 || in[1] / kernel[1] != groups)
    step.fail("a kernel of " + std::to_string(kernel[1]) + " channels for an input of " +
              std::to_string(in[1]));
  OnnxShape out{in[0], kernel[0]};
  for (std::size_t i = 2; i < in.size(); ++i)
    out.push_back(positions(step, in[i], i - 2, kernel[i], in.size() - 2));
  step.make(0, std::move(out));
}

void infer_pool(InferStep& step) {
  if (!step.knows(0)) return;
  const OnnxShape& in = step.shape(0);
  const OnnxAttribute* kernel = step.node().find("kernel_shape");
  if (kernel == nullptr || in.size() < 3 || kernel->wholes.size() != in.size() - 2)
    step.fail("its window has other axes than its input");
  OnnxShape out{in[0], in[1]};
  for (std::size_t i = 2; i < in.size(); ++i)
    out.push_back(positions(step, in[i], i - 2, kernel->wholes[i - 2], in.size() - 2));
  step.make(0, std::move(out));
}

void infer_global_pool(InferStep& step) {
  if (!step.knows(0) || step.shape(0).size() < 2) return;
  OnnxShape out = step.shape(0);
  std::fill(out.begin() + 2, out.end(), 1);
  step.make(0, std::move(out));
}

void infer_matmul_bits(InferStep& step) {
  if (!step.knows(0)) return;
  OnnxShape out = step.shape(0);
  const std::int64_t k = step.node().whole_or("K", 0);
  if (out.empty() || out.back() != k) step.fail("its K is not what it reads");
  out.back() = step.node().whole_or("N", 0);
  step.make(0, std::move(out));
}

void infer_attention(InferStep& step) {
  if (!step.knows(0) || !step.knows(1) || !step.knows(2)) return;
  const std::int64_t heads = step.node().whole_or("q_num_heads", 0);
  const std::int64_t kv_heads = step.node().whole_or("kv_num_heads", heads);
  const HeadShape q = heads_of(step, 0, heads);
  const HeadShape k = heads_of(step, 1, kv_heads);
  const HeadShape v = heads_of(step, 2, kv_heads);
  if (q.width != k.width) step.fail("queries and keys of " + both(q.width, k.width) + " do not go together");
  if (step.shape(0).size() == 4)
    step.make(0, {q.batch, q.heads, q.length, v.width});
  else
    step.make(0, {q.batch, q.length, times(step, q.heads, v.width)});
}

void infer_packed_attention(InferStep& step) {
  if (!step.knows(0) || !step.knows(1) || step.shape(0).size() != 3 || step.shape(1).size() != 2) return;
  const OnnxShape& in = step.shape(0);
  const OnnxAttribute* sizes = step.node().find("qkv_hidden_sizes");
  const std::int64_t width =
      sizes != nullptr && sizes->wholes.size() == 3 ? sizes->wholes[2] : step.shape(1)[1] / 3;
  step.make(0, {in[0], in[1], width});
}

void infer_multi_head_attention(InferStep& step) {
  if (!step.knows(0)) return;
  const OnnxShape& q = step.shape(0);
  if (q.size() == 5) return step.make(0, {q[0], q[1], q[2] * q[4]});
  if (q.size() != 3 || !step.knows(2)) return;
  const OnnxShape& v = step.shape(2);
  const std::int64_t width = v.size() == 4 ? v[1] * v[3] : v.back();
  step.make(0, {q[0], q[1], width});
}

void infer_grouped_attention(InferStep& step) {
  if (!step.knows(0) || step.shape(0).size() != 3) return;
  const OnnxShape& q = step.shape(0);
  if (step.knows(1)) return step.make(0, q);
  const std::int64_t heads = step.node().whole_or("num_heads", 0);
  const std::int64_t kv_heads = step.node().whole_or("kv_num_heads", heads);
  if (heads < 1 || kv_heads < 1 || heads > 1'000'000 || kv_heads > 1'000'000 ||
      q[2] % (heads + 2 * kv_heads) != 0)
    step.fail("its heads do not divide what it reads");
  step.make(0, {q[0], q[1], q[2] / (heads + 2 * kv_heads) * heads});
}

}  // namespace nest::model
