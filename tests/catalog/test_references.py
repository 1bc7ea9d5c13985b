"""Entries agree with each other and with rules that hold for the real things, whatever the file says."""

import re

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
        assert system.nvlink_domain_gpus >= 1


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
    """systemd names a port after its PCI place: 0000:18:00.0 is ibp24s0, 0000:29:00.0 of a two-port card ibp41s0f0."""
    for name, address in zip(ports.interfaces, ports.pci):
        match = re.match(r"(?:ib|en)p(\d+)s(\d+)", name)
        if match:
            _, bus, rest = address.split(":")
            assert (int(bus, 16), int(rest.split(".")[0], 16)) == (int(match[1]), int(match[2]))


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


@pytest.mark.parametrize("system", [s for s in SYSTEMS if s.gpus and not s.cloud], ids=lambda s: s.id)
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
def test_split_ports_carry_the_same_bandwidth(switch: catalog.Switch):
    """Without uplinks of their own the speeds are splits of the same cages, so ports times speed is constant."""
    if switch.uplink_gbps is None:
        assert 1 == len({gbps * ports for gbps, ports in switch.ports_by_gbps.items()})
    assert 0 == switch.ports(3)


@pytest.mark.parametrize("gpu", catalog.entries("gpus"), ids=lambda g: g.id)
def test_a_measured_product_stays_below_the_peak(gpu: catalog.Gpu):
    assert gpu.best_gemm_tflops < gpu.bf16_tflops
    assert 0 < gpu.usable_gib < gpu.memory_gib


@pytest.mark.parametrize("model", catalog.entries("models"), ids=lambda m: m.id)
def test_shape_gives_the_published_parameter_count(model: catalog.Model):
    """Two embeddings, and in each layer query and output, key and value, three feed-forward matrices and two norms; a last norm."""
    attention = 2 * model.hidden * model.heads * model.head_dim + 2 * model.hidden * model.kv_heads * model.head_dim
    layer = attention + 3 * model.hidden * model.ffn_hidden + 2 * model.hidden
    count = model.layers * layer + 2 * model.vocabulary * model.hidden + model.hidden
    assert model.gated_ffn and not model.tied_embeddings and model.norm == "rmsnorm"
    assert model.published_parameters == count
