"""Background knowledge: priors, Markov chains, Dirichlet posteriors over both, compromised records, cascades."""
