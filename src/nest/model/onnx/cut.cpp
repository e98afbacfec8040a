#include "nest/model/onnx/cut.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "nest/base/error.hpp"
#include "nest/model/onnx/dominators.hpp"

namespace nest::model {
namespace {

constexpr std::size_t kRoot = Dominators::kRoot;
// From an attention back to the product that it reads: nobody has more on the way.
constexpr int kMostSteps = 1'000;

// The value that a value of an attention was projected from.
OnnxValueId projected_from(const Flow& flow, OnnxValueId value) {
  for (int n = 0; n < kMostSteps; ++n) {
    const FlowOp* maker = flow.maker(value);
    if (maker == nullptr || maker->in.empty()) return value;
    if (maker->kind == FlowKind::product) return maker->in[0];
    const bool on_the_way = maker->kind == FlowKind::rotary || maker->kind == FlowKind::norm ||
                            maker->kind == FlowKind::cut || maker->kind == FlowKind::join ||
                            (maker->kind == FlowKind::pass && maker->in.size() == 1);
    if (!on_the_way) return value;
    value = maker->in[0];
  }
  return value;
}

// What more than one attention reads its keys from, and none of those its queries: the encoder's result.
OnnxValueId memory_of(const Flow& flow) {
  std::map<OnnxValueId, int> users;
  for (const FlowOp& op : flow.ops) {
    if (op.kind != FlowKind::attention) continue;
    const OnnxValueId keys = projected_from(flow, op.in[1]);
    const FlowOp* maker = flow.maker(keys);
    // Latents of keys are made of the same vectors as those of queries.
    const bool latent = maker != nullptr && maker->kind == FlowKind::norm && flow.users(keys).size() == 1;
    if (keys != projected_from(flow, op.in[0]) && !latent) ++users[keys];
  }
  const auto most = std::ranges::max_element(users, {}, [](const auto& u) { return u.second; });
  return most == users.end() ? kNoValue : most->first;
}

class Cutter {
 public:
  Cutter(const Flow& flow, std::vector<std::size_t> ops, OnnxValueId memory, std::vector<OnnxValueId> outputs)
      : flow_(flow), ops_(std::move(ops)), memory_(memory), outputs_(std::move(outputs)) {
    for (const std::size_t i : ops_) inside_.insert(i);
  }

  FlowStack cut() {
    find_cuts();
    assign();
    FlowStack stack = in_blocks();
    stack.memory = memory_;
    return stack;
  }

 private:
  // The operators through which everything goes, in order: dominators of the end.
  void find_cuts() {
    Dominators dominators(flow_.ops.size());
    std::set<OnnxValueId> beside{memory_};  // the memory, and what is made of it alone
    const auto nearest = [&](const std::vector<OnnxValueId>& values) {
      std::size_t at = kRoot;
      bool first = true;
      for (const OnnxValueId v : values) {
        if (beside.contains(v)) continue;
        const std::size_t maker = flow_.maker_index(v);
        const std::size_t from = maker == Flow::kNobody || !inside_.contains(maker) ? kRoot : maker;
        at = first ? from : dominators.common(at, from);
        first = false;
      }
      return at;
    };
    for (const std::size_t i : ops_) {
      const FlowOp& op = flow_.ops[i];
      const bool of_memory =
          !op.in.empty() && std::ranges::all_of(op.in, [&](OnnxValueId v) { return beside.contains(v); });
      if (of_memory) beside.insert(op.out.begin(), op.out.end());
      dominators.set(i, nearest(op.in));
    }
    for (std::size_t at = nearest(outputs_); at != kRoot; at = dominators.above(at)) {
      if (flow_.ops[at].out.size() == 1) cuts_.push_back(at);
    }
    std::ranges::reverse(cuts_);
  }

  // Each operator belongs to the first cut that it leads to.
  void assign() {
    std::map<std::size_t, std::size_t> segment;
    for (std::size_t i = 0; i < cuts_.size(); ++i) segment[cuts_[i]] = i;
    for (std::size_t k = ops_.size(); k-- > 0;) {
      const std::size_t i = ops_[k];
      if (segment.contains(i)) continue;
      std::size_t first = cuts_.size();
      for (const OnnxValueId v : flow_.ops[i].out) {
        for (const std::uint32_t user : flow_.users(v)) {
          if (inside_.contains(user)) first = std::min(first, segment[user]);
        }
      }
      segment[i] = first;
    }
    segments_.resize(cuts_.size() + 1);
    for (const std::size_t i : ops_) segments_[segment[i]].push_back(i);
    if (segments_.back().empty()) segments_.pop_back();
  }

  [[nodiscard]] bool attends_itself(std::size_t s) const {
    return std::ranges::any_of(segments_[s], [&](std::size_t i) {
      const FlowOp& op = flow_.ops[i];
      return op.kind == FlowKind::attention &&
             (memory_ == kNoValue || projected_from(flow_, op.in[1]) != memory_);
    });
  }
  [[nodiscard]] bool ends_in_sum(std::size_t s) const {
    return s < cuts_.size() && flow_.ops[cuts_[s]].kind == FlowKind::add;
  }

  // Where blocks begin, and where the last one ends.
  [[nodiscard]] std::pair<std::vector<std::size_t>, std::size_t> bounds() const {
    std::vector<std::size_t> begins;
    for (std::size_t s = 0; s < segments_.size(); ++s) {
      if (attends_itself(s)) begins.push_back(s);
    }
    if (!begins.empty()) return {begins, end_of(begins)};
    // Without attention each sum ends a block.
    std::size_t end = 0;
    for (std::size_t s = 0; s < segments_.size(); ++s) {
      if (!ends_in_sum(s)) continue;
      begins.push_back(end);
      end = s + 1;
    }
    // The stem has the first product.
    const auto works = [&](std::size_t s) {
      return std::ranges::any_of(segments_[s], [&](std::size_t i) {
        const FlowKind kind = flow_.ops[i].kind;
        return kind == FlowKind::product || kind == FlowKind::convolution || kind == FlowKind::lookup;
      });
    };
    std::size_t stem = 0;
    while (stem < segments_.size() && !works(stem)) ++stem;
    if (!begins.empty()) begins.front() = stem + 1;
    while (begins.size() > 1 && begins[0] >= begins[1]) begins.erase(begins.begin());
    return {begins, end};
  }
  // As many segments as the block before has, where they are equal.
  [[nodiscard]] std::size_t end_of(const std::vector<std::size_t>& begins) const {
    const std::size_t last = begins.back();
    if (begins.size() > 1) {
      const std::size_t before = begins[begins.size() - 2];
      std::size_t n = 0;
      while (before + n < last && last + n < segments_.size() &&
             signature(flow_, segments_[before + n]) == signature(flow_, segments_[last + n]))
        ++n;
      if (before + n == last) return last + n;
    }
    std::size_t end = last + 1;
    for (std::size_t s = last; s < segments_.size(); ++s) {
      if (ends_in_sum(s)) end = s + 1;
    }
    // The blocks before are no longer than this one.
    if (begins.size() > 1) end = std::min(end, last + (last - begins[begins.size() - 2]));
    return end;
  }

  [[nodiscard]] FlowLayer layer(std::size_t first, std::size_t last) const {
    FlowLayer out;
    for (std::size_t s = first; s < last; ++s) {
      out.ops.insert(out.ops.end(), segments_[s].begin(), segments_[s].end());
    }
    std::ranges::sort(out.ops);
    if (first > 0 && first <= cuts_.size()) out.in = flow_.ops[cuts_[first - 1]].out[0];
    if (last > 0 && last <= cuts_.size()) out.out = flow_.ops[cuts_[last - 1]].out[0];
    return out;
  }

  [[nodiscard]] FlowStack in_blocks() const {
    FlowStack stack;
    const auto [begins, end] = bounds();
    if (begins.empty() || begins.front() == 0) {
      throw InputError(
          flow_.graph().file, "",
          "no place was found where a single value carries everything on to repeated blocks",
          "a model with one chain of blocks, or an encoder and a decoder, can be cut into layers");
    }
    stack.stem = layer(0, begins.front());
    for (std::size_t i = 0; i < begins.size(); ++i)
      stack.blocks.push_back(layer(begins[i], i + 1 < begins.size() ? begins[i + 1] : end));
    stack.head = layer(end, segments_.size());
    return stack;
  }

  const Flow& flow_;
  std::vector<std::size_t> ops_;
  OnnxValueId memory_;
  std::vector<OnnxValueId> outputs_;
  std::set<std::size_t> inside_;
  std::vector<std::size_t> cuts_;
  std::vector<std::vector<std::size_t>> segments_;
};

}  // namespace

std::string signature(const Flow& flow, const std::vector<std::size_t>& ops) {
  std::string out;
  std::map<OnnxValueId, std::size_t> made;
  for (const std::size_t i : ops) {
    const FlowOp& op = flow.ops[i];
    out += std::to_string(static_cast<int>(op.kind)) + op.op + ":";
    for (const OnnxValueId v : op.in) {
      const auto known = made.find(v);
      out += (known == made.end() ? "x" : std::to_string(known->second)) + ",";
    }
    for (const FlowWeight& w : op.weights) {
      for (const std::int64_t d : w.dims) out += std::to_string(d) + "*";
      out += ';';
    }
    for (const OnnxValueId v : op.out) {
      made.emplace(v, made.size());
      out += std::to_string(flow.elements(v)) + ".";
    }
  }
  return out;
}

std::vector<FlowStack> cut_flow(const Flow& flow) {
  const OnnxValueId memory = memory_of(flow);
  std::vector<std::size_t> all(flow.ops.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  if (memory == kNoValue) return {Cutter(flow, all, kNoValue, flow.outputs).cut()};
  std::set<OnnxValueId> wanted{memory};
  std::vector<std::size_t> encoder;
  std::vector<std::size_t> decoder;
  for (std::size_t i = all.size(); i-- > 0;) {
    const FlowOp& op = flow.ops[i];
    const bool before = std::ranges::any_of(op.out, [&](OnnxValueId v) { return wanted.contains(v); });
    (before ? encoder : decoder).push_back(i);
    if (before) wanted.insert(op.in.begin(), op.in.end());
  }
  std::ranges::reverse(encoder);
  std::ranges::reverse(decoder);
  return {Cutter(flow, encoder, kNoValue, {memory}).cut(), Cutter(flow, decoder, memory, flow.outputs).cut()};
}

}  // namespace nest::model
