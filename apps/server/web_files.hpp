// The page with its scripts and style, as the build bundled them: index.html, app.js, app.css. Without the
// web application: an index.html that says so.
#pragma once

#include <span>

#include "nest/base/embedded.hpp"

namespace nest::server {

[[nodiscard]] std::span<const EmbeddedFile> web_files();

}  // namespace nest::server
