"""Tests of launches.py without torch: python3 -m unittest discover -s tools/profile -p '*_test.py'"""
import json
import unittest

import launch_context
import launch_models
import launch_sections as sections


class Shares(unittest.TestCase):
    def test_the_last_section_gets_all_that_is_left_but_its_grace(self):
        self.assertEqual(sections.share_of("eight_bit", ("eight_bit",), 60.0), 60.0 - sections.GRACE_S)

    def test_shares_are_by_weight_and_never_negative(self):
        left = 100.0 + sections.GRACE_S
        first = sections.share_of("issue", sections.NAMES, left)
        self.assertAlmostEqual(first, 100.0 * sections.WEIGHTS["issue"] / sum(sections.WEIGHTS.values()))
        self.assertEqual(sections.share_of("issue", sections.NAMES, 1.0), 0.0)

    def test_sections_that_use_their_share_and_grace_end_within_the_budget(self):
        left, remaining = 480.0, list(sections.NAMES)
        while remaining:
            used = sections.share_of(remaining[0], remaining, left)
            left -= used + (sections.GRACE_S if len(remaining) == 1 else 0.0)
            remaining.pop(0)
        self.assertGreaterEqual(left, -1e-9)

    def test_sections_by_name_and_letter_in_the_order_of_importance(self):
        self.assertEqual(sections.chosen_sections("F, issue"), ("issue", "eight_bit"))
        self.assertEqual(sections.chosen_sections(None), sections.NAMES)
        with self.assertRaisesRegex(ValueError, "unknown section 'G'"):
            sections.chosen_sections("G")


class Rows(unittest.TestCase):
    def test_later_fields_join_the_row_of_their_key(self):
        gathered = sections.Gathered({"date": "2026-08-21"})
        gathered.add("issue", {"kind": "add"}, {"host_us": 4.123456789})
        gathered.add("issue", {"kind": "add"}, {"kernels": 1})
        gathered.add("issue", {"kind": "sort"}, {"error": "RuntimeError: no"})
        gathered.add("issue", {"kind": "topk"}, {"skipped": "no time"})
        gathered.close("issue", "complete", 3.21)
        data = json.loads(gathered.text())
        self.assertEqual(data["format"], sections.FORMAT)
        first = data["sections"]["issue"]["rows"][0]
        self.assertEqual(first, {"kind": "add", "host_us": 4.1235, "kernels": 1})
        self.assertEqual(data["sections"]["issue"]["seconds"], 3.2)
        self.assertEqual(gathered.counts("issue"), (1, 1, 1))

    def test_a_document_without_rows_can_be_read(self):
        self.assertEqual(json.loads(sections.Gathered({}).text())["sections"], {})


class Times(unittest.TestCase):
    def test_kernels_that_overlap_count_once(self):
        events = [("gemm", 0, 100), ("add", 50, 100), ("Memcpy DtoD", 200, 10)]
        found = launch_context.busy_of(events)
        self.assertEqual((found["kernels"], found["copies"]), (2, 1))
        self.assertAlmostEqual(found["busy_s"], 160e-9)
        self.assertAlmostEqual(found["kernel_sum_s"], 210e-9)
        self.assertEqual(launch_context.busy_of([])["kernels"], 0)

    def test_iterations_fill_the_span_within_bounds(self):
        self.assertEqual(launch_context.repeats(0.01, 0.2, 5, 200), 20)
        self.assertEqual(launch_context.repeats(1.0, 0.2, 5, 200), 5)
        self.assertEqual(launch_context.repeats(0.0, 0.2, 5, 200), 200)

    def test_reason_names_the_first_error_first(self):
        try:
            try:
                raise ValueError("the cause")
            finally:
                raise RuntimeError("what came of it")
        except RuntimeError as error:
            self.assertEqual(launch_context.reason_of(error),
                             "ValueError: the cause; then RuntimeError: what came of it")


class Shapes(unittest.TestCase):
    def test_every_family_has_a_tiny_shape(self):
        for name, shape in launch_models.SHAPES.items():
            self.assertEqual(launch_models.shape_of(name, True).family, shape.family)


if __name__ == "__main__":
    unittest.main()
