#include "nest/model/onnx/read_onnx.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "nest/base/numbers.hpp"
#include "nest/base/plain_text.hpp"
#include "nest/base/units.hpp"
#include "nest/model/blocks/build.hpp"
#include "nest/model/onnx/fuse.hpp"
#include "nest/model/onnx/lower_model.hpp"
#include "nest/model/onnx/onnx_file.hpp"

namespace nest::model {
namespace {

constexpr std::string_view kEnding = ".onnx";

// Two lengths of sequences that a model takes: by what differs between them its axes are told apart. Small ones
// first, which every table of positions has, then such that models demand whole windows of.
using Runs = std::pair<std::int64_t, std::int64_t>;
constexpr std::array<Runs, 5> kRuns{{{48, 96}, {16, 32}, {128, 256}, {512, 1024}, {4, 8}}};
// Long enough to see where windows of attention end.
constexpr std::int64_t kLongRun = 131'072;

std::map<std::string, std::int64_t> sizes_of(const std::string& file, std::string_view text) {
  std::map<std::string, std::int64_t> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('&'), text.size());
    const std::string_view one = text.substr(0, end);
    const std::size_t equals = one.find('=');
    const auto value = equals == std::string_view::npos ? std::nullopt : parse_whole(one.substr(equals + 1));
    if (!value || *value < 1 || *value > 1'000'000'000) {
      throw InputError(file, "", "'" + printable(std::string(one)) + "' behind its name is no size",
                       "write model.onnx?height=224&width=224");
    }
    out[std::string(one.substr(0, equals))] = *value;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

class Reading {
 public:
  Reading(ByteSource& bytes, const std::string& sizes, Warnings& warnings)
      : graph_(read_onnx_graph(bytes)), sizes_(graph_, sizes_of(bytes.name(), sizes)), warnings_(warnings) {}

  ModelSpec read() {
    run();
    const OnnxShapes masks = long_shapes();
    MaskReader reader(graph_, masks);
    Flow flow = make_flow(graph_, first_, batch());
    fuse_flow(flow, reader);
    Warnings own;
    ModelSpec spec = lower_model(flow, second_, !sizes_.has_sequence(), own);
    check(flow, spec);
    if (!flow.unknown.empty()) {
      own.push_back(graph_.file + ": " +
                    list_words(std::vector<std::string>(flow.unknown.begin(), flow.unknown.end())) +
                    (flow.unknown.size() > 1 ? " are" : " is") +
                    " not known; the work is counted by the bytes that are read and written");
    }
    warnings_.insert(warnings_.end(), own.begin(), own.end());
    return spec;
  }

 private:
  [[nodiscard]] std::int64_t batch() const {
    constexpr std::int64_t kMost = 1'000'000;
    const std::int64_t n = sizes_.fixed_batch().value_or(1);
    if (n < 1 || n > kMost)
      throw InputError(graph_.file, "", "its inputs are of " + format_digits(n) + " sequences at once");
    return n;
  }

  // Shapes for two lengths, or twice the same where the file has one.
  void run() {
    if (!sizes_.has_sequence()) {
      first_ = second_ = infer_shapes(graph_, sizes_, {batch(), 1});
      return;
    }
    std::optional<InputError> refused;
    for (const Runs& lengths : kRuns) {
      try {
        first_ = infer_shapes(graph_, sizes_, {batch(), lengths.first});
        second_ = infer_shapes(graph_, sizes_, {batch(), lengths.second});
        return;
      } catch (const InputError& error) {
        if (!refused) refused = error;
      }
    }
    throw *refused;
  }

  [[nodiscard]] OnnxShapes long_shapes() const {
    if (!sizes_.has_sequence()) return first_;
    for (const std::int64_t length : {kLongRun, std::int64_t{4'096}}) {
      try {
        return infer_shapes(graph_, sizes_, {batch(), length});
      } catch (const InputError&) {
        continue;  // a table of positions is shorter
      }
    }
    return second_;
  }

  // What the layers hold is what the file's initializers have: nothing is counted twice or left out.
  void check(const Flow& flow, const ModelSpec& spec) const {
    std::int64_t held = 0;
    std::set<std::size_t> seen;
    for (const FlowOp& op : flow.ops) {
      for (const FlowWeight& w : op.weights) {
        if (long_axes(w.dims) > 1 && !seen.insert(w.tensor).second) continue;
        held += elements_of(w.dims);
      }
    }
    BuildOptions options;
    if (sizes_.has_sequence()) options.sequence = 16;
    const std::int64_t made = build_model(spec, options).parameters();
    if (made == held) return;
    throw InputError(graph_.file, "",
                     "its operators hold " + format_digits(held) +
                         " parameters, and the layers made of them " + format_digits(made) +
                         ": a part of the graph was not understood");
  }

  OnnxGraph graph_;
  OnnxSizes sizes_;
  Warnings& warnings_;
  OnnxShapes first_;
  OnnxShapes second_;
};

}  // namespace

bool is_onnx_name(const std::string& name) {
  return onnx_file_of(name).ends_with(kEnding);
}

std::string onnx_file_of(const std::string& name) {
  const std::size_t at = name.rfind(std::string(kEnding) + "?");
  return at == std::string::npos ? name : name.substr(0, at + kEnding.size());
}

ModelSpec read_onnx(ByteSource& bytes, const std::string& name, const std::string& sizes,
                    Warnings& warnings) {
  ModelSpec spec = Reading(bytes, sizes, warnings).read();
  spec.name = name;
  return spec;
}

ModelSpec read_onnx(const std::string& name, Warnings& warnings) {
  const std::string file = onnx_file_of(name);
  ByteSource bytes = ByteSource::file(file);
  const std::string stem = printable(std::filesystem::path(file).stem().string());
  const std::string sizes = name.size() > file.size() ? name.substr(file.size() + 1) : "";
  return read_onnx(bytes, stem, sizes, warnings);
}

}  // namespace nest::model
