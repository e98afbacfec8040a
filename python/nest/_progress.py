"""How far a search is, on the screen: by tqdm or rich where they are installed."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any, Union

from ._core import Progress

Listener = Callable[[Progress], object]
Wish = Union[bool, Listener, None]


def sentence(report: Progress) -> str:
    """`best 7.72 s, bound 7.68 s, gap 0.5 %`."""
    parts = [report.phase] if report.phase else []
    if report.points:
        parts.append(f"{report.done:,} of {report.points:,} points")
    if report.best is not None:
        parts.append(f"best {report.best:.3g} s")
    elif not report.points:
        parts.append("no plan yet")
    if report.bound > 0:
        parts.append(f"bound {report.bound:.3g} s")
    if report.gap is not None:
        parts.append(f"gap {100 * report.gap:.1f} %")
    return ", ".join(parts)


def _tqdm() -> tuple[Listener, Callable[[], None]] | None:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    bar: Any = tqdm(desc="nest", bar_format="{desc}: {elapsed} {postfix}", leave=False)

    def listen(report: Progress) -> None:
        bar.set_postfix_str(sentence(report))

    return listen, bar.close


def _rich() -> tuple[Listener, Callable[[], None]] | None:
    try:
        from rich.console import Console
    except ImportError:
        return None
    status = Console(stderr=True).status("nest")
    status.start()

    def listen(report: Progress) -> None:
        status.update(f"nest: {sentence(report)}")

    return listen, status.stop


def _plain() -> tuple[Listener, Callable[[], None]]:
    def listen(report: Progress) -> None:
        print(f"\rnest: {sentence(report)}\x1b[K", end="", file=sys.stderr, flush=True)

    return listen, lambda: print("\r\x1b[K", end="", file=sys.stderr)


@contextlib.contextmanager
def listening(wish: Wish) -> Iterator[Listener | None]:
    """The callback for a search: one's own, one that draws (True), or none."""
    if wish is None or wish is False:
        yield None
        return
    if wish is not True:
        yield wish
        return
    listen, close = _tqdm() or _rich() or _plain()
    try:
        yield listen
    finally:
        close()
