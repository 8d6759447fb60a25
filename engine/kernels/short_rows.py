"""Sums of rows of 16-bit whole numbers, which the first layer is made of, as LLVM vector
instructions.

Sums are right even where a partial one overflows, as long as the whole sum fits: they wrap around.
As in `engine.kernels.vector` all take flat arrays and where in them to begin.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from engine.kernels import inner
from engine.kernels.rows import ABREAST, SET_BITS, append_set
from engine.kernels.tactics import TACTICS
from engine.kernels.vector import FLOAT, INT, SHORT, data_of, splat, vector_at

__all__ = [
    "BLOCK",
    "PRODUCT_BITS",
    "add_listed",
    "add_products",
    "rectify_sums",
    "subtract_products",
    "subtract_rows",
]

Array = np.ndarray[Any, Any]

BLOCK = 64  # lanes: units of the first layer that are summed up at a time
PRODUCT_BITS = 16  # that are dropped of a product, rounding down


def _row(builder: Any, data: Any, place: Any) -> Any:
    return builder.load(vector_at(builder, data, place, BLOCK, SHORT), align=2)


def _store_row(builder: Any, row: Any, data: Any, place: Any) -> None:
    builder.store(row, vector_at(builder, data, place, BLOCK, SHORT), align=2)


def _product(builder: Any, row: Any, value: Any) -> Any:
    """row * value / 2 ** PRODUCT_BITS, rounded down."""
    wide = ir.VectorType(INT, BLOCK)
    product = builder.mul(builder.sext(row, wide), builder.sext(splat(builder, value, BLOCK), wide))
    high = builder.ashr(product, ir.Constant(wide, [PRODUCT_BITS] * BLOCK))
    return builder.trunc(high, row.type)


@intrinsic
def add_listed(
    typingctx: Any, out: Any, at: Any, sums: Any, first: Any, rows: Any, start: Any, places: Any,
    begin: Any, count: Any,
) -> Any:  # fmt: skip
    """out[at:][:BLOCK] = sums[first:][:BLOCK], plus rows[start + place:][:BLOCK] for each place of
    the `count` ones in places[begin:].
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        out_data, sums_data, rows_data, places_data = (
            data_of(context, builder, signature.args[k], args[k]) for k in (0, 2, 4, 6)
        )
        at_value, first_value, start_value, begin_value, count_value = (
            args[k] for k in (1, 3, 5, 7, 8)
        )
        total = cgutils.alloca_once_value(builder, _row(builder, sums_data, first_value))
        with cgutils.for_range(builder, count_value) as loop:
            place = builder.load(builder.gep(places_data, [builder.add(begin_value, loop.index)]))
            row = _row(builder, rows_data, builder.add(start_value, place))
            builder.store(builder.add(builder.load(total), row), total)
        _store_row(builder, builder.load(total), out_data, at_value)
        return context.get_dummy_value()

    arguments = (
        out, types.int64, sums, types.int64, rows, types.int64, places, types.int64, types.int64,
    )  # fmt: skip
    return types.void(*arguments), codegen


@intrinsic
def subtract_rows(typingctx: Any, out: Any, at: Any, rows: Any, after: Any, before: Any) -> Any:
    """out[at:][:BLOCK] = rows[after:][:BLOCK] - rows[before:][:BLOCK]."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        out_data, rows_data = (
            data_of(context, builder, signature.args[k], args[k]) for k in (0, 2)
        )
        difference = builder.sub(
            _row(builder, rows_data, args[3]), _row(builder, rows_data, args[4])
        )
        _store_row(builder, difference, out_data, args[1])
        return context.get_dummy_value()

    return types.void(out, types.int64, rows, types.int64, types.int64), codegen


@intrinsic
def subtract_products(
    typingctx: Any, out: Any, at: Any, rows: Any, place: Any, after: Any, before: Any
) -> Any:
    """out[at:][:BLOCK] = the products of rows[place:][:BLOCK] with `after`, less with `before`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        out_data, rows_data = (
            data_of(context, builder, signature.args[k], args[k]) for k in (0, 2)
        )
        row = _row(builder, rows_data, args[3])
        difference = builder.sub(_product(builder, row, args[4]), _product(builder, row, args[5]))
        _store_row(builder, difference, out_data, args[1])
        return context.get_dummy_value()

    return types.void(out, types.int64, rows, types.int64, types.int16, types.int16), codegen


@intrinsic
def add_products(typingctx: Any, sums: Any, at: Any, rows: Any, place: Any, values: Any) -> Any:
    """Add the product of rows[place + k * BLOCK:][:BLOCK] with values[k], for each k < TACTICS, to
    sums[at:][:BLOCK].
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        sums_data, rows_data, values_data = (
            data_of(context, builder, signature.args[k], args[k]) for k in (0, 2, 4)
        )
        total = cgutils.alloca_once_value(builder, _row(builder, sums_data, args[1]))
        with cgutils.for_range(builder, ir.Constant(ir.IntType(64), TACTICS)) as loop:
            value = builder.load(builder.gep(values_data, [loop.index]))
            start = builder.mul(loop.index, ir.Constant(loop.index.type, BLOCK))
            row = _row(builder, rows_data, builder.add(args[3], start))
            product = _product(builder, row, value)
            builder.store(builder.add(builder.load(total), product), total)
        _store_row(builder, builder.load(total), sums_data, args[1])
        return context.get_dummy_value()

    return types.void(sums, types.int64, rows, types.int64, values), codegen


@intrinsic
def _rectify_16(
    typingctx: Any, sums: Any, start: Any, first_stride: Any, out: Any, stride: Any, base: Any,
    indices: Any, to: Any, set_bits: Any,
) -> Any:  # fmt: skip
    """The part of `rectify_sums` for 16 values from `base`; how many were listed."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        sums_data, out_data, indices_data, table_data = (
            data_of(context, builder, signature.args[k], args[k]) for k in (0, 3, 6, 8)
        )
        _, start_value, first_stride_value, _, stride_value, base_value, _, to_value, _ = args
        place, target = builder.add(start_value, base_value), base_value
        zeros = ir.Constant(ir.VectorType(SHORT, 16), None)
        any_positive = zeros
        for _ in range(ABREAST):
            loaded = builder.load(vector_at(builder, sums_data, place, 16, SHORT), align=2)
            positive = builder.select(builder.icmp_signed(">", loaded, zeros), loaded, zeros)
            values = builder.sitofp(positive, ir.VectorType(FLOAT, 16))
            builder.store(values, vector_at(builder, out_data, target, 16), align=4)
            any_positive = builder.or_(any_positive, positive)
            place = builder.add(place, first_stride_value)
            target = builder.add(target, stride_value)
        chosen = builder.icmp_signed("!=", any_positive, zeros)
        bits = builder.bitcast(chosen, ir.IntType(16))
        return append_set(builder, bits, base_value, indices_data, to_value, table_data)

    arguments = (
        sums, types.int64, types.int64, out, types.int64, types.int64, indices, types.int64,
        set_bits,
    )  # fmt: skip
    return types.int64(*arguments), codegen


@inner
def rectify_sums(
    sums: Array, start: int, first_stride: int, count: int, out: Array, stride: int, indices: Array
) -> int:
    """ReLU of sums[start + m * first_stride :][:count] into float32 out[m * stride :][:count] for
    each m < ABREAST.

    Written to indices, int32: each k < count where one of them at least is above zero; how many is
    returned. count must be a multiple of 16; indices needs 8 places more.
    """
    found = 0
    for base in range(0, count, 16):
        found += _rectify_16(sums, start, first_stride, out, stride, base, indices, found, SET_BITS)
    return found
