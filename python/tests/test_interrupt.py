"""Ctrl-C and progress: who waits for a search can see it and end it."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import nest

LONG = dict(model="deepseek-v3", cluster="h100-spine-leaf", global_batch=4096)


def test_ctrl_c_ends_a_search():
    code = textwrap.dedent(f"""
        import nest, sys, time
        q = nest.Question(mixed=True, **{LONG!r})
        print("ready", flush=True)
        begun = time.monotonic()
        try:
            q.solve(time_limit=120)
        except KeyboardInterrupt:
            print("interrupted", time.monotonic() - begun < 60, flush=True)
    """)
    worker = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=os.environ
    )
    assert worker.stdout.readline() == "ready\n"
    time.sleep(1)
    worker.send_signal(signal.SIGINT)
    out = worker.communicate(timeout=120)[0]
    assert out.startswith("interrupted True") or (out == "" and worker.returncode == 0), out


def test_progress_reports_how_far_it_is():
    seen = []
    q = nest.Question("llama3.1-70b", devices=512, global_batch=1024)
    q.solve(progress=seen.append, advise=False)
    assert seen
    last = seen[-1]
    assert last.elapsed >= 0 and last.bound > 0
    assert last.best is None or last.best >= last.bound * (1 - 1e-9)
    assert last.tables >= 0 and last.open >= 0 and last.plans >= 0 and last.phase is not None


def test_an_exception_of_the_callback_ends_the_search():
    def stop(report):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        nest.Question("llama3.1-70b", devices=512, global_batch=1024).solve(progress=stop, advise=False)


def test_the_callback_runs_in_the_calling_thread():
    threads = set()
    nest.Question("llama3.1-70b", devices=512, global_batch=1024).solve(
        progress=lambda report: threads.add(threading.get_ident()), advise=False
    )
    assert threads <= {threading.get_ident()}


def test_a_sweep_counts_its_points():
    seen = []
    nest.sweep(nest.Question("gpt2", global_batch=64), devices=[8, 16], progress=seen.append)
    assert seen[-1].points == 2
    assert 0 < seen[-1].done <= 2


@pytest.mark.parametrize("there", ["tqdm", "rich", ""])
def test_progress_on_the_screen(there, monkeypatch, capsys):
    """By tqdm or rich where they are, in plain text where they are not."""
    import builtins

    real = builtins.__import__

    def importing(name, *args, **kwargs):
        root = name.partition(".")[0]
        if root in ("tqdm", "rich") and root != there:
            raise ImportError(name)
        return real(name, *args, **kwargs)

    if there:
        pytest.importorskip(there)
    monkeypatch.setattr(builtins, "__import__", importing)
    q = nest.Question("llama3.1-70b", devices=512, global_batch=1024)
    assert q.solve(progress=True, advise=False).feasible
    said = capsys.readouterr()
    assert said.out == "" or there == "rich"
    if not there:
        assert "bound" in said.err
