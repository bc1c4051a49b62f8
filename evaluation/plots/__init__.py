"""Plots of risk, beliefs, groups, influence and information loss, as Matplotlib figures."""
