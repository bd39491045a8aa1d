/* Noise from the generator: four digits for each element, and from them normal, uniform and Bernoulli numbers.
 *
 * The digits of a plane are a bilinear form of row and column keys (generator.c), so that rows with equal keys would be
 * alike. Three products mix the planes: each of the four digits stays uniform, and independent of the others, as the
 * map has an inverse (the last plane gives the next to last, and so on), and no two rows share more than one plane but
 * once in 31^8. Two digits make a level of [-480, 480], the others its fraction in steps of 1/961.
 *
 * What follows is written so that fp16 loses little: levels are integers, fractions are below 1, and no number that
 * matters is below 2^-14. */
#include <millwright/ops/compare.h>
#include <millwright/ops/elementwise.h>
#include <millwright/ops/normalize.h>
#include <millwright/ops/random.h>
#include <millwright/ops/reduce.h>
#include <millwright/ops/shape.h>

#include "graph/ir/device_traits.h"
#include "graph/ir/rule.h"
#include "graph/random/generator.h"
#include "graph/random/noise.h"

#include "base/number/float_mode.h"
#include "base/number/fp16.h"
#include <float.h>
#include <inttypes.h>
#include <math.h>

enum { DIGITS = 4, LEVELS = MW__DIGIT_BASE * MW__DIGIT_BASE, TOP = LEVELS / 2 };
/* Counts up to this are divided by every number up to their root. */
#define SEARCHED_MAX ((int64_t)1 << 34)

/* ---- a level and its fraction ---- */

#define COUNT_MAX ((int64_t)1 << 53) /* whose root is exact */

/* The element seen as one of a matrix. `padded`: the matrix has some elements more. */
typedef struct split {
    int64_t rows, columns;
    bool padded;
} split;

/* As square as it gets, as keys cost by rows and columns. A count without a fitting divisor gets a few elements more,
 * unless the row of all elements would be longer than an axis may be on a chip. */
static split split_count(int64_t count)
{
    const int64_t root = (int64_t)sqrt((double)count), next = root + (root * root < count);
    const split padded = {next, count / next + (count % next != 0), true};
    int64_t rows = root;
    while (rows > 1 && count % rows != 0 && count < SEARCHED_MAX)
        rows--;
    const split exact = {rows, count / rows, false};
    const bool fits = count + next <= MW__DEVICE_AXIS_MAX || exact.columns > MW__DEVICE_AXIS_MAX;
    return count % rows != 0 || (exact.columns > 4 * exact.rows && fits) ? padded : exact;
}

static mw_tensor *into_shape(mw_tensor *x, split s, mw_shape shape)
{
    const int64_t count = mw_shape_count(shape);
    if (s.padded)
        x = mw_slice_by_size(mw_reshape(x, MW_SHAPE(s.rows * s.columns)), (const int64_t[]){0}, &count);
    return shape.rank > 0 ? mw_reshape(x, shape) : mw_squeeze(x, MW_ALL_AXES);
}

/* The level and, in 1/961 of it, the rest: integers of [-480, 480], uniform and independent. */
typedef struct drawn {
    mw_graph *graph;
    mw_dtype dtype;
    mw_tensor *level, *rest; /* [rows, columns] */
} drawn;

static mw_tensor *join_digits(mw_tensor *high, mw_tensor *low)
{
    return mw_add(mw_mul_scalar(high, MW__DIGIT_BASE), low);
}

/* a + b c mod 31 */
static mw_tensor *mix(const mw__generator *g, mw_tensor *a, mw_tensor *b, mw_tensor *c)
{
    return mw__generator_reduce(g, mw_add(a, mw_mul(b, c)));
}

static drawn draw_noise(mw__generator *g, split s)
{
    mw_tensor *plane[DIGITS];
    mw__generator_advance(g);
    for (int i = 0; i < DIGITS; i++)
        plane[i] = mw__generator_digit(g, i, s.rows, s.columns);
    mw_tensor *first = mix(g, plane[0], plane[1], plane[2]);
    mw_tensor *second = mix(g, plane[1], plane[2], plane[3]);
    mw_tensor *third = mix(g, plane[2], plane[3], plane[3]);
    mw_tensor *level = join_digits(first, second);
    return (drawn){.graph = g->graph, .dtype = g->dtype, .level = level, .rest = join_digits(third, plane[3])};
}

static mw_tensor *number_tensor(const drawn *d, double value) { return mw_scalar(d->graph, d->dtype, value); }

/* ---- distributions ---- */

/* low + (high - low) u, u = ((level + 480) + (rest + 480.5) / 961) / 961 in (0, 1). What is rounded to high becomes
 * low, as on a circle: each gets half of a step. */
static mw_tensor *make_uniform(const drawn *d, double low, double high)
{
    mw_tensor *fraction = mw_mul_scalar(mw_add_scalar(d->rest, TOP + 0.5), 1.0 / LEVELS);
    mw_tensor *u = mw_mul_scalar(mw_add(mw_add_scalar(d->level, TOP), fraction), 1.0 / LEVELS);
    mw_tensor *y = low != 0.0 || high != 1.0 ? mw_add_scalar(mw_mul_scalar(u, high - low), low) : u;
    return mw_select(mw_less(y, number_tensor(d, high)), y, number_tensor(d, low));
}

/* z / v as a polynomial in -1 + 2 w / 13.08, w = -ln(1 - v^2), where v = 2 p - 1 and z is the p-quantile of the normal
 * distribution: it interpolates at the Chebyshev nodes and is off by at most 5.7e-6 of its value. That this quotient is
 * a smooth function of w is from M. Giles, "Approximating the erfinv function", 2010. */
static const double quantile[] = {3.383321769,  1.783025909, -0.375132336, 0.107977236,  0.000428184,
                                  -0.054507595, 0.078407036, -0.038551619, -0.018710536, 0.017055380};
#define QUANTILE_W   13.08             /* w is 13.05 at most */
#define QUANTILE_TOP 5.481680047850402 /* ln(961 / 4), where s below is largest */

static mw_tensor *make_quotient(mw_tensor *s)
{
    const double scale = -2.0 / QUANTILE_W;
    mw_tensor *at = mw_add_scalar(mw_mul_scalar(mw_log(s, 0.0f), scale), -scale * QUANTILE_TOP - 1.0);
    const int degree = (int)(sizeof quantile / sizeof *quantile) - 1;
    mw_tensor *sum = mw_add_scalar(mw_mul_scalar(at, quantile[degree]), quantile[degree - 1]);
    for (int i = degree - 2; i >= 0; i--)
        sum = mw_add_scalar(mw_mul(sum, at), quantile[i]);
    return sum;
}

/* mean + stddev z. With r = rest / 961 the distance from the center is y = |level| + r (v = y / 480.5), and that from
 * the nearer end t = 480.5 - y, so that small ones keep their digits; 1 - v^2 = s / 240.25 with s = t (1 - t / 961). */
static mw_tensor *make_normal(const drawn *d, double mean, double stddev)
{
    mw_tensor *size = mw_abs(d->level);
    mw_tensor *r = mw_mul_scalar(d->rest, 1.0 / LEVELS);
    mw_tensor *whole = mw_sub(number_tensor(d, TOP), size), *part = mw_sub(number_tensor(d, 0.5), r);
    mw_tensor *t = mw_add(whole, part);
    mw_tensor *s = mw_mul(t, mw_add_scalar(mw_mul_scalar(t, -1.0 / LEVELS), 1.0));
    mw_tensor *v = mw_mul_scalar(mw_add(size, r), 2.0 / LEVELS);
    mw_tensor *z = mw_mul(v, make_quotient(s));
    mw_tensor *upper = mw_greater_equal(d->level, number_tensor(d, 0.0));
    mw_tensor *y = mw_mul(z, mw_select(upper, number_tensor(d, stddev), number_tensor(d, -stddev)));
    return mean != 0.0 ? mw_add_scalar(y, mean) : y;
}

/* 1 for the first `ones` of the 961^2 pairs of level and rest. */
static mw_tensor *make_bernoulli(const drawn *d, double prob)
{
    const int ones = (int)lround(prob * (LEVELS * LEVELS));
    const int whole = ones / LEVELS - TOP, part = ones % LEVELS - TOP;
    mw_tensor *one = number_tensor(d, 1.0), *zero = number_tensor(d, 0.0);
    mw_tensor *edge = mw_select(mw_less(d->rest, number_tensor(d, part)), one, zero);
    mw_tensor *above = mw_select(mw_greater(d->level, number_tensor(d, whole)), zero, edge);
    return mw_select(mw_less(d->level, number_tensor(d, whole)), one, above);
}

static mw_tensor *make_noise(const drawn *d, mw__noise noise)
{
    switch (noise.kind) {
    case MW__NOISE_NORMAL:
        return make_normal(d, noise.a, noise.b);
    case MW__NOISE_UNIFORM:
        return make_uniform(d, noise.a, noise.b);
    default:
        return make_bernoulli(d, noise.a);
    }
}

static mw_tensor *draw_plain(mw_graph *graph, const char *operation, mw_dtype dtype, mw_shape shape, mw__noise noise,
                             const char *name)
{
    mw__generator g;
    if (mw_shape_count(shape) > COUNT_MAX)
        return mw__graph_fail(graph, MW_ERROR_SHAPE, "%s \"%s\": %lld elements are too many", operation,
                              name != NULL ? name : "", (long long)mw_shape_count(shape));
    if (!mw__generator_begin(&g, graph, dtype, operation, name, DIGITS))
        return NULL;
    const char *outer = graph->scope;
    const split s = split_count(mw_shape_count(shape));
    graph->scope = name;
    const drawn d = draw_noise(&g, s);
    mw_tensor *y = into_shape(make_noise(&d, noise), s, shape);
    graph->scope = outer;
    return y;
}

mw_tensor *mw__noise_draw(mw_graph *graph, const char *operation, mw_dtype dtype, mw_shape shape, mw__noise noise,
                          const char *name)
{
    const mw__composite record = {.name = operation, .noise = noise};
    return mw__composite_attach(draw_plain(graph, operation, dtype, shape, noise, name), &record);
}

/* ---- classes ---- */

/* p as random_categorical reads x: what is not positive and finite counts as 0. */
static mw_tensor *make_weights(mw_tensor *x, bool logits)
{
    mw_graph *graph = x->graph;
    const mw_dtype dtype = mw_tensor_dtype(x);
    mw_tensor *p = logits ? mw_softmax(x, -1) : x, *zero = mw_scalar(graph, dtype, 0.0);
    mw_tensor *most = mw_scalar(graph, dtype, dtype == MW_F16 ? (double)MW__FP16_MAX : (double)FLT_MAX);
    mw_tensor *small = mw_select(mw_less_equal(p, most), p, zero);
    return mw_select(mw_greater(p, zero), small, zero);
}

/* Of sums [.., 1, C] the last: [.., 1, 1]. */
static mw_tensor *last_of(mw_tensor *sums)
{
    const mw_shape shape = mw_tensor_shape(sums);
    if (shape.rank == 0) /* a constructor failed */
        return NULL;
    int64_t begin[MW_RANK_MAX] = {0}, size[MW_RANK_MAX];
    for (int i = 0; i < shape.rank; i++)
        size[i] = shape.dim[i];
    begin[shape.rank - 1] = shape.dim[shape.rank - 1] - 1;
    size[shape.rank - 1] = 1;
    return mw_slice_by_size(sums, begin, size);
}

/* How many sums p[0] + .. + p[c] are not above u times the last: u is below 1, also rounded, so that the class has a
 * positive p; where all are 0, class 0. */
mw_tensor *mw__noise_draw_classes(mw_tensor *x, mw__noise noise, const char *name)
{
    mw_graph *graph = x->graph;
    const mw_dtype dtype = mw_tensor_dtype(x);
    mw_shape drawn_shape = mw_tensor_shape(x); /* [.., size, 1] */
    const int rank = drawn_shape.rank;
    if (rank >= MW_RANK_MAX)
        return mw__graph_fail(graph, MW_ERROR_UNSUPPORTED, "random_categorical \"%s\": rank %d is too high", name,
                              rank);
    drawn_shape.dim[rank - 1] = (int64_t)noise.b;
    drawn_shape.dim[drawn_shape.rank++] = 1;
    mw_tensor *p = make_weights(mw_stop_gradient(x), (int)noise.a == MW_CATEGORICAL_LOGITS);
    mw_tensor *sums = mw_cumsum(mw_expand_dims(p, MW_AXES(-2)), -1, false, false); /* [.., 1, C] */
    mw_tensor *total = last_of(sums), *zero = mw_scalar(graph, dtype, 0.0);
    mw_tensor *u = draw_plain(graph, "random_categorical", dtype, drawn_shape,
                              (mw__noise){.kind = MW__NOISE_UNIFORM, .b = 1.0}, name);
    mw_tensor *reached = mw_less_equal(sums, mw_mul(u, total));
    mw_tensor *passed = mw_select(reached, mw_scalar(graph, dtype, 1.0), zero);
    mw_tensor *any = mw_greater(mw_squeeze(total, MW_AXES(-1)), zero);
    mw_tensor *y = mw_select(any, mw_reduce_sum(passed, MW_AXES(-1), false), zero);
    const mw__composite record = {.name = "random_categorical", .inputs = &x, .input_count = 1, .noise = noise};
    return mw__composite_attach(y, &record);
}

/* ---- constructors ---- */

static bool check_noise(mw_graph *graph, const char *operation, mw_shape shape, const char *name)
{
    if (graph == NULL || graph->error.status != MW_OK)
        return false;
    char text[200];
    mw_error why = {0};
    if (name == NULL || name[0] == '\0')
        mw__graph_fail(graph, MW_ERROR_ARGUMENT, "%s: the name is empty", operation);
    else if (mw__shape_check(shape, &why) != MW_OK)
        mw__graph_fail(graph, MW_ERROR_SHAPE, "%s \"%s\": %s", operation, name, why.message);
    else if (mw_shape_count(shape) < 1)
        mw__graph_fail(graph, MW_ERROR_SHAPE, "%s \"%s\": shape %s; every extent must be known and 1 or more",
                       operation, name, mw__shape_print(shape, text, sizeof text));
    else
        return true;
    return false;
}

mw_tensor *mw_noise_normal(mw_graph *graph, mw_dtype dtype, mw_shape shape, float mean, float stddev, const char *name)
{
    MW__FLOAT_SCOPE;
    static const char operation[] = "noise_normal";
    if (!check_noise(graph, operation, shape, name))
        return NULL;
    if (!isfinite(mean) || !(stddev >= 0.0f) || !isfinite(stddev))
        return mw__graph_fail(graph, MW_ERROR_ARGUMENT,
                              "%s \"%s\": mean %g, stddev %g; both must be finite, stddev >= 0", operation, name,
                              (double)mean, (double)stddev);
    const mw__noise noise = {.kind = MW__NOISE_NORMAL, .a = (double)mean, .b = (double)stddev};
    return mw__noise_draw(graph, operation, dtype, shape, noise, name);
}

mw_tensor *mw_noise_uniform(mw_graph *graph, mw_dtype dtype, mw_shape shape, float low, float high, const char *name)
{
    MW__FLOAT_SCOPE;
    static const char operation[] = "noise_uniform";
    if (!check_noise(graph, operation, shape, name))
        return NULL;
    if (!(low < high) || !isfinite(high - low))
        return mw__graph_fail(graph, MW_ERROR_ARGUMENT,
                              "%s \"%s\": [%g, %g) is empty or not finite: low must be below high", operation, name,
                              (double)low, (double)high);
    const mw__noise noise = {.kind = MW__NOISE_UNIFORM, .a = (double)low, .b = (double)high};
    return mw__noise_draw(graph, operation, dtype, shape, noise, name);
}

mw_tensor *mw_noise_bernoulli(mw_graph *graph, mw_dtype dtype, mw_shape shape, float prob, const char *name)
{
    MW__FLOAT_SCOPE;
    static const char operation[] = "noise_bernoulli";
    if (!check_noise(graph, operation, shape, name))
        return NULL;
    if (!(prob >= 0.0f && prob <= 1.0f))
        return mw__graph_fail(graph, MW_ERROR_ARGUMENT, "%s \"%s\": prob is %g; it must be in [0, 1]", operation, name,
                              (double)prob);
    const mw__noise noise = {.kind = MW__NOISE_BERNOULLI, .a = (double)prob};
    return mw__noise_draw(graph, operation, dtype, shape, noise, name);
}
