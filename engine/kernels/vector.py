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

__all__ = [
    "FLOAT",
    "INT",
    "SHORT",
    "data_of",
    "logistic_8",
    "mask_above",
    "mask_unequal",
    "mask_unequal_short",
    "positive_dot_32",
    "splat",
    "vector_at",
]

Array = np.ndarray[Any, Any]

FLOAT = ir.FloatType()
INT = ir.IntType(32)
SHORT = ir.IntType(16)


def vector_at(builder: Any, data: Any, index: Any, width: int, lane: Any = FLOAT) -> Any:
    """The pointer to the vector of `width` lanes that begins at data[index]."""
    return builder.bitcast(builder.gep(data, [index]), ir.VectorType(lane, width).as_pointer())


def splat(builder: Any, scalar: Any, width: int) -> Any:
    """A vector with the scalar in every lane."""
    empty = ir.Constant(ir.VectorType(scalar.type, width), None)
    first = builder.insert_element(empty, scalar, ir.Constant(INT, 0))
    lanes = ir.Constant(ir.VectorType(INT, width), [0] * width)
    return builder.shuffle_vector(first, empty, lanes)


def data_of(context: Any, builder: Any, array_type: Any, value: Any) -> Any:
    """The pointer to the memory of an array."""
    return context.make_array(array_type)(context, builder, value).data


@intrinsic
def mask_above(typingctx: Any, values: Any, start: Any, threshold: Any) -> Any:
    """The uint32 whose bit k says whether values[start + k] > threshold, of an int8 array."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = data_of(context, builder, signature.args[0], args[0])
        byte = ir.IntType(8)
        loaded = builder.load(vector_at(builder, data, args[1], 32, byte), align=1)
        limit = splat(builder, builder.trunc(args[2], byte), 32)
        return builder.bitcast(builder.icmp_signed(">", loaded, limit), INT)

    return types.uint32(values, types.int64, types.int64), codegen


def _mask_unequal(lanes: int, width: int) -> Any:
    """Of so many integers of so many bits."""

    @intrinsic
    def mask(typingctx: Any, left: Any, at: Any, right: Any) -> Any:
        """The uint64 whose bit k says whether left[at + k] != right[k]."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            zero = ir.Constant(ir.IntType(64), 0)
            loaded = [
                builder.load(
                    vector_at(
                        builder, data_of(context, builder, kind, array), place, lanes,
                        ir.IntType(width),
                    ),
                    align=width // 8,
                )
                for kind, array, place in (
                    (signature.args[0], args[0], args[1]),
                    (signature.args[2], args[2], zero),
                )
            ]  # fmt: skip
            bits = builder.bitcast(builder.icmp_signed("!=", *loaded), ir.IntType(lanes))
            return builder.zext(bits, ir.IntType(64))

        return types.uint64(left, types.int64, right), codegen

    return mask


mask_unequal = _mask_unequal(64, 8)
mask_unequal_short = _mask_unequal(32, 16)


@intrinsic
def positive_dot_32(typingctx: Any, left: Any, right: Any) -> Any:
    """The sum of max(left[k], 0) * right[k] over k < 32, of float32 arrays."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = ir.VectorType(FLOAT, 32)
        none = ir.Constant(vector, None)
        start = ir.Constant(ir.IntType(64), 0)
        values, weights = (
            builder.load(
                vector_at(
                    builder, data_of(context, builder, signature.args[k], args[k]), start, 32
                ),
                align=4,
            )
            for k in (0, 1)
        )
        positive = builder.select(builder.fcmp_ordered(">", values, none), values, none)
        product = builder.fmul(positive, weights)
        function_type = ir.FunctionType(FLOAT, [FLOAT, vector])
        name = "llvm.vector.reduce.fadd.v32f32"
        function = cgutils.get_or_insert_function(builder.module, function_type, name)
        return builder.call(function, [ir.Constant(FLOAT, 0.0), product], fastmath=("reassoc",))

    return types.float32(left, right), codegen


_EXP = (1 / 720, 1 / 120, 1 / 24, 1 / 6, 1 / 2, 1.0, 1.0)  # of its Taylor series, highest first


def _all_8(value: float) -> Any:
    """A vector of eight lanes, float32 or int32, with the same constant in each."""
    lane = INT if isinstance(value, int) else FLOAT
    return ir.Constant(ir.VectorType(lane, 8), [value] * 8)


@intrinsic
def logistic_8(typingctx: Any, values: Any, at: Any) -> Any:
    """1 / (1 + exp(-x)) in place on the eight float32 from values[at], to 2e-7.

    exp(-x) = 2^n 2^f with |f| <= 1/2; 2^f by its Taylor series, 2^n by setting the exponent.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        eight = ir.VectorType(FLOAT, 8)
        data = data_of(context, builder, signature.args[0], args[0])
        place = vector_at(builder, data, args[1], 8)

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
        exponent = builder.add(builder.fptosi(whole, ir.VectorType(INT, 8)), _all_8(127))
        scale = builder.bitcast(builder.shl(exponent, _all_8(23)), eight)
        one = _all_8(1.0)
        result = builder.fdiv(one, builder.fadd(one, builder.fmul(power, scale)))
        builder.store(result, place, align=4)
        return context.get_dummy_value()

    return types.void(values, types.int64), codegen
