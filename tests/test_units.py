"""Quantities survive writing and reading; a wrong unit teaches the right one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iacgen import units


@pytest.mark.parametrize(
    ("text", "dimension", "value"),
    [
        ("160GB/s", "bytes_per_s", 160 * 10**9),
        ("10PB", "bytes", 10**16),
        ("48000GiB", "bytes", 48000 * 2**30),
        ("42kW", "watts", 42_000),
        ("400Gb/s", "bits_per_s", 400 * 10**9),
        ("1.5 TB", "bytes", 1_500_000_000_000),
        ("5min", "seconds", 300),
        ("0.1s", "seconds", 0.1),
    ],
)
def test_reads_what_a_person_writes(text, dimension, value):
    assert units.parse(text, dimension) == value


@pytest.mark.parametrize("text", ["42", 42, "kW", "42 kw", "42KW", "-1kW", "1e3W", "42kW ", "٤٢kW", "1" * 50 + "W", None, "42kWh"])
def test_refuses_what_could_be_misread(text):
    with pytest.raises(ValueError):
        units.parse(text, "watts")


def test_says_which_case_is_meant():
    with pytest.raises(ValueError, match="GB/s"):
        units.parse("160gb/s", "bytes_per_s")


@given(st.integers(1, 10**19), st.sampled_from(["bytes", "bytes_per_s", "bits_per_s", "watts"]))
def test_written_numbers_read_back(value, dimension):
    assert units.parse(units.write(value, dimension), dimension) == value


@given(st.decimals("0.001", "999999", places=3))
def test_written_seconds_read_back(value):
    assert units.parse(units.write(float(value), "seconds"), "seconds") == float(value)
