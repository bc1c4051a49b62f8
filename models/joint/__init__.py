"""Joint law of a history: all respondents and all releases together, and its solvers."""
