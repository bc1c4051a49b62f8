"""Plots of risk, beliefs, groups, influence and information loss, on Matplotlib axes.

Each plot takes ``ax`` and returns what it drew on. Without ``ax`` it makes a figure of pyplot with constrained layout; with it, the
plot changes nothing else of the figure, except that a colour bar takes room from the given axes. A plot of several panels takes and
returns an array of Axes, whose shape is in its docstring; the axes of another arrangement are taken row by row.
"""
