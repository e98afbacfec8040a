#!/usr/bin/env python3
"""How the search grows: bench/search_curves.py [--nest PATH] [--runs N] [--out FOLDER] [devices|layers].

CPU seconds of `nest plan --threads 1` over the number of devices, and over the number of layers of profiles
whose layers all differ. Least of the runs (a run above 3 s is not repeated), less what reading the same model
costs (`nest models show`). Prints the figures and the fitted exponents, and writes search_devices.svg and
search_layers.svg.
"""
import argparse
import json
import math
import pathlib
import random
import sys
import tempfile

import log_plot
import measuring

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEVICES = [64 * 2**i for i in range(12)]
LAYERS = [8, 16, 32, 64, 128]
LONG_RUN_S = 3
# name: model, fewest devices that hold it, most devices, sequences of a step
OVER_DEVICES = {
    "70B, 16,384 sequences": ("llama3.1-70b", 64, 131072, 16384),
    "70B, 2,048 sequences": ("llama3.1-70b", 64, 16384, 2048),
    "405B, 2,048 sequences": ("llama3.1-405b", 256, 16384, 2048),
    "405B, 16,384 sequences": ("llama3.1-405b", 256, 131072, 16384),
}
OVER_LAYERS = {
    "every choice free": "",
    "1F1B without ZeRO": "--zero 0 --schedule 1f1b --interleave 1 --recompute none,full",
}


def cpu_s(words, runs):
    least = measuring.run(words)
    for _ in range(runs - 1):
        if least.cpu_s < LONG_RUN_S:
            least = min(least, measuring.run(words), key=lambda run: run.cpu_s)
    return least.cpu_s, least.status


def search_s(nest, model, options, runs):
    """CPU seconds of the search without those of reading the model."""
    words = [nest, "plan", "--model", model, *options.split(), "--threads", "1", "--json"]
    whole, status = cpu_s(words, runs)
    if status != "optimal":
        raise measuring.Failed(f"'{' '.join(words)}' answered '{status}'")
    return max(whole - cpu_s([nest, "models", "show", model, "--json"], runs)[0], 1e-4)


def profile(count):
    """A chain of layers that all differ; the whole model is the same whatever their number."""
    rng = random.Random(count)

    def parts(whole):
        weights = [rng.uniform(0.5, 1.5) for _ in range(count)]
        return [whole * weight / sum(weights) for weight in weights]

    forward, backward, weights, stash = parts(1.0), parts(2.0), parts(256e9), parts(64e9)
    edges = [{"from": i, "to": i + 1, "bytes": int(rng.uniform(50e6, 100e6))} for i in range(count - 1)]

    def strategy(tensor):
        slower = 1 if tensor == 1 else 1.05
        return {"tensor": tensor, "edges": edges, "layers": [
            {"id": i, "name": f"layer{i}", "forward_s": slower * forward[i] / tensor,
             "backward_s": slower * backward[i] / tensor, "parameter_bytes": int(weights[i] / tensor),
             "activation_bytes": int(stash[i] / tensor)} for i in range(count)]}

    return {"format": "nest-layer-profile", "version": 1, "name": f"{count}-different-layers",
            "micro_batch": 1, "sequence": 2048, "parameter_dtype_bytes": 2,
            "strategies": [strategy(tensor) for tensor in (1, 2, 4, 8)]}


def over_devices(nest, runs):
    series = {}
    for name, (model, fewest, most, batch) in OVER_DEVICES.items():
        common = f"--global-batch {batch} --sequence 8192"
        series[name] = [(devices, search_s(nest, model, f"--devices {devices} {common}", runs))
                        for devices in DEVICES if fewest <= devices <= most]
    return series


def over_layers(nest, runs):
    series = {name: [] for name in OVER_LAYERS}
    with tempfile.TemporaryDirectory() as folder:
        for count in LAYERS:
            file = pathlib.Path(folder, f"{count}.json")
            file.write_text(json.dumps(profile(count)), encoding="utf-8")
            for name, choices in OVER_LAYERS.items():
                options = f"--recipe plain --devices 64 --global-batch 1024 {choices}"
                series[name].append((count, search_s(nest, str(file), options, runs)))
    return series


def exponent(points):
    """Slope of the least squares line through the logarithms."""
    xs, ys = [math.log(x) for x, _ in points], [math.log(y) for _, y in points]
    middle_x, middle_y = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - middle_x) ** 2 for x in xs)
    return sum((x - middle_x) * (y - middle_y) for x, y in zip(xs, ys)) / spread


def show(series, what):
    values = sorted({x for points in series.values() for x, _ in points})
    columns = [f"CPU s over {what}", *(f"{x:,}" for x in values), "exponent", "of the last three"]
    print(f"| {' | '.join(columns)} |")
    print("| --- " * (len(values) + 3) + "|")
    for name, points in series.items():
        found = dict(points)
        row = [f"{found[x]:.3f}" if x in found else "" for x in values]
        row += [f"{exponent(points):.2f}", f"{exponent(points[-3:]):.2f}"]
        print(f"| {name} | " + " | ".join(row) + " |", flush=True)
    print()


CURVES = {
    "devices": (over_devices, "Llama-3.1 on h100-spine-leaf: the search over the devices", [1]),
    "layers": (over_layers, "Layers that all differ, 64 devices: the search over the layers", [2]),
}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--nest", default=str(ROOT / "build" / "nest"))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs" / "pictures")
    parser.add_argument("names", nargs="*", help="devices, layers (default: both)")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in CURVES]
    if unknown:
        sys.exit(f"search_curves: there is no curve '{unknown[0]}'; there are: {', '.join(CURVES)}")
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.names or CURVES:
        measure, title, slopes = CURVES[name]
        try:
            series = measure(options.nest, options.runs)
        except measuring.Failed as failure:
            sys.exit(f"search_curves: {failure}")
        show(series, name)
        drawing = log_plot.draw(title, name, "CPU seconds, one thread", series, slopes)
        (options.out / f"search_{name}.svg").write_text(drawing, encoding="utf-8")


main()
