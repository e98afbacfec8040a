#include "nest/model/graph/profile.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <limits>

#include "nest/base/error.hpp"
#include "nest/model/describe.hpp"

namespace nest::model {
namespace {

const std::string kLayers = R"("layers": [
    {"id": 0, "name": "a", "forward_s": 0.001, "backward_s": "2 ms", "parameter_bytes": 200e6, "activation_bytes": "100 MB"},
    {"id": 1, "name": "b", "forward_s": 0.002, "backward_s": 0.004, "parameter_bytes": 200000000, "activation_bytes": 0}])";
const std::string kEdges = R"("edges": [{"from": 0, "to": 1, "bytes": 50000000}])";

std::string profile(const std::string& strategies, const std::string& more = "") {
  return R"({"format": "nest-layer-profile", "version": 1, "name": "p", "micro_batch": 1, "sequence": 512,
"parameter_dtype_bytes": 2, "strategies": [)" +
         strategies + "]" + more + "}";
}

std::string strategy(const std::string& degrees = "\"tensor\": 1, ") {
  return "{" + degrees + kLayers + ", " + kEdges + "}";
}

LayerProfile read(const std::string& text) {
  return read_layer_profile(parse_json("p.json", text));
}

std::string message(const std::string& text) {
  try {
    static_cast<void>(read(text));
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

TEST(LayerProfile, ReadsValuesAndUnits) {
  const LayerProfile p = read(profile(strategy() + "," + strategy("\"tensor\": 2, "),
                                      R"(, "shared": [{"layers": [0, 1], "parameter_bytes": 7}])"));
  ASSERT_EQ(p.strategies.size(), 2U);
  const ProfileLayer& a = p.strategies[0].layers[0];
  EXPECT_EQ(a.name, "a");
  EXPECT_DOUBLE_EQ(a.backward.value, 0.002);
  EXPECT_EQ(a.parameters.value, 200'000'000);
  EXPECT_EQ(a.activations.value, 100'000'000);
  EXPECT_EQ(p.parameters(), 200'000'000);
  EXPECT_EQ(p.shared[0].layers[1], LayerId(1));
  EXPECT_EQ(p.strategies[1].tensor, 2);
}

TEST(LayerProfile, ErrorsAreSentences) {
  EXPECT_EQ(message(profile("")), "p.json: line 2, strategies: at least one strategy is needed");
  EXPECT_EQ(message(profile(strategy("\"tensr\": 1, "))),
            "p.json: line 2, strategies[0]: unknown key 'tensr'; did you mean 'tensor'?");
  EXPECT_EQ(message(profile(strategy() + ",\n" + strategy())),
            "p.json: line 5, strategies[1]: this strategy is given twice");
  EXPECT_EQ(message(profile("{" + kLayers + R"(, "edges": [{"from": 0, "to": 2, "bytes": 1}]})")),
            "p.json: line 4, strategies[0].edges[0].to: there is no layer 2; ids go from 0 to 1");
  EXPECT_EQ(
      message(profile("{" + kLayers +
                      R"(, "edges": [{"from": 0, "to": 1, "bytes": 1}, {"from": 1, "to": 0, "bytes": 1}]})")),
      "p.json: line 4, strategies[0].edges: the edges form a cycle through layer 0 (a)");
  EXPECT_EQ(message(profile("{" + kLayers + R"(, "edges": [{"from": 1, "to": 1, "bytes": 1}]})")),
            "p.json: line 4, strategies[0].edges[0]: an edge from layer 1 to itself");
  EXPECT_EQ(message(profile(R"({"layers": [], "edges": []})")),
            "p.json: line 2, strategies[0].layers: a model has at least one layer");
  EXPECT_EQ(message(profile(R"({"layers": [{"id": 1}], "edges": []})")),
            "p.json: line 2, strategies[0].layers[0].id: layer ids must count 0, 1, 2, ... in order; 0 is "
            "expected here");
  EXPECT_EQ(
      message(profile(R"({"layers": [{"id": 0, "name": "a", "forward_s": "1 parsec"}], "edges": []})")),
      "p.json: line 2, strategies[0].layers[0].forward_s: '1 parsec' is not a time; write it like '5 us'");
  EXPECT_EQ(message(R"({"format": "nest-layer-profil", "version": 1})"),
            "p.json: line 1, format: 'nest-layer-profil' is not known; did you mean 'nest-layer-profile'?");
  EXPECT_EQ(message(R"({"format": "nest-layer-profile", "version": 2})"),
            "p.json: line 1, version: version 2 is not known; this program reads version 1");
}

std::string one_layer(const std::string& fields) {
  return profile(R"({"layers": [{"id": 0, "name": "a", "forward_s": 1, "backward_s": 1, )" + fields +
                 R"(}], "edges": []})");
}

TEST(LayerProfile, BoundsItsFigures) {
  const std::string place = "p.json: line 2, strategies[0].layers[0].";
  EXPECT_EQ(message(one_layer(R"("parameter_bytes": 9e18, "activation_bytes": 0)")),
            place + "parameter_bytes: '9e+18' is outside 0 to 1,000,000,000,000,000 bytes");
  EXPECT_EQ(message(one_layer(R"("parameter_bytes": 0, "activation_bytes": "2 PB")")),
            place + "activation_bytes: '2 PB' is outside 0 to 1,000,000,000,000,000 bytes");
  EXPECT_EQ(message(one_layer(R"("parameter_bytes": 1.5, "activation_bytes": 0)")),
            place + "parameter_bytes: 1.5 is not a whole number of bytes");
  EXPECT_EQ(message(one_layer(R"("parameter_bytes": "1.5 B", "activation_bytes": 0)")),
            place + "parameter_bytes: 1.5 B is not a whole number of bytes");
  EXPECT_EQ(message(one_layer(R"("parameter_bytes": "1.5 kB", "activation_bytes": 2e3)")), "no error");
  EXPECT_EQ(message(profile(R"({"layers": [{"id": 0, "name": "a", "forward_s": 1e7}], "edges": []})")),
            place + "forward_s: 10,000,000 s is outside 0 to 1,000,000 s");
}

TEST(LayerProfile, NamesTellLayersApart) {
  std::string twice = kLayers;
  twice.replace(twice.find("\"b\""), 3, "\"a\"");
  EXPECT_EQ(message(profile("{" + twice + ", " + kEdges + "}")),
            "p.json: line 4, strategies[0].layers[1].name: two layers are called 'a'");
  EXPECT_EQ(message(profile(R"({"layers": [{"id": 0, "name": "a\nb"}], "edges": []})")),
            "p.json: line 2, strategies[0].layers[0].name: a text without control characters is expected");
  EXPECT_EQ(message(profile(R"({"layers": [{"id": 0, "name": ""}], "edges": []})")),
            "p.json: line 2, strategies[0].layers[0].name: the name is empty");
}

TEST(LayerProfile, ItsParametersNeverOverflow) {
  LayerProfile p;
  ProfileLayer large;
  large.parameters = large.expert_parameters = Bytes{1'000'000'000'000'000};
  p.strategies.push_back({1 << 20, 1 << 20, 1, false, {large, large, large}, {}});
  EXPECT_EQ(p.parameters(), std::numeric_limits<std::int64_t>::max() / 2);
}

TEST(LayerProfile, ItsSumsStayInRange) {
  std::string layers;
  for (int i = 0; i < 1001; ++i) {
    layers += (i > 0 ? ",\n" : "") + std::string(R"({"id": )") + std::to_string(i) + R"(, "name": "n)" +
              std::to_string(i) +
              R"(", "forward_s": 1, "backward_s": 1, "parameter_bytes": 1e15, "activation_bytes": 0})";
  }
  EXPECT_EQ(message(profile("{\"layers\": [" + layers + "], \"edges\": []}")),
            "p.json: line 1002, strategies[0].layers[1000]: the layers up to this one have more than "
            "1,000,000 TB together");
}

// The output of each layer comes from one pass over the edges; 100,000 layers took 6.6 s before.
TEST(LayerProfile, ALongChainIsDescribedQuickly) {
  LayerProfile p;
  ProfileStrategy s;
  constexpr std::int32_t kLayerCount = 100'000;
  for (std::int32_t i = 0; i < kLayerCount; ++i) {
    s.layers.push_back({"n" + std::to_string(i), {}, {}, {}, {}, {}, {}, {}});
    if (i > 0) s.edges.push_back({LayerId(i - 1), LayerId(i), "t", Bytes{i}});
  }
  p.strategies.push_back(std::move(s));
  const Value v = describe(p);
  EXPECT_EQ(*v.find("layers")->as_array()->at(99'998).find("output_bytes")->as_int(), 99'999);
}

TEST(LayerProfile, AnotherFormatIsNoMisspelling) {
  EXPECT_EQ(message(R"({"format": "nest-accelerator-profile", "version": 1})"),
            "p.json: line 1, format: 'nest-accelerator-profile' is not known; a layer profile has "
            "'nest-layer-profile' here");
}

TEST(LayerProfile, DescribesItsLayers) {
  const Value v = describe(read(profile(strategy())));
  EXPECT_EQ(*v.find("parameters")->as_int(), 200'000'000);
  EXPECT_EQ(*(*v.find("layers")->as_array())[0].find("output_bytes")->as_int(), 50'000'000);
}

int read_folder(const std::filesystem::path& folder, std::size_t fewest_layers) {
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const LayerProfile p = read_layer_profile(read_document(entry.path().string()));
    EXPECT_GE(p.strategies.front().layers.size(), fewest_layers);
    ++seen;
  }
  return seen;
}

TEST(LayerProfile, ReadsProfilesOfAFolder) {
  EXPECT_EQ(read_folder(NEST_SOURCE_DIR "/tests/data/paper/profiles", 12), 2);
}

// The paper's instances, read in addition where NEST_SHARED has them.
TEST(LayerProfile, ReadsThePapersProfiles) {
  const char* shared = std::getenv("NEST_SHARED");
  const std::filesystem::path folder =
      std::filesystem::path(shared != nullptr ? shared : NEST_SOURCE_DIR "/../shared") / "paper" / "profiles";
  if (!std::filesystem::is_directory(folder))
    GTEST_SKIP() << "the paper's profiles are absent; the small ones are read above";
  EXPECT_GE(read_folder(folder, 25), 18);
}

}  // namespace
}  // namespace nest::model
