/* Dilated convolutions whose weights are parameters, which a graph spreads with zeros: a file of ONNX has the small
 * kernel and says the dilations. Sums are compared with double-precision loops. */
#include "support/check.h"
#include "support/folder.h"

#include <math.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>

enum { N = 2, C = 4, O = 6, MOST = 1 << 14 };

typedef struct dilated {
    int axes, groups;
    int64_t extent[3], kernel[3], dilation[3], stride[3], pad[6];
    bool computed; /* the weight is a parameter times two */
} dilated;

static const dilated cases[] = {
    {1, 1, {17}, {3}, {4}, {1}, {8, 0}, false},
    {1, 2, {16}, {2}, {5}, {2}, {1, 3}, true},
    {2, 1, {9, 11}, {3, 3}, {2, 3}, {1, 1}, {2, 2, 3, 3}, false},
    {2, 2, {9, 8}, {3, 1}, {3, 1}, {2, 1}, {0, 0, 0, 0}, false},
    {2, 1, {7, 9}, {1, 2}, {1, 4}, {1, 1}, {0, 0, 2, 2}, true},
    {3, 1, {5, 6, 7}, {2, 3, 2}, {2, 1, 3}, {1, 2, 1}, {1, 1, 0, 1, 2, 0}, false},
};
enum { CASES = sizeof cases / sizeof *cases };

static float weights[MOST], x[MOST], y[MOST];

static mw_shape shape_of(int64_t first, int64_t second, int axes, const int64_t *extents)
{
    mw_shape shape = {.rank = axes + 2, .dim = {first, second}};
    for (int i = 0; i < axes; i++)
        shape.dim[i + 2] = extents[i];
    return shape;
}

static mw_graph *make_graph(const dilated *d, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, err);
    mw_tensor *in = mw_input(graph, "x", MW_F32, shape_of(N, C, d->axes, d->extent));
    mw_tensor *weight =
        mw_parameter(graph, "weight", MW_F32, shape_of(O, C / d->groups, d->axes, d->kernel), mw_init_data(weights));
    mw_conv_options options = mw_conv_defaults();
    options.groups = d->groups;
    options.pad_type = MW_PAD_CUSTOM;
    memcpy(options.pad, d->pad, sizeof d->pad);
    for (int i = 0; i < d->axes; i++) {
        options.dilation[i] = d->dilation[i];
        options.stride[i] = d->stride[i];
    }
    weight = d->computed ? mw_mul_scalar(weight, 2.0) : weight;
    mw_output(mw_conv(in, weight, NULL, &options), "y");
    return graph;
}

/* ---- the reference ---- */

/* Index `at` of a space of `axes` extents as coordinates. */
static void split_index(int64_t at, int axes, const int64_t *extents, int64_t *out)
{
    for (int i = axes - 1; i >= 0; i--) {
        out[i] = at % extents[i];
        at /= extents[i];
    }
}

static int64_t count_of(int axes, const int64_t *extents)
{
    int64_t count = 1;
    for (int i = 0; i < axes; i++)
        count *= extents[i];
    return count;
}

/* Where tap k of the window at p stands in x; -1 outside. */
static int64_t place_of(const dilated *d, const int64_t *p, const int64_t *k)
{
    int64_t place = 0;
    for (int i = 0; i < d->axes; i++) {
        const int64_t at = p[i] * d->stride[i] + k[i] * d->dilation[i] - d->pad[2 * i];
        if (at < 0 || at >= d->extent[i])
            return -1;
        place = place * d->extent[i] + at;
    }
    return place;
}

static double sum_at(const dilated *d, int64_t n, int64_t o, const int64_t *p)
{
    const int64_t taps = count_of(d->axes, d->kernel), all = count_of(d->axes, d->extent), in = C / d->groups;
    double sum = 0.0;
    for (int64_t c = 0; c < in; c++) {
        for (int64_t tap = 0; tap < taps; tap++) {
            int64_t k[3] = {0};
            split_index(tap, d->axes, d->kernel, k);
            const int64_t place = place_of(d, p, k), channel = o / (O / d->groups) * in + c;
            sum += place < 0 ? 0.0 : (double)weights[(o * in + c) * taps + tap] * x[(n * C + channel) * all + place];
        }
    }
    return d->computed ? 2.0 * sum : sum;
}

static void check_result(const dilated *d, mw_shape shape)
{
    const int64_t *out = shape.dim + 2, positions = count_of(d->axes, out);
    double worst = 0.0;
    for (int64_t i = 0; i < N * O * positions; i++) {
        int64_t p[3] = {0};
        split_index(i % positions, d->axes, out, p);
        worst = fmax(worst, fabs(sum_at(d, i / positions / O, i / positions % O, p) - (double)y[i]));
    }
    CHECK(worst < 1e-5);
}

/* ---- what is written ---- */

/* Whether the convolution that was read has the small kernel, and nothing of the spread one is left. */
static void check_form(const dilated *d, const mw_graph *read)
{
    mw_error err = {0};
    size_t count = 0;
    mw_weight found[4];
    mw_graph_weights(read, found, 4, &count, &err);
    CHECK(count >= 1 && mw_shape_count(found[0].shape) == O * C / d->groups * count_of(d->axes, d->kernel));
    char *text = mw_graph_print(read, &err);
    CHECK(text != NULL && (d->computed || (strstr(text, "pad(") == NULL && strstr(text, "slice_by_size(") == NULL)));
    mw_string_free(text);
}

static void run_read(const dilated *d, const mw_graph *read)
{
    mw_error err = {0};
    const mw_shape shape = mw_tensor_shape(mw_graph_find(read, "y"));
    mw_program *program = mw_program_create(read, NULL, &err);
    mw_program_write(program, "x", MW_F32, x, (size_t)(N * C * count_of(d->axes, d->extent)), &err);
    mw_program_run(program, &err);
    mw_program_read(program, "y", MW_F32, y, (size_t)mw_shape_count(shape), &err);
    CHECK_OK(err);
    check_result(d, shape);
    mw_program_destroy(program);
}

/* Whether a file names the attribute `dilations` and none of the operations that spread. */
static bool says_dilations(const char *path)
{
    static char bytes[MOST];
    FILE *file = fopen(path, "rb");
    const size_t size = file != NULL ? fread(bytes, 1, sizeof bytes, file) : 0;
    bool said = false, spread = false;
    for (size_t i = 0; i + 9 < size; i++) {
        said = said || memcmp(bytes + i, "dilations", 9) == 0;
        spread = spread || memcmp(bytes + i, "\"\3Pad", 5) == 0;
    }
    if (file != NULL)
        fclose(file);
    return said && !spread;
}

static void test_parameters_are_written_without_the_zeros_of_a_dilation(void)
{
    char folder[512];
    REQUIRE(folder_enter(folder));
    for (int i = 0; i < MOST; i++) {
        weights[i] = (float)((i * 7919 % 201) - 100) / 100.0f;
        x[i] = (float)((i * 104729 % 401) - 200) / 200.0f;
    }
    for (size_t i = 0; i < CASES; i++) {
        mw_error err = {0};
        mw_model_options options = mw_model_defaults();
        options.read_only = true;
        mw_graph *graph = make_graph(&cases[i], &err);
        mw_model *model = mw_model_create(graph, &options, &err);
        mw_model_write(model, "net.onnx", NULL, &err);
        CHECK(says_dilations("net.onnx"));
        mw_graph *read = mw_graph_open_onnx("net.onnx", NULL, &err);
        CHECK_OK(err);
        if (read != NULL) {
            check_form(&cases[i], read);
            run_read(&cases[i], read);
        }
        mw_graph_destroy(read);
        mw_model_destroy(model);
        mw_graph_destroy(graph);
    }
    folder_leave(folder);
}

int main(void)
{
    RUN(test_parameters_are_written_without_the_zeros_of_a_dilation);
    return check_finish();
}
