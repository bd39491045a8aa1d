/* Constants that fp16 does not hold, on the model of the ANE: what stands for them, that the program computes with it
 * what it did in double, and that the caller can read it. */
#include "support/check.h"

#include "base/number/fp16.h"
#include "runtime/small.h"

#include <float.h>
#include <millwright/millwright.h>

enum { ROWS = 4, COLUMNS = 8, COUNT = ROWS * COLUMNS };

static mw_program *compile(const mw_graph *graph, bool strict, mw_error *err)
{
    mw_compile_options options = mw_compile_defaults();
    options.device = MW_DEVICE_ANE;
    options.provider = MW_PROVIDER_ENGINE;
    options.strict = strict;
    return mw_program_create(graph, &options, err);
}

/* Compiles output "y" of the graph, checks that strict refuses it, and runs it. */
static mw_program *run(const mw_graph *graph, const float *x, const float *keep, float *out)
{
    mw_error err = {0}, refusal = {0};
    CHECK(compile(graph, true, &refusal) == NULL);
    CHECK_ERROR(refusal, MW_ERROR_NUMERIC, "in fp16");
    mw_program *program = compile(graph, false, &err);
    if (program != NULL) {
        mw_program_write(program, "x", MW_F32, x, COUNT, &err);
        if (keep != NULL)
            mw_program_write(program, "keep", MW_F32, keep, COUNT, &err);
        mw_program_run(program, &err);
        mw_program_read(program, "y", MW_F32, out, COUNT, &err);
    }
    CHECK_OK(err);
    return program;
}

/* ---- masks ---- */

/* Scores up to +-20; in row r the last 2 r columns are masked, in the last row all. */
static void make_scores(float *x, float *keep)
{
    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)((i * 37 + 11) % 41) - 20.0F;
        keep[i] = i / COLUMNS < ROWS - 1 && i % COLUMNS < COLUMNS - 2 * (i / COLUMNS) ? 1.0F : 0.0F;
    }
}

/* Softmax over what is kept, in double; rows without any must be numbers that sum up to 1. */
static void check_softmax(const float *x, const float *keep, const float *y, const char *who)
{
    for (int r = 0; r < ROWS; r++) {
        double sum = 0.0, total = 0.0;
        for (int i = r * COLUMNS; i < (r + 1) * COLUMNS; i++) {
            sum += keep[i] != 0.0F ? exp((double)x[i]) : 0.0;
            total += (double)y[i];
        }
        check_note(fabs(total - 1.0) < 4e-3, __FILE__, __LINE__, "%s: row %d sums up to %g", who, r, total);
        for (int i = r * COLUMNS; sum > 0.0 && i < (r + 1) * COLUMNS; i++)
            CHECK_NEAR(y[i], keep[i] != 0.0F ? exp((double)x[i]) / sum : 0.0, 1e-3);
    }
}

static mw_tensor *inputs(mw_graph *graph, mw_tensor **out_keep)
{
    *out_keep = mw_input(graph, "keep", MW_F32, MW_SHAPE(ROWS, COLUMNS));
    return mw_input(graph, "x", MW_F32, MW_SHAPE(ROWS, COLUMNS));
}

typedef mw_tensor *mask_function(mw_tensor *x, mw_tensor *keep);

static mw_tensor *add_scaled(mw_tensor *x, mw_tensor *keep)
{
    mw_tensor *away = mw_mul_scalar(mw_add_scalar(mw_neg(keep), 1.0), -(double)FLT_MAX);
    return mw_add(x, away);
}

static mw_tensor *add_reshaped(mw_tensor *x, mw_tensor *keep)
{
    mw_tensor *away = mw_mul_scalar(mw_sub(mw_scalar(mw_tensor_graph(x), MW_F32, 1.0), keep), -1e9);
    mw_tensor *moved = mw_squeeze(mw_expand_dims(mw_cast(away, MW_F32), MW_AXES(0)), MW_AXES(0));
    return mw_add(moved, x);
}

static mw_tensor *subtract(mw_tensor *x, mw_tensor *keep)
{
    return mw_sub(x, mw_mul_scalar(mw_add_scalar(mw_neg(keep), 1.0), 1e30));
}

static mw_tensor *choose(mw_tensor *x, mw_tensor *keep)
{
    mw_tensor *kept = mw_greater(keep, mw_scalar(mw_tensor_graph(x), MW_F32, 0.5));
    return mw_select(kept, x, mw_scalar(mw_tensor_graph(x), MW_F32, -(double)FLT_MAX));
}

static mw_tensor *choose_and_add(mw_tensor *x, mw_tensor *keep)
{
    mw_graph *graph = mw_tensor_graph(x);
    mw_tensor *kept = mw_greater(keep, mw_scalar(graph, MW_F32, 0.5));
    return mw_add(x, mw_select(kept, mw_scalar(graph, MW_F32, 0.0), mw_scalar(graph, MW_F32, -1e20)));
}

static void test_masks_leave_numbers_behind(void)
{
    static const struct {
        const char *name;
        mask_function *mask;
        double value, replaced;
    } cases[] = {
        {.name = "(1 - keep) * -3.4e38 + x", .mask = add_scaled, .value = -(double)FLT_MAX, .replaced = -32752.0},
        {.name = "the same, reshaped and cast", .mask = add_reshaped, .value = -1e9, .replaced = -32752.0},
        {.name = "x - (1 - keep) * 1e30", .mask = subtract, .value = 1e30, .replaced = 32752.0},
        {.name = "select(keep, x, -3.4e38)", .mask = choose, .value = -(double)FLT_MAX, .replaced = -65504.0},
        {.name = "x + select(keep, 0, -1e20)", .mask = choose_and_add, .value = -1e20, .replaced = -32752.0}};
    float x[COUNT], keep[COUNT], y[COUNT] = {0};
    make_scores(x, keep);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mw_graph *graph = mw_graph_create(NULL, NULL);
        mw_tensor *kept = NULL, *scores = inputs(graph, &kept);
        mw_output(mw_softmax(cases[i].mask(scores, kept), -1), "y");
        mw_program *program = run(graph, x, keep, y);
        check_softmax(x, keep, y, cases[i].name);
        mw_warning warning = {0};
        CHECK_INT(mw_program_get_info(program).warning_count, 1);
        CHECK(mw_program_warning_at(program, 0, &warning));
        CHECK_NEAR(warning.value, cases[i].value, 1e-6 * fabs(cases[i].value));
        CHECK_NEAR(warning.replaced_by, cases[i].replaced, 0.0);
        mw_program_destroy(program);
        mw_graph_destroy(graph);
    }
}

/* A table of 0 and -3.4e38, as of causal attention: one warning with the number of its elements. Infinities stay. */
static void test_tables_of_masks_are_one_warning_and_infinities_none(void)
{
    float x[COUNT], keep[COUNT], y[COUNT] = {0}, mask[COUNT];
    make_scores(x, keep);
    for (int form = 0; form < 2; form++) {
        size_t masked = 0;
        for (int i = 0; i < COUNT; i++) {
            const bool whole_row = i / COLUMNS == ROWS - 1; /* NaN of infinities in any arithmetic */
            mask[i] = keep[i] != 0.0F || (form == 1 && whole_row) ? 0.0F : form == 0 ? -FLT_MAX : -INFINITY;
            masked += mask[i] != 0.0F;
        }
        mw_graph *graph = mw_graph_create(NULL, NULL);
        mw_tensor *scores = mw_input(graph, "x", MW_F32, MW_SHAPE(ROWS, COLUMNS));
        mw_tensor *table = mw_name(mw_constant(graph, MW_F32, MW_SHAPE(ROWS, COLUMNS), mask), "causal");
        mw_output(mw_softmax(mw_add(scores, table), -1), "y");
        mw_error err = {0};
        mw_program *program = form == 0 ? run(graph, x, NULL, y) : compile(graph, true, &err);
        REQUIRE(CHECK_OK(err) && program != NULL);
        mw_warning warning = {0};
        if (form == 1) {
            mw_program_write(program, "x", MW_F32, x, COUNT, &err);
            mw_program_run(program, &err);
            mw_program_read(program, "y", MW_F32, y, COUNT, &err);
            CHECK_OK(err);
            for (int i = COUNT - COLUMNS; i < COUNT; i++)
                keep[i] = 1.0F;
        }
        check_softmax(x, keep, y, "table");
        CHECK_INT(mw_program_get_info(program).warning_count, form == 0);
        if (mw_program_warning_at(program, 0, &warning)) {
            CHECK_INT(warning.count, masked);
            CHECK_STR(warning.operation, "add");
            CHECK_STR(warning.argument, "y");
            CHECK_STR(warning.tensor, "causal");
        }
        mw_program_destroy(program);
        mw_graph_destroy(graph);
    }
}

/* ---- small numbers ---- */

typedef struct small_case {
    const char *name;
    mw_tensor *(*build)(mw_tensor *x);
    double (*exact)(double x);
    double at_zero; /* what is allowed there: |y| <= at_zero */
    double replaced;
    double tolerance;
} small_case;

static mw_tensor *limit_and_divide(mw_tensor *x)
{
    return mw_mul(x, mw_inverse(mw_clip(mw_abs(x), 1e-10F, INFINITY), 0.0F));
}
static mw_tensor *maximum_and_divide(mw_tensor *x)
{
    return mw_real_div(x, mw_maximum(mw_abs(x), mw_scalar(mw_tensor_graph(x), MW_F32, 1e-12)));
}
static mw_tensor *add_and_divide(mw_tensor *x) { return mw_real_div(x, mw_add_scalar(mw_abs(x), 1e-9)); }
static mw_tensor *inverse(mw_tensor *x) { return mw_mul(mw_abs(x), mw_inverse(mw_abs(x), 1e-8F)); }
static mw_tensor *root(mw_tensor *x)
{
    mw_tensor *limited = mw_clip(mw_abs(x), 1e-10F, FLT_MAX);
    return mw_real_div(x, mw_sqrt(limited));
}
static mw_tensor *logarithm(mw_tensor *x) { return mw_log(mw_add_scalar(mw_abs(x), 1e-20), 0.0F); }
static mw_tensor *reciprocal_root(mw_tensor *x) { return mw_mul(x, mw_rsqrt(mw_abs(x), 1e-10F)); }

static double sign_of(double x) { return x / fabs(x); }
static double one(double x) { return x / x; }
static double root_of(double x) { return sign_of(x) * sqrt(fabs(x)); }
static double log_of(double x) { return log(fabs(x)); }

static const small_case small_cases[] = {
    {.name = "x / clip(|x|, 1e-10)",
     .build = limit_and_divide,
     .exact = sign_of,
     .replaced = 0x1p-14,
     .tolerance = 2e-3},
    {.name = "x / maximum(|x|, 1e-12)",
     .build = maximum_and_divide,
     .exact = sign_of,
     .replaced = 0x1p-14,
     .tolerance = 1e-3},
    {.name = "x / (|x| + 1e-9)", .build = add_and_divide, .exact = sign_of, .replaced = 0x1p-14, .tolerance = 1e-2},
    {.name = "|x| inverse(|x| + 1e-8)", .build = inverse, .exact = one, .replaced = 0x1p-14, .tolerance = 1e-2},
    {.name = "x / sqrt(clip(|x|, 1e-10))", .build = root, .exact = root_of, .replaced = 0x1p-24, .tolerance = 1e-2},
    {.name = "log(|x| + 1e-20)",
     .build = logarithm,
     .exact = log_of,
     .at_zero = 17.0,
     .replaced = 0x1p-24,
     .tolerance = 1e-2},
    {.name = "x rsqrt(|x| + 1e-10)",
     .build = reciprocal_root,
     .exact = root_of,
     .replaced = 0x1p-24,
     .tolerance = 1e-2},
};

static void check_small(const small_case *c)
{
    float x[COUNT], y[COUNT] = {0};
    for (int i = 0; i < COUNT; i++)
        x[i] = i == 0 ? 0.0F : (i % 2 ? 1.0F : -1.0F) * ldexpf(1.0F + 0.03F * (float)i, i % 12 - 6);
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *input = mw_input(graph, "x", MW_F32, MW_SHAPE(ROWS, COLUMNS));
    mw_output(c->build(input), "y");
    mw_program *program = run(graph, x, NULL, y);
    check_note(fabs((double)y[0]) <= c->at_zero, __FILE__, __LINE__, "%s: %g at 0", c->name, (double)y[0]);
    for (int i = 1; i < COUNT; i++) {
        const double exact = c->exact((double)mw__fp16_to_float(mw__fp16_from_float(x[i])));
        check_note(fabs((double)y[i] - exact) <= c->tolerance * fmax(1.0, fabs(exact)), __FILE__, __LINE__,
                   "%s: %g at %g, not %g", c->name, (double)y[i], (double)x[i], exact);
    }
    mw_warning warning = {0};
    CHECK(mw_program_warning_at(program, 0, &warning));
    CHECK_NEAR(warning.replaced_by, c->replaced, 0.0);
    CHECK_CONTAINS(warning.message, "which fp16 does not hold");
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

static void test_small_guards_keep_what_they_guard_finite(void)
{
    for (size_t i = 0; i < sizeof small_cases / sizeof small_cases[0]; i++)
        check_small(&small_cases[i]);
}

/* (x - mean) / sqrt(var + 1e-12) over a row, for rows of a small variance: a larger epsilon would shrink them. */
static void test_the_epsilon_of_a_norm_does_not_weigh(void)
{
    float x[COUNT], y[COUNT] = {0};
    for (int i = 0; i < COUNT; i++)
        x[i] = i / COLUMNS == 0 ? 3.0F : 0.01F * (float)((i * 29) % 17 - 8);
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *input = mw_input(graph, "x", MW_F32, MW_SHAPE(ROWS, COLUMNS));
    mw_output(mw_layer_norm(input, MW_AXES(-1), NULL, NULL, 1e-12F), "y");
    mw_program *program = run(graph, x, NULL, y);
    for (int r = 0; r < ROWS; r++) {
        double mean = 0.0, variance = 0.0;
        for (int i = r * COLUMNS; i < (r + 1) * COLUMNS; i++)
            mean += (double)x[i] / COLUMNS;
        for (int i = r * COLUMNS; i < (r + 1) * COLUMNS; i++)
            variance += ((double)x[i] - mean) * ((double)x[i] - mean) / COLUMNS;
        for (int i = r * COLUMNS; i < (r + 1) * COLUMNS; i++)
            CHECK_NEAR(y[i], ((double)x[i] - mean) / sqrt(variance + 1e-12), 5e-3);
    }
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

/* ---- saying so ---- */

typedef struct heard {
    int lines;
    char last[400];
} heard;

static void hear(void *user, mw_log_level level, const char *line)
{
    heard *h = user;
    h->lines += level == MW_LOG_WARNING;
    snprintf(h->last, sizeof h->last, "%s", line);
}

static void test_a_program_says_what_was_replaced_once(void)
{
    heard h = {0};
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(3));
    mw_tensor *y = mw_name(mw_clip(x, 1e-10F, FLT_MAX), "limited");
    mw_output(mw_log(y, 0.0F), "y");
    mw_log_set(hear, &h);
    mw_program *program = compile(graph, false, &err);
    mw_log_set(NULL, NULL);
    REQUIRE(CHECK_OK(err));
    mw_warning warnings[3] = {{0}};
    CHECK_INT(mw_program_get_info(program).warning_count, 2);
    CHECK(mw_program_warning_at(program, 0, &warnings[0]) && mw_program_warning_at(program, 1, &warnings[1]));
    CHECK(!mw_program_warning_at(program, 2, &warnings[2]) && !mw_program_warning_at(NULL, 0, &warnings[2]));
    CHECK_STR(warnings[0].operation, "clip");
    CHECK_STR(warnings[0].argument, "alpha");
    CHECK_STR(warnings[0].tensor, "limited");
    CHECK_STR(warnings[0].message, "clip \"limited\": alpha = 1e-10, which fp16 does not hold, became 5.9604645e-08");
    CHECK_STR(warnings[1].argument, "beta");
    CHECK_NEAR(warnings[1].replaced_by, 65504.0, 0.0);
    CHECK_INT(h.lines, 1);
    CHECK_CONTAINS(h.last, "2 constants do not fit fp16");
    CHECK_CONTAINS(h.last, "alpha");
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

static void test_a_constant_is_named_though_its_name_is_part_of_the_operations(void)
{
    const float large[3] = {1.0F, 1e6F, 2.0F};
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(3));
    mw_tensor *b = mw_name(mw_constant(graph, MW_F32, MW_SHAPE(3), large), "b");
    mw_output(mw_minimum(x, b), "b1");
    mw_program *program = compile(graph, false, &err);
    mw_warning warning = {0};
    REQUIRE(CHECK_OK(err) && CHECK(mw_program_warning_at(program, 0, &warning)));
    CHECK_STR(warning.message, "minimum \"b1\": y b = 1000000, which fp16 does not hold, became 65504");
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

static void test_programs_that_fit_have_no_warnings(void)
{
    for (int device = MW_DEVICE_CPU; device <= MW_DEVICE_ANE; device += MW_DEVICE_ANE - MW_DEVICE_CPU) {
        mw_error err = {0};
        mw_graph *graph = mw_graph_create(NULL, NULL);
        mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(3));
        const double small = device == MW_DEVICE_CPU ? 1e-12 : 6e-8, large = device == MW_DEVICE_CPU ? 1e30 : 65519.0;
        mw_output(mw_log(mw_mul_scalar(mw_add_scalar(x, small), large), 1e-45F), "y"); /* MIL's default of log */
        mw_compile_options options = mw_compile_defaults();
        options.device = (mw_device)device;
        options.provider = MW_PROVIDER_ENGINE;
        mw_program *program = mw_program_create(graph, &options, &err);
        CHECK_OK(err);
        CHECK_INT(mw_program_get_info(program).warning_count, 0);
        mw_program_destroy(program);
        mw_graph_destroy(graph);
    }
}

/* ---- the trainer ---- */

static mw_trainer *trainer_with(mw_optimizer optimizer, float loss_scale, bool strict, mw_error *err)
{
    small_net net = small_create(NULL);
    mw_trainer_options options = mw_trainer_defaults(net.loss, optimizer);
    options.precision.loss_scale = loss_scale;
    options.compile.device = MW_DEVICE_ANE;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.strict = strict;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(net.graph);
    return trainer;
}

static void test_an_optimizers_epsilon_is_replaced_and_its_rate_refused(void)
{
    static const struct {
        float epsilon, loss_scale;
        double value;
    } cases[] = {{1e-9F, 1.0F, 1e-9}, {1e-10F, 256.0F, 2.56e-8}};
    for (size_t i = 0; i < 2; i++) {
        mw_error err = {0};
        mw_optimizer tiny = mw_adam(1e-2F);
        mw_optimizer_set(&tiny, MW_OPTIMIZER_EPSILON, cases[i].epsilon);
        CHECK(trainer_with(tiny, cases[i].loss_scale, true, &err) == NULL);
        CHECK_ERROR(err, MW_ERROR_NUMERIC, "epsilon");
        err = (mw_error){0};
        mw_trainer *trainer = trainer_with(tiny, cases[i].loss_scale, false, &err);
        REQUIRE(CHECK_OK(err));
        mw_warning warning = {0};
        CHECK_INT(mw_trainer_get_info(trainer).warning_count, 1);
        CHECK(mw_trainer_warning_at(trainer, 0, &warning) && !mw_trainer_warning_at(trainer, 1, &warning));
        CHECK_STR(warning.argument, "epsilon");
        CHECK_NEAR(warning.value, cases[i].value, 1e-6 * cases[i].value);
        CHECK_NEAR(warning.replaced_by, 0x1p-14, 0.0);
        const small_data data = small_make_data();
        small_batch batch;
        small_fill_batch(&batch, &data, 0);
        float first = 0.0F, last = 0.0F;
        for (int step = 0; step < 40; step++)
            mw_trainer_step(trainer, &batch.batch, step == 0 ? &first : &last, &err);
        CHECK_OK(err);
        CHECK(last < 0.5F * first);
        mw_trainer_destroy(trainer);
    }
    mw_error err = {0};
    CHECK(trainer_with(mw_sgd(1e-9F), 0.0F, false, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_NUMERIC, "learning_rate");
}

/* loss = mean((softmax(x w + mask) - 1/2)^2), the mask within the graph: trained alike on both devices. */
static void test_a_masked_net_trains_as_in_fp32(void)
{
    float x[COUNT], keep[COUNT], losses[2][10];
    make_scores(x, keep);
    for (int i = 0; i < COUNT; i++)
        x[i] *= 0.05F;
    for (int k = 0; k < 2; k++) {
        mw_error err = {0};
        mw_graph *graph = mw_graph_create(NULL, NULL);
        mw_tensor *kept = NULL, *scores = inputs(graph, &kept);
        mw_tensor *w = mw_parameter(graph, "w", MW_F32, MW_SHAPE(COLUMNS), mw_init_constant(1.0F));
        mw_tensor *y = mw_softmax(add_scaled(mw_mul(scores, w), kept), -1);
        mw_tensor *off = mw_add_scalar(y, -0.5);
        mw_trainer_options options =
            mw_trainer_defaults(mw_reduce_mean(mw_mul(off, off), MW_ALL_AXES, false), mw_sgd(30.0F));
        options.compile.device = k == 0 ? MW_DEVICE_CPU : MW_DEVICE_ANE;
        options.compile.provider = MW_PROVIDER_ENGINE;
        mw_trainer *trainer = mw_trainer_create(&options, &err);
        REQUIRE(CHECK_OK(err));
        CHECK_INT(mw_trainer_get_info(trainer).warning_count > 0, k);
        for (int i = COUNT - COLUMNS; i < COUNT; i++)
            keep[i] = 1.0F; /* fp32 makes a uniform row of one that is masked throughout */
        const mw_feed feeds[2] = {{.name = "x", .dtype = MW_F32, .data = x, .count = COUNT},
                                  {.name = "keep", .dtype = MW_F32, .data = keep, .count = COUNT}};
        const mw_batch batch = {.feeds = feeds, .feed_count = 2, .examples = ROWS};
        for (int step = 0; step < 10; step++)
            mw_trainer_step(trainer, &batch, &losses[k][step], &err);
        CHECK_OK(err);
        mw_trainer_destroy(trainer);
        mw_graph_destroy(graph);
    }
    for (int step = 0; step < 10; step++)
        CHECK_NEAR(losses[1][step], losses[0][step], 2e-3 * (double)losses[0][step]);
    CHECK(losses[0][9] < 0.999F * losses[0][0]);
}

int main(void)
{
    RUN(test_masks_leave_numbers_behind);
    RUN(test_tables_of_masks_are_one_warning_and_infinities_none);
    RUN(test_small_guards_keep_what_they_guard_finite);
    RUN(test_the_epsilon_of_a_norm_does_not_weigh);
    RUN(test_a_program_says_what_was_replaced_once);
    RUN(test_a_constant_is_named_though_its_name_is_part_of_the_operations);
    RUN(test_programs_that_fit_have_no_warnings);
    RUN(test_an_optimizers_epsilon_is_replaced_and_its_rate_refused);
    RUN(test_a_masked_net_trains_as_in_fp32);
    return check_finish();
}
