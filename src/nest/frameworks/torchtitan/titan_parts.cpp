#include "nest/frameworks/torchtitan/titan_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "nest/base/error.hpp"

namespace nest::frameworks {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw InputError("", "", what);
}

}  // namespace

std::vector<std::int64_t> titan_even_parts(std::int64_t parts, std::int64_t blocks, std::int64_t first,
                                           std::int64_t last) {
  if (parts == 1) return {blocks + 2};
  const std::int64_t slots = blocks + first + last;
  const std::int64_t each = slots / parts;
  if (each < std::max<std::int64_t>({1, first, last}))
    refuse(fmt::format("{} layers do not fill {} parts", blocks, parts));
  std::vector<std::int64_t> out;
  std::int64_t left = blocks;
  for (std::int64_t i = 0; i < parts; ++i) {
    std::int64_t own = each + (i < slots % parts ? 1 : 0);
    if (i == 0) own -= first;
    if (i + 1 == parts) own -= last;
    own = std::min(own, left);
    left -= own;
    out.push_back(own + (i == 0 || i + 1 == parts ? 1 : 0));
    if (out.back() == 0) refuse(fmt::format("{} layers do not fill {} parts", blocks, parts));
  }
  return out;
}

std::vector<std::int64_t> titan_named_parts(const Value& names, std::int64_t blocks) {
  std::vector<std::int64_t> out;
  std::int64_t next = 0;  // the embedding, the blocks, the head
  const Value::Array* parts = names.as_array();
  if (parts == nullptr) refuse("a list of lists of modules is expected");
  for (const Value& part : *parts) {
    if (part.as_array() == nullptr) refuse("a list of lists of modules is expected");
    std::int64_t own = 0;
    for (const Value& name : *part.as_array()) {
      const std::string module = name.as_string() == nullptr ? "" : *name.as_string();
      if (module == "norm" || module == "rope" || module == "freqs_cis")
        continue;  // part of the head, or no layer
      const std::string expected = next == 0            ? "tok_embeddings"
                                   : next == blocks + 1 ? "output"
                                   : next > blocks + 1  ? "nothing more"
                                                        : fmt::format("layers.{}", next - 1);
      const bool head = next == blocks + 1 && module == "lm_head";
      if (module != expected && !head)
        refuse(fmt::format("'{}' is expected where '{}' stands: a plan has all layers in their order",
                           expected, module));
      ++next;
      ++own;
    }
    if (own == 0) refuse(fmt::format("part {} has no layers", out.size()));
    out.push_back(own);
  }
  if (next != blocks + 2)
    refuse(fmt::format("it has {} layers with embedding and head, the model {}", next, blocks + 2));
  return out;
}

}  // namespace nest::frameworks
