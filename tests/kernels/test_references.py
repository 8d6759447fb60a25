"""What the kernels call counts no references to arrays, which took most of its time."""

import numpy as np
from numba import typeof

from engine.cube.context import CubeContext
from engine.cube.equity import cubes_of
from engine.kernels.choice import best_cubeful_result
from engine.kernels.net import make_scratch


def test_the_best_result_is_found_without_counting_references(random_network):
    net = random_network(16).kernel
    arguments = (
        net, make_scratch(net.sizes), np.int64(6), np.int64(5),
        cubes_of([CubeContext()]), np.int64(0),
        np.empty(5, np.float32), np.empty(4),
    )  # fmt: skip
    signature = tuple(map(typeof, arguments))
    best_cubeful_result.compile(signature)

    assert "call void @NRT_incref" not in best_cubeful_result.inspect_llvm(signature)
