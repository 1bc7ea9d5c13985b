"""A machine type that was not sold in the region.

Why: a machine type starts in a few regions and comes to others later or never. The provider plans it anywhere; the launch is refused
after the network, the file system and the bucket have been built.

Bad::

    sites:
      frankfurt: {kind: aws, region: eu-central-1, zone: eu-central-1a}
    nodes:
      gpu: {site: frankfurt, system: p5.48xlarge, count: 16}

Good: a region that sells it, such as us-east-2. ``iacgen catalog p5.48xlarge`` lists them.

Source: cluster-toolkit's validator test_machine_type_in_zone; offerings: EC2 DescribeInstanceTypeOfferings, as in moto 5.2.1.
"""

from __future__ import annotations

from collections.abc import Iterator

from ... import catalog
from ...blueprint import Blueprint
from ...diagnostics import Related
from ..duties import aws_sites
from ..rule import Found, rule


@rule("IAC240", "type-not-in-region", "warning")
def check(blueprint: Blueprint) -> Iterator[Found]:
    sites = aws_sites(blueprint)
    for name, pool in blueprint.nodes.items():
        offered = catalog.system(pool.system).cloud
        if not offered or not offered.regions or pool.site not in sites:
            continue
        region = sites[pool.site].region
        if region not in offered.regions and region in catalog.cloud("aws").regions:
            message = f"{pool.system} was not sold in {region} when the catalog was written"
            yield Found(message, ("nodes", name, "system"), (Related(("sites", pool.site, "region"), "the region"),), help=f"sold in {', '.join(offered.regions)}")
