/* What the losses of <millwright/learn.h> refuse and leave out; their values are in tests/autograd/losses. */
#include "support/check.h"
#include "support/on_engine.h"

#include <math.h>
#include <millwright/learn.h>
#include <stdlib.h>

#define YIELDS_NULL(call) CHECK((call) == NULL)

static void test_null_is_passed_on_and_blames_nobody(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2));
    YIELDS_NULL(mw_focal(x, NULL, 2));
    YIELDS_NULL(mw_binary_focal(NULL, x, -1, 2));
    YIELDS_NULL(mw_dice(x, NULL, MW_AXES(1), 1));
    YIELDS_NULL(mw_poisson_nll(NULL, x));
    YIELDS_NULL(mw_pinball(x, NULL, 0.5f));
    YIELDS_NULL(mw_normalize(NULL, 0, 1));
    YIELDS_NULL(mw_cosine_embedding(x, NULL, x, 0));
    YIELDS_NULL(mw_triplet(x, NULL, x, 1));
    YIELDS_NULL(mw_info_nce(NULL, x, 1));
    YIELDS_NULL(mw_nt_xent(x, NULL, 1));
    YIELDS_NULL(mw_ctc(x, NULL, NULL, NULL, 0));
    CHECK_INT(mw_graph_check(graph, NULL), MW_OK);
    mw_graph_destroy(graph);
}

/* ---- shapes ---- */

typedef mw_tensor *build_wrong(mw_graph *g);

static mw_tensor *floats(mw_graph *g, const char *name, mw_shape shape) { return mw_input(g, name, MW_F32, shape); }
static mw_tensor *numbers(mw_graph *g, const char *name, mw_shape shape) { return mw_input(g, name, MW_I32, shape); }

#define WRONG(name, expression)                                                                                        \
    static mw_tensor *name(mw_graph *g) { return expression; }
WRONG(few_targets, mw_cosine_embedding(floats(g, "a", MW_SHAPE(3, 4)), floats(g, "b", MW_SHAPE(3, 4)),
                                       floats(g, "t", MW_SHAPE(4)), 0.0f))
WRONG(one_row, mw_triplet(floats(g, "a", MW_SHAPE(3)), floats(g, "p", MW_SHAPE(3)), floats(g, "n", MW_SHAPE(3)), 1.0f))
WRONG(other_far,
      mw_triplet(floats(g, "a", MW_SHAPE(3, 2)), floats(g, "p", MW_SHAPE(3, 2)), floats(g, "n", MW_SHAPE(3, 3)), 1.0f))
WRONG(deep_set, mw_info_nce(floats(g, "q", MW_SHAPE(2, 3, 4)), floats(g, "k", MW_SHAPE(2, 3, 4)), 1.0f))
WRONG(examples_summed, mw_dice(floats(g, "y", MW_SHAPE(2, 3)), floats(g, "t", MW_SHAPE(2, 3)), MW_AXES(0, 1), 1.0f))
WRONG(no_axes, mw_dice(floats(g, "y", MW_SHAPE(2, 3)), floats(g, "t", MW_SHAPE(2, 3)), (mw_axes){0}, 1.0f))
WRONG(axis_beyond, mw_dice(floats(g, "y", MW_SHAPE(2, 3)), floats(g, "t", MW_SHAPE(2, 3)), MW_AXES(2), 1.0f))
WRONG(float_labels, mw_ctc(floats(g, "x", MW_SHAPE(2, 5, 4)), floats(g, "l", MW_SHAPE(2, 3)), NULL, NULL, 0))
WRONG(flat_steps, mw_ctc(floats(g, "x", MW_SHAPE(5, 4)), numbers(g, "l", MW_SHAPE(5, 3)), NULL, NULL, 0))
WRONG(other_batch, mw_ctc(floats(g, "x", MW_SHAPE(2, 5, 4)), numbers(g, "l", MW_SHAPE(3, 3)), NULL, NULL, 0))
WRONG(no_labels, mw_ctc(floats(g, "x", MW_SHAPE(2, 5, 4)), numbers(g, "l", MW_SHAPE(2, 0)), NULL, NULL, 0))
WRONG(blank_beyond, mw_ctc(floats(g, "x", MW_SHAPE(2, 5, 4)), numbers(g, "l", MW_SHAPE(2, 3)), NULL, NULL, 4))
WRONG(few_lengths,
      mw_ctc(floats(g, "x", MW_SHAPE(2, 5, 4)), numbers(g, "l", MW_SHAPE(2, 3)), numbers(g, "n", MW_SHAPE(3)), NULL, 0))
WRONG(odd_epsilon, mw_normalize(floats(g, "x", MW_SHAPE(2, 3)), 1, 1e-12f))
WRONG(whole_numbers, mw_normalize(numbers(g, "x", MW_SHAPE(2, 3)), 1, 1.0f))
WRONG(cold, mw_nt_xent(floats(g, "a", MW_SHAPE(2, 3)), floats(g, "b", MW_SHAPE(2, 3)), 1e-4f))
WRONG(half_gamma, mw_focal(floats(g, "a", MW_SHAPE(2, 3)), numbers(g, "b", MW_SHAPE(2)), 0.5f))

static void test_what_does_not_fit_is_refused_with_the_rule(void)
{
    static const struct {
        mw_status status;
        const char *says;
        build_wrong *build;
    } rows[] = {{MW_ERROR_SHAPE, "one number of type fp32 for each row, [3], is wanted", few_targets},
                {MW_ERROR_SHAPE, "triplet: anchor [3] must be rows, [N, .., D]", one_row},
                {MW_ERROR_SHAPE, "triplet: anchor [3, 2] and negative [3, 3]", other_far},
                {MW_ERROR_SHAPE, "info_nce: queries [2, 3, 4] must be [N, D]", deep_set},
                {MW_ERROR_ARGUMENT, "dice: axes must name some of 1 to 1", examples_summed},
                {MW_ERROR_ARGUMENT, "dice: axes must name some of 1 to 1", no_axes},
                {MW_ERROR_ARGUMENT, "dice: axes must name some of 1 to 1", axis_beyond},
                {MW_ERROR_SHAPE, "it must be int32 [N, L], L 1 or more", float_labels},
                {MW_ERROR_SHAPE, "it must be fp16 or fp32 [N, T, C] with elements", flat_steps},
                {MW_ERROR_SHAPE, "ctc: labels is int32 [3, 3] for log_probabilities [2, 5, 4]", other_batch},
                {MW_ERROR_SHAPE, "it must be int32 [N, L], L 1 or more", no_labels},
                {MW_ERROR_ARGUMENT, "ctc: blank 4 must be a class, in [0, 4)", blank_beyond},
                {MW_ERROR_SHAPE, "ctc: input_lengths is int32 [3]", few_lengths},
                {MW_ERROR_ARGUMENT, "normalize: epsilon 1e-12 must be finite and 2^-14 or more", odd_epsilon},
                {MW_ERROR_DTYPE, "normalize: x is int32", whole_numbers},
                {MW_ERROR_ARGUMENT, "nt_xent: temperature 0.0001 must be in [0.001, 1000]", cold},
                {MW_ERROR_ARGUMENT, "focal: gamma 0.5 must be 0, or finite and 1 or more", half_gamma}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mw_error err = {0};
        mw_graph *graph = mw_graph_create(NULL, NULL);
        rows[i].build(graph);
        mw_graph_check(graph, &err);
        CHECK_ERROR(err, rows[i].status, rows[i].says);
        mw_graph_destroy(graph);
    }
}

/* ---- labels without alignment ---- */

enum { EXAMPLES = 3, STEPS = 5, CLASSES = 4, LABELS = 3 };

typedef struct spread {
    mw_graph *graph;
    mw_program *program;
} spread;

static spread make_spread(mw_device device, mw_error *err)
{
    spread s = {.graph = mw_graph_create(NULL, NULL)};
    mw_tensor *x = floats(s.graph, "x", MW_SHAPE(EXAMPLES, STEPS, CLASSES));
    mw_tensor *loss =
        mw_ctc(mw_log_softmax(x, -1), numbers(s.graph, "l", MW_SHAPE(EXAMPLES, LABELS)),
               numbers(s.graph, "steps", MW_SHAPE(EXAMPLES)), numbers(s.graph, "lengths", MW_SHAPE(EXAMPLES)), 0);
    mw_tensor *dx = NULL;
    if (mw_grad(loss, &x, 1, &dx, err) == MW_OK) {
        mw_output(loss, "loss");
        mw_output(dx, "dx");
        s.program = engine_compile(s.graph, device, 1, err);
    }
    return s;
}

static void run_spread(const spread *s, const int32_t *labels, const int32_t *steps, const int32_t *lengths,
                       float *out_loss, float *out_dx, mw_error *err)
{
    float x[EXAMPLES * STEPS * CLASSES];
    for (int i = 0; i < EXAMPLES * STEPS * CLASSES; i++)
        x[i] = (float)(i * 7 % 11) / 4.0f - 1.0f;
    mw_program_write(s->program, "x", MW_F32, x, EXAMPLES * STEPS * CLASSES, err);
    mw_program_write(s->program, "l", MW_I32, labels, EXAMPLES * LABELS, err);
    mw_program_write(s->program, "steps", MW_I32, steps, EXAMPLES, err);
    mw_program_write(s->program, "lengths", MW_I32, lengths, EXAMPLES, err);
    if (err->status == MW_OK && mw_program_run(s->program, err) == MW_OK) {
        mw_program_read(s->program, "loss", MW_F32, out_loss, 1, err);
        mw_program_read(s->program, "dx", MW_F32, out_dx, EXAMPLES * STEPS * CLASSES, err);
    }
}

/* The second has a repeated label, so that it needs 4 steps; the third no step at all. */
static void check_left_out(mw_device device)
{
    static const int32_t labels[EXAMPLES * LABELS] = {1, 2, 3, 2, 2, 1, 3, 1, 2}, steps[EXAMPLES] = {5, 3, 0},
                                           lengths[EXAMPLES] = {3, 3, 1};
    static const int32_t alone[EXAMPLES] = {5, 5, 5}, none[EXAMPLES] = {3, 0, 0};
    float loss = -1.0f, dx[EXAMPLES * STEPS * CLASSES], again = -1.0f, other[EXAMPLES * STEPS * CLASSES];
    mw_error err = {0};
    spread s = make_spread(device, &err);
    REQUIRE(s.program != NULL);
    run_spread(&s, labels, steps, lengths, &loss, dx, &err);
    CHECK_OK(err);
    CHECK(loss > 0.0f && isfinite(loss));
    for (int i = 0; i < EXAMPLES * STEPS * CLASSES; i++)
        CHECK(isfinite(dx[i]) && (i < STEPS * CLASSES || dx[i] == 0.0f));
    run_spread(&s, labels, alone, none, &again, other, &err); /* the first alone, others without labels */
    CHECK_OK(err);
    for (int i = 0; i < STEPS * CLASSES; i++)
        CHECK_NEAR(other[i], dx[i], 1e-3);
    mw_program_destroy(s.program);
    mw_graph_destroy(s.graph);
}

static void test_labels_that_do_not_fit_into_the_steps_count_0(void)
{
    check_left_out(MW_DEVICE_CPU);
    check_left_out(MW_DEVICE_ANE);
}

static void test_lengths_and_labels_out_of_range_are_refused_when_fed(void)
{
    static const int32_t good[EXAMPLES * LABELS] = {1, 2, 3, 2, 2, 1, 3, 1, 2}, bad[EXAMPLES * LABELS] = {1, 4};
    static const int32_t fits[EXAMPLES] = {5, 5, 5}, short_ones[EXAMPLES] = {1, 1, 1};
    static const int32_t more[EXAMPLES] = {5, 6, 5}, many[EXAMPLES] = {1, 1, 4};
    const int32_t *const rows[3][3] = {{bad, fits, short_ones}, {good, more, short_ones}, {good, fits, many}};
    static const char *const names[3] = {"\"l\"", "\"steps\"", "\"lengths\""};
    for (int i = 0; i < 3; i++) {
        float loss, dx[EXAMPLES * STEPS * CLASSES];
        mw_error err = {0};
        spread s = make_spread(MW_DEVICE_CPU, &err);
        run_spread(&s, rows[i][0], rows[i][1], rows[i][2], &loss, dx, &err);
        check_note(err.status != MW_OK && strstr(err.message, names[i]) != NULL, __FILE__, __LINE__,
                   "%s out of range: %d %s", names[i], (int)err.status, err.message);
        mw_program_destroy(s.program);
        mw_graph_destroy(s.graph);
    }
}

/* 400 steps, of which the likeliest way has a probability of e^-900: nothing is lost, nothing overflows. */
static void test_long_sequences_stay_finite(void)
{
    enum { LONG = 400, MANY = 40, WIDE = 10 };
    float *x = calloc(LONG * WIDE, sizeof *x), loss = 0.0f;
    int32_t labels[MANY];
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *in = floats(graph, "x", MW_SHAPE(1, LONG, WIDE));
    mw_output(mw_ctc(mw_log_softmax(in, -1), numbers(graph, "l", MW_SHAPE(1, MANY)), NULL, NULL, 0), "loss");
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, 1, &err);
    for (int i = 0; i < MANY; i++)
        labels[i] = 1 + i % 2;
    mw_program_write(program, "x", MW_F32, x, LONG * WIDE, &err);
    mw_program_write(program, "l", MW_I32, labels, MANY, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "loss", MW_F32, &loss, 1, &err);
    CHECK_OK(err);
    /* every class alike: the number of ways is (LONG + MANY over 2 MANY), as no label repeats the one before */
    const double ways = lgamma(LONG + MANY + 1) - lgamma(2 * MANY + 1) - lgamma(LONG - MANY + 1);
    CHECK_NEAR(loss, (LONG * log(WIDE) - ways) / MANY, 1e-4 * LONG * log(WIDE) / MANY);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    free(x);
}

int main(void)
{
    RUN(test_null_is_passed_on_and_blames_nobody);
    RUN(test_what_does_not_fit_is_refused_with_the_rule);
    RUN(test_labels_that_do_not_fit_into_the_steps_count_0);
    RUN(test_lengths_and_labels_out_of_range_are_refused_when_fed);
    RUN(test_long_sequences_stay_finite);
    return check_finish();
}
