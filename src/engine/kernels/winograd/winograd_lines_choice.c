/* Where Winograd's way along lines is taken: by what it costs beside sums of all products, as in winograd_choice.c,
 * whose tiles come first where a kernel has them. */
#include "base/number/integer.h"
#include "engine/kernels/winograd/winograd_lines.h"
#include "engine/kernels/winograd/winograd_plan.h"
#include "engine/kernels/winograd_rows.h"

#define CHANNELS      32 /* at least, of x and of y */
#define CHANNELS_LONG 8  /* of x, where a line has LONG taps */
#define LONG          7
#define EXTENT        8     /* of a row of y, at least */
#define VALUE         45.0  /* of each value of x and y at a point */
#define MADE          100.0 /* of each value of a weight that is made in each step */
#define READ          30.0  /* of one that is constant */
#define SUMMED        100.0 /* of each that the gradient by the weight is made of */
#define SUM           1.2   /* of each operation of the sums: they run a little slower than products */
#define PACKED        60.0  /* of each element of a weight that they lay out */
#define GAIN          0.9   /* what it may cost of them at most */
#define RUN           24.0  /* tiles of a row in one product, from which on its sums cost nothing to fetch */
#define SHORT         5.0   /* tiles that fetching the sums of a product costs.. */
#define SHORT_SUMMED  12.0  /* ..of the gradient by the weight, whose sums are of the second-level cache */
#define LANES         16
#define TAPS_MOST     1024       /* of a kernel */
#define VALUES_MOST   12582912.0 /* of a weight: 48 MB */

/* What is convolved, as numbers. */
typedef struct choice_size {
    double examples, inputs, outputs, rows; /* rows: of y */
    double columns;                         /* positions of a line that take all taps */
    double high, wide;                      /* the kernel, of which a row of y takes `high` rows */
    double points, pieces, tiles;           /* tiles: of all rows of y */
    double x_values, y_values;              /* of a tile, for each channel and point */
    double inside;                          /* the part of the taps along a line that is not in the border */
    double run;                             /* tiles of a row, which are a product */
} choice_size;

/* Of positions p of y with 0 <= p stride + tap dilation - before < in. A gradient by x is asked as the convolution that
 * it is without a stride, however it is written. */
static double inside_of(const mw__packed_request *r)
{
    const mw__conv_window *w = &r->window;
    const int64_t s = w->stride[2], d = w->dilation[2];
    const bool turned = r->transposed && s == 1;
    const int64_t in = turned ? w->out[2] : w->in[2], out = turned ? w->in[2] : w->out[2];
    const int64_t before = turned ? (w->kernel[2] - 1) * d - w->before[2] : w->before[2];
    int64_t met = 0;
    for (int64_t tap = 0; tap < w->kernel[2]; tap++) {
        const int64_t at = tap * d - before, last = in - 1 - at;
        const int64_t first = mw__i64_clamp(at < 0 ? mw__i64_divide_up(-at, s) : 0, 0, out);
        met += mw__i64_clamp(last < 0 ? 0 : last / s + 1, first, out) - first;
    }
    return (double)met / (double)(w->kernel[2] * out);
}

static choice_size size_of(const mw__packed_request *r)
{
    const mw__conv_window *w = &r->window;
    const int64_t s = w->stride[2], d = w->dilation[2], most = mw__i64_divide_up(w->kernel[2], s);
    const int64_t taps = most > 3 ? 4 : 3, groups = mw__i64_divide_up(most, taps),
                  left = w->kernel[2] - (groups - 1) * taps * s;
    const int64_t out = r->transposed && s > 1 ? mw__i64_divide_up(w->in[2] + w->before[2] % s, s)
                        : r->transposed        ? w->in[2]
                                               : w->out[2];
    choice_size size = {.examples = (double)mw__shape_of(r->x).dim[0],
                        .inputs = (double)mw__i64_round_up(mw__shape_of(r->x).dim[1], LANES),
                        .outputs = (double)mw__i64_round_up(mw__shape_of(r->result).dim[1], LANES),
                        .rows = (double)(r->transposed ? w->in[1] : w->out[1]),
                        .columns = (double)(r->transposed && s == 1 ? w->in[2] : w->out[2]),
                        .high = (double)w->kernel[1] / (double)(r->transposed ? w->stride[1] : 1),
                        .wide = (double)w->kernel[2],
                        .points = (double)(taps + MW__WINOGRAD_LINE - 1),
                        .pieces = (double)((groups - 1) * s + mw__i64_min(s, left)),
                        .x_values = r->transposed ? 1.0 : (double)s,
                        .y_values = r->transposed ? (double)s : 1.0,
                        .inside = inside_of(r)};
    const int64_t row = mw__i64_divide_up(out, MW__WINOGRAD_LINE * d) * d;
    size.tiles = size.examples * size.rows * (double)row;
    size.run = (double)row >= RUN || (w->kernel[1] == 1 && (double)row < RUN) ? RUN : (double)row;
    return size;
}

static double weights_of(const choice_size *s) { return s->points * s->pieces * s->high * s->inputs * s->outputs; }

/* `weight`: of each of its values; `fetched`: tiles, of the sums of each product. */
static double cost_of(const choice_size *s, double weight, double fetched)
{
    return 2.0 * s->tiles * weights_of(s) * (1.0 + fetched * (1.0 / s->run - 1.0 / RUN)) +
           VALUE * s->points * s->tiles * (s->x_values * s->inputs + s->y_values * s->outputs) + weight * weights_of(s);
}

/* packed: of each element of a weight, for sums. */
static bool gains(const choice_size *s, double weight, double packed, double fetched)
{
    const double weights = s->high * s->wide * s->inputs * s->outputs;
    const double sums = SUM * 2.0 * weights * s->examples * s->rows * s->columns * s->inside + packed * weights;
    return weights_of(s) <= VALUES_MOST && cost_of(s, weight, fetched) < GAIN * sums;
}

static bool is_fp32(const mw_tensor *value) { return value == NULL || mw__dtype_of(value) == MW_F32; }

static const char *declines(const mw__packed_request *r, double weight, double packed, double fetched)
{
    const mw__conv_window *w = &r->window;
    if (r->groups != 1 || !mw__conv_is_plane(w) || w->kernel[2] <= w->stride[2] || w->taps > TAPS_MOST ||
        (w->stride[2] > 1 && w->dilation[2] > 1))
        return "no kernel of several taps along its last axis, or one with both a stride and a dilation";
    if (!is_fp32(r->x) || !is_fp32(r->result) || !is_fp32(r->weight) || !is_fp32(r->bias))
        return "not fp32";
    if (r->weight != NULL && mw__is_packed(r->weight))
        return "the weight stays as it is stored";
    const int64_t inputs = mw__shape_of(r->x).dim[1], outputs = mw__shape_of(r->result).dim[1];
    const bool few = inputs < CHANNELS && !(inputs >= CHANNELS_LONG && w->kernel[2] >= LONG);
    const int64_t out = r->transposed ? w->in[2] : w->out[2];
    if (few || outputs < CHANNELS || out < EXTENT || mw__count_of(r->result) == 0 || mw__count_of(r->x) == 0)
        return "few channels or positions";
    const choice_size size = size_of(r);
    return gains(&size, weight, packed, fetched) ? NULL : "sums are no dearer";
}

const char *mw__winograd_lines_declines(const mw__packed_request *r)
{
    return declines(r, mw__winograd_weight_is_constant(r) ? READ : MADE, PACKED, SHORT);
}

const char *mw__winograd_lines_dweight_declines(const void *match)
{
    const mw__packed_request request = mw__winograd_dweight_request(match);
    return declines(&request, SUMMED, 0.0, SHORT_SUMMED);
}
