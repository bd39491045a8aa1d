/* Scales, shifts, batch norms and paddings beside a product (the pass absorb): each kind of product, with what stands
 * behind it and before it, computes what the program says in double precision; and what may not be absorbed is left. */
#include "compiled.h"
#include "support/check.h"
#include "support/on_engine.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 1 << 17, MOST = 4096 };

/* ---- products ---- */

/* conv and conv_transpose over up to three axes, or a linear. */
typedef struct kind {
    const char *name;
    int rank; /* of x; axes behind the channels are 6, 5, 4 */
    int inputs, outputs, groups, kernel, stride, dilation, border;
    bool transposed, linear, biased;
} kind;

static const kind kinds[] = {
    {"conv of one element", 4, 3, 5, 1, 1, 1, 1, 0, false, false, false},
    {"conv with a bias", 4, 3, 5, 1, 3, 1, 1, 0, false, false, true},
    {"conv with a border", 4, 4, 6, 1, 3, 1, 1, 1, false, false, true},
    {"conv with a stride", 4, 2, 3, 1, 3, 2, 1, 1, false, false, false},
    {"dilated conv", 4, 2, 3, 1, 2, 1, 2, 0, false, false, false},
    {"grouped conv", 4, 4, 6, 2, 3, 1, 1, 1, false, false, true},
    {"depthwise conv", 4, 5, 5, 5, 3, 1, 1, 1, false, false, false},
    {"conv over one axis", 3, 3, 4, 1, 3, 1, 1, 0, false, false, true},
    {"conv over three axes", 5, 2, 3, 1, 2, 1, 1, 0, false, false, true},
    {"wide conv", 4, 17, 33, 1, 3, 1, 1, 1, false, false, true},
    {"conv_transpose", 4, 3, 4, 1, 3, 2, 1, 0, true, false, true},
    {"grouped conv_transpose", 4, 4, 6, 2, 2, 1, 1, 0, true, false, false},
    {"linear", 2, 7, 5, 1, 1, 1, 1, 0, false, true, true},
    {"linear of rank 3", 3, 7, 5, 1, 1, 1, 1, 0, false, true, false},
};

static const int axis_extents[3] = {6, 5, 4};

static double weight_at(int i) { return sin(0.7 * i + 0.3); }
static double bias_at(int i) { return cos(1.3 * i); }
static double x_at(int i) { return sin(1.1 * i - 0.4) * 1.5; }
static double scale_at(int i) { return 0.4 + 0.37 * (i % 5) - (i % 3 == 1 ? 1.5 : 0); }
static double shift_at(int i) { return 0.9 * cos(0.8 * i) + 0.1; }
static double single(double x) { return (double)(float)x; }

/* ---- the program ---- */

typedef struct program_text {
    char text[TEXT];
    size_t length;
} program_text;

__attribute__((format(printf, 2, 3))) static void put(program_text *p, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    p->length += (size_t)vsnprintf(p->text + p->length, sizeof p->text - p->length, format, list);
    va_end(list);
    CHECK(p->length < sizeof p->text);
}

/* The numbers, nested as MIL wants them. */
static int put_nested(program_text *p, const int *shape, int rank, int at, double (*number)(int))
{
    if (rank == 0) {
        put(p, "%.9g", number(at));
        return at + 1;
    }
    put(p, "[");
    for (int i = 0; i < shape[0]; i++) {
        put(p, i > 0 ? ", " : "");
        at = put_nested(p, shape + 1, rank - 1, at, number);
    }
    put(p, "]");
    return at;
}

static void put_type(program_text *p, const int *shape, int rank)
{
    put(p, "tensor<fp32, [");
    for (int i = 0; i < rank; i++)
        put(p, i > 0 ? ", %d" : "%d", shape[i]);
    put(p, "]>");
}

static void put_constant(program_text *p, const int *shape, int rank, double (*number)(int))
{
    put_type(p, shape, rank);
    put(p, "(");
    put_nested(p, shape, rank, 0, number);
    put(p, ")");
}

static void shapes_of(const kind *k, int x[5], int y[5], int w[5])
{
    const int axes = k->rank - 2;
    for (int i = 0; i < k->rank; i++)
        x[i] = i == 0 ? 2 : k->linear ? (i == k->rank - 1 ? k->inputs : 3) : i == 1 ? k->inputs : axis_extents[i - 2];
    memcpy(y, x, 5 * sizeof *y);
    if (k->linear) {
        y[k->rank - 1] = k->outputs, w[0] = k->outputs, w[1] = k->inputs;
        return;
    }
    y[1] = k->outputs;
    w[0] = k->transposed ? k->inputs : k->outputs;
    w[1] = (k->transposed ? k->outputs : k->inputs) / k->groups;
    for (int i = 0; i < axes; i++) {
        const int reach = (k->kernel - 1) * k->dilation + 1;
        w[2 + i] = k->kernel;
        y[2 + i] = k->transposed ? (x[2 + i] - 1) * k->stride + reach - 2 * k->border
                                 : (x[2 + i] + 2 * k->border - reach) / k->stride + 1;
    }
}

static void put_repeated(program_text *p, const char *name, int count, int value)
{
    put(p, "%s = tensor<int32, [%d]>([", name, count);
    for (int i = 0; i < count; i++)
        put(p, i > 0 ? ", %d" : "%d", value);
    put(p, "]), ");
}

static void put_product(program_text *p, const kind *k, const char *from, const char *to)
{
    int x[5], y[5], w[5];
    const int axes = k->rank - 2;
    shapes_of(k, x, y, w);
    put_type(p, y, k->rank);
    put(p, " %s = %s(", to, k->linear ? "linear" : k->transposed ? "conv_transpose" : "conv");
    if (k->biased) {
        put(p, "bias = ");
        put_constant(p, &k->outputs, 1, bias_at);
        put(p, ", ");
    }
    if (!k->linear) {
        put_repeated(p, "dilations", axes, k->dilation);
        put(p, "groups = int32(%d), ", k->groups);
        put_repeated(p, "pad", 2 * axes, k->border);
        put(p, "pad_type = string(\"custom\"), ");
        put_repeated(p, "strides", axes, k->stride);
    }
    put(p, "weight = ");
    put_constant(p, w, k->linear ? 2 : k->rank, weight_at);
    put(p, ", x = %s);\n", from);
}

/* What stands beside a product, and how it writes to = f(from). */
typedef enum beside {
    BESIDE_NONE,
    BESIDE_MUL,
    BESIDE_ADD,
    BESIDE_TURNED_ADD,
    BESIDE_SUB,
    BESIDE_SUB_FROM,
    BESIDE_DIV,
    BESIDE_BOTH,
    BESIDE_ONE_NUMBER,
    BESIDE_BATCH_NORM,
    BESIDE_SPELLED, /* a batch norm of operations, of which some are on constants alone */
    BESIDES
} beside;

static double apply_beside(beside b, double v, int c)
{
    const double s = single(scale_at(c)), t = single(shift_at(c));
    const double norm = (v - t) / sqrt(s * s + 0.01) * s + t;
    const double values[BESIDES] = {v, v * s, v + t, t + v, v - t, t - v, v / s, v * s + t, v * 3, norm, norm};
    return values[b];
}

static double square_at(int i) { return scale_at(i) * scale_at(i); }

static void put_step(program_text *p, const int *shape, int rank, const char *to, const char *operation,
                     const char *from, const int *along, int along_rank, double (*number)(int), bool turned)
{
    put_type(p, shape, rank);
    put(p, " %s = %s(%s = %s, %s = ", to, operation, turned ? "y" : "x", from, turned ? "x" : "y");
    put_constant(p, along, along_rank, number);
    put(p, ");\n");
}

/* what = numbers of the channels, in their shape beside the others. */
static void put_channels(program_text *p, const char *from, const char *what, const int *along, int rank,
                         double (*number)(int))
{
    put_type(p, along, rank);
    put(p, " %s_%s = reshape(shape = tensor<int32, [%d]>([", from, what, rank);
    for (int i = 0; i < rank; i++)
        put(p, i > 0 ? ", %d" : "%d", along[i]);
    put(p, "]), x = ");
    put_constant(p, along, 1, number);
    put(p, ");\n");
}

static void put_unary(program_text *p, const char *from, const char *what, const char *call, const int *along, int rank)
{
    put_type(p, along, rank);
    put(p, " %s_%s = %s;\n", from, what, call);
}

static void put_spelled(program_text *p, const kind *k, const int *shape, const int *along, int rank, const char *from,
                        const char *to)
{
    char call[120];
    put_channels(p, from, "mean", along, rank, shift_at);
    put_channels(p, from, "variance", along, rank, square_at);
    put_channels(p, from, "gamma", along, rank, scale_at);
    put_channels(p, from, "beta", along, rank, shift_at);
    snprintf(call, sizeof call, "add(x = %s_variance, y = fp32(0.01))", from);
    put_unary(p, from, "sum", call, along, rank);
    snprintf(call, sizeof call, "sqrt(x = %s_sum)", from);
    put_unary(p, from, "root", call, along, rank);
    snprintf(call, sizeof call, "inverse(epsilon = fp32(0), x = %s_root)", from);
    put_unary(p, from, "inverse", call, along, rank);
    snprintf(call, sizeof call, "sub(x = %s, y = %s_mean)", from, from);
    put_unary(p, from, "centered", call, shape, k->rank);
    snprintf(call, sizeof call, "mul(x = %s_centered, y = %s_inverse)", from, from);
    put_unary(p, from, "normal", call, shape, k->rank);
    snprintf(call, sizeof call, "mul(x = %s_normal, y = %s_gamma)", from, from);
    put_unary(p, from, "scaled", call, shape, k->rank);
    put_type(p, shape, k->rank);
    put(p, " %s = add(x = %s_scaled, y = %s_beta);\n", to, from, from);
}

static void put_beside(program_text *p, const kind *k, beside b, const int *shape, const char *from, const char *to)
{
    const int channels = k->linear ? shape[k->rank - 1] : shape[1], rank = k->linear ? 1 : k->rank - 1;
    const int along[4] = {channels, 1, 1, 1};
    char between[40];
    switch (b) {
    case BESIDE_BATCH_NORM:
        put_type(p, shape, k->rank);
        put(p, " %s = batch_norm(epsilon = fp32(0.01), beta = ", to);
        put_constant(p, &channels, 1, shift_at);
        put(p, ", gamma = ");
        put_constant(p, &channels, 1, scale_at);
        put(p, ", mean = ");
        put_constant(p, &channels, 1, shift_at);
        put(p, ", variance = ");
        put_constant(p, &channels, 1, square_at);
        put(p, ", x = %s);\n", from);
        break;
    case BESIDE_SPELLED:
        put_spelled(p, k, shape, along, rank, from, to);
        break;
    case BESIDE_BOTH:
        snprintf(between, sizeof between, "%s_scaled", from);
        put_step(p, shape, k->rank, between, "mul", from, along, rank, scale_at, true);
        put_step(p, shape, k->rank, to, "add", between, along, rank, shift_at, false);
        break;
    case BESIDE_ONE_NUMBER:
        put_type(p, shape, k->rank);
        put(p, " %s = mul(x = tensor<fp32, [1]>([3]), y = %s);\n", to, from);
        break;
    default:
        put_step(p, shape, k->rank, to,
                 b == BESIDE_MUL                           ? "mul"
                 : b == BESIDE_DIV                         ? "real_div"
                 : b == BESIDE_SUB || b == BESIDE_SUB_FROM ? "sub"
                                                           : "add",
                 from, along, rank, b == BESIDE_MUL || b == BESIDE_DIV ? scale_at : shift_at,
                 b == BESIDE_TURNED_ADD || b == BESIDE_SUB_FROM);
    }
}

/* ---- in double precision ---- */

static int count_of(const int *shape, int rank)
{
    int count = 1;
    for (int i = 0; i < rank; i++)
        count *= shape[i];
    return count;
}

static int channel_of(const kind *k, const int *shape, int at)
{
    if (k->linear)
        return at % shape[k->rank - 1];
    return at / count_of(shape + 2, k->rank - 2) % shape[1];
}

static void multiply_linear(const kind *k, const int *x, const double *in, double *out)
{
    const int rows = count_of(x, k->rank - 1);
    for (int r = 0; r < rows; r++)
        for (int o = 0; o < k->outputs; o++) {
            double sum = k->biased ? single(bias_at(o)) : 0;
            for (int i = 0; i < k->inputs; i++)
                sum += in[r * k->inputs + i] * single(weight_at(o * k->inputs + i));
            out[r * k->outputs + o] = sum;
        }
}

/* Adds what x [place] gives through each element of the kernel, or takes: both directions by one loop. */
static void convolve(const kind *k, const int *x, const int *y, const double *in, double *out)
{
    const int axes = k->rank - 2, area_x = count_of(x + 2, axes), area_y = count_of(y + 2, axes);
    const int taps = (int)pow(k->kernel, axes), each_in = k->inputs / k->groups, each_out = k->outputs / k->groups;
    const int *const many = k->transposed ? y : x, *const few = k->transposed ? x : y;
    for (int i = 0; i < y[0] * k->outputs * area_y; i++)
        out[i] = k->biased ? single(bias_at(i / area_y % k->outputs)) : 0;
    for (int n = 0; n < x[0]; n++)
        for (int o = 0; o < k->outputs; o++)
            for (int c = 0; c < each_in; c++)
                for (int p = 0; p < (k->transposed ? area_x : area_y); p++)
                    for (int t = 0; t < taps; t++) {
                        int place = 0, rest = p, tap = t, at[3], inside = 1;
                        const int input = o / each_out * each_in + c;
                        for (int a = axes - 1; a >= 0; a--) {
                            at[a] = rest % few[2 + a] * k->stride + tap % k->kernel * k->dilation - k->border;
                            rest /= few[2 + a], tap /= k->kernel;
                            inside = inside && at[a] >= 0 && at[a] < many[2 + a];
                        }
                        for (int a = 0; a < axes; a++)
                            place = place * many[2 + a] + at[a];
                        if (!inside)
                            continue;
                        const int w =
                            k->transposed ? (input * each_out + o % each_out) * taps + t : (o * each_in + c) * taps + t;
                        const int from = (n * k->inputs + input) * area_x + (k->transposed ? p : place);
                        out[(n * k->outputs + o) * area_y + (k->transposed ? place : p)] +=
                            in[from] * single(weight_at(w));
                    }
}

/* ---- one case ---- */

typedef struct outcome {
    size_t behind, before, padded;
} outcome;

static outcome hits_in(const seen_passes *seen)
{
    return (outcome){seen->hits[MW__RULE_scaled_result], seen->hits[MW__RULE_scaled_operand],
                     seen->hits[MW__RULE_padded_conv]};
}

static outcome run_text(const char *what, const program_text *p, int x_count, const double *wanted, int y_count)
{
    static float x[MOST], y[MOST];
    mw_error err = {0};
    seen_passes seen = {0};
    mw_graph *graph = mw_graph_parse_mil(p->text, strlen(p->text), NULL, NULL, &err);
    mw_program *program = compiled_for(graph, MW_DEVICE_CPU, MW_CHIP_AUTO, NULL, &seen, &err);
    for (int i = 0; i < x_count; i++)
        x[i] = (float)x_at(i);
    mw_program_write(program, "x", MW_F32, x, (size_t)x_count, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "y", MW_F32, y, (size_t)y_count, &err);
    double largest = 1;
    for (int i = 0; i < y_count; i++)
        largest = fmax(largest, fabs(wanted[i]));
    if (check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", what, err.message))
        for (int i = 0; i < y_count; i++)
            check_note(fabs((double)y[i] - wanted[i]) <= 4e-6 * largest, __FILE__, __LINE__,
                       "%s: element %d is %.9g, not %.9g", what, i, (double)y[i], wanted[i]);
    const outcome hits = hits_in(&seen);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    seen_deinit(&seen);
    return hits;
}

static outcome run_kind(const kind *k, beside before, beside behind)
{
    static double in[MOST], middle[MOST];
    static program_text p;
    char what[200];
    int x[5], y[5], w[5];
    shapes_of(k, x, y, w);
    const int x_count = count_of(x, k->rank), y_count = count_of(y, k->rank);
    p.length = 0;
    put(&p, "program(1.3)\n{func main<ios18>(");
    put_type(&p, x, k->rank);
    put(&p, " x) {");
    if (before != BESIDE_NONE)
        put_beside(&p, k, before, x, "x", "early");
    put_product(&p, k, before != BESIDE_NONE ? "early" : "x", behind != BESIDE_NONE ? "late" : "y");
    if (behind != BESIDE_NONE)
        put_beside(&p, k, behind, y, "late", "y");
    put(&p, "} -> (y);}");
    for (int i = 0; i < x_count; i++)
        in[i] = apply_beside(before, single(x_at(i)), channel_of(k, x, i));
    if (k->linear)
        multiply_linear(k, x, in, middle);
    else
        convolve(k, x, y, in, middle);
    for (int i = 0; i < y_count; i++)
        middle[i] = apply_beside(behind, middle[i], channel_of(k, y, i));
    snprintf(what, sizeof what, "%s, %d before, %d behind", k->name, (int)before, (int)behind);
    return run_text(what, &p, x_count, middle, y_count);
}

static bool suits(const kind *k, beside b) { return b != BESIDE_BATCH_NORM || !k->linear; }

static void test_what_stands_behind_a_product_is_absorbed(void)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int b = BESIDE_NONE + 1; b < BESIDES; b++) {
            if (!suits(&kinds[i], (beside)b))
                continue;
            const outcome hits = run_kind(&kinds[i], BESIDE_NONE, (beside)b);
            check_note(hits.behind == 1 && hits.before == 0, __FILE__, __LINE__, "%s, %d: %zu behind, %zu before",
                       kinds[i].name, b, hits.behind, hits.before);
        }
}

/* Not what a border of zeros would not get, nor before a transpose. */
static void test_what_stands_before_a_product_is_absorbed_where_no_border_follows(void)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int b = BESIDE_NONE + 1; b < BESIDES; b++) {
            if (!suits(&kinds[i], (beside)b))
                continue;
            const bool scales = b == BESIDE_MUL || b == BESIDE_DIV || b == BESIDE_ONE_NUMBER;
            const bool may = !kinds[i].transposed && (scales || kinds[i].border == 0);
            const outcome hits = run_kind(&kinds[i], (beside)b, BESIDE_NONE);
            check_note(hits.before == (may ? 1 : 0) && hits.behind == 0, __FILE__, __LINE__,
                       "%s, %d: %zu before, %zu behind", kinds[i].name, b, hits.before, hits.behind);
        }
}

static void test_both_sides_are_absorbed(void)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const beside b = kinds[i].linear ? BESIDE_BOTH : BESIDE_BATCH_NORM;
        const outcome hits = run_kind(&kinds[i], b, b);
        const bool may = !kinds[i].transposed && kinds[i].border == 0;
        CHECK(hits.behind == 1);
        CHECK(hits.before == (may ? 1 : 0));
    }
}

/* ---- what is left ---- */

static size_t hits_of_body(const char *inputs, const char *body, const char *outputs)
{
    char text[2048];
    mw_error err = {0};
    seen_passes seen = {0};
    snprintf(text, sizeof text, "program(1.3)\n{func main<ios18>(%s) {%s} -> (%s);}", inputs, body, outputs);
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
    mw_program *program = compiled_for(graph, MW_DEVICE_CPU, MW_CHIP_AUTO, NULL, &seen, &err);
    CHECK_OK(err);
    const outcome hits = hits_in(&seen);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    seen_deinit(&seen);
    return hits.behind + hits.before + hits.padded;
}

#define WEIGHT "weight = tensor<fp32, [2, 3]>([[1, 2, 3], [4, 5, 6]])"
#define LINEAR "tensor<fp32, [2, 2]> c = linear(" WEIGHT ", x = x);"

static void test_what_others_read_or_what_is_computed_is_left(void)
{
    const char *const x = "tensor<fp32, [2, 3]> x";
    CHECK(hits_of_body(x, LINEAR "tensor<fp32, [2, 2]> y = mul(x = c, y = fp32(2));", "y") == 1);
    CHECK(hits_of_body(x, LINEAR "tensor<fp32, [2, 2]> y = mul(x = c, y = fp32(2));", "y, c") == 0);
    CHECK(hits_of_body(x,
                       LINEAR "tensor<fp32, [2, 2]> d = exp(x = c); tensor<fp32, [2, 2]> s = mul(x = c, y = "
                              "fp32(2)); tensor<fp32, [2, 2]> y = add(x = s, y = d);",
                       "y") == 0);
    CHECK(hits_of_body("tensor<fp32, [2, 3]> x, tensor<fp32, [2]> z",
                       LINEAR "tensor<fp32, [2, 2]> y = mul(x = c, y = z);", "y") == 0);
    CHECK(hits_of_body(x, LINEAR "tensor<fp32, [2, 2]> y = mul(x = c, y = tensor<fp32, [2, 1]>([[2], [3]]));", "y") ==
          0); /* rows are no channels */
    CHECK(hits_of_body(x,
                       LINEAR "tensor<fp32, [4, 2, 2]> y = mul(x = c, y = tensor<fp32, [4, 1, 1]>([[[1]], [[2]], "
                              "[[3]], [[4]]]));",
                       "y") == 0); /* the result has another shape */
    CHECK(hits_of_body(x, LINEAR "tensor<fp32, [2, 2]> y = real_div(x = fp32(2), y = c);", "y") == 0);
    CHECK(hits_of_body(x, LINEAR "tensor<fp32, [2, 2]> y = mul(x = c, y = fp32(3e38));", "y") == 0);
    CHECK(hits_of_body(x, LINEAR "tensor<fp32, [2, 2]> y = real_div(x = c, y = fp32(0));", "y") == 0);
}

#define PADDED(mode, value, pad, shape)                                                                                \
    "tensor<fp32, [1, " shape "]> p = pad(constant_val = fp32(" value "), mode = string(\"" mode "\"), pad = "         \
    "tensor<int32, [4]>([" pad "]), x = x);"
#define CONVOLVED(weight, type, shape)                                                                                 \
    "tensor<fp32, [1, " shape "]> y = conv(dilations = tensor<int32, [1]>([1]), groups = int32(1), pad = "             \
    "tensor<int32, [2]>([1, 0]), pad_type = string(\"" type "\"), strides = tensor<int32, [1]>([1]), weight = "        \
    "tensor<fp32, " weight ", x = p);"

static void test_only_zeros_around_the_axes_of_a_conv_are_its_border(void)
{
    const char *const x = "tensor<fp32, [1, 1, 4]> x";
    CHECK(hits_of_body(
              x, PADDED("constant", "0", "0, 0, 1, 2", "1, 7") CONVOLVED("[1, 1, 2]>([[[1, 2]]])", "custom", "1, 7"),
              "y") == 1);
    CHECK(hits_of_body(
              x, PADDED("constant", "0", "0, 0, 1, 2", "1, 7") CONVOLVED("[1, 1, 2]>([[[1, 2]]])", "valid", "1, 6"),
              "y") == 1);
    CHECK(hits_of_body(
              x, PADDED("constant", "1", "0, 0, 1, 2", "1, 7") CONVOLVED("[1, 1, 2]>([[[1, 2]]])", "valid", "1, 6"),
              "y") == 0);
    CHECK(hits_of_body(
              x, PADDED("reflect", "0", "0, 0, 1, 2", "1, 7") CONVOLVED("[1, 1, 2]>([[[1, 2]]])", "valid", "1, 6"),
              "y") == 0);
    CHECK(hits_of_body(x,
                       PADDED("constant", "0", "1, 0, 1, 2", "2, 7")
                           CONVOLVED("[1, 2, 2]>([[[1, 2], [3, 4]]])", "valid", "1, 6"),
                       "y") == 0);
    CHECK(hits_of_body(
              x, PADDED("constant", "0", "0, 0, 1, 2", "1, 7") CONVOLVED("[1, 1, 2]>([[[1, 2]]])", "same", "1, 7"),
              "y") == 0);
}

/* ---- transposes ---- */

static size_t turned_of(const char *inputs, const char *body)
{
    char text[2048];
    mw_error err = {0};
    seen_passes seen = {0};
    float y[6] = {0};
    const float x[6] = {1, 2, 3, 4, 5, 6};
    snprintf(text, sizeof text, "program(1.3)\n{func main<ios18>(%s) {%s} -> (y);}", inputs, body);
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
    mw_program *program = compiled_for(graph, MW_DEVICE_CPU, MW_CHIP_AUTO, NULL, &seen, &err);
    mw_program_write(program, "x", MW_F32, x, 6, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "y", MW_F32, y, 4, &err);
    CHECK_OK(err);
    CHECK(y[0] == 14 && y[1] == 32 && y[2] == 32 && y[3] == 77); /* x x^T */
    const size_t hits = seen.hits[MW__RULE_turned_operand];
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    seen_deinit(&seen);
    return hits;
}

#define MATMUL(turns_x, turns_y, x, y)                                                                                 \
    "tensor<fp32, [2, 2]> y = matmul(transpose_x = bool(" turns_x "), transpose_y = bool(" turns_y "), x = " x         \
    ", y = " y ");"
#define TURN(name, of) "tensor<fp32, [3, 2]> " name " = transpose(perm = tensor<int32, [2]>([-1, 0]), x = " of ");"
#define CONSTANT       "tensor<fp32, [2, 3]> c = const()[val = tensor<fp32, [2, 3]>([[1, 2, 3], [4, 5, 6]])];"

static void test_a_product_reads_what_is_turned_as_it_is(void)
{
    const char *const x = "tensor<fp32, [2, 3]> x";
    CHECK(turned_of(x, TURN("t", "x") MATMUL("false", "false", "x", "t")) == 1);
    CHECK(turned_of(x, TURN("t", "x") MATMUL("true", "true", "t", "x")) == 1);
    CHECK(turned_of(x, TURN("s", "x") TURN("t", "x") MATMUL("true", "false", "s", "t")) == 1);
    CHECK(turned_of(x, CONSTANT TURN("t", "c") MATMUL("false", "false", "x", "t")) == 0);
    CHECK(turned_of(x, CONSTANT TURN("s", "x") TURN("t", "c") MATMUL("true", "false", "s", "t")) <= 1);
}

int main(void)
{
    RUN(test_a_product_reads_what_is_turned_as_it_is);
    RUN(test_what_stands_behind_a_product_is_absorbed);
    RUN(test_what_stands_before_a_product_is_absorbed_where_no_border_follows);
    RUN(test_both_sides_are_absorbed);
    RUN(test_what_others_read_or_what_is_computed_is_left);
    RUN(test_only_zeros_around_the_axes_of_a_conv_are_its_border);
    return check_finish();
}
