"""Entries agree with each other and with rules that hold for the real things, whatever the file says."""

import re
from math import prod

import pytest

from iacgen import catalog

SYSTEMS = catalog.entries("systems")
NIC_PORTS = [(s, purpose, ports) for s in SYSTEMS for purpose, ports in s.nics.items()]


@pytest.mark.parametrize("kind", catalog.KINDS)
def test_entries_are_of_their_shelf(kind: str):
    assert all(isinstance(entry, catalog.KINDS[kind]) for entry in catalog.entries(kind))
    assert catalog.ids(kind) == tuple(entry.id for entry in catalog.entries(kind))


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda s: s.id)
def test_gpu_of_a_system_exists(system: catalog.System):
    if system.gpu is not None:
        assert catalog.gpu(system.gpu).slurm_type
        assert system.nvlink_domain_gpus >= 1 or "pcie" in system.gpu


@pytest.mark.parametrize("system", [s for s in SYSTEMS if s.tpu], ids=lambda s: s.id)
def test_a_slice_is_a_whole_number_of_hosts_or_a_part_of_one(system: catalog.System):
    sizes = [prod(map(int, shape.split("x"))) for shape in catalog.tpu(system.tpu).slices]
    assert all(size % system.tpus == 0 or system.tpus % size == 0 for size in sizes)


@pytest.mark.parametrize("chip", ["a100-40", "a100-80", "h100-sxm", "h100-pcie", "h200", "b200", "gb200", "b300", "mi300x", "tpu-v5p", "tpu-v6e"])
def test_the_accelerators_that_the_project_names_are_there(chip: str):
    entry = catalog.tpu(chip) if chip.startswith("tpu") else catalog.gpu(chip)
    assert entry.memory_gib > 30 and entry.bf16_tflops > 300


def test_gb200_is_one_nvlink_domain_of_72():
    tray = catalog.system("dgx-gb200")
    assert (tray.gpu, tray.nvlink_domain_gpus, tray.nvlink_domain_servers) == ("gb200", 72, 18)


@pytest.mark.parametrize(("system", "purpose", "ports"), NIC_PORTS, ids=[f"{s.id}-{p}" for s, p, _ in NIC_PORTS])
def test_adapter_exists_and_is_not_run_faster_than_it_is(system: catalog.System, purpose: str, ports: catalog.HostNic):
    nic = catalog.nic(ports.nic)
    assert ports.gbps <= nic.port_gbps
    if ports.rdma_names:
        assert nic.rdma


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda s: s.id)
def test_no_device_serves_two_purposes(system: catalog.System):
    for field in ("rdma_names", "interfaces", "pci"):
        names = [name for ports in system.nics.values() for name in getattr(ports, field)]
        assert len(names) == len(set(names)), field


@pytest.mark.parametrize(("system", "purpose", "ports"), NIC_PORTS, ids=[f"{s.id}-{p}" for s, p, _ in NIC_PORTS])
def test_interface_name_is_the_pci_bus_in_decimal(system: catalog.System, purpose: str, ports: catalog.HostNic):
    """systemd names a port after its PCI place: 0000:18:00.0 is ibp24s0, 0000:29:00.0 of a two-port card ibp41s0f0, and beyond
    PCI domain 0 0010:03:00.0 is ibP16p3s0."""
    for name, address in zip(ports.interfaces, ports.pci):
        match = re.match(r"(?:ib|en)(?:P(\d+))?p(\d+)s(\d+)", name)
        if match:
            domain, bus, rest = address.split(":")
            assert [int(domain, 16), int(bus, 16), int(rest.split(".")[0], 16)] == [int(part or 0) for part in match.groups()]


@pytest.mark.parametrize("id", ["dgx-a100", "dgx-h100", "dgx-h200"])
def test_mlx5_devices_are_numbered_in_pci_order(id: str):
    """The driver numbers adapters as it finds them, so the number must grow with the PCI address across all purposes."""
    ports = [p for p in catalog.system(id).nics.values() if p.rdma_names]
    by_address = sorted((a, int(n.removeprefix("mlx5_"))) for p in ports for a, n in zip(p.pci, p.rdma_names, strict=True))
    numbers = [number for _, number in by_address]
    assert numbers == sorted(numbers)


def test_dgx_h100_rails_are_those_of_the_user_guide():
    """NVIDIA DGX H100/H200 User Guide, table 6: GPU 0 to 7 and the RDMA device on the same network module."""
    guide = {0: "mlx5_0", 1: "mlx5_3", 2: "mlx5_4", 3: "mlx5_5", 4: "mlx5_6", 5: "mlx5_9", 6: "mlx5_10", 7: "mlx5_11"}
    for id in ("dgx-h100", "dgx-h200"):
        assert guide == dict(enumerate(catalog.system(id).nics["compute"].rdma_names))


def test_dgx_h100_cages_are_those_of_the_user_guide():
    """NVIDIA DGX H100/H200 User Guide, table 6: which RDMA device is behind which port of OSFP1 to OSFP4, and it is 4 twin-port cages."""
    guide = {1: {"mlx5_11", "mlx5_6"}, 2: {"mlx5_10", "mlx5_9"}, 3: {"mlx5_4", "mlx5_3"}, 4: {"mlx5_5", "mlx5_0"}}
    for id in ("dgx-h100", "dgx-h200"):
        ports = catalog.system(id).nics["compute"]
        assert guide == {cage: {name for name, of in zip(ports.rdma_names, ports.cage_of, strict=True) if of == cage} for cage in guide}
        assert 2 == ports.cage_ports


@pytest.mark.parametrize(("system", "purpose", "ports"), NIC_PORTS, ids=[f"{s.id}-{p}" for s, p, _ in NIC_PORTS])
def test_ports_on_site_leave_from_cages(system: catalog.System, purpose: str, ports: catalog.HostNic):
    assert (catalog.nic(ports.nic).form is None) == (system.cloud is not None)
    assert ports.count == ports.cage_ports * len(set(ports.cage_of))


@pytest.mark.parametrize("cages", [[1, 1, 2], [1, 1, 1, 2], [1, 2, 3]])
def test_cages_that_are_not_alike_are_refused(cages: list[int]):
    with pytest.raises(ValueError, match="each of 4 ports"):
        catalog.HostNic(nic="connectx-7-400g", count=4, gbps=400, cages=cages)


@pytest.mark.parametrize("system", [s for s in SYSTEMS if s.nvlink_domain_gpus and not s.cloud], ids=lambda s: s.id)
def test_a_gpu_server_on_site_has_one_compute_port_a_gpu(system: catalog.System):
    assert system.gpus == system.nics["compute"].count


@pytest.mark.parametrize("cloud", catalog.entries("clouds"), ids=lambda c: c.id)
def test_a_cloud_lists_exactly_its_machine_types(cloud: catalog.Cloud):
    assert sorted(cloud.machine_types) == [s.id for s in SYSTEMS if s.cloud and s.cloud.provider == cloud.id]


@pytest.mark.parametrize("system", [s for s in SYSTEMS if s.cloud], ids=lambda s: s.id)
def test_network_of_a_cloud_type_adds_up(system: catalog.System):
    assert system.cloud.memory_mib == system.memory_gib * 1024
    assert system.cloud.efa_interfaces <= system.cloud.network_cards
    if system.cloud.efa_interfaces:
        compute = system.nics["compute"]
        assert system.cloud.network_gbps == compute.count * compute.gbps


@pytest.mark.parametrize("switch", catalog.entries("switches"), ids=lambda s: s.id)
def test_a_cage_splits_into_one_two_four_or_eight(switch: catalog.Switch):
    """Without uplinks of their own the speeds share the cages: ports are a power of two of what they are at the fastest speed."""
    if switch.uplink_gbps is None:
        parts = {ports / switch.ports(max(switch.ports_by_gbps)) for ports in switch.ports_by_gbps.values()}
        assert parts <= {1, 2, 4, 8}
    assert 0 == switch.ports(3)


@pytest.mark.parametrize(
    ("id", "gbps", "ports"),
    [("qm8700", 200, 40), ("qm9790", 400, 64), ("q3400-ra", 800, 144), ("sn5600", 400, 128), ("sn5610", 200, 256), ("sn4600c", 100, 64), ("sn3700c", 25, 128)],
)
def test_ports_are_those_that_the_reference_designs_count_with(id: str, gbps: int, ports: int):
    """NVIDIA's SuperPOD tables: radix 40, 64, 144 and 128; the others from SONiC's break-outs."""
    assert ports == catalog.switch(id).ports(gbps)


@pytest.mark.parametrize("switch", catalog.entries("switches"), ids=lambda s: s.id)
def test_a_switch_runs_what_speaks_its_technology(switch: catalog.Switch):
    by_technology = {"infiniband": {"mlnx-os", "nvos"}, "ethernet": {"cumulus", "sonic", "eos"}, "roce": {"cumulus", "sonic", "eos"}}
    assert set(switch.software) <= set.union(*(by_technology[t] for t in switch.technologies))
    assert ("roce" in switch.technologies) <= ("ethernet" in switch.technologies)


def test_an_nvl72_rack_is_eighteen_trays():
    """NVIDIA DGX GB Rack Scale Systems User Guide: 72 GPUs in 18 trays, each with four adapters of 400G, one for each rail."""
    tray = catalog.system("dgx-gb200")
    assert (18, 4, 400) == (tray.nvlink_domain_servers, tray.nics["compute"].count, tray.nics["compute"].gbps)
    assert 1 == catalog.system("dgx-h100").nvlink_domain_servers == catalog.system("generic-1u").nvlink_domain_servers


@pytest.mark.parametrize("system", [s for s in SYSTEMS if s.power_kw_typical], ids=lambda s: s.id)
def test_work_draws_less_than_the_most(system: catalog.System):
    assert system.power_kw_typical < system.power_kw


@pytest.mark.parametrize("gpu", catalog.entries("gpus"), ids=lambda g: g.id)
def test_a_measured_product_stays_below_the_peak(gpu: catalog.Gpu):
    assert gpu.best_gemm_tflops is None or gpu.best_gemm_tflops < gpu.bf16_tflops
    assert 0 < gpu.usable_gib < gpu.memory_gib


@pytest.mark.parametrize("model", [m for m in catalog.entries("models") if m.vendor == "Meta"], ids=lambda m: m.id)
def test_shape_gives_the_published_parameter_count(model: catalog.Model):
    """Two embeddings, and in each layer query and output, key and value, three feed-forward matrices and two norms; a last norm."""
    attention = 2 * model.hidden * model.heads * model.head_dim + 2 * model.hidden * model.kv_heads * model.head_dim
    layer = attention + 3 * model.hidden * model.ffn_hidden + 2 * model.hidden
    count = model.layers * layer + 2 * model.vocabulary * model.hidden + model.hidden
    assert model.gated_ffn and not model.tied_embeddings and model.norm == "rmsnorm"
    assert model.published_parameters == count
