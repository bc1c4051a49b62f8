"""Compiled kernels over the assignments of one group.

- ``group_beliefs`` and ``forward_backward``: beliefs under the product of the priors;
- ``support``: pairs of respondent and value that the knowledge leaves possible;
- ``best_assignments``: assignments with the largest sum of priors;
- ``message_passing``: the fixed-point iteration of `BeliefPropagation`;
- ``swap_moves``: the Markov chain of `SwapChain`.
"""
