"""Requirements of published groups and the summaries they are evaluated on."""
