#include "nest/frameworks/chakra/chakra_node.hpp"

#include <string_view>

#include "nest/frameworks/chakra/protobuf_writer.hpp"

namespace nest::frameworks {
namespace {

// Field numbers of et_def.proto: of GlobalMetadata, Node and AttributeProto.
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kId = 1;
constexpr std::uint32_t kName = 2;
constexpr std::uint32_t kType = 3;
constexpr std::uint32_t kDataDeps = 5;
constexpr std::uint32_t kDuration = 7;
constexpr std::uint32_t kAttribute = 10;
constexpr std::uint32_t kAttributeName = 1;
constexpr std::uint32_t kInt32 = 7;
constexpr std::uint32_t kInt64 = 9;
constexpr std::uint32_t kUint64 = 13;
constexpr std::uint32_t kBool = 27;
constexpr std::uint32_t kString = 29;

// The simulator's timeline tool tells what a node is from its name.
std::string_view prefix_of(ChakraType type) {
  switch (type) {
    case ChakraType::send:
      return "COMM_SEND_NODE";
    case ChakraType::receive:
      return "COMM_RECV_NODE";
    case ChakraType::collective:
      return "COMM_COLL_NODE";
    case ChakraType::compute:
      break;
  }
  return "COMP_NODE";
}

std::string written_name(const ChakraNode& node) {
  const std::string prefix(prefix_of(node.type));
  return node.name.empty() ? prefix : prefix + " " + node.name;
}

void add_number(ProtobufWriter& node, std::string_view name, std::uint32_t field, std::int64_t value) {
  ProtobufWriter attribute;
  attribute.text(kAttributeName, name).number(field, static_cast<std::uint64_t>(value));
  node.text(kAttribute, attribute.bytes());
}

}  // namespace

std::string chakra_header() {
  std::string out;
  append_delimited(out, ProtobufWriter().text(kVersion, "0.0.4").bytes());
  return out;
}

std::string shared_fields(const ChakraNode& node) {
  ProtobufWriter out;
  out.number(kId, node.id)
      .text(kName, written_name(node))
      .number(kType, static_cast<std::uint64_t>(node.type));
  out.numbers(kDataDeps, node.deps);
  if (node.micros > 0) out.number(kDuration, static_cast<std::uint64_t>(node.micros));
  add_number(out, "is_cpu_op", kBool, 0);  // the feeder stops where it is left out
  switch (node.type) {
    case ChakraType::compute:
      add_number(out, "num_ops", kInt64, node.operations);
      add_number(out, "tensor_size", kUint64, node.tensor_bytes);
      break;
    case ChakraType::collective:
      add_number(out, "comm_type", kInt64, static_cast<std::int64_t>(node.collective));
      add_number(out, "comm_size", kInt64, node.bytes);
      break;
    case ChakraType::send:
    case ChakraType::receive:
      add_number(out, "comm_tag", kInt32, node.tag);
      add_number(out, "comm_size", kInt64, node.bytes);
      break;
  }
  return out.bytes();
}

void append_node(std::string& trace, const std::string& shared, const OwnFields& own) {
  if (own.type == ChakraType::compute || (own.type == ChakraType::collective && own.group == 0)) {
    append_delimited(trace, shared);
    return;
  }
  ProtobufWriter fields;
  if (own.type == ChakraType::collective) {
    ProtobufWriter attribute;
    attribute.text(kAttributeName, "pg_name").text(kString, std::to_string(own.group));
    fields.text(kAttribute, attribute.bytes());
  } else {
    add_number(fields, "comm_src", kInt32, own.from);
    add_number(fields, "comm_dst", kInt32, own.to);
  }
  append_varint(trace, shared.size() + fields.bytes().size());
  trace += shared;
  trace += fields.bytes();
}

void append_node(std::string& trace, const ChakraNode& node) {
  append_node(trace, shared_fields(node), OwnFields{node.type, node.group, node.from, node.to});
}

}  // namespace nest::frameworks
