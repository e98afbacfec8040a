#include <gtest/gtest.h>

#include "nest/base/document/document.hpp"
#include "nest/cluster/accelerator.hpp"

namespace nest::cluster {
namespace {

Accelerator read(const std::string& yaml) {
  const Document document = parse_document("x.yaml", yaml);
  Reader r(document);
  return read_accelerator(r, "accelerator");
}

TEST(AcceleratorValue, WrittenFormsReadBackTheSame) {
  for (const std::string yaml :
       {"accelerator: h200", "accelerator: {base: tpu-v4, memory: 64 GiB}",
        "accelerator: {base: h100-sxm, name: near, host_link: 100 GB/s, host_memory: 1 TB, host_update: 2e9}",
        "accelerator: {base: h100-sxm, name: hot, matmul_fraction: {bf16: 0.6}, memory_fraction: 0.9}",
        "accelerator: {name: x, memory: 80 GB, memory_bandwidth: 3.35 TB/s, peak: {bf16: 989 TFLOP/s}, note: "
        "own}"}) {
    const Accelerator a = read(yaml);
    Value file = Value::object();
    file.set("accelerator", accelerator_file_value(a));
    EXPECT_EQ(read(to_json(file)), a) << yaml;
  }
  EXPECT_EQ(to_json_line(accelerator_file_value(find_accelerator("h200"))), R"("h200")");
}

TEST(AcceleratorValue, TheSummarySaysWhatIsAssumed) {
  const Value summary = accelerator_summary(find_accelerator("gb200"));
  EXPECT_EQ(to_json_line(*summary.find("assumed")), R"(["memory_fraction", "host_update"])");
  EXPECT_EQ(*summary.find("host_link_bytes_per_s")->as_real(), 225e9);
  EXPECT_EQ(*summary.find("host_memory_bytes")->as_int(), 240'000'000'000);
  EXPECT_EQ(*summary.find("host_update_parameters_per_s")->as_real(), 4.14e9);
  EXPECT_EQ(*summary.find("memory_bytes")->as_int(), std::int64_t{189471} << 20);
}

}  // namespace
}  // namespace nest::cluster
