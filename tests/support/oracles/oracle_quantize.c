/* The reference evaluator: ops/quantize.def. Each dense element is computed from its coordinates alone; sub-byte
 * numbers are read bit by bit. */
#include "support/oracles/oracle.h"

#include <math.h>
#include <string.h>

/* Element `index` of the literal behind an argument. */
static double element(const mw__op *op, const char *arg, int64_t index)
{
    return mw__payload_float(mw__arg(op, arg)->payload, (size_t)index);
}

static bool has(const mw__op *op, const char *arg) { return mw__arg_present(op, arg); }

/* The block of an element: its coordinates divided by how many of them share one. `rank` axes count. */
static int64_t block_at(mw_shape dense, mw_shape parts, const int64_t *at)
{
    int64_t index = 0;
    for (int axis = 0; axis < dense.rank; axis++)
        index = index * parts.dim[axis] + at[axis] * parts.dim[axis] / dense.dim[axis];
    return index;
}

/* A scalar or a vector along the axis. */
static double along(const mw__op *op, const char *arg, const int64_t *at, int rank)
{
    if (!has(op, arg))
        return 0.0;
    if (oracle_shape(op, arg).rank == 0)
        return element(op, arg, 0);
    const int64_t axis = oracle_int(op, "axis");
    return element(op, arg, at[axis < 0 ? axis + rank : axis]);
}

static bool quantize(oracle *o, const mw__op *op)
{
    const double *x = oracle_arg(o, op, "input");
    const bool is_signed = strcmp(mw__arg_string(op, "output_dtype"), "int8") == 0;
    const mw_shape shape = oracle_shape(op, "input");
    for (int64_t i = 0; i < mw_shape_count(shape); i++) {
        int64_t at[MW_RANK_MAX];
        oracle_unravel(shape, i, at);
        const double y = nearbyint(x[i] / along(op, "scale", at, shape.rank)) + along(op, "zero_point", at, shape.rank);
        o->data[op->results[0]->id][i] = is_signed ? fmin(fmax(y, -128.0), 127.0) : fmin(fmax(y, 0.0), 255.0);
    }
    return true;
}

static bool dequantize(oracle *o, const mw__op *op)
{
    const mw_shape shape = oracle_shape(op, "input");
    for (int64_t i = 0; i < mw_shape_count(shape); i++) {
        int64_t at[MW_RANK_MAX];
        oracle_unravel(shape, i, at);
        o->data[op->results[0]->id][i] = (oracle_arg(o, op, "input")[i] - along(op, "zero_point", at, shape.rank)) *
                                         along(op, "scale", at, shape.rank);
    }
    return true;
}

static bool affine(oracle *o, const mw__op *op)
{
    const mw_shape shape = oracle_shape(op, "quantized_data");
    for (int64_t i = 0; i < mw_shape_count(shape); i++) {
        int64_t at[MW_RANK_MAX];
        oracle_unravel(shape, i, at);
        o->data[op->results[0]->id][i] = (element(op, "quantized_data", i) - along(op, "zero_point", at, shape.rank)) *
                                         along(op, "scale", at, shape.rank);
    }
    return true;
}

static bool cast(oracle *o, const mw__op *op)
{
    for (int64_t i = 0; i < oracle_count(op->results[0]); i++)
        o->data[op->results[0]->id][i] = element(op, "source_val", i);
    return true;
}

static double shift_scaled(const mw__op *op, double number, mw_shape shape, const int64_t *at)
{
    const int64_t block = block_at(shape, oracle_shape(op, "scale"), at);
    return (number - (has(op, "offset") ? element(op, "offset", block) : 0.0)) * element(op, "scale", block);
}

static bool shift_scale(oracle *o, const mw__op *op)
{
    const mw_shape shape = oracle_shape(op, "data");
    for (int64_t i = 0; i < mw_shape_count(shape); i++) {
        int64_t at[MW_RANK_MAX];
        oracle_unravel(shape, i, at);
        o->data[op->results[0]->id][i] = shift_scaled(op, element(op, "data", i), shape, at);
    }
    return true;
}

/* The number that element `at` of the dense constant has from the table; *code_place: where its index stands. */
static mw_shape codes_shape(const mw__op *op, mw_shape dense, const int64_t *at, int64_t *code_at, int64_t *part)
{
    const mw_shape lut = oracle_shape(op, "lut");
    const int64_t vector = lut.dim[lut.rank - 1];
    const int64_t axis = !has(op, "vector_axis")             ? 0
                         : oracle_int(op, "vector_axis") < 0 ? oracle_int(op, "vector_axis") + dense.rank
                                                             : oracle_int(op, "vector_axis");
    memcpy(code_at, at, (size_t)dense.rank * sizeof *at);
    code_at[axis] /= vector;
    *part = at[axis] % vector;
    dense.dim[axis] /= vector;
    return dense;
}

static double looked_up(const mw__op *op, double code, mw_shape codes, const int64_t *code_at, int64_t part)
{
    const mw_shape lut = oracle_shape(op, "lut");
    const int64_t entries = lut.dim[lut.rank - 2], vector = lut.dim[lut.rank - 1];
    const int64_t table = block_at(codes, lut, code_at);
    return element(op, "lut", (table * entries + (int64_t)code) * vector + part);
}

static bool lut_to_dense(oracle *o, const mw__op *op)
{
    const mw_shape shape = op->results[0]->type->shape;
    for (int64_t i = 0; i < mw_shape_count(shape); i++) {
        int64_t at[MW_RANK_MAX], code_at[MW_RANK_MAX], part;
        oracle_unravel(shape, i, at);
        const mw_shape codes = codes_shape(op, shape, at, code_at, &part);
        const double code = element(op, "indices", oracle_ravel(codes, code_at));
        o->data[op->results[0]->id][i] = looked_up(op, code, codes, code_at, part);
    }
    return true;
}

/* How many elements before `index` are set. */
static int64_t rank_of(const mw__op *op, const char *mask, int64_t index)
{
    int64_t count = 0;
    for (int64_t i = 0; i < index; i++)
        count += element(op, mask, i) != 0.0;
    return count;
}

/* Its operands may be results of the two operations below. */
static bool sparse_to_dense(oracle *o, const mw__op *op)
{
    const double *mask = oracle_arg(o, op, "mask"), *values = oracle_arg(o, op, "nonzero_data");
    for (int64_t i = 0, k = 0; i < oracle_count(op->results[0]); i++)
        o->data[op->results[0]->id][i] = mask[i] != 0.0 ? values[k++] : 0.0;
    return true;
}

static bool lut_to_sparse(oracle *o, const mw__op *op)
{
    const mw_shape shape = op->results[0]->type->shape;
    double *mask = o->data[op->results[0]->id], *values = o->data[op->results[1]->id];
    for (int64_t i = 0, k = 0; i < mw_shape_count(shape); i++) {
        int64_t at[MW_RANK_MAX], code_at[MW_RANK_MAX], part;
        oracle_unravel(shape, i, at);
        const mw_shape codes = codes_shape(op, shape, at, code_at, &part);
        const int64_t index = oracle_ravel(codes, code_at);
        mask[i] = element(op, "indices_mask", index);
        if (mask[i] == 0.0)
            continue;
        const double code = element(op, "indices_nonzero_data", rank_of(op, "indices_mask", index));
        values[k++] = looked_up(op, code, codes, code_at, part);
    }
    return true;
}

static bool sparse_shift_scale(oracle *o, const mw__op *op)
{
    const mw_shape shape = oracle_shape(op, "data_mask");
    for (int64_t i = 0, k = 0; i < mw_shape_count(shape); i++) {
        int64_t at[MW_RANK_MAX];
        oracle_unravel(shape, i, at);
        o->data[op->results[0]->id][i] = element(op, "data_mask", i);
        if (element(op, "data_mask", i) == 0.0)
            continue;
        o->data[op->results[1]->id][k] = shift_scaled(op, element(op, "nonzero_data", k), shape, at);
        k++;
    }
    return true;
}

bool oracle_of_quantize(oracle *o, const mw__op *op)
{
    static const oracle_row rows[] = {{"quantize", quantize},
                                      {"dequantize", dequantize},
                                      {"constexpr_affine_dequantize", affine},
                                      {"constexpr_cast", cast},
                                      {"constexpr_blockwise_shift_scale", shift_scale},
                                      {"constexpr_lut_to_dense", lut_to_dense},
                                      {"constexpr_sparse_to_dense", sparse_to_dense},
                                      {"constexpr_lut_to_sparse", lut_to_sparse},
                                      {"constexpr_sparse_blockwise_shift_scale", sparse_shift_scale}};
    return oracle_find(rows, sizeof rows / sizeof *rows, o, op);
}
