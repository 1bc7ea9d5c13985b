"""A Hierarchy by meaning: which hosts lie together, tier by tier, whatever the groups are called."""

from iacgen.render.hostlist import expand


def groups(hierarchy):
    """For each tier from the hosts upwards the set of its groups, each the set of its hosts; empty groups are none."""
    return [{frozenset(h for h, label in zip(hierarchy.hosts, labels, strict=True) if label == g) for g in set(labels)} for labels in hierarchy.labels.tolist()]


def named(hierarchy):
    """The same by name: a mapping of name to hosts for each tier."""
    tiers = zip(hierarchy.groups, hierarchy.labels.tolist(), strict=True)
    return [{names[g]: {h for h, label in zip(hierarchy.hosts, labels, strict=True) if label == g} for g in set(labels)} for names, labels in tiers]


def domains(hierarchies):
    """NVLink domain to hosts."""
    out = {}
    for hierarchy in hierarchies:
        for host, domain in zip(hierarchy.hosts, hierarchy.domains, strict=True) if hierarchy.domains else ():
            if domain is not None:
                out.setdefault(domain, set()).add(host)
    return out


def written(tiers):
    """The same form from hostlists."""
    return [{frozenset(expand(text)) for text in tier} for tier in tiers]


def tree(lines):
    """Leaf and upper groups out of lines of topology.conf, each switch by the hosts below it."""
    units = [dict(word.split("=", 1) for word in line.split()) for line in lines if not line.startswith("#")]
    below = {u["SwitchName"]: expand(u["Switches"]) for u in units if "Switches" in u}
    nodes = {u["SwitchName"]: frozenset(expand(u["Nodes"])) for u in units if "Nodes" in u}

    def hosts(switch):
        return nodes.get(switch) or frozenset().union(*(hosts(child) for child in below[switch]))

    return {name: hosts(name) for name in (*nodes, *below)}


def blocks(lines):
    """Block to hosts out of lines of topology.conf."""
    units = [dict(word.split("=", 1) for word in line.split()) for line in lines if not line.startswith("#")]
    return {u["BlockName"]: frozenset(expand(u.get("Nodes", ""))) for u in units if "BlockName" in u}


def consistent(hierarchy):
    """What must hold of any: each group lies in one of the next tier, hosts and names of a tier are distinct, rates fit the groups."""
    assert len(set(hierarchy.hosts)) == len(hierarchy.hosts) > 0
    for names, labels, rates in zip(hierarchy.groups, hierarchy.labels, hierarchy.uplink_Bps, strict=True):
        assert len(set(names)) == len(names) == len(rates) and set(labels.tolist()) == set(range(len(names)))
        assert (rates > 0).all()
    for low, high in zip(hierarchy.labels, hierarchy.labels[1:], strict=False):
        assert len(set(zip(low.tolist(), high.tolist(), strict=True))) == len(set(low.tolist()))
    assert hierarchy.domains == () or len(hierarchy.domains) == len(hierarchy.hosts)
