/* The reference evaluator: data movement, every element by its coordinates. */
#include "support/oracles/oracle.h"

#include <string.h>

static bool copy(oracle *o, const mw__op *op)
{
    memcpy(o->data[op->results[0]->id], oracle_arg(o, op, "x"), (size_t)oracle_count(op->results[0]) * sizeof(double));
    return true;
}

/* For operations that take each result element from one element of x: `map` turns coordinates of the result into those
 * of x, false where the result is `outside`. */
typedef bool element_map(const oracle *o, const mw__op *op, mw_shape in, mw_shape out, int64_t *at);

static bool map_elements(oracle *o, const mw__op *op, element_map *map, double outside)
{
    mw_shape in = oracle_shape(op, "x"), out = op->results[0]->type->shape;
    const double *x = oracle_arg(o, op, "x");
    for (int64_t i = 0; i < mw_shape_count(out); i++) {
        int64_t at[MW_RANK_MAX] = {0};
        oracle_unravel(out, i, at);
        bool inside = map(o, op, in, out, at);
        o->data[op->results[0]->id][i] = inside ? x[oracle_ravel(in, at)] : outside;
    }
    return true;
}

static bool map_transpose(const oracle *o, const mw__op *op, mw_shape in, mw_shape out, int64_t *at)
{
    (void)o, (void)out;
    int64_t perm[2 * MW_RANK_MAX], from[MW_RANK_MAX] = {0};
    oracle_ints(op, "perm", perm);
    for (int i = 0; i < in.rank; i++)
        from[perm[i] < 0 ? perm[i] + in.rank : perm[i]] = at[i];
    memcpy(at, from, sizeof from);
    return true;
}

static bool map_tile(const oracle *o, const mw__op *op, mw_shape in, mw_shape out, int64_t *at)
{
    (void)o, (void)op, (void)out;
    for (int i = 0; i < in.rank; i++)
        at[i] %= in.dim[i];
    return true;
}

static bool map_slice_by_size(const oracle *o, const mw__op *op, mw_shape in, mw_shape out, int64_t *at)
{
    for (int i = 0; i < in.rank; i++) {
        const double begin = oracle_arg(o, op, "begin")[i], counted = begin < 0 ? begin + (double)in.dim[i] : begin;
        const double most = (double)(in.dim[i] - out.dim[i]), least = counted < 0 ? 0 : counted;
        at[i] += (int64_t)(least > most ? most : least);
    }
    return true;
}

static bool map_slice_by_index(const oracle *o, const mw__op *op, mw_shape in, mw_shape out, int64_t *at)
{
    (void)o, (void)out;
    int64_t begin[MW_RANK_MAX], stride[2 * MW_RANK_MAX], from[MW_RANK_MAX] = {0};
    for (int i = 0; i < in.rank; i++)
        begin[i] = (int64_t)oracle_arg(o, op, "begin")[i];
    bool strided = oracle_ints(op, "stride", stride) > 0;
    for (int i = 0, k = 0; i < in.rank; i++) {
        int64_t step = strided ? stride[i] : 1, first = begin[i] < 0 ? begin[i] + in.dim[i] : begin[i];
        bool squeezed = oracle_flag(op, "squeeze_mask", i);
        if (!squeezed && oracle_flag(op, "begin_mask", i))
            first = step > 0 ? 0 : in.dim[i] - 1;
        first = first >= in.dim[i] && step < 0 ? in.dim[i] - 1 : first;
        first = first < 0 && step > 0 ? 0 : first;
        from[i] = squeezed ? first : first + step * at[k++];
    }
    memcpy(at, from, sizeof from);
    return true;
}

static bool map_pad(const oracle *o, const mw__op *op, mw_shape in, mw_shape out, int64_t *at)
{
    (void)o, (void)out;
    int64_t pad[2 * MW_RANK_MAX];
    int first = in.rank - (int)(oracle_ints(op, "pad", pad) / 2);
    const char *mode = mw__arg_string(op, "mode");
    for (int i = first; i < in.rank; i++) {
        at[i] -= pad[2 * (i - first)];
        if (at[i] >= 0 && at[i] < in.dim[i])
            continue;
        if (strcmp(mode, "constant") == 0)
            return false;
        if (strcmp(mode, "reflect") == 0)
            at[i] = at[i] < 0 ? -at[i] : 2 * (in.dim[i] - 1) - at[i];
        else
            at[i] = at[i] < 0 ? 0 : in.dim[i] - 1;
    }
    return true;
}

static bool map_reverse(const oracle *o, const mw__op *op, mw_shape in, mw_shape out, int64_t *at)
{
    (void)o, (void)out;
    int64_t axes[2 * MW_RANK_MAX];
    const int count = (int)oracle_ints(op, "axes", axes);
    for (int i = 0; i < in.rank; i++)
        for (int k = 0; k < (count == 0 ? 1 : count); k++)
            if (count == 0 || axes[k] == i || axes[k] + in.rank == i)
                at[i] = in.dim[i] - 1 - at[i];
    return true;
}

static bool map_reverse_sequence(const oracle *o, const mw__op *op, mw_shape in, mw_shape out, int64_t *at)
{
    (void)out;
    int64_t seq = oracle_int(op, "seq_axis"), batch = oracle_int(op, "batch_axis");
    seq += seq < 0 ? in.rank : 0;
    batch += batch < 0 ? in.rank : 0;
    double length = oracle_arg(o, op, "lengths")[at[batch]];
    length = length > (double)in.dim[seq] ? (double)in.dim[seq] : length;
    if ((double)at[seq] < length)
        at[seq] = (int64_t)length - 1 - at[seq];
    return true;
}

static bool map_sliding_windows(const oracle *o, const mw__op *op, mw_shape in, mw_shape out, int64_t *at)
{
    (void)o;
    int64_t axis = oracle_int(op, "axis");
    axis += axis < 0 ? in.rank : 0;
    at[axis] = at[axis] * oracle_int(op, "stride") + at[axis + 1];
    for (int i = (int)axis + 1; i + 1 < out.rank; i++)
        at[i] = at[i + 1];
    return true;
}

static bool map_band_part(const oracle *o, const mw__op *op, mw_shape in, mw_shape out, int64_t *at)
{
    (void)o, (void)out;
    const int64_t lower = oracle_int(op, "lower"), upper = oracle_int(op, "upper");
    const int64_t m = at[in.rank - 2], n = at[in.rank - 1];
    return (lower < 0 || m - n <= lower) && (upper < 0 || n - m <= upper);
}

/* Where element `number` of a slice stands on one axis; begin is clamped so that the slice lies within. */
static int64_t update_place(const oracle *o, const mw__op *op, int axis, int64_t count, int64_t number)
{
    int64_t stride[2 * MW_RANK_MAX];
    const int64_t n = oracle_shape(op, "x").dim[axis];
    const int64_t step =
        oracle_ints(op, "stride", stride) > 0 && !oracle_flag(op, "squeeze_mask", axis) ? stride[axis] : 1;
    int64_t first = (int64_t)oracle_arg(o, op, "begin")[axis];
    first += first < 0 ? n : 0;
    if (oracle_flag(op, "begin_mask", axis) && !oracle_flag(op, "squeeze_mask", axis))
        first = step > 0 ? 0 : n - 1;
    while (first > 0 && first + (count - 1) * step >= n)
        first--;
    while (first + (count - 1) * step < 0 || first < 0)
        first++;
    return (first >= n ? n - 1 : first) + number * step;
}

static bool slice_update(oracle *o, const mw__op *op)
{
    const mw_shape in = oracle_shape(op, "x"), part = oracle_shape(op, "update");
    double *y = o->data[op->results[0]->id];
    memcpy(y, oracle_arg(o, op, "x"), (size_t)mw_shape_count(in) * sizeof *y);
    for (int64_t i = 0; i < mw_shape_count(part); i++) {
        int64_t at[MW_RANK_MAX] = {0}, to[MW_RANK_MAX] = {0};
        oracle_unravel(part, i, at);
        for (int axis = 0, k = 0; axis < in.rank; axis++) {
            const bool squeezed = oracle_flag(op, "squeeze_mask", axis);
            to[axis] = update_place(o, op, axis, squeezed ? 1 : part.dim[k], squeezed ? 0 : at[k]);
            k += !squeezed;
        }
        y[oracle_ravel(in, to)] = oracle_arg(o, op, "update")[i];
    }
    return true;
}

static bool pad(oracle *o, const mw__op *op)
{
    double outside = 0.0;
    mw__arg_float(op, "constant_val", &outside);
    return map_elements(o, op, map_pad, outside);
}

static bool transpose(oracle *o, const mw__op *op) { return map_elements(o, op, map_transpose, 0.0); }
static bool reverse(oracle *o, const mw__op *op) { return map_elements(o, op, map_reverse, 0.0); }
static bool reverse_sequence(oracle *o, const mw__op *op) { return map_elements(o, op, map_reverse_sequence, 0.0); }
static bool sliding_windows(oracle *o, const mw__op *op) { return map_elements(o, op, map_sliding_windows, 0.0); }
static bool band_part(oracle *o, const mw__op *op) { return map_elements(o, op, map_band_part, 0.0); }
static bool tile(oracle *o, const mw__op *op) { return map_elements(o, op, map_tile, 0.0); }
static bool slice_by_size(oracle *o, const mw__op *op) { return map_elements(o, op, map_slice_by_size, 0.0); }
static bool slice_by_index(oracle *o, const mw__op *op) { return map_elements(o, op, map_slice_by_index, 0.0); }

static bool concat(oracle *o, const mw__op *op)
{
    const mw__operand *values;
    int64_t count = (int64_t)mw__arg_values(op, "values", &values), axis = oracle_int(op, "axis");
    bool interleave = oracle_flag(op, "interleave", 0);
    mw_shape out = op->results[0]->type->shape;
    axis += axis < 0 ? out.rank : 0;
    for (int64_t i = 0; i < mw_shape_count(out); i++) {
        int64_t at[MW_RANK_MAX], part = 0;
        oracle_unravel(out, i, at);
        if (interleave) {
            part = at[axis] % count;
            at[axis] /= count;
        } else {
            while (at[axis] >= values[part].value->type->shape.dim[axis])
                at[axis] -= values[part++].value->type->shape.dim[axis];
        }
        const mw_tensor *from = values[part].value;
        o->data[op->results[0]->id][i] = o->data[from->id][oracle_ravel(from->type->shape, at)];
    }
    return true;
}

static bool stack(oracle *o, const mw__op *op)
{
    const mw__operand *values;
    mw__arg_values(op, "values", &values);
    mw_shape out = op->results[0]->type->shape;
    int64_t axis = oracle_int(op, "axis");
    axis += axis < 0 ? out.rank : 0;
    for (int64_t i = 0; i < mw_shape_count(out); i++) {
        int64_t at[MW_RANK_MAX], from[MW_RANK_MAX] = {0};
        oracle_unravel(out, i, at);
        for (int k = 0, n = 0; k < out.rank; k++)
            if (k != axis)
                from[n++] = at[k];
        const mw_tensor *value = values[at[axis]].value;
        o->data[op->results[0]->id][i] = o->data[value->id][oracle_ravel(value->type->shape, from)];
    }
    return true;
}

static bool split(oracle *o, const mw__op *op)
{
    mw_shape in = oracle_shape(op, "x");
    int64_t axis = oracle_int(op, "axis"), offset = 0;
    axis += axis < 0 ? in.rank : 0;
    for (size_t r = 0; r < op->result_count; r++) {
        mw_shape out = op->results[r]->type->shape;
        for (int64_t i = 0; i < mw_shape_count(out); i++) {
            int64_t at[MW_RANK_MAX];
            oracle_unravel(out, i, at);
            at[axis] += offset;
            o->data[op->results[r]->id][i] = oracle_arg(o, op, "x")[oracle_ravel(in, at)];
        }
        offset += out.dim[axis];
    }
    return true;
}

static bool fill(oracle *o, const mw__op *op)
{
    double value = 0.0;
    mw__arg_float(op, "value", &value);
    for (int64_t i = 0; i < oracle_count(op->results[0]); i++)
        o->data[op->results[0]->id][i] = value;
    return true;
}

static bool shape(oracle *o, const mw__op *op)
{
    for (int i = 0; i < oracle_shape(op, "x").rank; i++)
        o->data[op->results[0]->id][i] = (double)oracle_shape(op, "x").dim[i];
    return true;
}

static bool range_1d(oracle *o, const mw__op *op)
{
    for (int64_t i = 0; i < oracle_count(op->results[0]); i++)
        o->data[op->results[0]->id][i] = oracle_arg(o, op, "start")[0] + (double)i * oracle_arg(o, op, "step")[0];
    return true;
}

bool oracle_of_shape(oracle *o, const mw__op *op)
{
    static const oracle_row rows[] = {{"reshape", copy},
                                      {"expand_dims", copy},
                                      {"squeeze", copy},
                                      {"transpose", transpose},
                                      {"tile", tile},
                                      {"slice_by_size", slice_by_size},
                                      {"slice_by_index", slice_by_index},
                                      {"slice_update", slice_update},
                                      {"pad", pad},
                                      {"concat", concat},
                                      {"split", split},
                                      {"fill", fill},
                                      {"range_1d", range_1d},
                                      {"stack", stack},
                                      {"reverse", reverse},
                                      {"reverse_sequence", reverse_sequence},
                                      {"sliding_windows", sliding_windows},
                                      {"band_part", band_part},
                                      {"flatten2d", copy},
                                      {"reshape_like", copy},
                                      {"fill_like", fill},
                                      {"shape", shape},
                                      {"identity", copy}};
    return oracle_find(rows, sizeof rows / sizeof *rows, o, op);
}
