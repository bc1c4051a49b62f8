"""Who may share a bucket: bounded values, mined rules, matchings."""
