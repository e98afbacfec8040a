#include "nest/model/graph/profile.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_set>
#include <utility>

#include "nest/base/closest.hpp"
#include "nest/base/document/mismatch.hpp"
#include "nest/base/document/reader.hpp"

namespace nest::model {
namespace {

constexpr std::string_view kFormat = "nest-layer-profile";
constexpr WholeRange kDegree{1, 1 << 20};
constexpr std::size_t kMostLayers = 100'000;
// Far beyond any layer, and low enough that sums over all layers stay exact.
constexpr std::int64_t kMostLayerBytes = 1'000'000'000'000'000;
constexpr double kMostSeconds = 1e6;
constexpr std::int64_t kMostTotalBytes = 1'000'000'000'000'000'000;

// Bytes are whole: "1.5 kB" is, 1.5 is a mistake.
Bytes layer_bytes(Reader& r, const char* key) {
  const Bytes bytes = r.bytes(key);
  const Value& given = *r.find(key);
  const std::string shown = given.as_string() != nullptr ? *given.as_string() : to_json_line(given);
  std::string_view number = shown;
  while (number.ends_with(' ') || number.ends_with('B')) number.remove_suffix(1);
  if (const auto plain = number_in<double>(number); plain && *plain != std::floor(*plain))
    r.fail_at(key, shown + " is not a whole number of bytes");
  if (bytes.value > kMostLayerBytes)
    r.fail_at(key, "'" + shown + "' is outside 0 to " + format_digits(kMostLayerBytes) + " bytes");
  return bytes;
}

Seconds layer_time(Reader& r, const char* key) {
  const Seconds time = r.time(key);
  if (time.value > kMostSeconds) r.fail_at(key, format(time) + " is outside 0 to 1,000,000 s");
  return time;
}

ProfileLayer read_layer(Reader& r, std::int64_t id) {
  if (r.whole("id") != id) {
    r.fail_at("id",
              "layer ids must count 0, 1, 2, ... in order; " + std::to_string(id) + " is expected here");
  }
  ProfileLayer layer;
  layer.name = r.text("name");
  if (layer.name.empty()) r.fail_at("name", "the name is empty");
  layer.forward = layer_time(r, "forward_s");
  layer.backward = layer_time(r, "backward_s");
  layer.parameters = layer_bytes(r, "parameter_bytes");
  layer.activations = layer_bytes(r, "activation_bytes");
  if (r.has("expert_parameter_bytes")) layer.expert_parameters = layer_bytes(r, "expert_parameter_bytes");
  if (r.has("backward_weight_s")) layer.backward_weight = layer_time(r, "backward_weight_s");
  if (r.has("workspace_bytes")) layer.workspace = layer_bytes(r, "workspace_bytes");
  if (layer.expert_parameters > layer.parameters) {
    r.fail_at("expert_parameter_bytes", "more than parameter_bytes, of which they are a part");
  }
  if (layer.backward_weight && *layer.backward_weight > layer.backward) {
    r.fail_at("backward_weight_s", "more than backward_s, of which it is a part");
  }
  r.done();
  return layer;
}

LayerId read_layer_id(Reader& r, const char* key, std::size_t layers) {
  const std::int64_t id = r.whole(key);
  if (static_cast<std::size_t>(id) >= layers) {
    r.fail_at(key, "there is no layer " + std::to_string(id),
              "ids go from 0 to " + format_digits(static_cast<std::int64_t>(layers) - 1));
  }
  return LayerId(static_cast<std::int32_t>(id));
}

// The layer graph must be a DAG. Kahn's algorithm: what is left over when no free layer remains lies on a
// cycle.
std::optional<LayerId> layer_on_cycle(const std::vector<Edge>& edges, std::size_t layers) {
  std::vector<int> waiting(layers, 0);
  std::vector<std::vector<std::size_t>> next(layers);
  for (const Edge& e : edges) {
    ++waiting[e.to.index()];
    next[e.from.index()].push_back(e.to.index());
  }
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < layers; ++i) {
    if (waiting[i] == 0) free.push_back(i);
  }
  std::size_t done = 0;
  while (!free.empty()) {
    const std::size_t at = free.back();
    free.pop_back();
    ++done;
    for (const std::size_t n : next[at]) {
      if (--waiting[n] == 0) free.push_back(n);
    }
  }
  if (done == layers) return std::nullopt;
  const auto stuck = std::find_if(waiting.begin(), waiting.end(), [](int w) { return w > 0; });
  return LayerId(static_cast<std::int32_t>(stuck - waiting.begin()));
}

std::vector<Edge> read_edges(Reader& r, const std::vector<ProfileLayer>& layers) {
  std::vector<Edge> edges;
  std::set<std::pair<LayerId, LayerId>> seen;
  for (Reader& e : r.objects("edges")) {
    Edge edge{read_layer_id(e, "from", layers.size()), read_layer_id(e, "to", layers.size()), "",
              layer_bytes(e, "bytes")};
    if (edge.from == edge.to) e.fail("an edge from layer " + std::to_string(edge.from.value) + " to itself");
    const bool named = e.has("tensor");
    edge.tensor = e.text_or("tensor", layers[edge.from.index()].name + ".out" + std::to_string(edges.size()));
    if (!named && !seen.emplace(edge.from, edge.to).second) {
      e.fail("the edge from layer " + std::to_string(edge.from.value) + " to layer " +
                 std::to_string(edge.to.value) + " is given twice",
             "name the tensors if they are two");
    }
    e.done();
    edges.push_back(std::move(edge));
  }
  return edges;
}

ProfileStrategy read_strategy(Reader& r) {
  ProfileStrategy s;
  s.tensor = r.whole_or("tensor", 1, kDegree);
  s.expert = r.whole_or("expert", 1, kDegree);
  s.context = r.whole_or("context", 1, kDegree);
  s.sequence_parallel = r.boolean_or("sequence_parallel", false);
  std::vector<Reader> layers = r.objects("layers");
  if (layers.empty()) r.fail_at("layers", "a model has at least one layer");
  if (layers.size() > kMostLayers) r.fail_at("layers", "more than 100,000 layers");
  std::unordered_set<std::string> names;
  std::array<std::int64_t, 3> totals{};
  for (Reader& layer : layers) {
    s.layers.push_back(read_layer(layer, static_cast<std::int64_t>(s.layers.size())));
    const ProfileLayer& added = s.layers.back();
    if (!names.insert(added.name).second) layer.fail_at("name", "two layers are called '" + added.name + "'");
    totals[0] += added.parameters.value;
    totals[1] += added.activations.value;
    totals[2] += added.workspace.value;
    if (std::any_of(totals.begin(), totals.end(), [](std::int64_t t) { return t > kMostTotalBytes; }))
      layer.fail("the layers up to this one have more than " + format(Bytes{kMostTotalBytes}) + " together");
  }
  s.edges = read_edges(r, s.layers);
  if (const auto layer = layer_on_cycle(s.edges, s.layers.size())) {
    r.fail_at("edges", "the edges form a cycle through layer " + std::to_string(layer->value) + " (" +
                           s.layers[layer->index()].name + ")");
  }
  r.done();
  return s;
}

bool same_graph(const ProfileStrategy& a, const ProfileStrategy& b) {
  const auto same_edge = [](const Edge& x, const Edge& y) { return x.from == y.from && x.to == y.to; };
  const auto same_layer = [](const ProfileLayer& x, const ProfileLayer& y) { return x.name == y.name; };
  return std::equal(a.layers.begin(), a.layers.end(), b.layers.begin(), b.layers.end(), same_layer) &&
         std::equal(a.edges.begin(), a.edges.end(), b.edges.begin(), b.edges.end(), same_edge);
}

bool same_degrees(const ProfileStrategy& a, const ProfileStrategy& b) {
  return a.tensor == b.tensor && a.expert == b.expert && a.context == b.context &&
         a.sequence_parallel == b.sequence_parallel;
}

void check_strategy(const Reader& r, const LayerProfile& profile, const ProfileStrategy& added) {
  if (profile.strategies.empty()) return;
  if (!same_graph(profile.strategies.front(), added)) {
    r.fail("its layers and edges differ from the first strategy's",
           "every strategy describes the same layer graph, in the same order");
  }
  for (const ProfileStrategy& known : profile.strategies) {
    if (same_degrees(known, added)) r.fail("this strategy is given twice");
  }
}

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// Of numbers that are not negative; what does not fit is the most that does.
std::int64_t product_or_most(std::int64_t a, std::int64_t b) {
  return a != 0 && b > kMost / a ? kMost : a * b;
}
std::int64_t sum_or_most(std::int64_t a, std::int64_t b) {
  return a > kMost - b ? kMost : a + b;
}

}  // namespace

std::int64_t LayerProfile::parameters() const {
  const ProfileStrategy& s = strategies.front();
  std::int64_t dense = 0;
  std::int64_t experts = 0;
  for (const ProfileLayer& layer : s.layers) {
    dense = sum_or_most(dense, layer.parameters.value - layer.expert_parameters.value);
    experts = sum_or_most(experts, layer.expert_parameters.value);
  }
  const std::int64_t bytes = sum_or_most(product_or_most(dense, s.tensor),
                                         product_or_most(product_or_most(experts, s.expert), s.tensor));
  return bytes / parameter_dtype_bytes;
}

bool is_layer_profile(const Document& document) {
  return document.root.find("format") != nullptr || document.root.find("strategies") != nullptr;
}

LayerProfile read_layer_profile(const Document& document) {
  Reader r(document);
  const std::string format = r.text("format");
  if (format != kFormat) {
    const bool near = edit_distance(format, kFormat) <= 3;
    r.fail_at("format", "'" + format + "' is not known",
              near ? "did you mean 'nest-layer-profile'?" : "a layer profile has 'nest-layer-profile' here");
  }
  if (const std::int64_t version = r.whole("version"); version != 1) {
    r.fail_at("version", "version " + std::to_string(version) + " is not known",
              "this program reads version 1");
  }
  LayerProfile profile;
  profile.name = r.text("name");
  if (profile.name.empty()) r.fail_at("name", "the name is empty");
  profile.micro_batch = r.whole("micro_batch", {1, 1 << 20});
  profile.sequence = r.whole("sequence", {1, 1 << 28});
  profile.parameter_dtype_bytes = r.whole("parameter_dtype_bytes", {1, 8});
  std::vector<Reader> strategies = r.objects("strategies");
  if (strategies.empty()) r.fail_at("strategies", "at least one strategy is needed");
  for (Reader& s : strategies) {
    ProfileStrategy added = read_strategy(s);
    check_strategy(s, profile, added);
    profile.strategies.push_back(std::move(added));
  }
  const std::size_t layers = profile.strategies.front().layers.size();
  if (r.has("shared")) {
    for (Reader& s : r.objects("shared")) {
      ProfileShared shared;
      for (const std::int64_t id : s.wholes("layers", {0, static_cast<std::int64_t>(layers) - 1})) {
        shared.layers.emplace_back(static_cast<std::int32_t>(id));
      }
      if (shared.layers.size() < 2) s.fail_at("layers", "a shared tensor has two layers or more");
      shared.parameters = layer_bytes(s, "parameter_bytes");
      s.done();
      profile.shared.push_back(std::move(shared));
    }
  }
  r.done();
  return profile;
}

}  // namespace nest::model
