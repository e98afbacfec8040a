// How far apart the seeds of a long random test lie. Sanitizers take ten times as long, so they see one seed of
// eight, unless NEST_ALL_SEEDS is set (./test all-seeds).
//
//   for (unsigned seed = 1; seed <= 400; seed += test::stride()) ...
//   for (unsigned seed = 1; looked_at < test::fewer(250); ++seed) ...
#pragma once

#include <cstdlib>
#include <limits>

namespace nest::test {

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NEST_TEST_SANITIZED
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define NEST_TEST_SANITIZED
#endif

inline unsigned stride() {
#ifdef NEST_TEST_SANITIZED
  static const bool kAll = std::getenv("NEST_ALL_SEEDS") != nullptr;
  return kAll ? 1 : 8;
#else
  return 1;
#endif
}

// How often something was seen, where there are enough instances to ask; else always enough.
template <class T>
T often(T count) {
  return stride() == 1 ? count : std::numeric_limits<T>::max();
}

// As many of `all` random instances as are looked at.
inline unsigned fewer(unsigned all) {
  return (all + stride() - 1) / stride();
}

}  // namespace nest::test
