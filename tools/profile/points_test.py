"""Tests of the grids: python3 -m unittest discover -s tools/profile -p '*_test.py'"""
import unittest

import points
import points_other as grids


class Matmul(unittest.TestCase):
    def setUp(self):
        self.points = points.matmul()

    def test_count_and_budget(self):
        self.assertTrue(1200 <= len(self.points) <= 1500, len(self.points))
        self.assertLessEqual(sum(p.cost_s for p in self.points), 240.0)

    def test_no_shape_twice(self):
        self.assertEqual(len({p.key for p in self.points}), len(self.points))

    def test_every_call_is_short_and_fits(self):
        for p in self.points:
            self.assertLessEqual(p.call_s, points.LONGEST_MATMUL_S)
            m, n, k = p.get("m"), p.get("n"), p.get("k")
            self.assertLessEqual(max(m * n, m * k, n * k), points.MOST_ELEMENTS)
            self.assertTrue(m % 8 == 0 and n % 8 == 0 and k % 8 == 0, p.key)

    def test_every_weight_shape_and_token_count_is_seen(self):
        seen = {(p.get("n"), p.get("k")) for p in self.points}
        missing = [w for w in points.weights_of_layers() if w not in seen]
        self.assertLessEqual(len(missing), len(points.weights_of_layers()) // 20, missing)
        self.assertLessEqual(set(points.TOKENS), {p.get("m") for p in self.points})

    def test_off_grid_shapes_divide_by_no_tile(self):
        odd = points.off_grid()
        self.assertEqual(len(odd), 150)
        self.assertTrue(all(v % 128 for p in odd for _, v in p.key))

    def test_shapes_of_a_known_layer(self):
        # Llama 3 70B under t = 8: 8 heads and 1 key-value head of 128, ffn 28672 / 8.
        weights = points.weights_of_layers()
        for shape in ((1024 + 2 * 128, 8192), (8192, 1024), (2 * 3584, 8192), (8192, 3584)):
            self.assertIn(shape, weights)


class AllKinds(unittest.TestCase):
    def test_default_run_fits_nine_minutes(self):
        by_kind = grids.plan(grids.DEFAULT)
        self.assertLess(sum(p.cost_s for ps in by_kind.values() for p in ps), 8.5 * 60)
        self.assertTrue(all(by_kind.values()))

    def test_quick_run_takes_about_a_minute_and_has_every_kind(self):
        by_kind = grids.plan(grids.GRIDS, quick=True)
        self.assertEqual(set(by_kind), set(grids.GRIDS))
        self.assertTrue(all(by_kind.values()))
        self.assertLess(sum(p.cost_s for ps in by_kind.values() for p in ps), 75)

    def test_same_points_in_the_same_order_every_time(self):
        first = grids.ordered(grids.plan(grids.DEFAULT))
        self.assertEqual(first, grids.ordered(grids.plan(grids.DEFAULT)))

    def test_no_point_twice(self):
        for kind, found in grids.plan(grids.GRIDS).items():
            self.assertEqual(len(set(found)), len(found), kind)

    def test_a_third_is_held_out(self):
        found = [p for kind in grids.GROUPS["operators"] for p in grids.GRIDS[kind]()]
        share = sum(p.split == "test" for p in found) / len(found)
        self.assertTrue(0.29 < share < 0.38, share)

    def test_half_way_every_large_kind_is_half_done(self):
        order = grids.ordered(grids.plan(grids.DEFAULT))
        half = order[:len(order) // 2]
        for kind in ("matmul", "attention", "rms_norm", "layers"):
            whole, done = (sum(p.kind == kind for p in ps) for ps in (order, half))
            self.assertAlmostEqual(done / whole, 0.5, delta=0.05)

    def test_layers_cover_models_and_slices(self):
        found = grids.layers()
        self.assertEqual(len(found), 60)
        self.assertEqual(len({(p.get("model"), p.get("t")) for p in found}), 7 * 4)
        compiled = {p.key for p in grids.layers_compiled()}
        self.assertEqual(len(compiled), 20)
        self.assertLessEqual(compiled, {p.key for p in found})

    def test_kinds_by_name(self):
        self.assertEqual(grids.chosen_kinds("memory, matmul,copy"),
                         ("copy", "fill", "cast", "accumulate", "matmul"))
        with self.assertRaisesRegex(ValueError, "unknown kind 'matmull'"):
            grids.chosen_kinds("matmull")

    def test_attention_reaches_long_sequences_both_ways(self):
        found = grids.attention()
        for s in (512, 8192, 65536):
            for causal in (0, 1):
                self.assertIn((s, causal), {(p.get("sequence"), p.get("causal")) for p in found})


if __name__ == "__main__":
    unittest.main()
