"""Quantities survive writing and reading; a wrong unit teaches the right one."""

import re

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


@pytest.mark.parametrize(
    ("text", "dimension", "says"),
    [
        ("100 Gb/s", "bytes_per_s", "100Gb/s is 12.5GB/s"),
        ("200Gbps", "bytes_per_s", "200Gbps is 25GB/s"),
        ("8Pb", "bytes", "8Pb is 1PB"),
        ("200GBps", "bytes_per_s", "did you mean GB/s?"),
        ("200 GB/sec", "bytes_per_s", "did you mean GB/s?"),
        ("200GB", "bytes_per_s", "did you mean GB/s?"),
        ("10PB/s", "bytes", "did you mean PB?"),
        ("10P", "bytes", "did you mean PB?"),
        ("10 petabytes", "bytes", "did you mean PB?"),
        ("42k", "watts", "did you mean kW?"),
        ("42 kilowatts", "watts", "did you mean kW?"),
        ("60 sec", "seconds", "did you mean s?"),
        ("5 minutes", "seconds", "did you mean min?"),
        ("2hrs", "seconds", "did you mean h?"),
        ("1m", "seconds", "such as 60s or 5min"),
        ("10,000TB", "bytes", "10000TB"),
        ("10_000TB", "bytes", "10000TB"),
        (".5PB", "bytes", "0.5PB"),
        ("5.PB", "bytes", "5PB"),
        ("10  PB", "bytes", "10 PB"),
        ("-10PB", "bytes", "more than 0"),
    ],
)
def test_says_what_is_meant(text, dimension, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        units.parse(text, dimension)


@given(st.integers(1, 10**19), st.sampled_from(["bytes", "bytes_per_s", "bits_per_s", "watts"]))
def test_written_numbers_read_back(value, dimension):
    assert units.parse(units.write(value, dimension), dimension) == value


@given(st.decimals("0.001", "999999", places=3))
def test_written_seconds_read_back(value):
    assert units.parse(units.write(float(value), "seconds"), "seconds") == float(value)


@pytest.mark.parametrize(("value", "text"), [(0.31, "310 ms"), (119, "119 s"), (150, "2.5 min"), (13_910, "3.86 h"), (999 * 3600 - 1, "999 h"), (999 * 3600, "42 days"), (2.0088e11, "2,325,000 days")])
def test_seconds_are_read_without_a_power_of_ten(value, text):
    assert units.seconds(value) == text
