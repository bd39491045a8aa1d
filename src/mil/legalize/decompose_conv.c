/* A convolution whose kernel is wider than the device's limit: parts of the kernel become channels. With parts of w
 * columns, y[p] = sum over parts j and columns k < w of weight[j w + k] x[p stride + (j w + k) dilation - before]: one
 * convolution with a kernel of w columns over copies of x, each shifted by j w dilation, side by side as channels. So
 * all products are added inside one operation, in fp32, and the kernel's last part is filled up with zeros. */
#include "graph/constants/compressed.h"
#include "graph/patterns/conv.h"
#include "graph/patterns/conv_decomposed.h"
#include "mil/legalize/decompose.h"
#include "mil/legalize/rewrites.h"

#include <millwright/ops/conv.h>
#include <millwright/ops/shape.h>
#include <string.h>

typedef struct wide {
    mw__conv conv;
    int last;             /* the axis of the kernel that is too wide */
    int64_t parts, width; /* columns of each */
    int64_t length;       /* of the shifted inputs */
} wide;

/* What a constant holds, compressed or not. */
static bool is_loaded(const mw_tensor *weight)
{
    const mw__payload *payload = weight != NULL ? mw__constant_payload(weight, NULL) : NULL;
    return payload != NULL && payload->data != NULL && !payload->splat;
}

static bool is_short(const mw_tensor *value, const mw__legality *legality)
{
    const mw_shape shape = mw_tensor_shape(value);
    return shape.rank > 2 && shape.dim[shape.rank - 1] <= mw__legality_chip(legality)->kernel_width_max;
}

bool mw__decompose_is_wide_conv(const mw__rewriting *pass, const mw__op *op)
{
    mw__conv conv;
    const mw_tensor *weight = mw__arg(op, "weight"), *bias = mw__arg(op, "bias");
    const bool copied = bias == NULL || bias->payload == NULL || is_loaded(bias);
    return pass->legality->device->is_chip && weight != NULL && !is_short(weight, pass->legality) &&
           is_loaded(weight) && copied && mw__conv_read(op, &conv) &&
           mw_shape_count(mw_tensor_shape(op->results[0])) > 0 && mw_tensor_shape(weight).rank > 2;
}

static wide plan(const mw__legality *legality, const mw__op *op)
{
    wide w = {.parts = 1};
    mw__conv_read(op, &w.conv);
    w.last = w.conv.axes - 1;
    const int64_t kernel = w.conv.kernel[w.last], most = mw__legality_chip(legality)->kernel_width_max;
    w.parts = (kernel + most - 1) / most;
    w.width = (kernel + w.parts - 1) / w.parts;
    w.length = (w.conv.out[w.last] - 1) * w.conv.stride[w.last] + (w.width - 1) * w.conv.dilation[w.last] + 1;
    return w;
}

/* The weight with its parts as channels: [O, parts * C, .., width]. */
static mw_tensor *parts_of_weight(mw_graph *to, const wide *w, const mw_tensor *weight)
{
    mw_shape shape = mw_tensor_shape(weight);
    const char *source = mw__constant_payload(weight, &to->error)->data; /* is_loaded */
    const size_t bytes = (size_t)(mw_dtype_bits(mw_tensor_dtype(weight)) / 8);
    const int64_t kernel = shape.dim[shape.rank - 1], outs = shape.dim[0], channels = shape.dim[1];
    const int64_t rows = mw__shape_span(shape, 2, shape.rank - 1);
    shape.dim[1] *= w->parts;
    shape.dim[shape.rank - 1] = w->width;
    char *data = mw__arena_alloc(&to->arena, (size_t)mw_shape_count(shape), bytes, &to->error);
    for (int64_t i = 0; data != NULL && i < outs * w->parts * channels * rows; i++) {
        const int64_t row = i % rows, channel = i / rows % channels, part = i / (rows * channels) % w->parts;
        const int64_t from = ((i / (rows * channels * w->parts) * channels + channel) * rows + row) * kernel;
        const int64_t first = part * w->width, left = kernel - first;
        const int64_t count = left < 0 ? 0 : left < w->width ? left : w->width;
        memcpy(data + (size_t)(i * w->width) * bytes, source + (size_t)(from + first) * bytes, (size_t)count * bytes);
    }
    return data != NULL ? mw_constant(to, mw_tensor_dtype(weight), shape, data) : NULL;
}

/* x from where part `part` reads its first element to where it reads its last one. */
static mw_tensor *shifted(const wide *w, mw_tensor *x, int64_t part)
{
    int64_t before[MW__CONV_AXES], after[MW__CONV_AXES];
    for (int i = 0; i < w->conv.axes; i++) {
        before[i] = w->conv.before[i];
        after[i] = mw__conv_after(&w->conv, i);
    }
    const int64_t begin = part * w->width * w->conv.dilation[w->last] - w->conv.before[w->last];
    before[w->last] = -begin;
    after[w->last] = begin + w->length - w->conv.in[w->last];
    if (begin < w->conv.in[w->last] && begin + w->length > 0)
        return mw__conv_fit(x, w->conv.axes, before, after);
    mw_shape shape = mw_tensor_shape(x); /* border alone */
    for (int i = 0; i < w->conv.axes; i++)
        shape.dim[shape.rank - w->conv.axes + i] += before[i] + after[i];
    return mw_fill(mw_tensor_graph(x), mw_tensor_dtype(x), shape, 0.0);
}

/* [N, G C, ..] as [N, G, C, rest], so that the parts stand inside each group. */
static mw_tensor *in_groups(const wide *w, mw_tensor *x)
{
    const mw_shape shape = mw_tensor_shape(x);
    const int64_t rest = mw__shape_span(shape, 2, shape.rank);
    return w->conv.groups == 1
               ? x
               : mw__reshape_to(x, MW_SHAPE(shape.dim[0], w->conv.groups, shape.dim[1] / w->conv.groups, rest));
}

static mw_tensor *side_by_side(mw_graph *to, const wide *w, mw_tensor *x)
{
    mw_tensor **all = mw__arena_alloc(&to->arena, (size_t)w->parts, sizeof(mw_tensor *), &to->error);
    mw_shape shape = {0};
    for (int64_t i = 0; all != NULL && i < w->parts; i++) {
        mw_tensor *part = shifted(w, x, i);
        shape = mw_tensor_shape(part);
        all[i] = in_groups(w, part);
    }
    if (all == NULL || to->error.status != MW_OK)
        return NULL;
    shape.dim[1] *= w->parts;
    return mw__reshape_to(mw_concat(all, (size_t)w->parts, w->conv.groups == 1 ? 1 : 2), shape);
}

mw_tensor *mw__decompose_wide_conv(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    const wide w = plan(pass->legality, op);
    mw_conv_options options = mw_conv_defaults();
    for (int i = 0; i < w.conv.axes; i++) {
        options.stride[i] = w.conv.stride[i];
        options.dilation[i] = w.conv.dilation[i];
    }
    options.groups = w.conv.groups;
    options.pad_type = MW_PAD_VALID;
    mw_tensor *x = side_by_side(clone->to, &w, mw__decompose_arg(clone, op, "x"));
    mw_tensor *weight = parts_of_weight(clone->to, &w, mw__arg(op, "weight"));
    return mw_conv(x, weight, mw__decompose_arg(clone, op, "bias"), &options);
}
