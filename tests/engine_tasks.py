"""Tasks of engines, in a module that other processes can import."""

import os
import signal
import time

import numpy as np
from threadpoolctl import threadpool_info


def threads_of_products(_):
    """Numbers of threads of the libraries that multiply matrices."""
    np.ones((4, 4)) @ np.ones((4, 4))
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]


def killed(number):
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def waits_from_the_second_on(task):
    path, number = task
    for _ in range(1000 * (number > 0)):
        if path.exists():
            break
        time.sleep(0.01)
    return path.exists()
