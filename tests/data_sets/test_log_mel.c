/* Log-mel powers against numpy's FFT (data/sounds/make.py), with their gradient, and on the ANE. */
#include "support/check.h"
#include "support/failing.h"

#include <millwright/data.h>
#include <millwright/inspect.h>
#include <millwright/millwright.h>
#include <stdlib.h>

/* As data/sounds/make.py. */
static void make_signal(float *out, int64_t count, uint32_t state)
{
    for (int64_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        out[i] = (float)(((double)(state >> 16) - 32768.0) / 32768.0);
    }
}

/* One line of the file; its numbers are left to be read. False at the end. */
static bool read_case(FILE *file, mw_log_mel_options *o, int64_t *out_samples, int64_t *out_frames)
{
    long long n[5], samples, frames;
    int slaney, area;
    const int got = fscanf(file, "%lld %lld %lld %lld %lld %f %f %d %d %f %lld %lld", &n[0], &n[1], &n[2], &n[3], &n[4],
                           &o->low, &o->high, &slaney, &area, &o->floor, &samples, &frames);
    o->struct_size = sizeof *o;
    o->rate = n[0], o->window = n[1], o->hop = n[2], o->fft = n[3], o->mels = n[4];
    o->scale = slaney != 0 ? MW_MEL_SLANEY : MW_MEL_HTK;
    o->equal_area = area != 0;
    *out_samples = samples, *out_frames = frames;
    return got == 12;
}

/* y of x [2, 1, T]: the signal, and twice the signal. */
static float *run_log_mel(const mw_log_mel_options *o, int64_t samples, mw_dtype dtype, size_t count)
{
    mw_error err = {0};
    float *in = malloc(2 * (size_t)samples * sizeof *in), *out = malloc(count * sizeof *out);
    mw_graph *graph = mw_graph_create(NULL, &err);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2, 1, samples));
    mw_tensor *y = mw_log_mel(dtype == MW_F32 ? x : mw_cast(x, dtype), o);
    mw_output(dtype == MW_F32 ? y : mw_cast(y, MW_F32), "y");
    const mw_shape shape = mw_tensor_shape(y);
    CHECK_INT(shape.rank, 4);
    CHECK_INT(mw_shape_count(shape), (int64_t)count);
    mw_compile_options options = mw_compile_defaults();
    mw_program *program = mw_program_create(graph, &options, &err);
    make_signal(in, samples, 11);
    for (int64_t i = 0; i < samples; i++)
        in[samples + i] = 2 * in[i];
    mw_program_write(program, "x", MW_F32, in, 2 * (size_t)samples, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "y", MW_F32, out, count, &err);
    CHECK_OK(err);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    free(in);
    return out;
}

static void check_case(FILE *file, const mw_log_mel_options *o, int64_t samples, int64_t frames)
{
    const size_t count = (size_t)(o->mels * frames);
    float *y = run_log_mel(o, samples, MW_F32, 2 * count), *half = run_log_mel(o, samples, MW_F16, 2 * count);
    double worst = 0, worst_half = 0, worst_twice = 0;
    for (size_t i = 0; i < count; i++) {
        double wanted;
        REQUIRE(fscanf(file, "%lf", &wanted) == 1);
        worst = fmax(worst, fabs(wanted - (double)y[i]));
        if (wanted > -3) /* of smaller powers fp16 has the roundings of the larger samples */
            worst_half = fmax(worst_half, fabs(wanted - (double)half[i]));
        if (wanted > log((double)o->floor) + 1e-3)
            worst_twice = fmax(worst_twice, fabs((double)y[count + i] - wanted - log(4.0)));
    }
    check_note(worst < 2e-4 && worst_half < 0.06 && worst_twice < 2e-4, __FILE__, __LINE__,
               "rate %lld, window %lld: %g apart, %g in fp16, %g at twice the loudness", (long long)o->rate,
               (long long)o->window, worst, worst_half, worst_twice);
    free(y);
    free(half);
}

static void test_powers_are_what_numpy_makes(void)
{
    char path[512];
    mw_log_mel_options o = mw_log_mel_defaults(16000);
    int64_t samples, frames;
    int cases = 0;
    snprintf(path, sizeof path, "%s/data/sounds/log_mel.txt", MW_TESTS_DIR);
    FILE *file = fopen(path, "r");
    REQUIRE(file != NULL);
    for (; read_case(file, &o, &samples, &frames); cases++)
        check_case(file, &o, samples, frames);
    fclose(file);
    CHECK_INT(cases, 6);
}

static void test_defaults_follow_the_rate(void)
{
    const mw_log_mel_options o = mw_log_mel_defaults(16000), low = mw_log_mel_defaults(8000),
                             odd = mw_log_mel_defaults(22050);
    CHECK_INT(o.window, 400);
    CHECK_INT(o.hop, 160);
    CHECK_INT(o.fft, 512);
    CHECK_INT(low.fft, 256);
    CHECK_INT(odd.hop, 220);
    CHECK_INT(odd.window, 550);
    CHECK_NEAR(odd.high, 11025, 0);
}

static void check_axes(mw_shape in, mw_shape wanted)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, &err);
    const mw_shape got = mw_tensor_shape(mw_log_mel(mw_input(graph, "x", MW_F32, in), NULL));
    CHECK_OK(err);
    CHECK_INT(got.rank, wanted.rank);
    for (int i = 0; i < wanted.rank; i++)
        CHECK_INT(got.dim[i], wanted.dim[i]);
    mw_graph_destroy(graph);
}

static void test_axes_before_the_samples_stay(void)
{
    check_axes(MW_SHAPE(1000), MW_SHAPE(64, 4));
    check_axes(MW_SHAPE(3, 400), MW_SHAPE(3, 64, 1));
    check_axes(MW_SHAPE(3, 2, 559), MW_SHAPE(3, 2, 64, 1));
    check_axes(MW_SHAPE(3, 2, 5, 560), MW_SHAPE(3, 2, 5, 64, 2));
}

static void test_gradient_is_that_of_differences(void)
{
    mw_error err = {0};
    float in[2 * 60];
    mw_graph *graph = mw_graph_create(NULL, &err);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2, 60));
    mw_log_mel_options o = mw_log_mel_defaults(1000);
    o.mels = 4, o.window = 16, o.hop = 6, o.fft = 32;
    mw_tensor *y = mw_log_mel(x, &o);
    mw_gradcheck_options options = mw_gradcheck_defaults(y, &x, 1);
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = in, .count = 2 * 60};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = 2};
    options.batch = &batch;
    make_signal(in, 2 * 60, 3);
    mw_gradcheck_report report;
    mw_gradcheck_run(&options, &report, &err);
    CHECK_OK(err);
    CHECK(report.passed);
    CHECK(report.checked > 20);
    mw_graph_destroy(graph);
}

/* The model takes samples there, too: in a batch, of one channel, with layers behind. */
static void test_a_chip_takes_it(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, &err);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(4, 1, 16000));
    mw_tensor *h = mw_conv_layer(mw_log_mel(x, NULL), 8, MW_SHAPE(3, 3), "conv", NULL);
    mw_output(mw_reduce_mean(mw_relu(h), MW_AXES(2, 3), false), "y");
    mw_chip_report *report = mw_chip_report_create(graph, MW_CHIP_H13, NULL, &err);
    CHECK_OK(err);
    CHECK(mw_chip_report_get_info(report).passes);
    char *text = mw_chip_report_print(report, &err);
    check_note(mw_chip_report_get_info(report).passes, __FILE__, __LINE__, "%s", text);
    mw_string_free(text);
    mw_chip_report_destroy(report);
    mw_graph_destroy(graph);
}

/* ---- what is refused ---- */

static void expect_refused(mw_dtype dtype, mw_shape shape, const mw_log_mel_options *o, mw_status status,
                           const char *part)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_log_mel(mw_input(graph, "x", dtype, shape), o);
    mw_graph_check(graph, &err);
    CHECK_ERROR(err, status, part);
    mw_graph_destroy(graph);
}

static void test_numbers_out_of_range_are_refused(void)
{
    const mw_shape shape = MW_SHAPE(2, 1000);
#define REFUSED(field, value, part)                                                                                    \
    do {                                                                                                               \
        mw_log_mel_options o = mw_log_mel_defaults(16000);                                                             \
        o.field = value;                                                                                               \
        expect_refused(MW_F32, shape, &o, MW_ERROR_ARGUMENT, part);                                                    \
    } while (0)
    REFUSED(struct_size, 0, "mw_log_mel_defaults");
    REFUSED(rate, 0, "rate 0; it is 1000 to 384000");
    REFUSED(window, 1, "window 1");
    REFUSED(hop, 0, "hop 0");
    REFUSED(fft, 399, "fft 399; it is as long as the window");
    REFUSED(fft, 1 << 20, "fft 1.04858e+06");
    REFUSED(mels, 0, "mels 0");
    REFUSED(mels, 513, "mels 513");
    REFUSED(low, -1, "low -1 and high 8000");
    REFUSED(low, NAN, "low nan");
    REFUSED(high, 8001, "half of the rate, 8000");
    REFUSED(low, 8000, "low 8000 and high 8000");
    REFUSED(scale, (mw_mel_scale)2, "scale 2");
    REFUSED(floor, 0, "floor 0");
    REFUSED(floor, INFINITY, "floor inf");
    REFUSED(mels, 200, "fewer mels, or a longer fft than 512");
    expect_refused(MW_F32, MW_SHAPE(2, 399), NULL, MW_ERROR_SHAPE, "x has 399 samples, and a frame 400");
    expect_refused(MW_F32, MW_SHAPE(2, MW_DIM_UNKNOWN), NULL, MW_ERROR_SHAPE, "samples");
    expect_refused(MW_F32, (mw_shape){0}, NULL, MW_ERROR_SHAPE, "rank 0");
    expect_refused(MW_I32, shape, NULL, MW_ERROR_DTYPE, "x is int32");
    CHECK(mw_log_mel(NULL, NULL) == NULL);
}

static void test_failing_allocations_fail_the_graph(void)
{
    bool finished = false;
    for (long n = 0; !finished && n < 2000; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        mw_graph_options graph_options = mw_graph_defaults();
        graph_options.allocator = &allocator;
        mw_graph *graph = mw_graph_create(&graph_options, &err);
        mw_log_mel(mw_input(graph, "x", MW_F32, MW_SHAPE(2, 1000)), NULL);
        if (graph != NULL)
            mw_graph_check(graph, &err);
        finished = !failing.failed;
        CHECK(finished || err.status == MW_ERROR_MEMORY);
        mw_graph_destroy(graph);
        CHECK_INT(failing.live, 0);
    }
    CHECK(finished);
}

int main(void)
{
    RUN(test_powers_are_what_numpy_makes);
    RUN(test_defaults_follow_the_rate);
    RUN(test_axes_before_the_samples_stay);
    RUN(test_gradient_is_that_of_differences);
    RUN(test_a_chip_takes_it);
    RUN(test_numbers_out_of_range_are_refused);
    RUN(test_failing_allocations_fail_the_graph);
    return check_finish();
}
