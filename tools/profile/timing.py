"""Timing on the device with CUDA events, and the buffers that points take their operands from.

A measured time is the median of three samples of at least 15 ms each, after a warm-up. Calls below 400 us are
captured into a CUDA graph and replayed, because the processor might not issue them fast enough one by one:
the time is then the device's own. Inputs rotate over several buffers where they would fit into the L2 cache,
so that weights are read from memory as in training. The first product or pass of a point settles the device.
"""
import math
import statistics

from points import SAMPLE_S, SAMPLES

GRAPH_BELOW_S = 400e-6
GRAPH_SPAN_S = 400e-6  # what one replay lasts at least
MOST_NODES = 256
# Work of this length first, where calls are long enough to draw full power: a rested device runs some 10 %
# faster than one that has met its power limit, which is how training runs.
SETTLE_S = 0.08
SETTLE_ABOVE_S = 40e-6
CHUNK = 1 << 28


def normal_numbers(torch, elements, dtype, scale):
    buffer = torch.empty(elements, dtype=dtype, device="cuda")
    for start in range(0, elements, CHUNK):
        buffer[start:start + CHUNK].normal_().mul_(scale)
    return buffer


class Pool:
    """Operands as views of one large buffer, one after the other, round and round: nothing is allocated and
    no random number made while points are measured."""

    def __init__(self, buffer):
        self.buffer = buffer
        self.next = 0

    def take(self, *shape):
        count = math.prod(shape)
        if count > self.buffer.numel():
            raise MemoryError(f"{count} elements are more than the pool of {self.buffer.numel()} holds")
        if self.next + count > self.buffer.numel():
            self.next = 0
        view = self.buffer[self.next:self.next + count].view(shape)
        self.next += (count + 511) // 512 * 512
        return view


class Bench:
    """What measuring functions share: torch, the pools, and `time`."""

    def __init__(self, torch, dtype="bf16", rotate=True, forward_only=False):
        self.torch = torch
        self.forward_only = forward_only
        self.dtype_name = dtype
        self.dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}[dtype]
        self.rotate = rotate
        properties = torch.cuda.get_device_properties(torch.cuda.current_device())
        self.memory = properties.total_memory
        self.l2 = getattr(properties, "L2_cache_size", 0) or 50_000_000
        # Everything runs on one stream that is not the default one: only such a stream can be captured.
        self.stream = torch.cuda.Stream()
        torch.cuda.set_stream(self.stream)
        self._pools = {}
        self._start = torch.cuda.Event(enable_timing=True)
        self._end = torch.cuda.Event(enable_timing=True)

    def _pool(self, name, make):
        if name not in self._pools:
            self._pools[name] = Pool(make())
        return self._pools[name]

    @property
    def inputs(self):
        """Normal random numbers of the profile's type, scaled so that long sums stay finite."""
        count = min(1 << 32, self.memory // 16)
        return self._pool("inputs", lambda: normal_numbers(self.torch, count, self.dtype, 0.5))

    @property
    def outputs(self):
        count = min(1 << 31, self.memory // 32)
        return self._pool("outputs", lambda: self.torch.zeros(count, dtype=self.dtype, device="cuda"))

    @property
    def eight_bit(self):
        """The first inputs again as e4m3."""
        return self._pool("eight_bit", lambda: self.inputs.buffer[:1 << 30].to(self.torch.float8_e4m3fn))

    def make_room(self):
        """Before what allocates much: cached blocks go back, and on a small device the pools too."""
        if self.memory < 64e9:
            self._pools.clear()
        self.torch.cuda.empty_cache()

    def sets(self, working_bytes, most=64):
        """How many sets of operands to rotate over, so that together they are twice the L2 cache."""
        if not self.rotate:
            return 1
        return max(1, min(most, math.ceil(2 * self.l2 / max(1, working_bytes))))

    def span(self, run):
        """Device time of run(), in seconds."""
        self._start.record()
        run()
        self._end.record()
        self._end.synchronize()
        return self._start.elapsed_time(self._end) * 1e-3

    def time(self, calls, graph=True, settle=False):
        """{"time_s", "samples", "graph"} of one call; `calls` do the same work on different operands."""
        for call in calls[:2]:
            call()
        self.torch.cuda.synchronize()
        estimate = self.span(lambda: self._repeat(calls, 1))
        if estimate < 5e-3:
            estimate = max(1e-7, self.span(lambda: self._repeat(calls, 8)) / 8)
        if settle and estimate > SETTLE_ABOVE_S:
            self._repeat(calls, math.ceil(SETTLE_S / estimate))
        if graph and estimate < GRAPH_BELOW_S:
            captured = self._capture(calls, estimate)
            if captured:
                replay, nodes = captured
                try:
                    return self._sample(replay.replay, nodes, graph=1)
                finally:
                    self.torch.cuda.synchronize()
                    replay.reset()
        count = max(1, math.ceil(SAMPLE_S / estimate))
        return self._sample(lambda: self._repeat(calls, count), count, graph=0, once=True)

    def _sample(self, run, calls_in_run, graph, once=False):
        first = self.span(run)
        runs = 1 if once else max(1, math.ceil(SAMPLE_S / max(first, 1e-6)))

        def sample():
            for _ in range(runs):
                run()

        times = [] if runs > 1 else [first]
        # A run of more than half a second tells enough by itself.
        while len(times) < SAMPLES and not (times and times[0] > 0.5):
            times.append(self.span(sample))
        one = statistics.median(times) / (runs * calls_in_run)
        return {"time_s": one, "samples": len(times), "graph": graph}

    @staticmethod
    def _repeat(calls, count):
        size = len(calls)
        for i in range(count):
            calls[i % size]()

    def _capture(self, calls, estimate):
        """A CUDA graph of several rounds over the calls, or None where the work cannot be captured."""
        size = len(calls)
        for call in calls[2:]:
            call()  # nothing may be set up for the first time during a capture
        self.torch.cuda.synchronize()
        rounds = max(1, min(MOST_NODES // size, math.ceil(GRAPH_SPAN_S / estimate / size)))
        graph = self.torch.cuda.CUDAGraph()
        try:
            graph.capture_begin()
            try:
                self._repeat(calls, rounds * size)
            finally:
                graph.capture_end()
            graph.replay()
            self.torch.cuda.synchronize()
        except RuntimeError:
            self.torch.cuda.synchronize()
            return None
        return graph, rounds * size
