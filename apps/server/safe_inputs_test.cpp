#include "safe_inputs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace nest::server {
namespace {

using testing::HasSubstr;

PlanInputs read(const std::string& body, const Limits& limits = {}) {
  const Document document = parse_json("request", body);
  Reader request(document);
  Warnings warnings;
  return read_sized_inputs(request, limits, warnings);
}

std::string refusal(const std::string& body, const Limits& limits = {}) {
  try {
    (void)read(body, limits);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(SafeInputs, Names) {
  const PlanInputs given = read(R"({"model": "Llama-3.1-8B", "cluster": "h100-spine-leaf", "devices": 64})");
  EXPECT_EQ(given.model_name(), "llama3.1-8b");
  EXPECT_EQ(given.model, Value("llama3.1-8b"));
  EXPECT_EQ(given.cluster.devices(), 64);
}

// As people copy them from the Hub.
TEST(SafeInputs, NamesWithAnOrganisation) {
  EXPECT_EQ(read(R"({"model": "meta-llama/Llama-3.1-8B"})").model_name(), "llama3.1-8b");
  EXPECT_THAT(refusal(R"({"model": "meta-llama/Llama-3.1-81B"})"), HasSubstr("there is no model"));
  for (const char* name :
       {"/Llama-3.1-8B", "a/b/Llama-3.1-8B", "../Llama-3.1-8B", "a//b", "a/../b", "a/b.json"})
    EXPECT_THAT(refusal(std::string(R"({"model": ")") + name + "\"}"), HasSubstr("a name of the catalog"))
        << name;
  EXPECT_THAT(refusal(R"({"cluster": "x/h100-spine-leaf"})"), HasSubstr("a name of the catalog"));
}

// Neither names that look like files nor names of files that are there.
TEST(SafeInputs, NoFileOfTheHost) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "nest_safe_inputs_test";
  std::filesystem::create_directories(folder);
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  std::ofstream("secret") << R"({"model_type": "llama"})";
  std::ofstream("secret.json") << R"({"model_type": "llama"})";
  for (const char* key : {"model", "cluster", "recipe"}) {
    for (const char* name : {"/etc/passwd", "./secret", "../nest_safe_inputs_test/secret", "secret.json",
                             "a/b", "~/x", "x.yaml", "a\\b", "", "..", "file:x", "-"}) {
      std::string text = name;
      if (text == "a\\b") text = R"(a\\b)";
      const std::string body = std::string("{\"") + key + "\": \"" + text + "\"}";
      EXPECT_NE(refusal(body), "") << body;
    }
    // A file that is there, under a plain name: only the catalog is asked.
    EXPECT_THAT(refusal(std::string("{\"") + key + "\": \"secret\"}"),
                testing::AnyOf(HasSubstr("there is no"), HasSubstr("unknown"), HasSubstr("no recipe")));
    const std::string plan = std::string("{\"inputs\": {\"") + key + "\": \"secret.json\"}}";
    EXPECT_THROW((void)safe_plan(parse_json("x", plan).root, "plan"), InputError) << plan;
  }
  std::filesystem::current_path(before);
  std::filesystem::remove_all(folder);
}

TEST(SafeInputs, ModelsOfOnnxFilesComeAsTheirText) {
  for (const char* name : {"secret.onnx", "/tmp/secret.onnx", "secret.onnx?height=3"}) {
    EXPECT_EQ(
        refusal(std::string("{\"model\": \"") + name + "\"}"),
        "request: model: a name of the catalog is expected; ONNX files cannot be sent; 'nest plan --model "
        "FILE.onnx -o plan.json' writes a plan, whose inputs.model can be sent");
  }
  const std::string step = R"({"pass": ["x"], "name": "relu", "kind": "relu", "to": {"y": []}})";
  const auto with_blocks = [&](int blocks) {
    std::string list = "0";
    for (int i = 1; i < blocks; ++i) list += ", 0";
    return R"({"model": {"format": "nest-model", "version": 1, "name": "tiny", "family": "onnx",
      "stacks": [{"prefix": "layer", "hidden": 8, "norm": "rms", "stem": {"kind": "tokens", "vocab": 99},
                  "kinds": [{"norm": "rms", "steps": [)" +
           step + "]}], \"blocks\": [" + list + R"(]}], "head": {"kind": "vocabulary", "outputs": 99}}})";
  };
  EXPECT_EQ(std::get<ModelSpec>(read(with_blocks(3)).source).stacks[0].blocks.size(), 3U);
  EXPECT_EQ(refusal(with_blocks(2'000)),
            "request: model: 2002 layers are more than the 1000 that this server plans for");
}

TEST(SafeInputs, ACalibrationIsAGroupOfKeys) {
  EXPECT_DOUBLE_EQ(read(R"({"calibration": {"kernel_time": 1.5}})").recipe.kernel_time, 1.5);
  EXPECT_THAT(refusal(R"({"calibration": "c.yaml"})"), HasSubstr("a group of keys is expected"));
  EXPECT_THAT(refusal(R"({"calibration": {"kernel_tim": 1.5}})"), HasSubstr("did you mean 'kernel_time'?"));
}

TEST(SafeInputs, TheServersCalibrationIsOfRequestsThatBringNone) {
  Limits limits;
  limits.calibration = read_calibration(Reader(parse_json("c.json", R"({"kernel_time": 1.25})")));
  const auto kernel_time = [&](const char* text) {
    const Document document = parse_json("request", text);
    Reader request(document);
    Warnings warnings;
    return read_request_inputs(request, limits, warnings).recipe.kernel_time;
  };
  EXPECT_DOUBLE_EQ(kernel_time("{}"), 1.25);
  EXPECT_DOUBLE_EQ(kernel_time(R"({"calibration": {"kernel_time": 1.5}})"), 1.5);
}

TEST(SafeInputs, TextsHaveTheirOwnLines) {
  EXPECT_THAT(
      refusal(R"({"cluster_text": "name: x\naccelerator: h100-sxm\nlevels:\n  - {name: node, sise: 8}\n"})"),
      HasSubstr("cluster: line 4"));
  const PlanInputs given = read(
      R"({"cluster_text": "name: x\naccelerator: h100-sxm\nlevels:\n  - {name: node, size: 8, bandwidth: 450 GB/s, latency: 1 us}\n"})");
  EXPECT_EQ(given.cluster.devices(), 8);
  EXPECT_THAT(refusal(R"({"model": "llama3.1-8b", "model_text": "{}"})"), HasSubstr("exclude each other"));
}

// A stray token after the first value once took all memory.
TEST(SafeInputs, TextsEndWithTheirFirstValue) {
  for (const char* key : {"model", "cluster", "recipe"}) {
    for (const char* text : {"{i},", "[a],", "a: b\\n}"}) {
      const std::string body = std::string("{\"") + key + "_text\": \"" + text + "\"}";
      EXPECT_THAT(refusal(body), HasSubstr(std::string(key) + ": line ")) << body;
      EXPECT_THAT(refusal(body), HasSubstr("not valid YAML: ")) << body;
    }
  }
}

TEST(SafeInputs, Changes) {
  const PlanInputs given =
      read(R"({"changes": {"memory_bytes": 40000000000, "bandwidth_bytes_per_s": {"rack": 1e11}}})");
  EXPECT_EQ(given.cluster.accelerator().memory.value, 40'000'000'000);
  EXPECT_EQ(given.cluster.levels()[1].bandwidth.value, 1e11);
  EXPECT_EQ(given.cluster.levels()[0].bandwidth.value, 4.5e11);
  EXPECT_THAT(refusal(R"({"changes": {"bandwidth_bytes_per_s": {"rak": 1}}})"), HasSubstr("no level 'rak'"));
  EXPECT_THAT(refusal(R"({"changes": {"memory": 1}})"), HasSubstr("memory_bytes"));
  EXPECT_NE(refusal(R"({"changes": {"memory_bytes": -1}})"), "");
  const PlanInputs shared = read(R"({"changes": {"oversubscription": {"rack": 2.5, "spine": 8}}})");
  EXPECT_EQ(shared.cluster.levels()[1].oversubscription, 2.5);
  EXPECT_EQ(shared.cluster.levels()[2].oversubscription, 8);
  EXPECT_THAT(refusal(R"({"changes": {"oversubscription": {"rack": 0.5}}})"), HasSubstr("at least 1"));
  EXPECT_THAT(refusal(R"({"changes": {"oversubscription": {"rak": 2}}})"), HasSubstr("no level 'rak'"));
}

TEST(SafeInputs, Sizes) {
  Limits limits;
  limits.devices = 2048;
  EXPECT_THAT(refusal(R"({"cluster": "mega-131072"})", limits), HasSubstr("more than the 2,048"));
  EXPECT_NE(refusal(R"({"devices": 4096})", limits), "");
  EXPECT_EQ(refusal(R"({"devices": 2048})", limits), "");
  limits.layers = 40;
  const std::string shape = R"("model_type": "llama", "hidden_size": 1024, "intermediate_size": 2048,
      "num_attention_heads": 16, "vocab_size": 32000, "num_hidden_layers": )";
  EXPECT_EQ(refusal("{\"model\": {" + shape + "38}}", limits), "");
  EXPECT_THAT(refusal("{\"model\": {" + shape + "39}}", limits), HasSubstr("41 layers are more than the 40"));
}

TEST(SafeInputs, PlansGetInputs) {
  const Value inputs = to_value(read(R"({"model": "llama3.1-8b", "devices": 16})"));
  const Document plan =
      safe_plan(parse_json("x", R"({"parallelism": {"data": 16}})").root, "plans[0]", &inputs);
  Warnings warnings;
  const OpenPlan open = open_safe_plan(plan, {}, warnings);
  EXPECT_EQ(open.inputs.model_name(), "llama3.1-8b");
  EXPECT_EQ(open.plan.parallelism.data, 16);
  EXPECT_THROW((void)safe_plan(Value(3), "plan"), InputError);
}

}  // namespace
}  // namespace nest::server
