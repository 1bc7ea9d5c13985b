"""What the types refuse, since a wrong figure here would be repeated in a thousand generated lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from iacgen import catalog
from iacgen.catalog.clouds import FsxLustre
from iacgen.catalog.systems import HostNic, System


def changed(entry: catalog.Entry, **figures: object) -> dict:
    return entry.model_dump() | figures


@pytest.mark.parametrize(
    ("figures", "complaint"),
    [
        ({"power_kw": 0}, "greater than 0"),
        ({"gpu": None}, "given together"),
        ({"gpus": 0, "gpu_numa": ()}, "given together"),
        ({"gpu_numa": (0, 0, 1, 1)}, "one socket for each of 8"),
        ({"gpu_numa": (0, 0, 0, 0, 2, 2, 2, 2)}, "not there"),
        ({"nvlink_domain_gpus": 12}, "whole number of servers"),
        ({"tpu": "tpu-v5p", "tpus": 4}, "not both"),
        ({"tpus": 4}, "tpu and tpus"),
        ({"memory_gb": 2048}, "Extra inputs"),
    ],
)
def test_a_system_that_contradicts_itself_is_refused(figures: dict, complaint: str):
    with pytest.raises(ValidationError, match=complaint):
        System.model_validate(changed(catalog.system("dgx-h100"), **figures))


@pytest.mark.parametrize(("figures", "complaint"), [({"slices": ("4x4",)}, "no shape of 3"), ({"slices": ("32x32x16",)}, "more than the 8960 chips"), ({"slices": ("4x0x4",)}, "pattern")])
def test_slices_lie_in_the_torus_of_their_pod(figures: dict, complaint: str):
    with pytest.raises(ValidationError, match=complaint):
        catalog.Tpu.model_validate(changed(catalog.tpu("tpu-v5p"), **figures))


def test_a_cloud_type_counts_its_threads():
    head = catalog.system("m7i.4xlarge")
    with pytest.raises(ValidationError, match="sockets x cores x threads"):
        System.model_validate(changed(head, threads_per_core=1))


@pytest.mark.parametrize(
    "names",
    [
        {"rdma_names": ("mlx5_0",)},
        {"rdma_names": ("mlx5_0", "mlx5_0")},
        {"interfaces": ("rail0", "rail1", "rail2")},
        {"interfaces": ("rail0", "a-name-longer-than-linux-allows")},
        {"rdma_names": ("mlx5_0", "mlx5_1; reboot")},
        {"pci": ("0000:18:00.0", "18:00.0")},
    ],
)
def test_ports_are_named_once_each_with_names_a_kernel_gives(names: dict):
    with pytest.raises(ValidationError):
        HostNic(nic="connectx-7-400g", count=2, gbps=400, **names)


def test_an_uplink_speed_must_be_one_of_the_switch():
    with pytest.raises(ValidationError, match="uplink_gbps 40"):
        catalog.Switch.model_validate(changed(catalog.switch("sn2201"), uplink_gbps=40))


@pytest.mark.parametrize(
    ("ports", "complaint"),
    [
        ({400: 64, 200: 256}, "256 ports of 200G are no split of 64 of 400G"),
        ({400: 64, 200: 32}, "32 ports of 200G are no split of 64 of 400G"),
        ({800: 64, 400: 128, 100: 64}, "64 ports of 100G are no split of 128 of 400G"),
    ],
)
def test_a_slower_speed_never_carries_more_nor_on_fewer_ports(ports: dict[int, int], complaint: str):
    with pytest.raises(ValidationError, match=complaint):
        catalog.Switch.model_validate(changed(catalog.switch("qm9700"), ports_by_gbps=ports))
    beside = changed(catalog.switch("sn2201"), ports_by_gbps={1: 48, 100: 4}, uplink_gbps=100)
    assert 48 == catalog.Switch.model_validate(beside).ports(1)


@pytest.mark.parametrize(("technology", "planes", "link_gbps"), [("infiniband", 1, 800), ("roce", 2, 400), ("ethernet", 2, 400)])
def test_a_port_of_800g_is_one_link_of_infiniband_and_two_of_ethernet(technology: str, planes: int, link_gbps: int):
    """NVIDIA ConnectX-8 SuperNIC firmware release notes 40.44.0208, link speed."""
    nic = catalog.nic("connectx-8-800g")
    assert (planes, link_gbps) == (nic.planes(technology), nic.link_gbps(technology))


def test_a_port_that_need_not_split_is_one_link():
    assert (1, 400) == (catalog.nic("connectx-7-400g").planes("roce"), catalog.nic("connectx-7-400g").link_gbps("roce"))


@pytest.mark.parametrize("figures", [{"ethernet_gbps": 300}, {"technologies": ("infiniband",)}, {"ethernet_gbps": 0}])
def test_ethernet_links_fill_a_port_that_speaks_it(figures: dict):
    with pytest.raises(ValidationError, match="ethernet_gbps"):
        catalog.Nic.model_validate(changed(catalog.nic("connectx-8-800g"), **figures))


def test_query_heads_are_shared_evenly():
    with pytest.raises(ValidationError, match="no multiple"):
        catalog.Model.model_validate(changed(catalog.model("llama-3-8b"), kv_heads=5))


FSX = catalog.cloud("aws").fsx_lustre


@pytest.mark.parametrize(
    ("gib", "throughput", "efa", "fits"),
    [
        (1200, 125, False, True),
        (2400, 1000, False, True),
        (4800, 250, False, True),
        (48000, 250, False, True),
        (3600, 250, False, False),
        (1300, 125, False, False),
        (0, 125, False, False),
        (4800, 1000, True, True),
        (1200, 1000, True, False),
        (9600, 500, True, True),
        (19200, 250, True, True),
        (48000, 250, True, False),
        (38400, 125, True, True),
    ],
)
def test_fsx_capacities_that_aws_sells(gib: int, throughput: int, efa: bool, fits: bool):
    """Steps from the FSx for Lustre User Guide: 1200, 2400, then 2400 more each; with EFA by throughput."""
    assert fits is FSX.capacity_fits(gib, throughput, efa=efa)


@given(st.sampled_from(FSX.throughputs_mb_s_per_tib), st.integers(1, 500), st.integers(1, 1199), st.booleans())
def test_fsx_fits_at_whole_steps_and_nowhere_between(throughput: int, steps: int, extra: int, efa: bool):
    gib = steps * FSX.capacity_step(throughput, efa=efa)
    assert FSX.capacity_fits(gib, throughput, efa=efa)
    assert not FSX.capacity_fits(gib + extra, throughput, efa=efa)


def test_fsx_knows_its_throughputs():
    with pytest.raises(ValueError, match="300 is none of 125, 250, 500, 1000"):
        FSX.capacity_fits(2400, 300, efa=False)
    with pytest.raises(ValidationError, match="one step for each throughput"):
        FsxLustre.model_validate(FSX.model_dump() | {"efa_step_gib_by_throughput": {125: 38400}})
