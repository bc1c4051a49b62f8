"""Risk measures of beliefs and releases: disclosure, breaches, calibration, record linkage."""
