"""Files of the command line: columns that are read, and outputs with their checksums."""
