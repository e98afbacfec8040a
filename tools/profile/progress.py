"""A progress bar on stderr: a line that is redrawn on a terminal, a line every tenth in a log.

    [##########..............]  41 %  3:12 gone, 4:37 left  attention (812/2004, 0 failed)
"""
import sys
import time

WIDTH = 24


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def bar(share, gone, text):
    filled = int(WIDTH * share)
    left = gone * (1 - share) / share if share > 0 else 0.0
    drawn = "#" * filled + "." * (WIDTH - filled)
    return f"[{drawn}] {100 * share:3.0f} %  {clock(gone)} gone, {clock(left)} left  {text}"


class Progress:
    """Share of the estimated work done; the time left follows from how fast it really went."""

    def __init__(self, total, stream=sys.stderr, now=time.monotonic):
        self.total = max(total, 1e-9)
        self.stream = stream
        self.now = now
        self.begun = now()
        self.done = 0.0
        self.drawn = -1.0
        self.terminal = stream.isatty()
        self.widest = 0

    def advance(self, cost, text):
        self.done += cost
        share = min(1.0, self.done / self.total)
        if self.terminal and self.now() - self.drawn > 0.1:
            line = bar(share, self.now() - self.begun, text)
            self.widest = max(self.widest, len(line))
            self.stream.write("\r" + line.ljust(self.widest))
            self.stream.flush()
            self.drawn = self.now()
        elif not self.terminal and int(10 * share) > self.drawn:
            self.note(bar(share, self.now() - self.begun, text))
            self.drawn = int(10 * share)

    def note(self, text):
        if self.terminal and self.widest:
            self.stream.write("\r" + " " * self.widest + "\r")
        self.stream.write(text + "\n")
        self.stream.flush()

    def close(self):
        if self.terminal:
            self.stream.write("\n")
            self.stream.flush()
