#include "nest/frameworks/chakra/chakra_node.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "nest/frameworks/chakra/test_chakra_reader.hpp"
#include "support/temporary_folder.hpp"

namespace nest::frameworks {
namespace {

std::string four_nodes() {
  std::string trace = chakra_header();
  append_node(trace,
              {.id = 1, .name = "F0", .micros = 4180, .operations = 3'000'000'000, .tensor_bytes = 70'000});
  append_node(trace, {.id = 2,
                      .name = "F0 tensor",
                      .type = ChakraType::collective,
                      .deps = {1},
                      .bytes = 1 << 20,
                      .collective = ChakraCollective::reduce_scatter,
                      .group = 300});
  append_node(trace,
              {.id = 3, .type = ChakraType::send, .deps = {1, 2}, .bytes = 9, .from = 0, .to = 8, .tag = 5});
  append_node(trace, {.id = 4, .type = ChakraType::receive, .bytes = 9, .from = 8, .to = 0, .tag = 6});
  return trace;
}

// Lengths become fields of one message, so that protoc reads the file at once.
std::string as_one_message(const std::string& trace) {
  std::string out;
  for (test::Wire file(trace); !file.empty();) {
    const std::string_view message = file.delimited();
    out += out.empty() ? '\x0a' : '\x12';
    std::string size;
    for (std::size_t n = message.size(); n > 0 || size.empty(); n >>= 7)
      size += static_cast<char>((n & 0x7f) | (n >= 0x80 ? 0x80 : 0));
    out += size;
    out += message;
  }
  return out;
}

TEST(ChakraNode, ReadsBack) {
  const test::ReadTrace trace = test::read_trace(four_nodes());
  EXPECT_EQ(trace.version, "0.0.4");
  ASSERT_EQ(trace.nodes.size(), 4U);
  const ChakraNode computed{
      .id = 1, .name = "F0", .micros = 4180, .operations = 3'000'000'000, .tensor_bytes = 70'000};
  EXPECT_EQ(trace.nodes[0], computed);
  EXPECT_EQ(trace.nodes[1].collective, ChakraCollective::reduce_scatter);
  EXPECT_EQ(trace.nodes[1].group, 300);
  EXPECT_EQ(trace.nodes[2].deps, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(trace.nodes[2].to, 8);
  EXPECT_EQ(trace.nodes[3].from, 8);
  EXPECT_EQ(trace.nodes[3].tag, 6);
}

TEST(ChakraNode, AllRanksNeedNoGroup) {
  std::string trace;
  append_node(trace, {.id = 1, .type = ChakraType::collective, .bytes = 1, .group = 0});
  EXPECT_EQ(trace.find("pg_name"), std::string::npos);
}

// The schema's own decoder agrees on every field, and finds none that it does not know.
TEST(ChakraNode, ProtocDecodes) {
  if (std::system("command -v protoc > /dev/null 2>&1") != 0) GTEST_SKIP() << "SKIPPED: protoc is absent";
  const TemporaryFolder folder;
  std::ofstream(folder.file("trace"), std::ios::binary) << as_one_message(four_nodes());
  const std::string command = "protoc -I " NEST_SOURCE_DIR
                              "/tests/support --decode=ChakraProtoMsg.Trace et_def.proto < " +
                              folder.file("trace") + " > " + folder.file("text");
  ASSERT_EQ(std::system(command.c_str()), 0);
  std::ifstream in(folder.file("text"));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(text, R"(metadata {
  version: "0.0.4"
}
nodes {
  id: 1
  name: "COMP_NODE F0"
  type: COMP_NODE
  duration_micros: 4180
  attr {
    name: "is_cpu_op"
    bool_val: false
  }
  attr {
    name: "num_ops"
    int64_val: 3000000000
  }
  attr {
    name: "tensor_size"
    uint64_val: 70000
  }
}
nodes {
  id: 2
  name: "COMM_COLL_NODE F0 tensor"
  type: COMM_COLL_NODE
  data_deps: 1
  attr {
    name: "is_cpu_op"
    bool_val: false
  }
  attr {
    name: "comm_type"
    int64_val: 7
  }
  attr {
    name: "comm_size"
    int64_val: 1048576
  }
  attr {
    name: "pg_name"
    string_val: "300"
  }
}
nodes {
  id: 3
  name: "COMM_SEND_NODE"
  type: COMM_SEND_NODE
  data_deps: 1
  data_deps: 2
  attr {
    name: "is_cpu_op"
    bool_val: false
  }
  attr {
    name: "comm_tag"
    int32_val: 5
  }
  attr {
    name: "comm_size"
    int64_val: 9
  }
  attr {
    name: "comm_src"
    int32_val: 0
  }
  attr {
    name: "comm_dst"
    int32_val: 8
  }
}
nodes {
  id: 4
  name: "COMM_RECV_NODE"
  type: COMM_RECV_NODE
  attr {
    name: "is_cpu_op"
    bool_val: false
  }
  attr {
    name: "comm_tag"
    int32_val: 6
  }
  attr {
    name: "comm_size"
    int64_val: 9
  }
  attr {
    name: "comm_src"
    int32_val: 8
  }
  attr {
    name: "comm_dst"
    int32_val: 0
  }
}
)");
}

}  // namespace
}  // namespace nest::frameworks
