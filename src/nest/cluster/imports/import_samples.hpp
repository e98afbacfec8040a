// A real input of each kind, for the help and for tests.
#pragma once

#include <string_view>

#include "nest/base/rooms.hpp"

namespace nest::cluster {

inline constexpr std::string_view kSlurmSample = R"(# topology.conf
SwitchName=leaf1 Nodes=node[001-032]
SwitchName=leaf2 Nodes=node[033-064]
SwitchName=spine Switches=leaf[1-2]
)";

inline constexpr std::string_view kTopographSample = R"({"instances": [
  {"id": "i-01", "network_layers": ["leaf-a", "spine"], "labels": {"accelerator.topograph.run/domain": "nvl-1"}},
  {"id": "i-02", "network_layers": ["leaf-a", "spine"], "labels": {"accelerator.topograph.run/domain": "nvl-1"}},
  {"id": "i-03", "network_layers": ["leaf-b", "spine"], "labels": {"accelerator.topograph.run/domain": "nvl-2"}}
]}
)";

inline constexpr std::string_view kNvidiaSmiSample =
    R"(    GPU0   GPU1   GPU2   GPU3   NIC0   NIC1   CPU Affinity   NUMA Affinity  GPU NUMA ID
GPU0   X      NV18   NV18   NV18   PIX    SYS    0-47,96-143    0                             N/A
GPU1   NV18   X      NV18   NV18   NODE   SYS    0-47,96-143    0                             N/A
GPU2   NV18   NV18   X      NV18   SYS    PIX    48-95,144-191  1                             N/A
GPU3   NV18   NV18   NV18   X      SYS    NODE   48-95,144-191  1                             N/A
NIC0   PIX    NODE   SYS    SYS    X      SYS
NIC1   SYS    SYS    PIX    NODE   SYS    X

NIC Legend:

  NIC0: mlx5_0
  NIC1: mlx5_1
)";

inline constexpr std::string_view kRocmSmiSample =
    R"(============================ ROCm System Management Interface ============================
=============================== Link Type between two GPUs ===============================
       GPU0         GPU1         GPU2         GPU3
GPU0   0            XGMI         XGMI         XGMI
GPU1   XGMI         0            XGMI         XGMI
GPU2   XGMI         XGMI         0            XGMI
GPU3   XGMI         XGMI         XGMI         0
================================== End of ROCm SMI Log ===================================
)";

inline constexpr std::string_view kNcclSample = R"(<system version="1">
  <cpu numaid="0" affinity="0000ffff" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:17:00.0" class="0x060400" vendor="0x1000" device="0xc030" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:19:00.0" class="0x030200" vendor="0x10de" device="0x2330" link_speed="32.0 GT/s PCIe" link_width="16">
        <gpu dev="0" sm="90" rank="0" gdr="1">
          <nvlink target="0000:05:00.0" count="18" tclass="0x068000"/>
        </gpu>
      </pci>
      <pci busid="0000:1a:00.0" class="0x020700" vendor="0x15b3" device="0x1021" link_speed="32.0 GT/s PCIe" link_width="16">
        <nic>
          <net name="mlx5_0" dev="0" speed="400000" port="1" guid="0x1" maxconn="131072" gdr="1"/>
        </nic>
      </pci>
    </pci>
  </cpu>
</system>
)";

inline constexpr std::string_view kInfinibandSample = R"(vendid=0x2c9
devid=0xd2f2
switchguid=0x2c5eab0300b87b40(2c5eab0300b87b40)
Switch 65 "S-2c5eab0300b87b40" # "MF0;leaf01:MQM9701/U1" enhanced port 0 lid 73 lmc 0
[1] "H-e09d7303007a4bd8"[1](e09d7303007a4bd8) # "node001 mlx5_0" lid 647 4xNDR
[2] "H-e09d730300859298"[1](e09d730300859298) # "node002 mlx5_0" lid 641 4xNDR
[35] "S-2c5eab0300c26280"[32] # "MF0;spine02:MQM9701/U1" lid 236 4xNDR
)";

inline constexpr std::string_view kKubernetesSample = R"({"apiVersion": "v1", "kind": "List", "items": [
  {"kind": "Node",
   "metadata": {"name": "gpu-1", "labels": {"node.kubernetes.io/instance-type": "p5.48xlarge",
                "topology.k8s.aws/network-node-layer-1": "nn-0a", "topology.k8s.aws/network-node-layer-2": "nn-1a",
                "topology.k8s.aws/network-node-layer-3": "nn-2a"}},
   "status": {"capacity": {"nvidia.com/gpu": "8"}, "allocatable": {"nvidia.com/gpu": "8"},
              "conditions": [{"type": "Ready", "status": "True"}]}}
]}
)";

inline constexpr std::string_view kAwsSample = R"({"Instances": [
  {"InstanceId": "i-0aaa", "InstanceType": "p5.48xlarge", "NetworkNodes": ["nn-1", "nn-11", "nn-111"], "ZoneId": "use1-az5"},
  {"InstanceId": "i-0bbb", "InstanceType": "p5.48xlarge", "NetworkNodes": ["nn-1", "nn-11", "nn-112"], "ZoneId": "use1-az5"}
]}
)";

inline constexpr std::string_view kGcpSample = R"([
  {"name": "a3-1", "machineType": "https://www.googleapis.com/compute/v1/projects/p/zones/us-east5-a/machineTypes/a3-megagpu-8g",
   "status": "RUNNING", "zone": "https://www.googleapis.com/compute/v1/projects/p/zones/us-east5-a",
   "resourceStatus": {"physicalHostTopology": {"cluster": "c1", "block": "b1", "subblock": "s1", "host": "h1"}}}
]
)";

inline constexpr std::string_view kAzureSample = R"([
  {"name": "vm-0", "hardwareProfile": {"vmSize": "Standard_ND96isr_H100_v5"}, "location": "eastus", "powerState": "VM running"}
]
)";

inline constexpr std::string_view kOciSample = R"({"data": {"items": [
  {"display-name": "gpu-1", "shape": "BM.GPU.H100.8", "lifecycle-state": "OCCUPIED", "hpc-island-id": "ocid1.hpcisland.1",
   "network-block-id": "ocid1.networkblock.1", "local-block-id": "ocid1.localblock.1"}
]}}
)";

inline constexpr std::string_view kTpuSample = R"({"name": "projects/p/locations/us-east5-a/nodes/slice-0",
 "acceleratorType": "v5p-256", "acceleratorConfig": {"type": "V5P", "topology": "4x4x8"}, "state": "READY"}
)";

inline constexpr std::string_view kDgxSample =
    R"(DGX-A100, DGX-H100, DGX-H200, DGX-B200, DGX-B300, GB200-NVL72, GB300-NVL72
)";

inline constexpr std::string_view kAstraSimSample = R"(topology: [ Ring, Switch ]
npus_count: [ 8, 4 ]
bandwidth: [ 200.0, 50.0 ]   # GB/s of a link, of 2^30 bytes
latency: [ 500.0, 2000.0 ]   # ns
)";

}  // namespace nest::cluster
