"""Each fault that real opensm lets pass, injected, and seen by the rule that is meant for it.

All end in SUBNET UP unless said otherwise, most without a line in any log. The expectations are those of the field's experience with
opensm 3.3.23; the tree has 128 adapters on 8-port switches in three tiers.
"""

from dataclasses import replace

import pytest

from iacgen.verify.fabric.settings import Settings, guids, planned

pytestmark = pytest.mark.judge("opensm")
PARTITIONS = "Default=0x7fff,ipoib,mtu=5: ALL=full, ALL_SWITCHES=full, SELF=full;\n"
ROOTS = "/etc/opensm/root-guid.conf"
NEVER_S = 5.0  # to wait for a subnet that never comes up; a sound one of this size needs less than one


@pytest.fixture(scope="module")
def tree(fabrics):
    return fabrics.cubic(8)


def with_roots(plan, engine, names):
    """Settings whose file of roots lists these switches, or node GUIDs."""
    sound = planned(plan, engine, PARTITIONS)
    listed = guids([name if isinstance(name, int) else plan.guids[name] for name in names])
    return Settings(sound.keys, {**sound.files, ROOTS: listed})


def test_the_sound_tree_is_seen_as_sound(fabrics, tree):
    _, slugs, findings = fabrics.examine(tree, planned(tree, "ftree", PARTITIONS))
    assert not slugs, findings


def test_leaves_as_roots_of_updn(fabrics, tree):
    """Nothing in the log, and 15,872 of 16,256 pairs without a route."""
    seen, slugs, _ = fabrics.examine(tree, with_roots(tree, "updn", tree.leaves))
    assert seen.up and not seen.errors
    assert slugs == {"unreachable-adapter", "second-opinion"}
    assert (seen.routes.unreachable, seen.routes.pairs, seen.opinion.missing) == (15872, 16256, 15872)


def test_leaves_as_roots_of_ftree(fabrics, tree):
    """Never up, and not one error line: the time limit is the rule."""
    seen, slugs, _ = fabrics.examine(tree, with_roots(tree, "ftree", tree.leaves), within_s=NEVER_S)
    assert not seen.up and not seen.errors and slugs == {"opensm-refused"}


def test_a_quarter_of_the_roots_missing(fabrics, tree):
    """Nothing in the log; 128 of 512 links idle and two flows on a link."""
    seen, slugs, _ = fabrics.examine(tree, with_roots(tree, "ftree", tree.roots[:12]))
    assert seen.up and not seen.errors and slugs == {"congested-link", "unused-link"}
    assert len(seen.routes.unused()) == 128 and seen.congestion.worst == 2


def test_a_root_that_is_not_there(fabrics, tree):
    seen, slugs, _ = fabrics.examine(tree, with_roots(tree, "ftree", [0x1234]))
    assert seen.up and slugs == {"opensm-refused"} and any("AB24" in line for line in seen.errors)


def test_no_file_of_roots(fabrics, tree):
    """An error line, and roots guessed: by updn so badly that 192 links are idle."""
    sound = planned(tree, "updn", PARTITIONS)
    seen, slugs, _ = fabrics.examine(tree, Settings(sound.keys, {k: v for k, v in sound.files.items() if k != ROOTS}))
    assert seen.up and slugs == {"opensm-refused", "congested-link", "unused-link"}
    assert len(seen.routes.unused()) == 192


@pytest.mark.parametrize(("engine", "idle"), [("updn", 192), ("minhop", 192)])
def test_an_engine_that_is_not_made_for_three_tiers(fabrics, tree, engine, idle):
    seen, slugs, _ = fabrics.examine(tree, planned(tree, engine, PARTITIONS))
    assert seen.up and not seen.errors and slugs == {"congested-link", "unused-link"}
    assert len(seen.routes.unused()) == idle and seen.congestion.worst >= 4


def test_two_uplinks_exchanged_between_pods(fabrics, tree):
    """Nothing in the log, every pair arrives; four flows on a link, and two cables that are not in the list."""
    wired = fabrics.exchange(tree, ("pod00-leaf0", 5), ("pod07-leaf3", 8))
    seen, slugs, _ = fabrics.examine(tree, planned(tree, "ftree", PARTITIONS), wired)
    assert seen.up and not seen.errors and slugs == {"congested-link", "wiring-not-of-plan"} and seen.congestion.worst == 4


def test_two_host_cables_exchanged(fabrics, tree):
    """No route and no load differs: the comparison with the cable list alone sees it."""
    wired = fabrics.exchange(tree, ("gpu00000 mlx5_0", 1), ("gpu00100 mlx5_0", 1))
    seen, slugs, findings = fabrics.examine(tree, planned(tree, "ftree", PARTITIONS), wired)
    assert seen.up and not seen.errors and seen.routes.unreachable == 0
    assert "wiring-not-of-plan" in slugs and slugs <= {"wiring-not-of-plan", "congested-link"}
    assert [f.message for f in findings if "not in the fabric" in f.message][0].startswith("2 cables")


def test_a_core_that_is_not_there(fabrics, tree):
    """Nothing in the log; two flows on a link."""
    wired = fabrics.without(tree, tree.roots[3])
    kept = with_roots(tree, "ftree", [name for name in tree.roots if name != tree.roots[3]])
    seen, slugs, _ = fabrics.examine(tree, kept, wired)
    assert seen.up and not seen.errors and slugs == {"congested-link", "wiring-not-of-plan"} and seen.congestion.worst == 2


def test_one_link_to_a_core_that_is_not_there(fabrics, tree):
    wired = replace(tree, links=tree.links[:-1])
    seen, slugs, _ = fabrics.examine(tree, planned(tree, "ftree", PARTITIONS), wired)
    assert seen.up and not seen.errors and slugs == {"congested-link", "wiring-not-of-plan"}


def test_a_spine_of_a_rail_fabric_that_is_not_there(fabrics):
    plan = fabrics.rails(units=2, rails=4, hosts=8, spines=8, parallel=1, radix=16)
    wired = fabrics.without(plan, "spine3")
    settings = with_roots(plan, "ftree", [name for name in plan.roots if name != "spine3"])
    seen, slugs, _ = fabrics.examine(plan, settings, wired)
    assert seen.up and not seen.errors and slugs == {"congested-link", "wiring-not-of-plan"}


@pytest.mark.parametrize("text", [PARTITIONS.replace(":", ""), "# the line was dropped\n"])
def test_a_partition_line_without_its_colon_or_dropped(fabrics, tree, text):
    """Nothing in the log: the partition is absent, and with it its MTU."""
    plan = replace(tree, mtu=5)
    seen, slugs, _ = fabrics.examine(plan, planned(plan, "ftree", text))
    assert seen.up and not seen.errors and slugs == {"partition-not-of-plan"}
    assert not fabrics.examine(plan, planned(plan, "ftree", PARTITIONS))[1]


# Two tenants: limited members of the default partition, full ones of their own, whose key comes first, where NCCL looks.
TENANTS = """Default=0x7fff,ipoib,mtu=5: ALL=limited, ALL_SWITCHES=full, SELF=full;
tenant=0x8001,indx0,ipoib,mtu=5: {};
storage=0x8002: ALL=limited, {}=full;
"""


@pytest.mark.parametrize(
    ("spoil", "slugs"),
    [
        (lambda text: text, set()),
        (lambda text: text.replace("0x8001,indx0,ipoib,mtu=5:", "0x8001,indx0,ipoib,mtu=5"), {"partition-not-of-plan"}),  # absent, silently
        (lambda text: text.replace(",indx0", ""), {"partition-not-of-plan"}),  # the limited key first
        (lambda text: "".join(text.splitlines(keepends=True)[:-1]), {"partition-not-of-plan"}),
        (lambda text: text.replace("ALL=limited, 0x", "0x").replace("=full;\n", "=full, ALL=limited;\n"), {"partition-not-of-plan"}),  # later entries win
    ],
)
def test_partitions_of_two_tenants(fabrics, spoil, slugs):
    plan = fabrics.rails(units=1, rails=2, hosts=4, spines=2, parallel=2, radix=8)
    manager, tenant, store = plan.adapters[0], plan.adapters[2:4], plan.adapters[7]
    text = TENANTS.format(", ".join(f"{plan.port_guid(name):#018x}=full" for name in tenant), f"{plan.port_guid(store):#018x}")
    keys = {name: (0x7FFF, 0x0002) for name in plan.adapters} | dict.fromkeys(tenant, (0x8001, 0x7FFF, 0x0002))
    keys |= {store: (0x7FFF, 0x8002), manager: (0xFFFF, 0x0002)}
    plan = replace(plan, keys=keys, mtu=5)
    seen, found, findings = fabrics.examine(plan, planned(plan, "ftree", spoil(text)))
    assert seen.up and not seen.errors and found == slugs, (findings, seen.keys)


@pytest.mark.parametrize(("engine", "lanes"), [("minhop", False), ("sssp", False), ("dfsssp", False)])
def test_an_engine_that_is_cyclic_on_a_dragonfly(fabrics, engine, lanes):
    """Nothing in the log; our walk and ibdmchk's both find the circle."""
    plan = fabrics.dragonfly(2, 4, 2)
    seen, slugs, _ = fabrics.examine(plan, planned(plan, engine, PARTITIONS, lanes))
    assert seen.up and not seen.errors and {"credit-loop", "second-opinion"} <= slugs <= {"credit-loop", "second-opinion", "congested-link", "unused-link"}
    assert seen.opinion.loops and not seen.laned


def test_ftree_on_a_dragonfly(fabrics):
    """It falls to minhop with an error line, or with no_fallback never comes up."""
    plan = fabrics.dragonfly(2, 4, 2)
    kept = planned(plan, "ftree", PARTITIONS)
    falling = Settings({**kept.keys, "routing_engine": "ftree"}, kept.files)
    seen, slugs, _ = fabrics.examine(plan, falling)
    assert seen.up and {"opensm-refused", "other-routing-engine", "credit-loop"} <= slugs
    seen, slugs, _ = fabrics.examine(plan, kept, within_s=NEVER_S)
    assert not seen.up and slugs == {"opensm-refused"}


def test_updn_on_a_dragonfly(fabrics):
    """No error line: the engine that set the routes is minhop."""
    plan = fabrics.dragonfly(2, 4, 2)
    kept = planned(plan, "updn", PARTITIONS)
    seen, slugs, _ = fabrics.examine(plan, Settings({**kept.keys, "routing_engine": "updn"}, kept.files))
    assert seen.up and not seen.errors and {"other-routing-engine", "credit-loop"} <= slugs


def test_an_engine_that_is_not_the_first_of_the_list(fabrics):
    """The list says by itself that it ends in minhop, so that nothing is said before a run; the log alone tells who set the routes."""
    plan = fabrics.rails(rails=2, hosts=4, spines=1, parallel=4, radix=8)
    kept = planned(plan, "ftree", PARTITIONS)
    given = Settings({**kept.keys, "routing_engine": "ftree,minhop", "root_guid_file": "/etc/opensm/root-guid.conf"}, {**kept.files, ROOTS: guids([plan.guids[name] for name in plan.leaves])})
    assert not given.may_fall_back
    seen, _, findings = fabrics.examine(plan, given)
    assert seen.up
    assert [f.message for f in findings if f.slug == "other-routing-engine"] == ["ftree was asked for, and minhop set the routes"]


def test_a_local_mask_control_with_ftree(fabrics, tree):
    """LMC 1 is not supported there: never up, and no error line."""
    sound = planned(tree, "ftree", PARTITIONS)
    seen, slugs, _ = fabrics.examine(tree, Settings({**sound.keys, "lmc": "1"}, sound.files), within_s=NEVER_S)
    assert not seen.up and not seen.errors and slugs == {"opensm-refused"}


def test_ranks_in_any_order(fabrics, tree):
    """The wiring is sound, and the order of the ranks is not the one of the ports."""
    shuffled = tuple(tree.order[i * 37 % 128] for i in range(64)) + tuple(tree.order[i * 37 % 128] for i in range(127, 63, -1))
    _, slugs, _ = fabrics.examine(replace(tree, order=shuffled), planned(tree, "ftree", PARTITIONS))
    assert slugs == {"congested-link"}
