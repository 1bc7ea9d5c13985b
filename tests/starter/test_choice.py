"""Which switch a first blueprint gets for which ports."""

import pytest

from iacgen import catalog
from iacgen.starter.choice import choice


@pytest.mark.parametrize(
    ("system", "technology", "switch", "gbps", "planes"),
    [
        ("dgx-a100", "infiniband", "qm8700", 200, 1),
        ("dgx-h100", "infiniband", "qm9700", 400, 1),
        ("dgx-gb200", "infiniband", "qm9700", 400, 1),
        ("dgx-b300", "infiniband", "q3400-ra", 800, 1),
        ("hgx-h100", "roce", "sn5600", 400, 1),
        ("dgx-b300", "roce", "sn5600", 400, 2),
    ],
)
def test_each_generation_gets_the_switch_of_its_reference_design(system: str, technology: str, switch: str, gbps: int, planes: int):
    """NVIDIA's reference architectures: HDR, NDR and XDR, and for Spectrum-X with ConnectX-8 two planes of 400G."""
    chosen = choice(catalog.system(system).nics["compute"], technology)
    assert (switch, gbps, planes) == (chosen.switch.id, chosen.gbps, chosen.planes)
    assert chosen.ports == catalog.switch(switch).ports(gbps) > 0


def test_ports_that_speak_something_else_get_none():
    assert choice(catalog.system("p5.48xlarge").nics["compute"], "infiniband") is None
    assert choice(catalog.system("dgx-h100").nics["management"], "roce") is None


def test_a_slow_port_of_a_fast_adapter_needs_no_plane():
    slow = catalog.system("dgx-b300").nics["compute"].model_copy(update={"gbps": 400})
    assert 1 == choice(slow, "roce").planes
