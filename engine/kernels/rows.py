"""Sums of rows of weights, which is what layers of a net are made of, as LLVM vector instructions.

Only the inputs that are not zero are looked at. As in `engine.kernels.vector` all take flat arrays
and where in them to begin.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from engine.kernels import inner
from engine.kernels.vector import INT, data_of, splat, vector_at

__all__ = [
    "ABREAST",
    "SET_BITS",
    "WIDE",
    "add_abreast_8",
    "add_abreast_wide",
    "add_differences_32",
    "append_set",
    "rectify_abreast",
]

Array = np.ndarray[Any, Any]

ABREAST = 5  # vectors that are worked on together, and share what is read of a matrix

SET_BITS = np.array(
    [
        [bit for bit in range(8) if byte >> bit & 1] + [0] * (8 - byte.bit_count())
        for byte in range(256)
    ],
    np.int32,
)


def append_set(builder: Any, bits: Any, base: Any, indices: Any, to: Any, table: Any) -> Any:
    """Write base + k for each bit k that is set, of 16 or 8 ones, to indices[to:]; how many."""
    mask = builder.zext(bits, ir.IntType(64))
    total = ir.Constant(mask.type, 0)
    for first in range(0, bits.type.width, 8):
        byte = builder.lshr(mask, ir.Constant(mask.type, first))
        byte = builder.and_(byte, ir.Constant(mask.type, 0xFF))
        row = builder.mul(byte, ir.Constant(byte.type, 8))
        places = builder.load(vector_at(builder, table, row, 8, INT), align=4)
        lowest = builder.add(base, ir.Constant(base.type, first))
        base_lanes = splat(builder, builder.trunc(lowest, INT), 8)
        target = vector_at(builder, indices, builder.add(to, total), 8, INT)
        builder.store(builder.add(places, base_lanes), target, align=4)
        total = builder.add(total, builder.ctpop(byte))
    return total


def _larger(builder: Any, left: Any, right: Any) -> Any:
    """The larger of two float32 vectors, lane by lane, none of which is NaN.

    LLVM makes of a comparison and a choice a masked store, which some processors take long for.
    """
    name = f"llvm.maxnum.v{left.type.count}f32"
    function_type = ir.FunctionType(left.type, [left.type] * 2)
    function = cgutils.get_or_insert_function(builder.module, function_type, name)
    return builder.call(function, [left, right], fastmath=("nnan", "nsz"))


def _rectifier(lanes: int) -> Any:
    @intrinsic
    def rectify(
        typingctx: Any, values: Any, start: Any, stride: Any, base: Any, indices: Any, to: Any,
        set_bits: Any,
    ) -> Any:  # fmt: skip
        """The part of `rectify_abreast` for `lanes` values from `base`; how many were listed."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            values_data, indices_data, table_data = (
                data_of(context, builder, signature.args[k], args[k]) for k in (0, 4, 6)
            )
            _, place, stride_value, base_value, _, to_value, _ = args
            place = builder.add(place, base_value)
            any_positive = ir.Constant(ir.VectorType(ir.IntType(1), lanes), None)
            for _ in range(ABREAST):
                pointer = vector_at(builder, values_data, place, lanes)
                loaded = builder.load(pointer, align=4)
                zeros = ir.Constant(loaded.type, None)
                rectified = _larger(builder, loaded, zeros)
                builder.store(rectified, pointer, align=4)
                positive = builder.fcmp_ordered(">", rectified, zeros)
                any_positive = builder.or_(any_positive, positive)
                place = builder.add(place, stride_value)
            bits = builder.bitcast(any_positive, ir.IntType(lanes))
            return append_set(builder, bits, base_value, indices_data, to_value, table_data)

        arguments = (
            values, types.int64, types.int64, types.int64, indices, types.int64, set_bits,
        )  # fmt: skip
        return types.int64(*arguments), codegen

    return rectify


_rectify_8, _rectify_16 = _rectifier(8), _rectifier(16)


@inner
def rectify_abreast(values: Array, start: int, stride: int, count: int, indices: Array) -> int:
    """ReLU in place of values[start + m * stride :][:count] for each m < ABREAST.

    Written to indices, int32: each k < count where one of them at least is above zero; how many is
    returned. count must be a multiple of 8; indices needs 8 places more.
    """
    found = 0
    base = 0
    while base + 16 <= count:
        found += _rectify_16(values, start, stride, base, indices, found, SET_BITS)
        base += 16
    if base < count:
        found += _rectify_8(values, start, stride, base, indices, found, SET_BITS)
    return found


def _abreast_adder(width: int) -> Any:
    @intrinsic
    def add_abreast(
        typingctx: Any, sums: Any, at: Any, bias: Any, scales: Any, start: Any, stride: Any,
        indices: Any, count: Any, weights: Any, first_weight: Any, columns: Any,
    ) -> Any:  # fmt: skip
        """sums[at + m * stride :][:width] = weights[bias:][:width], plus scales[start + m * stride
        + i] * weights[first_weight + i * columns :][:width] for each i in indices[:count]; for each
        m < ABREAST.
        """

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            sums_data, scale_data, index_data, weight_data = (
                data_of(context, builder, signature.args[k], args[k]) for k in (0, 3, 6, 8)
            )
            at_value, bias_value, start_value, stride_value = (args[k] for k in (1, 2, 4, 5))
            count_value, weight_start, columns_value = (args[k] for k in (7, 9, 10))
            biases = builder.load(vector_at(builder, weight_data, bias_value, width), align=4)
            totals = [cgutils.alloca_once_value(builder, biases) for _ in range(ABREAST)]
            with cgutils.for_range(builder, count_value) as loop:
                index = builder.load(builder.gep(index_data, [loop.index]))
                index = builder.sext(index, ir.IntType(64))
                row = builder.add(weight_start, builder.mul(index, columns_value))
                loaded = builder.load(vector_at(builder, weight_data, row, width), align=4)
                place = builder.add(start_value, index)
                for total in totals:
                    scale = builder.load(builder.gep(scale_data, [place]))
                    product = builder.fmul(splat(builder, scale, width), loaded, flags=("fast",))
                    added = builder.fadd(builder.load(total), product, flags=("fast",))
                    builder.store(added, total)
                    place = builder.add(place, stride_value)
            place = at_value
            for total in totals:
                target = vector_at(builder, sums_data, place, width)
                builder.store(builder.load(total), target, align=4)
                place = builder.add(place, stride_value)
            return context.get_dummy_value()

        arguments = (
            sums, types.int64, types.int64, scales, types.int64, types.int64, indices,
            types.int64, weights, types.int64, types.int64,
        )  # fmt: skip
        return types.void(*arguments), codegen

    return add_abreast


WIDE = 32 if get_host_cpu_features().get("avx512f") else 16
"""Columns whose sums, ABREAST of each, fit into the processor's vector registers."""
add_abreast_8 = _abreast_adder(8)
add_abreast_wide = _abreast_adder(WIDE)


@intrinsic
def add_differences_32(
    typingctx: Any, out: Any, sums: Any, table: Any, changes: Any, count: Any
) -> Any:
    """out[:32] = sums[:32], plus table[after:][:32] and less table[before:][:32] for each of the
    first `count` pairs (after, before) in changes.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        out_data, sums_data, table_data, changes_data = (
            data_of(context, builder, signature.args[k], args[k]) for k in range(4)
        )
        start = ir.Constant(ir.IntType(64), 0)
        loaded = builder.load(vector_at(builder, sums_data, start, 32), align=4)
        total = cgutils.alloca_once_value(builder, loaded)
        with cgutils.for_range(builder, args[4]) as loop:
            pair = builder.mul(loop.index, ir.Constant(loop.index.type, 2))
            places = [
                builder.load(builder.gep(changes_data, [place]))
                for place in (pair, builder.add(pair, ir.Constant(pair.type, 1)))
            ]
            after, before = (
                builder.load(vector_at(builder, table_data, place, 32), align=4) for place in places
            )
            difference = builder.fsub(after, before, flags=("fast",))
            builder.store(builder.fadd(builder.load(total), difference), total)
        target = vector_at(builder, out_data, start, 32)
        builder.store(builder.load(total), target, align=4)
        return context.get_dummy_value()

    return types.void(out, sums, table, changes, types.int64), codegen
