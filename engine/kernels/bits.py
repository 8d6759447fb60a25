"""Bit operations as single machine instructions, which numba does not offer by itself."""

from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

__all__ = ["highest_bit", "lowest_bit"]


def _counting_intrinsic(name: str) -> Any:
    """An i32 -> i32 bit-counting intrinsic of LLVM (`ctlz`, `cttz`); undefined for 0."""

    @intrinsic
    def count(typingctx: Any, word: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            word32 = ir.IntType(32)
            function_type = ir.FunctionType(word32, [word32, ir.IntType(1)])
            function = builder.module.declare_intrinsic(f"llvm.{name}", [word32], function_type)
            return builder.call(function, [args[0], ir.Constant(ir.IntType(1), 1)])

        return types.uint32(types.uint32), codegen

    return count


_leading_zeros = _counting_intrinsic("ctlz")
_trailing_zeros = _counting_intrinsic("cttz")


@njit
def highest_bit(word: int) -> int:
    """Index of the highest set bit of a uint32 that is not 0."""
    return 31 - _leading_zeros(word)


@njit
def lowest_bit(word: int) -> int:
    """Index of the lowest set bit of a uint32 that is not 0."""
    return _trailing_zeros(word)
