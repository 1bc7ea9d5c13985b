"""A region that the catalog does not know.

Why: the provider takes any region in validate and plan; the first call goes to a host name that does not exist, and waits. A region
that was opened after the catalog was written is found here too: that is why this is a warning.

Bad::

    sites:
      ohio: {kind: aws, region: us-east-3, zone: us-east-3a}

Good: ``region: us-east-2``.

Source: cluster-toolkit's validator test_region_exists; list of regions: botocore 1.44.8, endpoints.json.
"""

from __future__ import annotations

from collections.abc import Iterator

from ... import catalog
from ...blueprint import Blueprint
from ..duties import aws_sites
from ..nearest import nearest
from ..rule import Found, rule


@rule("IAC239", "unknown-region", "warning")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, site in aws_sites(blueprint).items():
        known = catalog.cloud("aws").regions
        if site.region not in known and site.zone[:-1] not in known:  # else the zone tells more: IAC209
            yield Found(f"the catalog knows no region {site.region} of AWS", ("sites", name, "region"), help=nearest(site.region, known))
