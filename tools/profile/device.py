"""What is known about the device: the header of the document. Reads only; no setting is changed."""
import re
import subprocess

QUERY = {"driver": "driver_version", "sm_clock_mhz": "clocks.sm", "sm_clock_max_mhz": "clocks.max.sm",
         "memory_clock_max_mhz": "clocks.max.memory", "power_limit_w": "power.limit",
         "temperature_c": "temperature.gpu"}
# Names of data/accelerators.yaml for what the driver calls a device; the first match counts.
NAMES = ((r"GB300", "gb300"), (r"GB200", "gb200"), (r"B300", "b300"), (r"B200", "b200"), (r"H200", "h200"),
         (r"H800", "h800"), (r"H100 NVL", "h100-nvl"), (r"H100 PCIe", "h100-pcie"), (r"H100", "h100-sxm"),
         (r"A800.*80", "a800-80"), (r"A100.*80", "a100-80"), (r"A100.*40", "a100-40"),
         (r"V100.*16", "v100-16"), (r"V100", "v100"), (r"MI355X", "mi355x"),
         (r"MI325X", "mi325x"), (r"MI300X", "mi300x"), (r"MI250X", "mi250x"))


def accelerator_name(device_name):
    """The catalogue's name, or the driver's name made into one."""
    for pattern, name in NAMES:
        if re.search(pattern, device_name):
            return name
    plain = re.sub(r"\b(NVIDIA|AMD|Instinct|GeForce|Tesla)\b", " ", device_name)
    return re.sub(r"[^a-z0-9.]+", "-", plain.lower()).strip("-")


def parse_query(line):
    """A line of nvidia-smi's csv output as a record; fields that the device does not have are None."""
    record = {}
    for name, text in zip(QUERY, (part.strip() for part in line.split(","))):
        if name == "driver":
            record[name] = text
        else:
            record[name] = float(text) if re.fullmatch(r"[0-9.]+", text) else None
    return record


def query(torch):
    """What nvidia-smi says about the current device, or {} where it cannot be asked."""
    command = ["nvidia-smi", f"--query-gpu={','.join(QUERY.values())}", "--format=csv,noheader,nounits"]
    uuid = str(getattr(torch.cuda.get_device_properties(torch.cuda.current_device()), "uuid", ""))
    if uuid:
        command.append(f"--id={uuid if uuid.startswith('GPU-') else 'GPU-' + uuid}")
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout
        return parse_query(found.strip().splitlines()[0])
    except (OSError, subprocess.SubprocessError, IndexError):
        return {}


def header(torch, accelerator):
    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    seen = query(torch)
    return {"accelerator": accelerator or accelerator_name(properties.name), "device_name": properties.name,
            "torch": torch.__version__, "cuda": torch.version.cuda or torch.version.hip,
            "driver": seen.pop("driver", None), "cudnn": torch.backends.cudnn.version(), "clocks": seen,
            "capability": f"{properties.major}.{properties.minor}",
            "multiprocessors": properties.multi_processor_count,
            "l2_bytes": getattr(properties, "L2_cache_size", None), "memory_bytes": properties.total_memory}
