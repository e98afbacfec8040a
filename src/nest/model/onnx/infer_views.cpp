#include <algorithm>
#include <numeric>
#include <utility>

#include "nest/model/onnx/infer_rules.hpp"

namespace nest::model {

void infer_reshape(InferStep& step) {
  const auto wanted = step.list("shape", 1);
  if (!step.knows(0) || !wanted) return;
  const OnnxShape& in = step.shape(0);
  const bool zero_stays = step.node().whole_or("allowzero", 0) != 0;
  OnnxShape out = *wanted;
  std::size_t open = out.size();
  double rest = 1;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] == 0 && !zero_stays) {
      if (i >= in.size()) step.fail("it takes over an axis that its input has not");
      out[i] = in[i];
    }
    if (out[i] == -1) {
      if (open < out.size()) step.fail("it leaves two axes open");
      open = i;
    } else if (out[i] < 0) {
      step.fail("an axis of " + std::to_string(out[i]) + " elements");
    } else {
      rest *= static_cast<double>(out[i]);
    }
  }
  const auto all = static_cast<double>(elements_of(in));
  if (open < out.size()) out[open] = rest > 0 ? static_cast<std::int64_t>(all / rest) : 0;
  const double made = rest * static_cast<double>(open < out.size() ? out[open] : 1);
  if (made != all) {
    step.fail("it would make " + std::to_string(static_cast<std::int64_t>(std::min(made, 1e15))) + " of " +
              std::to_string(elements_of(in)) + " elements");
  }
  step.make(0, std::move(out));
}

void infer_flatten(InferStep& step) {
  if (!step.knows(0)) return;
  const OnnxShape& in = step.shape(0);
  const auto rank = static_cast<std::int64_t>(in.size());
  std::int64_t at = step.node().whole_or("axis", 1);
  if (at < 0) at += rank;
  if (at < 0 || at > rank) step.fail("axis " + std::to_string(at) + " is none of its input");
  const OnnxShape first(in.begin(), in.begin() + at);
  const OnnxShape second(in.begin() + at, in.end());
  step.make(0, {elements_of(first), elements_of(second)});
}

void infer_transpose(InferStep& step) {
  if (!step.knows(0)) return;
  const OnnxShape& in = step.shape(0);
  const OnnxAttribute* given = step.node().find("perm");
  OnnxShape out;
  if (given == nullptr || given->wholes.empty()) {
    out.assign(in.rbegin(), in.rend());
  } else {
    if (given->wholes.size() != in.size()) step.fail("its order has another number of axes than its input");
    std::vector<bool> taken(in.size(), false);
    for (const std::int64_t a : given->wholes) {
      const std::size_t at = step.axis(a, in.size());
      if (taken[at]) step.fail("its order names an axis twice");
      taken[at] = true;
      out.push_back(in[at]);
    }
  }
  step.make(0, std::move(out));
}

void infer_squeeze(InferStep& step) {
  if (!step.knows(0)) return;
  const OnnxShape& in = step.shape(0);
  const auto axes = step.list("axes", 1);
  if (!axes && step.node().reads(1)) return;
  std::vector<bool> gone(in.size(), false);
  if (axes && !axes->empty()) {
    for (const std::int64_t a : *axes) gone[step.axis(a, in.size())] = true;
  } else {
    for (std::size_t i = 0; i < in.size(); ++i) gone[i] = in[i] == 1;
  }
  OnnxShape out;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (gone[i] && in[i] != 1) step.fail("it takes away an axis of " + std::to_string(in[i]) + " elements");
    if (!gone[i]) out.push_back(in[i]);
  }
  step.make(0, std::move(out));
}

void infer_unsqueeze(InferStep& step) {
  const auto axes = step.list("axes", 1);
  if (!step.knows(0) || !axes) return;
  const OnnxShape& in = step.shape(0);
  constexpr std::size_t kMostAxes = 64;
  const std::size_t rank = in.size() + axes->size();
  if (rank > kMostAxes) step.fail("it makes more than 64 axes");
  std::vector<bool> added(rank, false);
  for (const std::int64_t a : *axes) {
    const std::size_t at = step.axis(a, rank);
    if (added[at]) step.fail("it adds an axis twice");
    added[at] = true;
  }
  OnnxShape out;
  std::size_t next = 0;
  for (std::size_t i = 0; i < rank; ++i) out.push_back(added[i] ? 1 : in[next++]);
  step.make(0, std::move(out));
}

void infer_expand(InferStep& step) {
  const auto wanted = step.list("shape", 1);
  if (!step.knows(0) || !wanted) return;
  OnnxShape shape = *wanted;
  for (std::int64_t& d : shape) d = d == -1 ? 1 : d;
  step.make(0, broadcast(step, step.shape(0), shape));
}

void infer_tile(InferStep& step) {
  const auto repeats = step.list("repeats", 1);
  if (!step.knows(0) || !repeats) return;
  OnnxShape out = step.shape(0);
  if (repeats->size() != out.size()) step.fail("it repeats another number of axes than its input has");
  for (std::size_t i = 0; i < out.size(); ++i) {
    if ((*repeats)[i] < 0 || (*repeats)[i] > 1'000'000) step.fail("it repeats an axis too often");
    out[i] *= (*repeats)[i];
  }
  step.make(0, std::move(out));
}

void infer_concat(InferStep& step) {
  if (!step.knows(0)) return;
  OnnxShape out = step.shape(0);
  const std::size_t axis = step.axis(step.node().whole_or("axis", 0), out.size());
  for (std::size_t i = 1; i < step.node().inputs.size(); ++i) {
    if (!step.knows(i)) return;
    const OnnxShape& next = step.shape(i);
    if (next.size() != out.size()) step.fail("it joins values with different numbers of axes");
    for (std::size_t a = 0; a < out.size(); ++a) {
      if (a != axis && next[a] != out[a])
        step.fail("axes of " + std::to_string(out[a]) + " and " + std::to_string(next[a]) +
                  " do not go together");
    }
    out[axis] += next[axis];
  }
  step.make(0, std::move(out));
}

void infer_split(InferStep& step) {
  if (!step.knows(0)) return;
  const OnnxShape in = step.shape(0);
  const std::size_t axis = step.axis(step.node().whole_or("axis", 0), in.size());
  const auto parts = static_cast<std::int64_t>(step.node().outputs.size());
  std::optional<std::vector<std::int64_t>> sizes = step.list("split", 1);
  if (!sizes && step.node().reads(1)) return;
  // One number: parts of that size.
  const bool even =
      sizes && step.knows(1) && step.shape(1).empty() && sizes->size() == 1 && sizes->front() > 0;
  if (!sizes || sizes->empty() || even) {
    const std::int64_t each = even ? sizes->front() : (in[axis] + parts - 1) / parts;
    sizes.emplace();
    for (std::int64_t i = 0; i < parts; ++i)
      sizes->push_back(std::clamp<std::int64_t>(in[axis] - i * each, 0, each));
  }
  if (std::cmp_less(sizes->size(), parts)) step.fail("it makes more parts than it has sizes for");
  std::int64_t all = 0;
  for (std::size_t i = 0; i < sizes->size(); ++i) {
    const std::int64_t size = (*sizes)[i];
    if (size < 0 || size > in[axis]) step.fail("a part of " + std::to_string(size) + " elements");
    all += size;
    OnnxShape out = in;
    out[axis] = size;
    step.make(i, std::move(out));
  }
  if (all != in[axis])
    step.fail("its parts have " + std::to_string(all) + " of " + std::to_string(in[axis]) + " elements");
}

void infer_slice(InferStep& step) {
  const auto starts = step.list("starts", 1);
  const auto ends = step.list("ends", 2);
  if (!step.knows(0) || !starts || !ends) return;
  auto axes = step.list("axes", 3);
  const auto steps = step.list("steps", 4);
  if ((!axes && step.node().reads(3)) || (!steps && step.node().reads(4))) return;
  OnnxShape out = step.shape(0);
  if (!axes) {
    axes.emplace(starts->size());
    std::iota(axes->begin(), axes->end(), std::int64_t{0});
  }
  if (ends->size() != starts->size() || axes->size() != starts->size() ||
      (steps && steps->size() != starts->size()))
    step.fail("its beginnings, ends and axes are not equally many");
  for (std::size_t i = 0; i < starts->size(); ++i) {
    const std::size_t axis = step.axis((*axes)[i], out.size());
    const std::int64_t size = out[axis];
    const std::int64_t by = steps ? (*steps)[i] : 1;
    if (by == 0) step.fail("its step is 0");
    const auto bound = [&](std::int64_t at, std::int64_t least, std::int64_t most) {
      return std::clamp(at < 0 ? std::max<std::int64_t>(at, -size - 1) + size : at, least, most);
    };
    if (by > 0) {
      const std::int64_t span = bound((*ends)[i], 0, size) - bound((*starts)[i], 0, size);
      out[axis] = span <= 0 ? 0 : (span - 1) / by + 1;
    } else {
      const std::int64_t back = -std::max<std::int64_t>(by, -1'000'000'000'000);
      const std::int64_t span = bound((*starts)[i], -1, size - 1) - bound((*ends)[i], -1, size - 1);
      out[axis] = span <= 0 ? 0 : (span - 1) / back + 1;
    }
  }
  step.make(0, std::move(out));
}

void infer_gather(InferStep& step) {
  if (!step.knows(0) || !step.knows(1)) return;
  const OnnxShape& in = step.shape(0);
  const OnnxShape& at = step.shape(1);
  const std::size_t axis = step.axis(step.node().whole_or("axis", 0), in.size());
  OnnxShape out(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(axis));
  out.insert(out.end(), at.begin(), at.end());
  out.insert(out.end(), in.begin() + static_cast<std::ptrdiff_t>(axis) + 1, in.end());
  step.make(0, std::move(out));
}

void infer_gather_elements(InferStep& step) {
  if (step.knows(1)) step.make(0, step.shape(1));
}

void infer_gather_nd(InferStep& step) {
  if (!step.knows(0) || !step.knows(1)) return;
  const OnnxShape& in = step.shape(0);
  const OnnxShape& at = step.shape(1);
  const std::int64_t batch = step.node().whole_or("batch_dims", 0);
  if (at.empty() || batch < 0 || std::cmp_greater(batch, in.size()) ||
      at.back() > static_cast<std::int64_t>(in.size()) - batch)
    step.fail("it reads places that its input has not");
  OnnxShape out(at.begin(), at.end() - 1);
  out.insert(out.end(), in.begin() + batch + at.back(), in.end());
  step.make(0, std::move(out));
}

void infer_pad(InferStep& step) {
  const auto pads = step.list("pads", 1);
  if (!step.knows(0) || !pads) return;
  OnnxShape out = step.shape(0);
  std::optional<std::vector<std::int64_t>> axes = step.list("axes", 3);
  if (!axes) {
    axes.emplace(out.size());
    std::iota(axes->begin(), axes->end(), std::int64_t{0});
  }
  if (pads->size() != 2 * axes->size()) step.fail("it does not say what to add at both ends of each axis");
  for (std::size_t i = 0; i < axes->size(); ++i) {
    constexpr std::int64_t kMost = 1'000'000'000'000;
    const std::int64_t before = std::clamp((*pads)[i], -kMost, kMost);
    const std::int64_t after = std::clamp((*pads)[i + axes->size()], -kMost, kMost);
    out[step.axis((*axes)[i], out.size())] += before + after;
  }
  step.make(0, std::move(out));
}

void infer_resize(InferStep& step) {
  if (!step.knows(0)) return;
  const OnnxShape& in = step.shape(0);
  const OnnxNumbers* scales = step.numbers(2);
  const OnnxNumbers* sizes = step.numbers(3);
  OnnxShape out = in;
  const bool by_size = sizes != nullptr && sizes->size() == in.size();
  if (!by_size && (scales == nullptr || scales->size() != in.size())) return;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const double size = by_size ? sizes->real(i) : static_cast<double>(in[i]) * scales->real(i);
    if (!(size >= 0 && size <= 1e12)) step.fail("it makes an axis of no size");
    out[i] = static_cast<std::int64_t>(size);
  }
  step.make(0, std::move(out));
}

void infer_depth_to_space(InferStep& step) {
  const std::int64_t block = step.node().whole_or("blocksize", 1);
  if (!step.knows(0) || step.shape(0).size() != 4) return;
  OnnxShape out = step.shape(0);
  if (block < 1 || block > 1'000 || out[1] % (block * block) != 0)
    step.fail("its blocks do not come out even");
  out[1] /= block * block;
  out[2] *= block;
  out[3] *= block;
  step.make(0, std::move(out));
}

void infer_space_to_depth(InferStep& step) {
  const std::int64_t block = step.node().whole_or("blocksize", 1);
  if (!step.knows(0) || step.shape(0).size() != 4) return;
  OnnxShape out = step.shape(0);
  if (block < 1 || block > 1'000 || out[2] % block != 0 || out[3] % block != 0)
    step.fail("its blocks do not come out even");
  out[1] *= block * block;
  out[2] /= block;
  out[3] /= block;
  step.make(0, std::move(out));
}

}  // namespace nest::model
