"""Checks of the designed cluster: they take a Subject, whose parts belong to one blueprint without errors so far."""
