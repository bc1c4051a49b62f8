"""Mechanisms of a publisher that alter a release: counterfeits, distorted values, signatures of m-invariance."""
