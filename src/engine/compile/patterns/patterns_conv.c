/* Gradients of convolutions. That by the weight is looked for among the operations after the convolution; it and the
 * transpose of a convolution, which gradients by x and transposed convolutions with computed weights are, also where
 * there is no convolution: numbers are read from the operations, and what the builder writes for them is compared. */
#include "engine/compile/patterns/patterns.h"
#include "engine/kernels/pattern_plans.h"

#include <string.h>

enum { X = MW__COMPARE_X, WEIGHT = MW__COMPARE_Y, DY = MW__COMPARE_DY };

/* ---- reading ---- */

/* Without the exchange of channels within groups. */
static const mw_tensor *below_exchange(const mw_tensor *weight, int64_t groups)
{
    return groups == 1
               ? mw__pattern_below(weight, "transpose")
               : mw__pattern_below(mw__pattern_below(mw__pattern_below(weight, "reshape"), "transpose"), "reshape");
}

const mw_tensor *mw__pattern_below_spread(const mw_tensor *value, mw__conv *out)
{
    const mw_tensor *inner =
        mw__pattern_below(mw__pattern_below(mw__pattern_below(value, "reshape"), "pad"), "reshape");
    if (inner == NULL || inner->type->shape.rank != value->type->shape.rank)
        return value;
    for (int i = 0; i < out->axes; i++) {
        const int64_t wide = value->type->shape.dim[i + 2], narrow = inner->type->shape.dim[i + 2];
        if (wide > narrow && narrow > 0 && wide % narrow == 0)
            out->stride[i] = wide / narrow;
    }
    return inner;
}

/* ---- the transpose ---- */

/* Without the zeros before it and the end that is cut off where no window reaches; those zeros are put into `back`. */
static const mw_tensor *below_cut(const mw_tensor *x, mw__conv *back)
{
    int64_t pad[2 * MW_RANK_MAX] = {0};
    size_t count = 0;
    const mw_tensor *const cut = mw__pattern_below(x, "slice_by_size"), *const inner = mw__pattern_below(cut, "pad");
    if (inner == NULL || !mw__arg_ints(cut->op, "pad", pad, 2 * MW_RANK_MAX, &count) || count != 2 * (size_t)back->axes)
        return cut != NULL ? cut : x;
    for (int i = 0; i < back->axes; i++)
        back->before[i] += pad[2 * i];
    return inner;
}

/* dy is spread by the stride, and the kernel reversed and its channels exchanged. */
static bool read_dx(const mw__op *op, mw__conv_dx_match *out)
{
    mw__conv back;
    if (!mw__conv_read(op, &back))
        return false;
    const mw_tensor *kernel = below_exchange(mw__arg(op, "weight"), back.groups);
    const mw_tensor *dy = below_cut(mw__arg(op, "x"), &back);
    const mw_tensor *reversed = kernel != NULL ? mw__pattern_below(kernel, "reverse") : NULL;
    *out = (mw__conv_dx_match){.conv = back, .weight = reversed != NULL ? reversed : kernel, .dx = op->results[0]};
    for (int i = 0; i < back.axes; i++) {
        out->conv.in[i] = back.out[i];
        out->conv.before[i] = mw__conv_cover(&back, i) - 1 - back.before[i];
        if (back.stride[i] != 1 || out->conv.before[i] < 0)
            return false;
    }
    for (int i = 0; i < back.axes; i++)
        dy = mw__pattern_below_spread(dy, &out->conv);
    for (int i = 0; i < back.axes; i++)
        out->conv.out[i] = dy->type->shape.dim[i + 2];
    out->dy = dy;
    return out->weight != NULL && !mw__arg_present(op, "bias") && out->weight->type->kind == MW__TENSOR;
}

static mw_status put_dx(mw__pattern_compare *c, mw__finder *f, size_t at, const mw__conv_dx_match *match, mw_error *err)
{
    mw__conv_dx_match *kept = mw__arena_alloc(f->arena, 1, sizeof *kept, err);
    mw__pattern *pattern = kept != NULL ? mw__pattern_put(f, at, kept, err) : NULL;
    if (pattern == NULL)
        return MW_ERROR_MEMORY;
    *kept = *match;
    pattern->reads[0] = match->dy, pattern->reads[1] = match->weight;
    return mw__pattern_compare_list_ops(c, f, pattern, err);
}

mw_status mw__match_conv_dx(mw__finder *f, size_t at, mw_error *err)
{
    mw__conv_dx_match match;
    const mw__op *op = f->body->ops[at];
    if (!read_dx(op, &match))
        return mw__pattern_decline(f, f->row->declined);
    if (!mw__conv_dx_suits(&match))
        return mw__pattern_decline(f, "the kernel has no such convolution");
    mw__pattern_compare c;
    mw_status status = mw__pattern_compare_begin(&c, f->function, err);
    if (status == MW_OK) {
        mw_tensor *dy = mw__pattern_compare_input(&c, DY, "dy", match.dy);
        mw_tensor *weight = mw__pattern_compare_input(&c, WEIGHT, "weight", match.weight);
        c.wanted[DY] = match.dy, c.wanted[WEIGHT] = match.weight;
        status = mw__pattern_compare_written(&c, mw__conv_dx(&match.conv, dy, weight), err);
    }
    if (status == MW_OK && c.root != NULL && mw__pattern_compare_values(&c, c.root, op->results[0]))
        status = put_dx(&c, f, at, &match, err);
    mw__pattern_compare_end(&c);
    return status;
}

/* ---- the transpose as a product with columns ---- */

/* The kernel as a matrix, in the type in which the text has it. */
static const mw_tensor *left_of(const mw__conv_columns_match *columns)
{
    const mw_tensor *left = mw__arg(columns->product, "x"), *half = mw__pattern_below(left, "cast");
    return half != NULL ? half : left;
}

/* The same of the product of columns in the form for chips. */
static bool read_columns_dx(const mw__conv_columns_match *columns, mw__conv_dx_match *out)
{
    const mw__conv *back = &columns->conv;
    int64_t before[MW__CONV_AXES];
    const mw_tensor *dy = mw__conv_columns_inside(columns->x, back->axes, before);
    const mw_tensor *kernel = below_exchange(mw__pattern_below(left_of(columns), "reshape"), back->groups);
    *out = (mw__conv_dx_match){.conv = *back, .weight = mw__pattern_below(kernel, "reverse"), .dx = columns->result};
    for (int i = 0; i < back->axes; i++) {
        out->conv.in[i] = back->out[i];
        out->conv.before[i] = mw__conv_cover(back, i) - 1 - before[i];
        if (back->stride[i] != 1 || out->conv.before[i] < 0)
            return false;
    }
    for (int i = 0; i < back->axes; i++)
        dy = mw__pattern_below_spread(dy, &out->conv);
    for (int i = 0; i < back->axes; i++)
        out->conv.out[i] = dy->type->shape.dim[i + 2];
    out->dy = dy;
    return out->weight != NULL && out->weight->type->kind == MW__TENSOR;
}

/* What the builder gives a product of that type as operand `name`, compared with the one that is there. */
static mw_status compare_operand(mw__pattern_compare *c, const mw__finder *f, const mw__conv_dx_match *match,
                                 const char *name, const mw_tensor *there, bool *out_same, mw_error *err)
{
    const mw_dtype dtype = there->type->dtype;
    MW_TRY(mw__pattern_compare_begin(c, f->function, err));
    c->scratch->lowering = MW__LOWERING_DECOMPOSED;
    c->wanted[DY] = match->dy, c->wanted[WEIGHT] = match->weight;
    c->input[DY] = mw_input(c->scratch, "dy", dtype, match->dy->type->shape);
    c->input[WEIGHT] = mw_input(c->scratch, "weight", dtype, match->weight->type->shape);
    const mw_tensor *product = mw__pattern_below(mw__conv_dx(&match->conv, c->input[DY], c->input[WEIGHT]), "reshape");
    const bool one_band = product != NULL && mw__pattern_is_named(product->op, "matmul");
    MW_TRY(mw__pattern_compare_written(c, one_band ? mw__arg(product->op, name) : NULL, err));
    *out_same = c->root != NULL && mw__pattern_compare_values(c, c->root, there);
    return MW_OK;
}

static mw_status put_columns_dx(const mw__pattern_compare *kernel, const mw__pattern_compare *columns, mw__finder *f,
                                size_t at, const mw__conv_dx_match *dx, mw_error *err)
{
    mw__conv_columns_match *match = mw__arena_alloc(f->arena, 1, sizeof *match, err);
    mw__conv_dx_match *transpose = mw__arena_alloc(f->arena, 1, sizeof *transpose, err);
    const mw__conv_columns_match *product = f->patterns[at]->match;
    mw__pattern *pattern = match != NULL && transpose != NULL ? mw__pattern_put(f, at, match, err) : NULL;
    if (pattern == NULL)
        return MW_ERROR_MEMORY;
    *transpose = *dx;
    *match = *product;
    match->transpose = transpose;
    pattern->reads[0] = dx->dy, pattern->reads[1] = dx->weight;
    MW_TRY(mw__pattern_compare_list_ops(kernel, f, pattern, err));
    return mw__pattern_compare_list_ops(columns, f, pattern, err);
}

mw_status mw__match_conv_columns_dx(mw__finder *f, size_t at, mw_error *err)
{
    mw__conv_dx_match match;
    const mw__conv_columns_match *product = f->patterns[at]->match;
    if (!read_columns_dx(product, &match))
        return mw__pattern_decline(f, f->row->declined);
    mw__pattern_compare kernel = {0}, columns = {0};
    bool same = false;
    mw_status status = compare_operand(&kernel, f, &match, "x", left_of(product), &same, err);
    if (status == MW_OK && same)
        status = compare_operand(&columns, f, &match, "y", mw__arg(product->product, "y"), &same, err);
    if (status == MW_OK && same)
        status = put_columns_dx(&kernel, &columns, f, at, &match, err);
    mw__pattern_compare_end(&columns);
    mw__pattern_compare_end(&kernel);
    return status;
}

/* ---- the gradient by the weight as products with columns ---- */

/* Ones alone, as the builder fills a tensor with them. */
static bool is_ones(const mw_tensor *value)
{
    const mw_tensor *half = mw__pattern_below(value, "cast");
    const mw__op *fill = half != NULL ? half->op : value->op;
    double number = 0.0;
    return mw__pattern_is_named(fill, "fill") && mw__arg_float(fill, "value", &number) && number == 1.0;
}

static bool is_true(const mw__op *op, const char *name)
{
    bool value = false;
    mw__arg_bool(op, name, &value);
    return value;
}

/* What stands for each example and is summed, as [groups, outputs, examples, ..]; NULL if that is not so. */
static const mw_tensor *below_sum(const mw__op *sum)
{
    const mw_tensor *by_element = mw__arg(sum, "y"), *each = mw__pattern_below(by_element, "transpose");
    int64_t perm[MW_RANK_MAX];
    size_t rank = 0;
    if (each == NULL || is_true(sum, "transpose_x") || is_true(sum, "transpose_y") || !is_ones(mw__arg(sum, "x")) ||
        !mw__arg_ints(by_element->op, "perm", perm, MW_RANK_MAX, &rank) || rank != 4 || perm[0] != 1 || perm[1] != 2 ||
        perm[2] != 0 || perm[3] != 3)
        return NULL;
    return each;
}

static bool read_columns_dweight(const mw__pattern *each, const mw__op *sum, mw__conv_columns_dweight_match *out)
{
    const mw__conv_columns_match *product = each->match;
    const mw_tensor *dy = mw__pattern_below(mw__arg(product->product, "x"), "reshape");
    mw__conv_dweight_match *dweight = &out->dweight;
    *out = (mw__conv_columns_dweight_match){
        .dweight = {.numbers = product->conv, .dy = dy}, .each = product->result, .result = sum->results[0]};
    mw__conv *conv = &dweight->numbers;
    dweight->x = mw__conv_columns_inside(product->x, conv->axes, conv->before);
    for (int i = 0; i < conv->axes; i++)
        conv->in[i] = dweight->x->type->shape.dim[i + 2];
    return dy != NULL && is_true(product->product, "transpose_y") && dy->type->dtype == MW_F32;
}

const mw__pattern *mw__pattern_columns_dweight(const mw__finder *f, const mw__op *sum,
                                               mw__conv_columns_dweight_match *out)
{
    const mw_tensor *const value = below_sum(sum);
    const mw__pattern *each = value != NULL ? mw__pattern_product(f, value) : NULL; /* nothing else needs it */
    return each != NULL && read_columns_dweight(each, sum, out) ? each : NULL;
}

mw__pattern *mw__pattern_put_columns_dweight(mw__finder *f, size_t at, const mw__pattern *each, const void *match,
                                             mw_error *err)
{
    const mw__op *sum = f->body->ops[at];
    mw__pattern *pattern = mw__pattern_put(f, at, match, err);
    if (pattern == NULL)
        return NULL;
    pattern->ops = each->ops, pattern->op_count = each->op_count;
    const bool added = mw__pattern_add_op(f, pattern, mw__arg(sum, "y")->op, err) == MW_OK &&
                       mw__pattern_add_op(f, pattern, sum, err) == MW_OK;
    return added ? pattern : NULL;
}

mw_status mw__match_conv_columns_dweight(mw__finder *f, size_t at, mw_error *err)
{
    mw__conv_columns_dweight_match match;
    const mw__pattern *each = mw__pattern_columns_dweight(f, f->body->ops[at], &match);
    if (each == NULL)
        return mw__pattern_decline(f, f->row->declined);
    if (!mw__conv_columns_dweight_suits(&match, f->config, f->partitions))
        return mw__pattern_decline(f, "its kernel has few channels, or another order of sums");
    mw__conv_columns_dweight_match *kept = mw__arena_alloc(f->arena, 1, sizeof *kept, err);
    mw__pattern *pattern = kept != NULL ? mw__pattern_put_columns_dweight(f, at, each, kept, err) : NULL;
    if (pattern == NULL)
        return MW_ERROR_MEMORY;
    *kept = match;
    pattern->reads[0] = match.dweight.x, pattern->reads[1] = match.dweight.dy;
    return MW_OK;
}

/* ---- that of a 1 x 1 convolution, which needs no columns ---- */

static bool are_planes(const mw_tensor *value, const mw_tensor *matrix)
{
    const mw_shape from = value->type->shape, to = matrix->type->shape;
    return value->type->dtype == MW_F32 && to.rank == 4 && from.rank >= 3 && from.rank <= 2 + MW__CONV_AXES &&
           from.dim[0] == to.dim[0] && from.dim[1] == to.dim[1] * to.dim[2];
}

/* The tensor [N, G C, ..] that a matrix [N, G, C, positions] is another shape of: the first that was; NULL if none was.
 */
static const mw_tensor *planes_of(const mw_tensor *matrix)
{
    const mw_tensor *found = NULL;
    for (const mw_tensor *v = mw__pattern_below(matrix, "reshape"); v != NULL; v = mw__pattern_below(v, "reshape"))
        found = are_planes(v, matrix) ? v : found;
    return found != NULL && !mw__is_packed(found) ? found : NULL;
}

static bool read_pointwise(const mw__op *product, const mw__op *sum, mw__conv_columns_dweight_match *out)
{
    const mw_tensor *dy = planes_of(mw__arg(product, "x")), *x = planes_of(mw__arg(product, "y"));
    if (dy == NULL || x == NULL || is_true(product, "transpose_x") || !is_true(product, "transpose_y"))
        return false;
    const mw_shape planes = x->type->shape, of_dy = dy->type->shape;
    mw__conv conv = {.axes = planes.rank - 2, .groups = product->results[0]->type->shape.dim[1]};
    bool same = of_dy.rank == planes.rank;
    for (int i = 0; i < conv.axes && same; i++) {
        conv.kernel[i] = conv.stride[i] = conv.dilation[i] = 1;
        conv.in[i] = conv.out[i] = planes.dim[i + 2];
        same = of_dy.dim[i + 2] == planes.dim[i + 2];
    }
    *out = (mw__conv_columns_dweight_match){
        .dweight = {.numbers = conv, .x = x, .dy = dy}, .each = product->results[0], .result = sum->results[0]};
    return same;
}

mw_status mw__match_conv_pointwise_dweight(mw__finder *f, size_t at, mw_error *err)
{
    const mw__op *sum = f->body->ops[at];
    const mw_tensor *each = below_sum(sum);
    mw__conv_columns_dweight_match match;
    if (each == NULL || f->uses[each->id] != 1 || !mw__pattern_is_named(each->op, "matmul") ||
        mw__pattern_of(f, each) != NULL || !read_pointwise(each->op, sum, &match))
        return mw__pattern_decline(f, f->row->declined);
    if (!mw__conv_columns_dweight_suits(&match, f->config, f->partitions))
        return mw__pattern_decline(f, "its kernel has few channels, or another order of sums");
    mw__conv_columns_dweight_match *kept = mw__arena_alloc(f->arena, 1, sizeof *kept, err);
    mw__pattern *pattern = kept != NULL ? mw__pattern_put(f, at, kept, err) : NULL;
    if (pattern == NULL)
        return MW_ERROR_MEMORY;
    *kept = match;
    pattern->reads[0] = match.dweight.x, pattern->reads[1] = match.dweight.dy;
    MW_TRY(mw__pattern_add_op(f, pattern, each->op, err));
    MW_TRY(mw__pattern_add_op(f, pattern, mw__arg(sum, "y")->op, err));
    return mw__pattern_add_op(f, pattern, sum, err);
}

/* ---- the gradient by the weight ---- */

/* The gradient by the bias, of the same dy. */
static mw_status find_dbias(mw__pattern_compare *c, mw__finder *f, size_t at, const mw_tensor *root, mw_error *err)
{
    mw__pattern *pattern = f->patterns[at];
    mw__conv_dweight_match *match = (mw__conv_dweight_match *)(uintptr_t)pattern->match;
    c->wanted[DY] = match->dy;
    const size_t bias = mw__pattern_compare_find(c, f, at, root);
    c->wanted[DY] = NULL;
    if (bias == f->body->op_count)
        return MW_OK;
    match->dbias = pattern->also = f->body->ops[bias]->results[0];
    MW_TRY(mw__pattern_put_made(f, bias, match->dweight, err));
    return mw__pattern_compare_list_ops(c, f, pattern, err);
}

static mw_status put_dweight(mw__pattern_compare *c, mw__finder *f, size_t at, const mw__conv_dweight_match *match,
                             mw_error *err)
{
    mw__conv_dweight_match *kept = mw__arena_alloc(f->arena, 1, sizeof *kept, err);
    if (kept == NULL)
        return MW_ERROR_MEMORY;
    *kept = *match;
    kept->x = mw__pattern_compare_found(c, X), kept->dy = mw__pattern_compare_found(c, DY),
    kept->dweight = f->body->ops[at]->results[0];
    mw__pattern *pattern = mw__pattern_put(f, at, kept, err);
    if (pattern == NULL)
        return MW_ERROR_MEMORY;
    pattern->reads[0] = kept->x, pattern->reads[1] = kept->dy;
    return mw__pattern_compare_list_ops(c, f, pattern, err);
}

/* Marks it, with the gradient by the bias. Both are of some x and dy, unless `match` says of which. */
static mw_status mark_dweight(mw__finder *f, size_t at, const mw__conv_dweight_match *match, mw__pattern_compare *c,
                              const mw_tensor *dbias, mw_error *err)
{
    MW_TRY(put_dweight(c, f, at, match, err));
    return find_dbias(c, f, at, dbias, err);
}

mw_status mw__match_conv_dweight(mw__finder *f, size_t at, mw_error *err)
{
    const mw__op *conv = f->body->ops[at];
    mw__conv_dweight_match match = {.conv = conv, .x = mw__arg(conv, "x"), .dy = conv->results[0]};
    if (!mw__conv_read(conv, &match.numbers) || !mw__conv_dweight_suits(&match, mw__arg(conv, "weight")))
        return mw__pattern_decline(f, "the kernel has no such convolution or type");
    mw__pattern_compare c;
    const mw_tensor *dbias = NULL;
    mw_status status = mw__pattern_compare_begin_gradient(&c, f, match.x, match.dy, err);
    if (status == MW_OK) {
        dbias = mw__conv_dbias(c.input[DY]);
        status = mw__pattern_compare_written(&c, mw__conv_dweight(&match.numbers, c.input[X], c.input[DY]), err);
    }
    for (size_t i = at; status == MW_OK && (i = mw__pattern_compare_find(&c, f, i, c.root)) < f->body->op_count;)
        status = mark_dweight(f, i, &match, &c, dbias, err);
    mw__pattern_compare_end(&c);
    return status;
}

/* A convolution of x with dy as its kernel, both with examples and channels exchanged, whose strides and dilations have
 * changed places; a dilated dy is spread. */
static bool read_dweight(const mw__op *root, mw__conv_dweight_match *out)
{
    mw__conv back;
    int64_t pad[2 * MW_RANK_MAX] = {0};
    size_t count = 0;
    const mw_tensor *made = mw__arg(root, "x");
    if (!mw__pattern_is_named(made->op, "conv") || !mw__conv_read(made->op, &back))
        return false;
    *out = (mw__conv_dweight_match){.numbers = back};
    mw__conv *const conv = &out->numbers;
    const mw_tensor *x = mw__arg(made->op, "x"), *dy = mw__arg(made->op, "weight"),
                    *cut = mw__pattern_below(x, "slice_by_size");
    x = cut != NULL ? cut : x;
    if (mw__pattern_below(x, "pad") != NULL && mw__arg_ints(x->op, "pad", pad, 2 * MW_RANK_MAX, &count))
        x = mw__pattern_below(x, "pad");
    cut = mw__pattern_below(dy, "slice_by_size");
    dy = cut != NULL ? cut : dy;
    memcpy(conv->stride, back.dilation, sizeof conv->stride);
    for (int i = 0; i < back.axes; i++)
        dy = mw__pattern_below_spread(dy, conv);
    out->x = below_exchange(x, back.groups), out->dy = mw__pattern_below(dy, "transpose");
    if (out->x == NULL || out->dy == NULL || out->x->type->shape.rank != back.axes + 2)
        return false;
    for (int i = 0; i < back.axes; i++) {
        conv->kernel[i] = back.out[i], conv->dilation[i] = back.stride[i];
        conv->in[i] = out->x->type->shape.dim[i + 2], conv->out[i] = out->dy->type->shape.dim[i + 2];
        conv->before[i] = count == 2 * (size_t)back.axes ? pad[2 * i] : back.before[i];
    }
    return true;
}

mw_status mw__match_conv_dweight_alone(mw__finder *f, size_t at, mw_error *err)
{
    mw__conv_dweight_match match;
    const mw__op *op = f->body->ops[at];
    if (!read_dweight(op, &match))
        return mw__pattern_decline(f, f->row->declined);
    if (!mw__conv_dweight_suits(&match, op->results[0]))
        return mw__pattern_decline(f, "the kernel has no such convolution or type");
    mw__pattern_compare c;
    const mw_tensor *dbias = NULL;
    mw_status status = mw__pattern_compare_begin_gradient(&c, f, match.x, match.dy, err);
    if (status == MW_OK) {
        c.wanted[X] = match.x;
        dbias = mw__conv_dbias(c.input[DY]);
        status = mw__pattern_compare_written(&c, mw__conv_dweight(&match.numbers, c.input[X], c.input[DY]), err);
    }
    if (status == MW_OK && c.root != NULL && mw__pattern_compare_values(&c, c.root, op->results[0]))
        status = mark_dweight(f, at, &match, &c, dbias, err);
    mw__pattern_compare_end(&c);
    return status;
}
