// Nodes of a Chakra execution trace (et_def.proto 0.0.4), as ASTRA-sim's feeder reads them. A trace is a
// header and then nodes, each message after its length.
//
//   std::string trace = chakra_header();
//   append_node(trace, {.id = 2, .name = "F0.0", .type = ChakraType::compute, .deps = {1}, .micros = 4180});
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nest/base/rooms.hpp"

namespace nest::frameworks {

enum class ChakraType : std::uint8_t { compute = 4, send = 5, receive = 6, collective = 7 };

// Those that ASTRA-sim runs.
enum class ChakraCollective : std::uint8_t {
  all_reduce = 0,
  all_gather = 2,
  all_to_all = 6,
  reduce_scatter = 7
};

struct ChakraNode {
  std::uint64_t id = 0;  // 1, 2, ..: of nodes that are ready the feeder takes the lowest
  std::string name;      // written after a word for its type
  ChakraType type = ChakraType::compute;
  std::vector<std::uint64_t> deps;  // nodes that end before this one begins
  // Compute. Operations and bytes count where the simulator uses its roofline in place of the duration.
  std::int64_t micros = 0;
  std::int64_t operations = 0;
  std::int64_t tensor_bytes = 0;
  // Communication: what each rank brings to an all-gather, the whole input of the others; a message's size.
  std::int64_t bytes = 0;
  ChakraCollective collective = ChakraCollective::all_reduce;
  std::int64_t group = 0;  // 0: all ranks
  std::int32_t from = 0;
  std::int32_t to = 0;
  std::int32_t tag = 0;

  bool operator==(const ChakraNode&) const = default;
};

[[nodiscard]] std::string chakra_header();
void append_node(std::string& trace, const ChakraNode& node);

// The same in two parts, where many ranks have nodes that differ in their group and neighbours only.
[[nodiscard]] std::string shared_fields(const ChakraNode& node);
struct OwnFields {
  ChakraType type = ChakraType::compute;
  std::int64_t group = 0;
  std::int32_t from = 0;
  std::int32_t to = 0;
};
void append_node(std::string& trace, const std::string& shared, const OwnFields& own);

}  // namespace nest::frameworks
