"""Tests of what the witness computes without torch."""

import random
import unittest
from collections import Counter

from random_plans import degrees
from witness_differences import before_gradients, differences, gathers, in_flight, memory, parameters
from witness_ours import calls, fields, messages
from witness_plans import DENSE, EXPERTS, PLANS



def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def node(name, kind, **attributes):
    out = field(2, name.encode()) + field(3, kind)
    for key, value in attributes.items():
        content = field(29, value.encode()) if isinstance(value, str) else field(9, value)
        out += field(10, field(1, key.encode()) + content)
    return varint(len(out)) + out


def plan(stages=((0, 1, 2, 3),), **parallelism):
    usual = {"tensor": 1, "context": 1, "expert": 1, "pipeline": len(stages), "data": 4, "zero": 1,
             "zero_shards": 4, "sequence_parallel": True}
    return {"parallelism": usual | parallelism, "stages": [{"layers": list(layers)} for layers in stages],
            "training": {"micro_batch": 2, "micro_batches": 3, "sequence": 8}}


SMALL = {"hidden_size": 4, "head_dim": 2, "num_attention_heads": 2, "num_key_value_heads": 1,
         "vocab_size": 16, "intermediate_size": 8, "num_hidden_layers": 2}


class Trace(unittest.TestCase):
    def test_numbers_and_texts(self):
        self.assertEqual(list(fields(field(1, 300) + field(2, b"ab"))), [(1, 300), (2, b"ab")])
        self.assertEqual(list(messages(varint(2) + b"xy" + varint(0))), [b"xy", b""])

    def test_calls_are_counted_whole(self):
        header = varint(0)
        trace = header + node("F0 tensor", 7, comm_type=2, comm_size=10, pg_name="1")
        trace += node("B0 zero", 7, comm_type=7, comm_size=40, pg_name="2") + node("F0 send", 5, comm_size=7)
        trace += node("norm", 5, comm_size=8) + node("gradients", 7, comm_type=0, comm_size=6, pg_name="1")
        found = calls(trace, {"1": [0, 1], "2": [0, 2, 4, 6]}, [0, 1])
        # An all-gather's size is one member's part: 10 of two members. The message for the norm does not
        # count.
        self.assertEqual(found, Counter({("all_gather", "tensor", 2): 20, ("reduce_scatter", "data", 4): 40,
                                         ("send", "pipeline", 2): 7, ("all_reduce", "tensor", 2): 6}))


class Differences(unittest.TestCase):
    def test_parameters(self):
        # A block: (2 + 1) heads of 2, twice, by 4 = 48; 3 * 8 * 4 = 96; two norms of 4.
        self.assertEqual(parameters(SMALL, [1], 1, 1), (152, 0, 8))
        self.assertEqual(parameters(SMALL, [1], 2, 1), (80, 0, 8))
        self.assertEqual(parameters(SMALL, [0], 1, 1), (64, 0, 0))
        self.assertEqual(parameters(SMALL, [3], 1, 1), (68, 0, 4))
        self.assertEqual(parameters(SMALL | {"num_local_experts": 4}, [1], 1, 2), (72, 192, 8))

    def test_gathers_of_a_pipeline(self):
        order = [("F", 0), ("F", 0), ("B", 0), ("F", 0), ("B", 0), ("B", 0)]
        # F, F and B gather; the next F finds what B kept, and gives it back; then B gathers and B finds it.
        self.assertEqual(gathers(order, 3), Counter({0: 4}))
        self.assertEqual(gathers(order, 2), Counter({0: 1}))

    def test_nothing_differs_without_a_reason(self):
        self.assertEqual(differences(SMALL, plan(), 0, []), {})

    def test_sequence_parallelism_is_gathered_once(self):
        found = differences(SMALL, plan(tensor=2), 0, [])
        # Two blocks with two inputs and the head: 5 * 3 micro-batches * 16 tokens * 4 * 2 bytes.
        self.assertEqual(found, {"regather": Counter({("all_gather", "tensor", 2): -1920})})

    def test_a_ring(self):
        found = differences(SMALL, plan(context=2, context_method="ring"), 0, [])["ring"]
        # Keys and values: 8 tokens * 2 * 1 head of 2 * 2 bytes = 64, of two blocks and three micro-batches.
        self.assertEqual(found, Counter({("all_gather", "context", 2): -6 * 384,
                                         ("all_to_all", "context", 2): 6 * 384}))

    def test_pipelines_accumulate(self):
        two = plan(stages=((0, 1), (2, 3)), zero=2)
        found = differences(SMALL, two, 0, [("F", 0), ("B", 0)] * 3)
        self.assertEqual(found["accumulation"]["reduce_scatter", "data", 4], -(64 + 152) * 4 * 2)

    def test_gradients_come_after_the_first_backward_pass(self):
        two = [("F", 0), ("F", 0), ("B", 0), ("B", 0)]
        self.assertTrue(before_gradients(two))
        self.assertFalse(before_gradients([("F", 0), ("F", 0), ("B", 0), ("F", 0), ("B", 0), ("B", 0)]))
        stages = plan(stages=((0, 1), (2, 3)))
        self.assertEqual(memory(SMALL, stages, 0, two), {"gradients": -4 * (64 + 152)})

    def test_memory(self):
        self.assertEqual(in_flight([("F", 0), ("F", 1), ("B", 1), ("B", 0)], {0: 3, 1: 4}), 7)
        self.assertEqual(memory(SMALL, plan(), 0, []), {"loss": 16 * 16 * 2})
        self.assertEqual(memory(SMALL, plan(tensor=2), 0, []), {"regather": 5 * 16 * 4 * 2 // 2})


class Plans(unittest.TestCase):
    def test_thirty_plans_or_more_of_all_kinds(self):
        self.assertGreaterEqual(len(PLANS), 30)
        self.assertEqual({zero for _, zero, _ in PLANS}, {0, 1, 2, 3})
        for word in ("--tensor 2", "--context 2", "--expert 4", "--pipeline 2", "--interleave 2"):
            self.assertTrue(any(word in choices for _, _, choices in PLANS), word)
        self.assertEqual(EXPERTS["hidden_size"], DENSE["hidden_size"])

    def test_dice_give_the_same_plans_again(self):
        first, second = (degrees(random.Random(7), "mixtral-8x7b") for _ in range(2))
        self.assertEqual(first, second)
        training, p = first["training"], first["parallelism"]
        self.assertEqual(training["global_batch"],
                         training["micro_batch"] * training["micro_batches"] * p["data"])


if __name__ == "__main__":
    unittest.main()
