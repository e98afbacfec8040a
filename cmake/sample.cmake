# The sample in a header's comment as a function that a test runs:
#   cmake -DHEADER=nest.hpp -DINCLUDE=nest/api/nest.hpp -DOUT=sample.cpp -P cmake/sample.cmake
# Lines that begin with "//   " are the sample, a statement each.
file(STRINGS ${HEADER} lines REGEX "^//   ")
set(body "")
foreach(line IN LISTS lines)
  string(REGEX REPLACE "^//   " "  " line "${line}")
  string(APPEND body "${line};\n")
endforeach()
string(REPLACE ";;\n" ";\n" body "${body}")
file(WRITE ${OUT} "#include \"${INCLUDE}\"\n\n#include <stdexcept>\n\nnamespace nest {\n\nbool run_sample_of_header();\n
bool run_sample_of_header() {\n${body}  return priced.status == PriceStatus::feasible && !exported.files.empty() && !json.empty();\n}\n\n}  // namespace nest\n")
