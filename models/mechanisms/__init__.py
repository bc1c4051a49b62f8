"""Laws of what a publisher alters: counterfeit records, distorted values, signatures of m-invariance."""
