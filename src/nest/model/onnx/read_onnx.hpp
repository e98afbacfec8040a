// ONNX files as models: the one door to this folder. Weights are never read, but for the sizes of their axes.
//
//   ModelSpec spec = read_onnx("gpt2.onnx", warnings);
//   read_onnx("whisper.onnx?num_frames=3000", warnings)    sizes that are neither the batch nor the sequence
#pragma once

#include <string>

#include "nest/base/error.hpp"
#include "nest/model/blocks/spec.hpp"
#include "nest/model/onnx/wire.hpp"

namespace nest::model {

// Whether a name means an ONNX file: by its ending, or with sizes behind it.
[[nodiscard]] bool is_onnx_name(const std::string& name);

// The file's name without the sizes behind it.
[[nodiscard]] std::string onnx_file_of(const std::string& name);

// Throws an InputError for what is no ONNX file, and for graphs that cannot be cut into layers.
[[nodiscard]] ModelSpec read_onnx(const std::string& name, Warnings& warnings);
[[nodiscard]] ModelSpec read_onnx(ByteSource& bytes, const std::string& name, const std::string& sizes,
                                  Warnings& warnings);

}  // namespace nest::model
