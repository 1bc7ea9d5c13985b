"""A finding as one line that editors and ``grep`` understand."""

import re

from iacgen.diagnostics.concise import render


def test_a_line_a_finding_in_the_order_of_the_file(sample):
    assert render(sample.report(*sample.ALL)).splitlines() == [
        "lab.yaml:3:17: error[IAC999] thing-found: wrong (docs: iacgen explain IAC999)",
        "lab.yaml:4:27: warning[IAC998] thing-doubted: doubtful (docs: iacgen explain IAC998)",
        "lab.yaml:5:3: info[IAC997] thing-told: good to know (docs: iacgen explain IAC997)",
    ]


def test_nothing_found_prints_nothing(sample):
    assert render(sample.report()) == ""


def test_a_suppressed_finding_is_not_printed(sample):
    assert render(sample.report(allowed=sample.ALL)) == ""


def test_hostile_words_stay_in_their_line(sample):
    for words in sample.HOSTILE:
        (line,) = render(sample.report(sample.finding(("kind",), words), name=words)).split("\n")
        assert line.isprintable() and re.search(r":1:7: error\[IAC999\] thing-found: ", line)
