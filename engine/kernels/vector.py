"""What numba does not vectorise well, as LLVM vector instructions.

They work on any processor: LLVM splits the vectors into what the machine has. All take flat arrays
and where in them to begin: a slice of an array is counted by reference, and in loops as short as
these the counting would take as long as the work.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from engine.kernels import inner

__all__ = [
    "CHAINS",
    "add_differences_32",
    "add_differences_64",
    "add_rows_8",
    "add_rows_32",
    "add_rows_64",
    "list_nonzero",
    "list_positive",
    "logistic_8",
    "mask_above",
    "mask_unequal",
    "positive_dot_32",
]

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


def _appender(comparison: str, lanes: int) -> Any:
    @intrinsic
    def append(
        typingctx: Any, values: Any, start: Any, base: Any, indices: Any, found: Any, set_bits: Any
    ) -> Any:
        """Write base + k for each k < lanes whose values[start + base + k] compares so with 0 to
        indices[found:]; gives how many there are.
        """

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            values_data, indices_data, table_data = (
                _data(context, builder, signature.args[k], args[k]) for k in (0, 3, 5)
            )
            _, start_value, base_value, _, found_value, _ = args
            place = builder.add(start_value, base_value)
            loaded = builder.load(_vector_at(builder, values_data, place, lanes), align=4)
            chosen = builder.fcmp_ordered(comparison, loaded, ir.Constant(loaded.type, None))
            mask = builder.zext(builder.bitcast(chosen, ir.IntType(lanes)), ir.IntType(64))
            total = ir.Constant(mask.type, 0)
            for first in range(0, lanes, 8):
                byte = builder.lshr(mask, ir.Constant(mask.type, first))
                byte = builder.and_(byte, ir.Constant(mask.type, 0xFF))
                row = builder.mul(byte, ir.Constant(byte.type, 8))
                bits = builder.load(_vector_at(builder, table_data, row, 8, _INT), align=4)
                lowest = builder.add(base_value, ir.Constant(base_value.type, first))
                base_lanes = _splat(builder, builder.trunc(lowest, _INT), 8)
                to = builder.add(found_value, total)
                target = _vector_at(builder, indices_data, to, 8, _INT)
                builder.store(builder.add(bits, base_lanes), target, align=4)
                total = builder.add(total, builder.ctpop(byte))
            return total

        arguments = (values, types.int64, types.int64, indices, types.int64, set_bits)
        return types.int64(*arguments), codegen

    return append


def _lister(comparison: str) -> Any:
    append_8, append_16 = _appender(comparison, 8), _appender(comparison, 16)

    @inner
    def list_those(values: Array, start: int, count: int, indices: Array, to: int) -> int:
        """Write each k < count whose values[start + k] compares so with 0 to indices[to:], int32;
        how many there are.

        count must be a multiple of 8; indices needs 8 places more than there are values.
        """
        found = to
        base = 0
        while base + 16 <= count:
            found += append_16(values, start, base, indices, found, _SET_BITS)
            base += 16
        if base < count:
            found += append_8(values, start, base, indices, found, _SET_BITS)
        return found - to

    return list_those


list_positive = _lister(">")
list_nonzero = _lister("!=")


@intrinsic
def mask_above(typingctx: Any, values: Any, start: Any, threshold: Any) -> Any:
    """The uint32 whose bit k says whether values[start + k] > threshold, of an int8 array."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = _data(context, builder, signature.args[0], args[0])
        byte = ir.IntType(8)
        loaded = builder.load(_vector_at(builder, data, args[1], 32, byte), align=1)
        limit = _splat(builder, builder.trunc(args[2], byte), 32)
        return builder.bitcast(builder.icmp_signed(">", loaded, limit), _INT)

    return types.uint32(values, types.int64, types.int64), codegen


@intrinsic
def mask_unequal(typingctx: Any, left: Any, at: Any, right: Any) -> Any:
    """The uint64 whose bit k says whether left[at + k] != right[k], of the int8 memory of both."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte = ir.IntType(8)
        zero = ir.Constant(ir.IntType(64), 0)
        loaded = [
            builder.load(
                _vector_at(builder, _data(context, builder, kind, array), place, 64, byte), align=1
            )
            for kind, array, place in (
                (signature.args[0], args[0], args[1]),
                (signature.args[2], args[2], zero),
            )
        ]
        return builder.bitcast(builder.icmp_signed("!=", *loaded), ir.IntType(64))

    return types.uint64(left, types.int64, right), codegen


@intrinsic
def positive_dot_32(typingctx: Any, left: Any, right: Any) -> Any:
    """The sum of max(left[k], 0) * right[k] over k < 32, of float32 arrays."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = ir.VectorType(_FLOAT, 32)
        none = ir.Constant(vector, None)
        start = ir.Constant(ir.IntType(64), 0)
        values, weights = (
            builder.load(
                _vector_at(builder, _data(context, builder, signature.args[k], args[k]), start, 32),
                align=4,
            )
            for k in (0, 1)
        )
        positive = builder.select(builder.fcmp_ordered(">", values, none), values, none)
        product = builder.fmul(positive, weights)
        function_type = ir.FunctionType(_FLOAT, [_FLOAT, vector])
        name = "llvm.vector.reduce.fadd.v32f32"
        function = cgutils.get_or_insert_function(builder.module, function_type, name)
        return builder.call(function, [ir.Constant(_FLOAT, 0.0), product], fastmath=("reassoc",))

    return types.float32(left, right), codegen


_EXP = (1 / 720, 1 / 120, 1 / 24, 1 / 6, 1 / 2, 1.0, 1.0)  # of its Taylor series, highest first


def _all_8(value: float) -> Any:
    """A vector of eight lanes, float32 or int32, with the same constant in each."""
    lane = _INT if isinstance(value, int) else _FLOAT
    return ir.Constant(ir.VectorType(lane, 8), [value] * 8)


@intrinsic
def logistic_8(typingctx: Any, values: Any, at: Any) -> Any:
    """1 / (1 + exp(-x)) in place on the eight float32 from values[at], to 2e-7.

    exp(-x) = 2^n 2^f with |f| <= 1/2; 2^f by its Taylor series, 2^n by setting the exponent.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        eight = ir.VectorType(_FLOAT, 8)
        data = _data(context, builder, signature.args[0], args[0])
        place = _vector_at(builder, data, args[1], 8)

        def call(name: str, *operands: Any) -> Any:
            function_type = ir.FunctionType(eight, [eight] * len(operands))
            full_name = f"llvm.{name}.v8f32"
            function = cgutils.get_or_insert_function(builder.module, function_type, full_name)
            return builder.call(function, operands)

        scaled = builder.fmul(builder.load(place, align=4), _all_8(-1.4426950408889634))
        scaled = call("minnum", call("maxnum", scaled, _all_8(-126.0)), _all_8(126.0))
        whole = call("floor", builder.fadd(scaled, _all_8(0.5)))
        part = builder.fmul(builder.fsub(scaled, whole), _all_8(0.6931471805599453))
        power = _all_8(_EXP[0])
        for coefficient in _EXP[1:]:
            product = builder.fmul(power, part, flags=("contract",))
            power = builder.fadd(product, _all_8(coefficient), flags=("contract",))
        exponent = builder.add(builder.fptosi(whole, ir.VectorType(_INT, 8)), _all_8(127))
        scale = builder.bitcast(builder.shl(exponent, _all_8(23)), eight)
        one = _all_8(1.0)
        result = builder.fdiv(one, builder.fadd(one, builder.fmul(power, scale)))
        builder.store(result, place, align=4)
        return context.get_dummy_value()

    return types.void(values, types.int64), codegen


def _row_adder(width: int, chains: int) -> Any:
    @intrinsic
    def add_rows(
        typingctx: Any, sums: Any, at: Any, scales: Any, first_scale: Any, indices: Any,
        first_index: Any, count: Any, weights: Any, first_weight: Any, stride: Any,
    ) -> Any:  # fmt: skip
        """Add scales[first_scale + i] * weights[first_weight + i * stride :][:width] to
        sums[at:][:width], for each i in indices[first_index:][:count]; count is a multiple of
        CHAINS.
        """

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            sums_data, scale_data, index_data, weight_data = (
                _data(context, builder, signature.args[k], args[k]) for k in (0, 2, 4, 7)
            )
            at_value, scale_start, index_start, count_value, weight_start, stride_value = (
                args[k] for k in (1, 3, 5, 6, 8, 9)
            )
            zero = ir.Constant(ir.VectorType(_FLOAT, width), None)
            partial = [cgutils.alloca_once_value(builder, zero) for _ in range(chains)]
            steps = builder.sdiv(count_value, ir.Constant(count_value.type, chains))
            with cgutils.for_range(builder, steps) as loop:
                base = builder.mul(loop.index, ir.Constant(loop.index.type, chains))
                base = builder.add(base, index_start)
                for chain, pointer in enumerate(partial):
                    place = builder.add(base, ir.Constant(base.type, chain))
                    index32 = builder.load(builder.gep(index_data, [place]))
                    index = builder.sext(index32, ir.IntType(64))
                    scale_place = builder.add(scale_start, index)
                    scale = builder.load(builder.gep(scale_data, [scale_place]))
                    row = builder.add(weight_start, builder.mul(index, stride_value))
                    loaded = builder.load(_vector_at(builder, weight_data, row, width), align=4)
                    product = builder.fmul(_splat(builder, scale, width), loaded, flags=("fast",))
                    total = builder.fadd(builder.load(pointer), product, flags=("fast",))
                    builder.store(total, pointer)
            target = _vector_at(builder, sums_data, at_value, width)
            total = builder.load(target, align=4)
            for pointer in partial:
                total = builder.fadd(total, builder.load(pointer), flags=("fast",))
            builder.store(total, target, align=4)
            return context.get_dummy_value()

        arguments = (
            sums, types.int64, scales, types.int64, indices, types.int64, types.int64, weights,
            types.int64, types.int64,
        )  # fmt: skip
        return types.void(*arguments), codegen

    return add_rows


# Up to eight vector registers of sums: enough to hide the latency, and none is spilt.
add_rows_8 = _row_adder(8, 4)
add_rows_32 = _row_adder(32, 2)
add_rows_64 = _row_adder(64, 1)


def _difference_adder(width: int) -> Any:
    @intrinsic
    def add_differences(
        typingctx: Any, out: Any, at: Any, sums: Any, first: Any, table: Any, start: Any,
        changes: Any, begin: Any, count: Any,
    ) -> Any:  # fmt: skip
        """out[at:][:width] = sums[first:][:width], plus rows[after:][:width] and less
        rows[before:][:width], of rows = table[start:], for each pair (after, before) of the `count`
        ones in changes[begin:].
        """

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            out_data, sums_data, table_data, changes_data = (
                _data(context, builder, signature.args[k], args[k]) for k in (0, 2, 4, 6)
            )
            at_value, first_value, start_value, begin_value, count_value = (
                args[k] for k in (1, 3, 5, 7, 8)
            )
            loaded = builder.load(_vector_at(builder, sums_data, first_value, width), align=4)
            total = cgutils.alloca_once_value(builder, loaded)
            with cgutils.for_range(builder, count_value) as loop:
                place = builder.mul(loop.index, ir.Constant(loop.index.type, 2))
                place = builder.add(place, begin_value)
                after, before = (
                    builder.load(
                        _vector_at(
                            builder,
                            table_data,
                            builder.add(
                                start_value,
                                builder.load(
                                    builder.gep(
                                        changes_data,
                                        [builder.add(place, ir.Constant(place.type, k))],
                                    )
                                ),
                            ),
                            width,
                        ),
                        align=4,
                    )
                    for k in (0, 1)
                )
                difference = builder.fsub(after, before, flags=("fast",))
                builder.store(builder.fadd(builder.load(total), difference), total)
            target = _vector_at(builder, out_data, at_value, width)
            builder.store(builder.load(total), target, align=4)
            return context.get_dummy_value()

        arguments = (
            out, types.int64, sums, types.int64, table, types.int64, changes, types.int64,
            types.int64,
        )  # fmt: skip
        return types.void(*arguments), codegen

    return add_differences


add_differences_32 = _difference_adder(32)
add_differences_64 = _difference_adder(64)
