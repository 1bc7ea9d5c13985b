"""An availability zone that is not in the region.

Why: the AWS provider takes any zone name in validate and plan; the first API call fails, after the network is half built.

Bad::

    sites:
      ohio: {kind: aws, region: us-east-2, zone: us-west-2a}

Good::

    sites:
      ohio: {kind: aws, region: us-east-2, zone: us-east-2a}

Source: cluster-toolkit's validator test_zone_in_region.
"""

from __future__ import annotations

from collections.abc import Iterator

from ... import catalog
from ...blueprint import Blueprint
from ...diagnostics import Related
from ..rule import Found, rule


@rule("IAC209", "zone-outside-region")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, site in blueprint.sites.items():
        if site.kind == "aws" and site.zone[:-1] != site.region:
            known = catalog.cloud("aws").regions
            misspelt = site.region not in known and site.zone[:-1] in known  # the zone says which region is meant
            help = f"did you mean {site.zone[:-1]!r}?" if misspelt else None
            yield Found(f"zone {site.zone} is not in {site.region}", ("sites", name, "region" if misspelt else "zone"), (Related(("sites", name, "zone" if misspelt else "region"), "which it does not fit"),), help=help)
