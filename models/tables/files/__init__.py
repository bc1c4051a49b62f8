"""Table files: CSV and Parquet, without rounding and without guesses at missing cells."""
