// One- and two-dimensional tensor parallelism of Llama-3.1 70B side by side. Each prints a table and says
// whether a grid of one column came out as ordinary tensor parallelism, and what else must hold.
#pragma once

// One layer on 16 devices: collectives, bytes, stash, repeated work.
[[nodiscard]] bool compare_layers();

// What the search picks on one rack, with the library's table of strategies and with the grids in it.
[[nodiscard]] bool compare_plans();
