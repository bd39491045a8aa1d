/* Which products the operations add, as operands side by side: matrix products and einsum by strides, convolutions by
 * their windows, attention as two products with a softmax between them. */
#include "graph/ir/ir.h"
#include "inspect/products.h"

#include "base/number/fp16.h"

#include <math.h>
#include <string.h>

/* ---- strides ---- */

static bool is_float(const mw_tensor *value)
{
    const mw_dtype dtype = value != NULL ? mw_tensor_dtype(value) : MW_BOOL;
    return dtype == MW_F16 || dtype == MW_F32;
}

/* Of a dense tensor. */
static int64_t stride_of(mw_shape shape, int axis)
{
    int64_t stride = 1;
    for (int i = axis + 1; i < shape.rank; i++)
        stride *= shape.dim[i];
    return stride;
}

/* The first `count` axes of the result against the first `own` of an operand, which are broadcast. */
static void put_batch(int64_t *step, int count, mw_shape shape, int own)
{
    for (int i = 0; i < own; i++)
        step[count - own + i] = shape.dim[i] == 1 ? 0 : stride_of(shape, i);
}

static void put_results(mw__range_sums *sums, const mw_tensor *result)
{
    const mw_shape shape = mw_tensor_shape(result);
    sums->rank = shape.rank;
    sums->results = mw_shape_count(shape);
    memcpy(sums->extent, shape.dim, sizeof *sums->extent * (size_t)shape.rank);
}

/* The axes of one operand of a matrix product: that of the result, if the operand has it, and the inner one. */
static void put_matrix(mw__range_sums *sums, int side, mw_shape shape, int batch, bool inner_last)
{
    const int last = shape.rank - 1, inner = shape.rank == 1 || inner_last ? last : last - 1;
    const bool is_vector = shape.rank == 1;
    sums->depth = shape.dim[inner];
    sums->depth_step[side] = stride_of(shape, inner);
    if (is_vector)
        return;
    const int axis = side == 0 ? batch : sums->rank - 1;
    sums->step[side][axis] = stride_of(shape, inner_last ? last - 1 : last);
    put_batch(sums->step[side], batch, shape, shape.rank - 2);
}

static void read_product(mw__range_sums *sums, mw_shape x, mw_shape y, bool x_inner_last, bool y_inner_last)
{
    const int batch = sums->rank - (x.rank > 1) - (y.rank > 1);
    put_matrix(sums, 0, x, batch, x_inner_last);
    put_matrix(sums, 1, y, batch, y_inner_last);
}

static bool read_matmul(const mw__op *op, mw__range_sums *sums)
{
    bool transpose_x = false, transpose_y = false;
    mw__arg_bool(op, "transpose_x", &transpose_x);
    mw__arg_bool(op, "transpose_y", &transpose_y);
    sums->operands[0] = mw__arg(op, "x");
    sums->operands[1] = mw__arg(op, "y");
    read_product(sums, mw_tensor_shape(sums->operands[0]), mw_tensor_shape(sums->operands[1]), !transpose_x,
                 transpose_y);
    return true;
}

/* x [.., K], weight [N, K] */
static bool read_linear(const mw__op *op, mw__range_sums *sums)
{
    sums->operands[0] = mw__arg(op, "x");
    sums->operands[1] = mw__arg(op, "weight");
    sums->start = mw__arg(op, "bias");
    const mw_shape x = mw_tensor_shape(sums->operands[0]);
    for (int i = 0; i + 1 < x.rank; i++)
        sums->step[0][i] = stride_of(x, i);
    sums->depth = x.dim[x.rank - 1];
    sums->depth_step[0] = sums->depth_step[1] = 1;
    sums->step[1][sums->rank - 1] = sums->depth;
    const bool one = sums->start != NULL && mw_shape_count(mw_tensor_shape(sums->start)) == 1;
    sums->start_step[sums->rank - 1] = one ? 0 : 1;
    return true;
}

/* a [n, c, h, w], b [n, w, h, u] -> [n, c, h, u], without n for rank 3 */
static bool read_einsum(const mw__op *op, mw__range_sums *sums)
{
    const mw__operand *values;
    if (mw__arg_values(op, "values", &values) != 2 || values[0].value == NULL || values[1].value == NULL)
        return false;
    const mw_shape a = mw_tensor_shape(values[0].value), b = mw_tensor_shape(values[1].value);
    const int rank = sums->rank;
    for (int side = 0; side < 2; side++)
        sums->operands[side] = values[side].value;
    for (int i = 0; i < rank; i++) {
        const bool shared = i == rank - 2 || i < rank - 3;
        sums->step[0][i] = (shared && a.dim[i] == 1) || i == rank - 1 ? 0 : stride_of(a, i);
        sums->step[1][i] = (shared && b.dim[i] == 1) || i == rank - 3 ? 0 : stride_of(b, i);
    }
    sums->depth = a.dim[rank - 1];
    sums->depth_step[0] = 1;
    sums->depth_step[1] = stride_of(b, rank - 3);
    return true;
}

/* ---- convolutions ---- */

static bool read_conv(const mw__op *op, mw__range_sums *sums)
{
    if (!mw__conv_read(op, &sums->conv))
        return false;
    const bool transposed = strcmp(op->kind, "conv_transpose") == 0;
    sums->kind = transposed ? MW__RANGE_SUMS_CONV_TRANSPOSE : MW__RANGE_SUMS_CONV;
    sums->operands[0] = mw__arg(op, "x");
    sums->operands[1] = mw__arg(op, "weight");
    sums->start = mw__arg(op, "bias");
    const mw_shape weight = mw_tensor_shape(sums->operands[1]);
    const int64_t outputs = weight.dim[0] / sums->conv.groups, inputs = weight.dim[1];
    sums->channels[0] = transposed ? inputs : outputs;
    sums->channels[1] = transposed ? outputs : inputs;
    sums->depth = sums->channels[1] * stride_of(weight, 1);
    const bool one = sums->start != NULL && mw_shape_count(mw_tensor_shape(sums->start)) == 1;
    sums->start_step[1] = one ? 0 : 1;
    return true;
}

/* Where tap `tap` of the result at `at` takes its element from; false outside. */
static bool find_tap(const mw__range_sums *sums, const int64_t *at, int64_t tap, int64_t *out_offset)
{
    const mw__conv *conv = &sums->conv;
    const bool transposed = sums->kind == MW__RANGE_SUMS_CONV_TRANSPOSE;
    int64_t offset = 0, taps[MW__CONV_AXES];
    for (int i = conv->axes - 1; i >= 0; i--) {
        taps[i] = tap % conv->kernel[i];
        tap /= conv->kernel[i];
    }
    for (int i = 0; i < conv->axes; i++) {
        const int64_t reach = taps[i] * conv->dilation[i] - conv->before[i];
        int64_t place = transposed ? at[i] - reach : at[i] * conv->stride[i] + reach;
        if (transposed && place % conv->stride[i] != 0)
            return false;
        place = transposed ? place / conv->stride[i] : place;
        const int64_t extent = transposed ? conv->out[i] : conv->in[i];
        if (place < 0 || place >= extent)
            return false;
        offset = offset * extent + place;
    }
    *out_offset = offset;
    return true;
}

static int64_t gather_conv(const mw__range_sums *sums, const mw__range_sums_data *data, const int64_t *at, float *x,
                           float *y)
{
    const mw__conv *conv = &sums->conv;
    const bool transposed = sums->kind == MW__RANGE_SUMS_CONV_TRANSPOSE;
    const int64_t group = at[1] / sums->channels[0], inner = at[1] % sums->channels[0], depth = sums->channels[1];
    int64_t taps = 1, area = 1, count = 0, offset;
    for (int i = 0; i < conv->axes; i++) {
        taps *= conv->kernel[i];
        area *= transposed ? conv->out[i] : conv->in[i];
    }
    for (int64_t c = 0; c < depth; c++) {
        const float *plane = data->operands[0] + ((at[0] * conv->groups + group) * depth + c) * area;
        const int64_t row = transposed ? (group * depth + c) * sums->channels[0] + inner : at[1] * depth + c;
        for (int64_t tap = 0; tap < taps; tap++) {
            if (!find_tap(sums, at + 2, tap, &offset))
                continue;
            x[count] = plane[offset];
            y[count++] = data->operands[1][row * taps + tap];
        }
    }
    return count;
}

/* ---- attention ---- */

/* query [.., L, E], key [.., S, E], value [.., S, V], mask broadcast to [.., L, S] -> [.., L, V]. The second product is
 * that of the softmax of the scores; it takes its first operand from query, key and mask. */
static bool read_attention(const mw__op *op, mw__range_sums out[2])
{
    const mw_tensor *query = mw__arg(op, "query"), *key = mw__arg(op, "key"), *value = mw__arg(op, "value");
    const mw_tensor *mask = mw__arg(op, "attn_mask");
    const mw_shape q = mw_tensor_shape(query), k = mw_tensor_shape(key), v = mw_tensor_shape(value);
    mw__range_sums *scores = &out[0], *values = &out[1];
    const int rank = scores->rank;
    scores->part = "scores";
    scores->operands[0] = query;
    scores->operands[1] = key;
    scores->results = v.dim[v.rank - 1] > 0 ? scores->results / v.dim[v.rank - 1] * k.dim[k.rank - 2] : 0;
    scores->extent[rank - 1] = k.dim[k.rank - 2];
    read_product(scores, q, k, true, true);
    values->kind = MW__RANGE_SUMS_WEIGHTED;
    values->part = "values";
    values->operands[0] = key;
    values->operands[1] = value;
    values->query = query;
    values->mask = mask;
    read_product(values, k, v, true, false);
    memcpy(values->step[0], scores->step[1], sizeof values->step[0]); /* of the key */
    values->step[0][rank - 1] = 0;
    memcpy(values->start_step, scores->step[0], sizeof values->start_step); /* of the query */
    values->depth = k.dim[k.rank - 2];
    values->channels[0] = q.dim[q.rank - 1];
    if (mask != NULL)
        put_batch(values->mask_step, rank, mw_tensor_shape(mask), mw_tensor_shape(mask).rank);
    return true;
}

static double score_of(const mw__range_sums *sums, const float *query, const float *key)
{
    double sum = 0.0;
    for (int64_t e = 0; e < sums->channels[0]; e++)
        sum += (double)query[e] * (double)key[e];
    return sum / sqrt((double)sums->channels[0]);
}

static int64_t gather_weighted(const mw__range_sums *sums, const mw__range_sums_data *data, const int64_t *at, float *x,
                               float *y)
{
    int64_t offset[2] = {0}, from_query = 0, from_mask = 0;
    const int last = sums->rank - 1;
    for (int i = 0; i < sums->rank; i++) {
        offset[0] += at[i] * sums->step[0][i];
        offset[1] += at[i] * sums->step[1][i];
        from_query += at[i] * sums->start_step[i];
        from_mask += i < last ? at[i] * sums->mask_step[i] : 0;
    }
    const bool is_bool = sums->mask != NULL && mw_tensor_dtype(sums->mask) == MW_BOOL;
    double most = -(double)INFINITY, sum = 0.0;
    for (int64_t s = 0; s < sums->depth; s++) {
        const float *key = data->operands[0] + offset[0] + s * sums->channels[0];
        const double mask = data->mask != NULL ? (double)data->mask[from_mask + s * sums->mask_step[last]] : 0.0;
        const double score = score_of(sums, data->query + from_query, key) + (is_bool ? 0.0 : mask);
        x[s] = is_bool && mask == 0.0 ? -INFINITY : (float)score;
        most = fmax(most, (double)x[s]);
    }
    for (int64_t s = 0; s < sums->depth; s++)
        sum += exp((double)x[s] - most);
    for (int64_t s = 0; s < sums->depth; s++) {
        const double weight = sum > 0.0 ? exp((double)x[s] - most) / sum : 0.0; /* NaN: the mask hides all */
        x[s] = mw__fp16_to_float(mw__fp16_from_double(weight));
        y[s] = data->operands[1][offset[1] + s * sums->depth_step[1]];
    }
    return sums->depth;
}

/* ---- any ---- */

typedef bool read_function(const mw__op *op, mw__range_sums *sums);

static read_function *reader_of(const char *kind)
{
    static const struct {
        const char *kind;
        read_function *read;
    } rows[] = {{"matmul", read_matmul},       {"linear", read_linear},
                {"einsum", read_einsum},       {"conv", read_conv},
                {"conv_transpose", read_conv}, {"scaled_dot_product_attention", read_attention}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].kind, kind) == 0)
            return rows[i].read;
    return NULL;
}

int mw__range_sums_read(const mw__op *op, mw__range_sums out[MW__RANGE_SUMS_PARTS])
{
    read_function *const read = op->row != NULL ? reader_of(op->kind) : NULL;
    memset(out, 0, sizeof *out * MW__RANGE_SUMS_PARTS);
    if (read == NULL || !is_float(op->results[0]) || mw_shape_count(mw_tensor_shape(op->results[0])) <= 0)
        return 0;
    for (int i = 0; i < MW__RANGE_SUMS_PARTS; i++)
        put_results(&out[i], op->results[0]);
    if (!read(op, out))
        return 0;
    const int parts = read == read_attention ? 2 : 1;
    for (int i = 0; i < parts; i++)
        if (!is_float(out[i].operands[0]) || !is_float(out[i].operands[1]) || out[i].depth < 1)
            return 0;
    return parts;
}

/* The indices of a result. */
static void place_of(const mw__range_sums *sums, int64_t index, int64_t at[MW__RANGE_SUMS_RANK])
{
    memset(at, 0, sizeof *at * MW__RANGE_SUMS_RANK);
    for (int i = sums->rank - 1; i >= 0; i--) {
        at[i] = index % sums->extent[i];
        index /= sums->extent[i];
    }
}

int64_t mw__range_sums_gather(const mw__range_sums *sums, const mw__range_sums_data *data, int64_t index, float *x,
                              float *y)
{
    int64_t at[MW__RANGE_SUMS_RANK], from[2] = {0};
    place_of(sums, index, at);
    if (sums->kind == MW__RANGE_SUMS_WEIGHTED)
        return gather_weighted(sums, data, at, x, y);
    if (sums->kind != MW__RANGE_SUMS_STRIDED)
        return gather_conv(sums, data, at, x, y);
    for (int i = 0; i < sums->rank; i++) {
        from[0] += at[i] * sums->step[0][i];
        from[1] += at[i] * sums->step[1][i];
    }
    for (int64_t k = 0; k < sums->depth; k++) {
        x[k] = data->operands[0][from[0] + k * sums->depth_step[0]];
        y[k] = data->operands[1][from[1] + k * sums->depth_step[1]];
    }
    return sums->depth;
}

float mw__range_sums_start(const mw__range_sums *sums, const mw__range_sums_data *data, int64_t index)
{
    int64_t at[MW__RANGE_SUMS_RANK], from = 0;
    if (sums->start == NULL || data->start == NULL)
        return 0.0f;
    place_of(sums, index, at);
    for (int i = 0; i < sums->rank; i++)
        from += at[i] * sums->start_step[i];
    return data->start[from];
}

int64_t mw__range_sums_cost(const mw__range_sums *sums)
{
    return sums->kind == MW__RANGE_SUMS_WEIGHTED ? sums->depth * (sums->channels[0] + 1) : sums->depth;
}
