"""Plots of risk, beliefs, groups, influence and utility, as matplotlib figures."""
