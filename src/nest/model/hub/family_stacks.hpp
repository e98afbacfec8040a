// A model of several stacks from a file of data/families and a config.json: towers, encoder and decoder, each by the family of
// its part of the config.
#pragma once

#include <cstdint>
#include <string>

#include "nest/base/document/reader.hpp"
#include "nest/model/blocks/spec.hpp"
#include "nest/model/hub/family_fields.hpp"

namespace nest::model {

[[nodiscard]] ModelSpec read_stacks(Reader& r, const Described& family);

// Refuses a model of one part that reads an encoder which is not there.
void check_alone(const Reader& r, const std::string& type, const ModelSpec& spec);

// What the family's fields say of a model's head and ends.
void read_head(Fields& f, ModelSpec& spec, std::int64_t vocab);

}  // namespace nest::model
