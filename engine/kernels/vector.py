"""Two loops that numba does not vectorise well, as LLVM vector instructions.

Both work on any processor: LLVM splits the vectors into what the machine has.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = ["CHAINS", "add_rows_8", "add_rows_32", "add_rows_64", "list_positive"]

Array = np.ndarray[Any, Any]

CHAINS = 4  # the most inputs taken at a time, each into sums of its own, to hide latency

_FLOAT = ir.FloatType()
_INT = ir.IntType(32)
_SET_BITS = np.array(
    [
        [bit for bit in range(8) if byte >> bit & 1] + [0] * (8 - byte.bit_count())
        for byte in range(256)
    ],
    np.int32,
)
_BIT_COUNT = np.array([byte.bit_count() for byte in range(256)], np.int64)


def _vector_at(builder: Any, data: Any, index: Any, width: int, lane: Any = _FLOAT) -> Any:
    """The pointer to the vector of `width` lanes that begins at data[index]."""
    return builder.bitcast(builder.gep(data, [index]), ir.VectorType(lane, width).as_pointer())


def _splat(builder: Any, scalar: Any, width: int) -> Any:
    """A vector with the scalar in every lane."""
    empty = ir.Constant(ir.VectorType(scalar.type, width), None)
    first = builder.insert_element(empty, scalar, ir.Constant(_INT, 0))
    lanes = ir.Constant(ir.VectorType(_INT, width), [0] * width)
    return builder.shuffle_vector(first, empty, lanes)


def _data(context: Any, builder: Any, array_type: Any, value: Any) -> Any:
    return context.make_array(array_type)(context, builder, value).data


@intrinsic
def _append_positive(
    typingctx: Any, values: Any, base: Any, indices: Any, found: Any, set_bits: Any
) -> Any:
    """Write base + k for each k in 0..7 with values[base + k] > 0 to indices[found:]; as a byte."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values_data = _data(context, builder, signature.args[0], args[0])
        indices_data = _data(context, builder, signature.args[2], args[2])
        table_data = _data(context, builder, signature.args[4], args[4])
        loaded = builder.load(_vector_at(builder, values_data, args[1], 8), align=4)
        positive = builder.fcmp_ordered(">", loaded, ir.Constant(loaded.type, None))
        byte = builder.zext(builder.bitcast(positive, ir.IntType(8)), ir.IntType(64))
        row = builder.mul(byte, ir.Constant(byte.type, 8))
        bits = builder.load(_vector_at(builder, table_data, row, 8, _INT), align=4)
        base_lanes = _splat(builder, builder.trunc(args[1], _INT), 8)
        target = _vector_at(builder, indices_data, args[3], 8, _INT)
        builder.store(builder.add(bits, base_lanes), target, align=4)
        return byte

    return types.int64(values, types.int64, indices, types.int64, set_bits), codegen


@njit
def list_positive(values: Array, count: int, indices: Array) -> int:
    """Write the indices of the positive values[:count] into int32 indices; how many there are.

    count must be a multiple of 8; indices needs 8 places more than there are values.
    """
    found = 0
    for base in range(0, count, 8):
        found += _BIT_COUNT[_append_positive(values, base, indices, found, _SET_BITS)]
    return found


def _row_adder(width: int, chains: int) -> Any:
    @intrinsic
    def add_rows(
        typingctx: Any, sums: Any, column: Any, scales: Any, indices: Any, count: Any,
        weights: Any, start: Any, stride: Any,
    ) -> Any:  # fmt: skip
        """sums[column:][:width] += sum over i in indices[:count] of
        scales[i] * weights[start + i * stride + column :][:width]; count a multiple of CHAINS."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            arrays = [_data(context, builder, signature.args[k], args[k]) for k in (0, 2, 3, 5)]
            sums_data, scale_data, index_data, weight_data = arrays
            column_value, count_value, start_value, stride_value = (args[k] for k in (1, 4, 6, 7))
            vector = ir.VectorType(_FLOAT, width)
            zero = ir.Constant(vector, None)
            first = builder.add(start_value, column_value)
            partial = [cgutils.alloca_once_value(builder, zero) for _ in range(chains)]
            steps = builder.sdiv(count_value, ir.Constant(count_value.type, chains))
            with cgutils.for_range(builder, steps) as loop:
                base = builder.mul(loop.index, ir.Constant(loop.index.type, chains))
                for chain, pointer in enumerate(partial):
                    place = builder.add(base, ir.Constant(base.type, chain))
                    index32 = builder.load(builder.gep(index_data, [place]))
                    index = builder.sext(index32, ir.IntType(64))
                    scale = builder.load(builder.gep(scale_data, [index]))
                    row = builder.add(first, builder.mul(index, stride_value))
                    loaded = builder.load(_vector_at(builder, weight_data, row, width), align=4)
                    product = builder.fmul(
                        _splat(builder, scale, width), loaded, flags=("fast",)
                    )
                    total = builder.fadd(builder.load(pointer), product, flags=("fast",))
                    builder.store(total, pointer)
            total = builder.load(_vector_at(builder, sums_data, column_value, width), align=4)
            for pointer in partial:
                total = builder.fadd(total, builder.load(pointer), flags=("fast",))
            target = _vector_at(builder, sums_data, column_value, width)
            builder.store(total, target, align=4)
            return context.get_dummy_value()

        arguments = (sums, types.int64, scales, indices, types.int64, weights, types.int64,
                     types.int64)  # fmt: skip
        return types.void(*arguments), codegen

    return add_rows


# Up to eight vector registers of sums: enough to hide the latency, and none is spilt.
add_rows_8 = _row_adder(8, 4)
add_rows_32 = _row_adder(32, 2)
add_rows_64 = _row_adder(64, 1)
