"""Checks that need the blueprint and the catalog alone; every reference in it resolves."""
