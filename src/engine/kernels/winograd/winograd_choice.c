/* Where Winograd's way is taken, and with which tiles: by what it costs beside sums of all products. Counts are of
 * floating-point operations that would take the time, fitted to measurements on a Zen 5 with AVX-512
 * (bench/convolutions.c: within a fifth); with AVX2, where sums take twice as long and this does not, it gains more
 * than that says.
 *
 * The choice depends on shapes and on what is constant, not on threads or the instructions, and is the same whether
 * operations are fused or not. */
#include "base/number/integer.h"
#include "engine/kernels/winograd/winograd_plan.h"

#define CHANNELS    32    /* at least, of x and of y */
#define SIDE        4     /* of y, at least */
#define VALUE       45.0  /* of each value of x and y at a pair of points */
#define MADE        100.0 /* of each value of a weight that is made in each step */
#define READ        30.0  /* of one that is constant */
#define SUM         1.2   /* of each operation of the sums: they run a little slower than products */
#define PACKED      60.0  /* of each element of a weight that they lay out */
#define GAIN        0.9   /* what it may cost of them at most */
#define UNIT_Y      64.0  /* outputs and inputs of a unit of the gradient by the weight: values are made for each */
#define UNIT_X      128.0
#define VALUES_MOST 12582912.0 /* of a weight: 48 MB */

/* What is convolved, as numbers. */
typedef struct choice_size {
    double examples, inputs, outputs;
    double rows, columns; /* of y */
    double inside;        /* the part of the taps that is not in the border */
} choice_size;

/* The part of the taps of an axis that meet elements of x. */
static double inside_of(int64_t in, int64_t out, int64_t before)
{
    int64_t met = 0;
    for (int64_t tap = 0; tap < 3; tap++) { /* of positions p with 0 <= p + tap - before < in */
        const int64_t first = mw__i64_clamp(before - tap, 0, out), end = mw__i64_clamp(in + before - tap, first, out);
        met += end - first;
    }
    return (double)met / (3.0 * (double)out);
}

static choice_size size_of(const mw__packed_request *r)
{
    const mw_shape x = mw__shape_of(r->x), y = mw__shape_of(r->result);
    choice_size out = {.examples = (double)x.dim[0],
                       .inputs = (double)x.dim[1],
                       .outputs = (double)y.dim[1],
                       .rows = (double)y.dim[2],
                       .columns = (double)y.dim[3],
                       .inside = 1.0};
    for (int i = 0; i < 2; i++) {
        const int64_t before = r->window.before[i + 1];
        out.inside *= inside_of(x.dim[i + 2], y.dim[i + 2], r->transposed ? 2 - before : before);
    }
    return out;
}

static double tiles_of(const choice_size *s, int64_t side)
{
    const int64_t rows = (int64_t)s->rows, columns = (int64_t)s->columns;
    return s->examples * (double)(mw__i64_divide_up(rows, side) * mw__i64_divide_up(columns, side));
}

/* `weight`: of each of its values; 0 for the gradient by it, whose values of x and dy are made several times. */
static double cost_of(const choice_size *s, int64_t side, double weight)
{
    const double pairs = (double)((side + 2) * (side + 2)), tiles = tiles_of(s, side);
    const double again_x = weight > 0.0 || s->outputs < UNIT_Y ? 1.0 : s->outputs / UNIT_Y;
    const double again_y = weight > 0.0 || s->inputs < UNIT_X ? 1.0 : s->inputs / UNIT_X;
    return pairs * (2.0 * tiles * s->inputs * s->outputs +
                    VALUE * tiles * (s->inputs * again_x + s->outputs * again_y) + weight * s->inputs * s->outputs);
}

/* The side of the tiles; 0: sums are no dearer. */
static int64_t side_of(const choice_size *s, double weight)
{
    const double weights = 9.0 * s->inputs * s->outputs;
    const double sums =
        SUM * 2.0 * weights * s->examples * s->rows * s->columns * s->inside + (weight > 0.0 ? PACKED * weights : 0.0);
    const double four = cost_of(s, 4, weight), two = cost_of(s, 2, weight);
    const bool large = weight > 0.0 && 36.0 * s->inputs * s->outputs > VALUES_MOST;
    const int64_t side = large || two < four ? 2 : 4;
    if (weight > 0.0 && 16.0 * s->inputs * s->outputs > VALUES_MOST)
        return 0;
    return (side == 2 ? two : four) < GAIN * sums ? side : 0;
}

static bool has_its_window(const mw__packed_request *r)
{
    const mw__conv_window *w = &r->window;
    if (r->groups != 1 || !mw__conv_is_plane(w))
        return false;
    for (int i = 1; i < 3; i++)
        if (w->kernel[i] != 3 || w->stride[i] != 1 || w->dilation[i] != 1 || (r->transposed && w->before[i] > 2))
            return false;
    return true;
}

static bool is_fp32(const mw_tensor *value) { return value == NULL || mw__dtype_of(value) == MW_F32; }

static const char *declines(const mw__packed_request *r, double weight)
{
    if (!has_its_window(r))
        return "no kernel of 3 x 3 that moves by one";
    if (!is_fp32(r->x) || !is_fp32(r->result) || !is_fp32(r->weight) || !is_fp32(r->bias))
        return "not fp32";
    if (r->weight != NULL && mw__is_packed(r->weight))
        return "the weight stays as it is stored";
    const choice_size size = size_of(r);
    if (size.inputs < CHANNELS || size.outputs < CHANNELS || size.rows < SIDE || size.columns < SIDE)
        return "few channels or positions";
    return size.examples > 0.0 && side_of(&size, weight) > 0 ? NULL : "sums are no dearer";
}

/* A constant's values are made once; those of a gradient by x are not, so that it does not matter how it is written. */
bool mw__winograd_weight_is_constant(const mw__packed_request *r)
{
    return !r->transposed && r->weight->op != NULL && r->weight->op->row != NULL &&
           r->weight->op->row->id == MW__OP_const;
}

static double weight_of(const mw__packed_request *r) { return mw__winograd_weight_is_constant(r) ? READ : MADE; }

const char *mw__winograd_declines(const mw__packed_request *r) { return declines(r, weight_of(r)); }

const char *mw__winograd_dweight_declines(const void *match)
{
    const mw__packed_request request = mw__winograd_dweight_request(match);
    return declines(&request, 0.0);
}

bool mw__conv_approximates(const mw__op *conv, const mw__config *config)
{
    mw__packed_request request;
    return !config->exact && config->level > MW__LEVEL_REF && mw__config_sums(config) == MW__SUMS_FREE &&
           mw__conv_request_read(conv, &request) &&
           (mw__winograd_declines(&request) == NULL || mw__winograd_lines_declines(&request) == NULL);
}

int64_t mw__winograd_side(const mw__packed_request *r)
{
    const choice_size size = size_of(r);
    return side_of(&size, r->weight != NULL ? weight_of(r) : 0.0);
}
