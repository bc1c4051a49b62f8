"""The command `foreknow`: options, inputs, output files, printed tables."""
