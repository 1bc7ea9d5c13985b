"""The name that Lustre knows a file system by: mkfs.lustre(8) allows eight characters."""

import pytest

from iacgen.blueprint.storage import Lustre, lustre_name

KEYS = {"kind": "lustre", "site": "hall", "servers": "oss", "metadata": "mds", "fabric": "storage", "capacity": "1PB", "read": "1GB/s", "write": "1GB/s", "mount": "/scratch"}


@pytest.mark.parametrize(("section", "fsname", "name"), [("scratch", None, "scratch"), ("checkpoints", None, "checkpoi"), ("scratch-one", None, "scratch"), ("scratch-one", "scr1", "scr1")])
def test_it_is_cut_and_ends_in_no_dash(section, fsname, name):
    assert lustre_name(section, Lustre.model_validate(KEYS | ({"fsname": fsname} if fsname else {}))) == name
