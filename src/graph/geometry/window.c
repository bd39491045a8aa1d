/* Windows over spatial axes: reading the arguments, padding and output extents (coremltools' conv and pools). Every
 * extent is checked against overflow, so that kernels may compute positions without. */
#include "graph/geometry/window.h"

#include "base/memory/checked.h"
#include "graph/ir/rule.h"

#include <inttypes.h>

/* Positions stay far below the limit of int64, so that sums of two are safe. */
#define LIMIT (INT64_C(1) << 60)

/* ---- arguments ---- */

/* MIL's names, by mw_pad_type. */
static const char *const pad_types[] = {NULL, "valid", "custom", "same", "same_lower"};

static bool equal_any_case(const char *text, const char *lower)
{
    for (; *lower != '\0'; text++, lower++)
        if ((*text >= 'A' && *text <= 'Z' ? *text - 'A' + 'a' : *text) != *lower)
            return false;
    return *text == '\0';
}

static mw_status read_pad_type(const mw__infer *infer, mw_pad_type *out)
{
    const char *text = mw__arg_string(infer->op, "pad_type");
    for (size_t i = 1; text != NULL && i < sizeof pad_types / sizeof *pad_types; i++) {
        if (!equal_any_case(text, pad_types[i]))
            continue;
        if (i == MW_PAD_SAME_LOWER && infer->op->block->function->opset < MW_IOS16)
            return mw__rule_fail(infer, MW_ERROR_UNSUPPORTED, "pad_type same_lower needs opset ios16");
        *out = (mw_pad_type)i;
        return MW_OK;
    }
    return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "pad_type is \"%s\", not valid, custom, same or same_lower",
                         text != NULL ? text : "?");
}

/* A vector of `count` integers from `lowest` up; `fallback` for each if it is absent. */
static mw_status read_vector(const mw__infer *infer, const char *arg, size_t count, int64_t lowest, int64_t fallback,
                             int64_t *out)
{
    size_t read = 0;
    bool known;
    for (size_t i = 0; i < count; i++)
        out[i] = fallback;
    if (mw__row_arg(infer->op->row, arg) == NULL || !mw__arg_present(infer->op, arg))
        return MW_OK;
    MW_TRY(mw__rule_ints(infer, arg, out, 2 * MW__WINDOW_AXES, &read, &known));
    if (read != count)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "%s has %zu elements, the spatial axes need %zu", arg, read,
                             count);
    for (size_t i = 0; i < count; i++)
        if (out[i] < lowest || out[i] >= LIMIT)
            return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "%s[%zu] is %" PRId64 ", it must be at least %" PRId64, arg,
                                 i, out[i], lowest);
    return MW_OK;
}

mw_status mw__window_read(const mw__op *op, mw_shape x, const int64_t *kernel, mw__window out[MW__WINDOW_AXES],
                          mw_pad_type *out_type, mw_error *err)
{
    const mw__infer infer = {.op = op, .err = err};
    const int axes = x.rank - 2;
    int64_t strides[2 * MW__WINDOW_AXES], dilations[2 * MW__WINDOW_AXES], pads[2 * MW__WINDOW_AXES];
    if (axes < 1 || axes > MW__WINDOW_AXES)
        return mw__rule_fail(&infer, MW_ERROR_SHAPE, "x must be [N, C, 1 to %d spatial axes], not of rank %d",
                             MW__WINDOW_AXES, x.rank);
    MW_TRY(read_pad_type(&infer, out_type));
    MW_TRY(read_vector(&infer, "strides", (size_t)axes, 1, 1, strides));
    MW_TRY(read_vector(&infer, "dilations", (size_t)axes, 1, 1, dilations));
    /* pad is written always but read for custom only */
    if (*out_type == MW_PAD_CUSTOM)
        MW_TRY(read_vector(&infer, "pad", 2 * (size_t)axes, 0, 0, pads));
    for (int i = 0; i < axes; i++) {
        mw__window *w = &out[i];
        *w = (mw__window){.in = x.dim[2 + i], .kernel = kernel[i], .stride = strides[i], .dilation = dilations[i]};
        if (*out_type == MW_PAD_CUSTOM)
            w->before = pads[2 * i], w->after = pads[2 * i + 1];
        if (w->kernel < 1 && w->kernel != MW_DIM_UNKNOWN)
            return mw__rule_fail(&infer, MW_ERROR_ARGUMENT, "the kernel has extent %" PRId64 " on spatial axis %d",
                                 w->kernel, i);
        if (w->kernel != MW_DIM_UNKNOWN && (!mw__mul_i64(w->kernel - 1, w->dilation, &w->span) || w->span >= LIMIT))
            return mw__rule_fail(&infer, MW_ERROR_SHAPE, "the kernel of spatial axis %d is too wide", i);
        w->span = w->kernel != MW_DIM_UNKNOWN ? w->span + 1 : MW_DIM_UNKNOWN;
    }
    return MW_OK;
}

const char *mw__pad_type_name(mw_pad_type type)
{
    return type >= MW_PAD_VALID && type <= MW_PAD_SAME_LOWER ? pad_types[type] : NULL;
}

/* ---- extents ---- */

static void fit_same(mw__window *w, bool lower)
{
    if (w->in == MW_DIM_UNKNOWN) {
        w->out = MW_DIM_UNKNOWN;
        return;
    }
    w->out = (w->in - 1) / w->stride + 1;
    if (w->kernel == MW_DIM_UNKNOWN)
        return;
    const int64_t total = (w->out - 1) * w->stride + w->span - w->in, needed = total > 0 ? total : 0;
    w->before = (needed + lower) / 2;
    w->after = needed - w->before;
}

static mw_status fit_padded(const mw__infer *infer, mw__window *w, int axis, bool ceil)
{
    if (w->in == MW_DIM_UNKNOWN || w->kernel == MW_DIM_UNKNOWN) {
        w->out = MW_DIM_UNKNOWN;
        return MW_OK;
    }
    const int64_t room = w->in + w->before + w->after - w->span + (ceil ? w->stride - 1 : 0);
    if (room < 0)
        return mw__rule_fail(infer, MW_ERROR_SHAPE,
                             "the window spans %" PRId64 " on spatial axis %d, x with its padding only %" PRId64,
                             w->span, axis, w->in + w->before + w->after);
    w->out = room / w->stride + 1;
    if (ceil && w->before + w->after > 0 && (w->out - 1) * w->stride >= w->in + w->before)
        w->out--;
    return MW_OK;
}

static mw_status check_ceil(const mw__infer *infer, const mw__window *windows, int axes, mw_pad_type type)
{
    if (type == MW_PAD_SAME || type == MW_PAD_SAME_LOWER)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "ceil_mode does not go with pad_type same or same_lower");
    if (axes > 2)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "ceil_mode is for one or two spatial axes, not %d", axes);
    for (int i = 0; i < axes; i++)
        if (windows[i].before != windows[i].after)
            return mw__rule_fail(infer, MW_ERROR_ARGUMENT,
                                 "ceil_mode needs equal padding on both sides, spatial axis %d has %" PRId64
                                 " and %" PRId64,
                                 i, windows[i].before, windows[i].after);
    return MW_OK;
}

mw_status mw__op_windows(const mw__op *op, mw_shape x, const int64_t *kernel, mw__window out[MW__WINDOW_AXES],
                         mw_error *err)
{
    const mw__infer infer = {.op = op, .err = err};
    const int axes = x.rank - 2;
    mw_pad_type type;
    bool ceil = false;
    MW_TRY(mw__window_read(op, x, kernel, out, &type, err));
    if (mw__row_arg(op->row, "ceil_mode") != NULL)
        MW_TRY(mw__rule_bool(&infer, "ceil_mode", &ceil));
    if (ceil)
        MW_TRY(check_ceil(&infer, out, axes, type));
    for (int i = 0; i < axes; i++) {
        if (out[i].in == 0 || out[i].in >= LIMIT)
            return mw__rule_fail(&infer, MW_ERROR_SHAPE, "spatial axis %d of x has extent %" PRId64, i, out[i].in);
        if (type == MW_PAD_SAME || type == MW_PAD_SAME_LOWER)
            fit_same(&out[i], type == MW_PAD_SAME_LOWER);
        else
            MW_TRY(fit_padded(&infer, &out[i], i, ceil));
    }
    return MW_OK;
}

/* ---- positions ---- */

/* Elements before position `end`. */
static int64_t elements_before(const mw__window *window, int64_t at, int64_t end)
{
    const int64_t room = end - (at * window->stride - window->before);
    const int64_t count = room > 0 ? (room - 1) / window->dilation + 1 : 0;
    return count < window->kernel ? count : window->kernel;
}

void mw__window_inside(const mw__window *window, int64_t at, int64_t *out_begin, int64_t *out_end)
{
    const int64_t first = at * window->stride - window->before;
    const int64_t begin = first < 0 ? (-first + window->dilation - 1) / window->dilation : 0;
    *out_end = elements_before(window, at, window->in);
    *out_begin = begin < *out_end ? begin : *out_end;
}

int64_t mw__window_padded(const mw__window *window, int64_t at)
{
    return elements_before(window, at, window->in + window->after);
}
