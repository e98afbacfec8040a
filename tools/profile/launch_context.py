"""What the measuring functions of launches.py share: the device, the time left, rows, and timing.

Everything works on the processor too (--device cpu), where nothing is asynchronous and nothing can be
captured: the numbers then mean nothing, but nearly every path of the code is run.
"""
import contextlib
import gc
import statistics
import time

LONGEST_REASON = 600
LONGEST_S = 0.5  # of the samples of one time, where three are there: a busy machine must not take all


def reason_of(error):
    """The error's text; where another caused it, as in a capture that fails twice, that one's first."""
    text = f"{type(error).__name__}: {' '.join(str(error).split())}"[:LONGEST_REASON]
    earlier = error.__cause__ or error.__context__
    return f"{reason_of(earlier)}; then {text}" if earlier else text


def busy_of(events):
    """{"kernels", "copies", "busy_s", "kernel_sum_s"} of (name, start_ns, duration_ns) on the device.

    busy_s counts time during which several kernels run at once only once."""
    copies = [e for e in events if e[0].startswith(("Memcpy", "Memset"))]
    busy = end = 0
    for _, start, duration in sorted(events, key=lambda e: e[1]):
        busy += max(0, start + duration - max(start, end))
        end = max(end, start + duration)
    return {"kernels": len(events) - len(copies), "copies": len(copies), "busy_s": busy * 1e-9,
            "kernel_sum_s": sum(e[2] for e in events) * 1e-9}


def repeats(estimate_s, span_s, least, most):
    """How many iterations of about estimate_s fill span_s."""
    return max(least, min(most, round(span_s / max(estimate_s, 1e-7))))


class Context:
    def __init__(self, torch, device, tiny, emit, deadline):
        self.torch, self.device, self.tiny = torch, device, tiny
        self.cuda = device == "cuda"
        self._emit, self._deadline = emit, deadline
        self.dtype = torch.bfloat16
        if self.cuda:
            torch.cuda.init()
        # A generator of our own: a capture that fails may leave torch's default one unusable.
        self.generator = torch.Generator(device=device).manual_seed(1)

    def left(self):
        return self._deadline - time.monotonic()

    def row(self, key, **fields):
        self._emit(key, fields)

    def attempt(self, key, measure, cost_s=1.0):
        """The fields that measure() returns become the row of this key, or its error does; without fields
        there is no row. True on success."""
        if self.left() < cost_s:
            self.row(key, skipped=f"{self.left():.0f} s were left, {cost_s:.0f} s are needed")
            return False
        reason, begun = None, time.monotonic()
        try:
            fields = measure()
            if fields is not None:
                self.row(key, **fields, measuring_s=time.monotonic() - begun)
        except Exception as error:  # whatever one measurement does, the others are still wanted
            reason = reason_of(error)
        if reason:  # here the error is gone, and with it the tensors that its frames held
            self.row(key, error=reason)
            self.clean()
        return reason is None

    def clean(self):
        gc.collect()
        if self.cuda:
            self.torch.cuda.synchronize()
            self.torch.cuda.empty_cache()

    def synchronize(self):
        if self.cuda:
            self.torch.cuda.synchronize()

    def randn(self, *shape, dtype=None, grad=False, scale=1.0):
        made = self.torch.empty(*shape, device=self.device, dtype=dtype or self.dtype)
        return made.normal_(generator=self.generator).mul_(scale).requires_grad_(grad)

    def randint(self, high, shape):
        return self.torch.randint(high, shape, device=self.device, generator=self.generator)

    def host_time(self, issue, calls, samples=7):
        """Microseconds of the processor for one of the calls that issue() makes, the device not waited for;
        and with the wait, to show whether the device was the slower of the two. Fewer than 1,000 launches
        should be in one issue(): the device's queue holds about that many before launching waits."""
        issue()
        self.synchronize()
        hosts, wholes, started = [], [], time.perf_counter()
        while len(hosts) < samples and not (len(hosts) > 2 and time.perf_counter() - started > LONGEST_S):
            begun = time.perf_counter()
            issue()
            issued = time.perf_counter()
            self.synchronize()
            hosts.append((issued - begun) / calls * 1e6)
            wholes.append((time.perf_counter() - begun) / calls * 1e6)
        return {"host_us": statistics.median(hosts), "host_us_least": min(hosts),
                "with_wait_us": statistics.median(wholes), "calls": calls, "samples": len(hosts)}

    def wall_time(self, iteration, span_s=0.2, least=5, most=200):
        """Seconds of an iteration where one follows the other without waiting, and the processor's share."""
        for _ in range(2):
            iteration()
        self.synchronize()
        begun = time.perf_counter()
        iteration()
        self.synchronize()
        estimate = time.perf_counter() - begun
        count = repeats(estimate, span_s / 3, 1 if self.tiny else max(1, least // 3), most)
        walls, issues = [], []
        for _ in range(3):
            begun = time.perf_counter()
            for _ in range(count):
                iteration()
            issues.append((time.perf_counter() - begun) / count)
            self.synchronize()
            walls.append((time.perf_counter() - begun) / count)
        return {"wall_s": statistics.median(walls), "issue_s": statistics.median(issues),
                "single_s": estimate, "iterations": 3 * count}

    def profile(self, iteration):
        """Kernels of one iteration and how long the device is busy with them, by torch's profiler."""
        from torch.profiler import ProfilerActivity, profile
        from torch.autograd import DeviceType
        iteration()
        self.synchronize()
        kinds = [ProfilerActivity.CUDA if self.cuda else ProfilerActivity.CPU]
        with profile(activities=kinds) as profiler:
            iteration()
            self.synchronize()
        events = profiler.profiler.kineto_results.events()
        return busy_of([(e.name(), e.start_ns(), e.duration_ns()) for e in events
                        if e.device_type() == DeviceType.CUDA and not e.is_user_annotation()])

    def capture(self, iteration, warm_up=3):
        """iteration() as a CUDA graph. It has to drop gradients itself, so that they live in the graph."""
        torch = self.torch
        if not self.cuda:
            raise RuntimeError("a graph can be captured on a GPU only")
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(warm_up):
                iteration()
        torch.cuda.current_stream().wait_stream(stream)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            iteration()
        graph.replay()
        torch.cuda.synchronize()
        return graph

    def memory(self):
        """What torch's allocator holds, its peaks, and what the device has in use beside it."""
        if not self.cuda:
            return {}
        cuda = self.torch.cuda
        free, total = cuda.mem_get_info()
        reserved = cuda.memory_reserved()
        return {"allocated_bytes": cuda.memory_allocated(), "reserved_bytes": reserved,
                "peak_allocated_bytes": cuda.max_memory_allocated(),
                "peak_reserved_bytes": cuda.max_memory_reserved(),
                "used_bytes": total - free, "beside_torch_bytes": total - free - reserved}

    def reset_peaks(self):
        self.clean()
        if self.cuda:
            self.torch.cuda.reset_peak_memory_stats()

    def event(self):
        return self.torch.cuda.Event(enable_timing=True) if self.cuda else HostEvent()


class HostEvent:
    """An event of the processor, for --device cpu."""

    def __init__(self):
        self.at = 0.0

    def record(self):
        self.at = time.perf_counter()

    def elapsed_time(self, other):
        return (other.at - self.at) * 1e3


@contextlib.contextmanager
def collector_off():
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
