#include "nest/simulate/engine/event_queue.hpp"

#include <gtest/gtest.h>

namespace nest::simulate {
namespace {

TEST(EventQueue, GivesWhatIsDueFirstAndEqualTimesInOrder) {
  EventQueue queue;
  queue.push(2, 0, 1);
  queue.push(1, 0, 2);
  queue.push(2, 0, 3);
  queue.push(1, 0, 4);
  EXPECT_EQ(queue.next_time(), 1);
  for (const int subject : {2, 4, 1, 3}) EXPECT_EQ(queue.pop().subject, subject);
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace nest::simulate
