"""Tests of what needs no torch beside the grids: the document, the device's name, the bar, expert loads."""
import json
import os
import tempfile
import unittest

import device
import document
import kinds_matmul
import points_other
import progress
import registry


def sample(time_s=1.23456e-5, complete=True):
    made = document.Document({"device_name": "NVIDIA H200", "complete": complete,
                              "runs": [{"date": "2026-11-15", "complete": complete}]})
    made.add("matmul", {"layout": "forward", "m": 512, "n": 64, "k": 64, "time_s": time_s, "split": "fit"})
    made.add("matmul", {"layout": "forward", "m": 256, "n": 64, "k": 64, "time_s": 1e-6, "split": "test"})
    return made


class Writing(unittest.TestCase):
    def test_one_row_a_line_sorted_and_rounded(self):
        text = sample().text()
        self.assertIn('\n   ["forward", 512, 64, 64, 1.235e-05, "fit"]', text)
        rows = json.loads(text)["points"]["matmul"]["rows"]
        self.assertEqual([row[1] for row in rows], [256, 512])

    def test_reads_back_with_every_section(self):
        made = sample()
        made.add_whole("layers", ("gpt", 1), {"model": "gpt", "t": 1, "forward_s": 0.00123456})
        made.fail("attention", (("batch", 1), ("causal", 0)), "OutOfMemoryError: no")
        data = json.loads(made.text())
        self.assertEqual((data["format"], data["version"]), (document.FORMAT, document.VERSION))
        self.assertEqual(data["layers"][0]["forward_s"], 0.001235)
        self.assertEqual(data["failed"][0]["key"], {"batch": 1, "causal": 0})
        self.assertEqual(data["steps"], [])

    def test_empty_document_is_valid(self):
        self.assertEqual(json.loads(document.Document({"device_name": "x"}).text())["points"], {})

    def test_other_columns_are_refused(self):
        with self.assertRaises(ValueError):
            sample().add("matmul", {"m": 1})

    def test_written_whole_or_not_at_all(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.json")
            sample().write(path)
            self.assertEqual(os.listdir(folder), ["a.json"])
            self.assertEqual(document.load(path)["device_name"], "NVIDIA H200")


class Merging(unittest.TestCase):
    def merged(self, first, second):
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("a.json", "b.json")]
            for made, path in zip((first, second), paths):
                made.write(path)
            return json.loads(document.merged(paths).text())

    def test_later_rows_win_and_runs_are_kept_in_order(self):
        later = sample(time_s=2e-5)
        later.add("copy", {"elements": 8, "time_s": 1e-6, "split": "fit"})
        data = self.merged(sample(), later)
        self.assertEqual(data["points"]["matmul"]["rows"][1][4], 2e-5)
        self.assertEqual(len(data["points"]["matmul"]["rows"]), 2)
        self.assertEqual(len(data["points"]["copy"]["rows"]), 1)
        self.assertEqual(len(data["runs"]), 2)
        self.assertTrue(data["complete"])

    def test_one_incomplete_run_makes_the_whole_incomplete(self):
        self.assertFalse(self.merged(sample(complete=False), sample())["complete"])

    def test_another_device_is_refused(self):
        other = sample()
        other.header["device_name"] = "NVIDIA A100"
        with self.assertRaisesRegex(ValueError, "of another device"):
            self.merged(sample(), other)


class Device(unittest.TestCase):
    def test_names_of_the_catalogue(self):
        for name, expected in (("NVIDIA H200", "h200"), ("NVIDIA H100 80GB HBM3", "h100-sxm"),
                               ("NVIDIA A100-SXM4-80GB", "a100-80"), ("NVIDIA GeForce RTX 4090", "rtx-4090")):
            self.assertEqual(device.accelerator_name(name), expected)

    def test_query_line(self):
        record = device.parse_query("580.159.04, 345, 1980, 3201, 700.00, [N/A]")
        self.assertEqual(record["driver"], "580.159.04")
        self.assertEqual(record["power_limit_w"], 700.0)
        self.assertIsNone(record["temperature_c"])


class Others(unittest.TestCase):
    def test_every_kind_has_a_measuring_function(self):
        self.assertEqual(set(registry.MEASURING), set(points_other.GRIDS))

    def test_expert_loads_add_up(self):
        for experts, tokens in ((8, 1024), (64, 1024), (64, 65536)):
            for load in ("even", "uneven"):
                loads = kinds_matmul.expert_loads(experts, tokens, load)
                self.assertEqual((len(loads), sum(loads)), (experts, tokens))
                self.assertTrue(all(rows > 0 and rows % 8 == 0 for rows in loads))
        self.assertEqual(set(kinds_matmul.expert_loads(8, 1024, "even")), {128})

    def test_bar(self):
        self.assertEqual(progress.bar(0.5, 60, "copy"),
                         "[############............]  50 %  1:00 gone, 1:00 left  copy")


if __name__ == "__main__":
    unittest.main()
