"""Ansible connection into a folder that is a root file system, by chroot: no network, no service manager."""

from __future__ import annotations

import shutil
import subprocess

from ansible.plugins.connection import ConnectionBase

DOCUMENTATION = """
name: tree
short_description: chroot into a folder
description: Runs the commands of a play inside a folder that is a root file system.
options:
  remote_addr:
    description: The folder.
    vars: [{name: ansible_host}]
"""


class Connection(ConnectionBase):
    """One folder."""

    transport = "tree"
    has_pipelining = True

    def _connect(self):
        self._connected = True
        return self

    def exec_command(self, cmd, in_data=None, sudoable=False):
        done = subprocess.run(["chroot", self.get_option("remote_addr"), "/bin/sh", "-c", cmd], input=in_data, capture_output=True)
        return done.returncode, done.stdout, done.stderr

    def put_file(self, in_path, out_path):
        shutil.copyfile(in_path, f"{self.get_option('remote_addr')}{out_path}")

    def fetch_file(self, in_path, out_path):
        shutil.copyfile(f"{self.get_option('remote_addr')}{in_path}", out_path)

    def close(self):
        self._connected = False
