"""Bit operations as single machine instructions, which numba does not offer by itself."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from engine.kernels import inner

__all__ = ["highest_bit", "lowest_bit", "reverse"]


def _counting_intrinsic(name: str, word: Any) -> Any:
    """A bit-counting intrinsic of LLVM (`ctlz`, `cttz`) of a numba word; undefined for 0."""

    @intrinsic
    def count(typingctx: Any, argument: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            llvm_word = ir.IntType(word.bitwidth)
            function_type = ir.FunctionType(llvm_word, [llvm_word, ir.IntType(1)])
            function = builder.module.declare_intrinsic(f"llvm.{name}", [llvm_word], function_type)
            return builder.call(function, [args[0], ir.Constant(ir.IntType(1), 1)])

        return word(word), codegen

    return count


@intrinsic
def reverse(typingctx: Any, word: Any) -> Any:
    """A uint32 with its bits in the opposite order."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        llvm_word = ir.IntType(32)
        function_type = ir.FunctionType(llvm_word, [llvm_word])
        function = builder.module.declare_intrinsic("llvm.bitreverse", [llvm_word], function_type)
        return builder.call(function, [args[0]])

    return types.uint32(types.uint32), codegen


_leading_zeros = _counting_intrinsic("ctlz", types.uint32)
_trailing_zeros = _counting_intrinsic("cttz", types.uint64)


@inner
def highest_bit(word: int) -> int:
    """Index of the highest set bit of a uint32 that is not 0."""
    return 31 - _leading_zeros(word)


@inner
def lowest_bit(word: int) -> int:
    """Index of the lowest set bit of a uint64 that is not 0."""
    return np.int64(_trailing_zeros(word))
