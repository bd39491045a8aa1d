/* A cache of fp16 that is written row by row and read by an attention, as programs for chips have it: of what is
 * selected only the rows that are chosen are touched, and of keys and values only what the mask shows is widened. The
 * bytes are those of every element selected and widened (MW_ENGINE_FUSE=0), and the cache is what plain loops make of
 * it. */
#include "base/number/fp16.h"
#include "engine/program_case.h"
#include "support/check.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include <math.h>
#include <millwright/inspect.h>
#include <millwright/millwright.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct cache_case {
    int64_t batch, heads, keys, width, rows; /* rows of an update */
    bool shared;                             /* the next cache stands in the place of the cache */
    bool shown;                              /* a boolean mask shows what is written so far, else all is */
    size_t selects;                          /* steps of the plan that choose rows */
} cache_case;

/* Rows of fewer than 16 elements, and an update of several rows, which is brought to its place by a product, and chosen
 * by rows as well; a cache of one matrix has no loop around its rows. */
static const cache_case cases[] = {
    {2, 3, 20, 32, 1, true, true, 2}, {2, 3, 20, 32, 1, false, true, 2},  {2, 3, 20, 32, 1, true, false, 2},
    {1, 5, 33, 19, 1, true, true, 2}, {1, 2, 700, 600, 1, true, true, 2}, {2, 2, 9, 15, 1, true, true, 0},
    {1, 1, 24, 40, 1, true, true, 0}, {2, 3, 12, 16, 4, true, true, 2},   {3, 2, 5, 16, 5, false, false, 0},
};

static mw_shape shape_of(const cache_case *c, int64_t rows) { return MW_SHAPE(c->batch, c->heads, rows, c->width); }

static mw_tensor *remember(mw_graph *graph, const cache_case *c, const char *which, mw_tensor *at)
{
    char cache[16], row[16], next[16];
    snprintf(cache, sizeof cache, "%s", which);
    snprintf(row, sizeof row, "%s_row", which);
    snprintf(next, sizeof next, "%s_next", which);
    mw_tensor *zero = mw_constant(graph, MW_I32, MW_SHAPE(1), (int32_t[]){0});
    mw_tensor *begin = mw_concat((mw_tensor *[]){zero, zero, at, zero}, 4, 0);
    mw_tensor *x = mw_input(graph, cache, MW_F32, shape_of(c, c->keys));
    return mw_output(mw_slice_update_at(x, mw_input(graph, row, MW_F32, shape_of(c, c->rows)), begin), next);
}

static mw_graph *build(const cache_case *c)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *at = mw_input(graph, "at", MW_I32, MW_SHAPE(1)), *mask = NULL;
    mw_tensor *k = remember(graph, c, "k", at), *v = remember(graph, c, "v", at);
    if (c->shown)
        mask = mw_less_equal(mw_reshape(mw_range_1d(graph, MW_I32, 0.0, (double)c->keys, 1.0), MW_SHAPE(1, c->keys)),
                             mw_reshape(at, MW_SHAPE(1, 1)));
    mw_output(mw_scaled_dot_product_attention(mw_input(graph, "q", MW_F32, shape_of(c, 1)), k, v, mask), "y");
    return graph;
}

/* ---- a run of both ways ---- */

/* What a chip makes of what it reads is seen of these. */
static void spoil(float *x, size_t count)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, -0.0f, 0x1p-24f, -0x1.8p-16f, 65504.0f};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        x[(i * 37 + 5) % count] = odd[i];
}

static void write(mw_program *const program[2], const char *port, const program_numbers *numbers, mw_shape shape,
                  uint64_t stream, bool spoilt, mw_error *err)
{
    float *x = program_draw(numbers, shape, stream);
    REQUIRE(x != NULL);
    if (spoilt)
        spoil(x, (size_t)mw_shape_count(shape));
    for (int i = 0; i < 2; i++)
        mw_program_write(program[i], port, MW_F32, x, (size_t)mw_shape_count(shape), err);
    free(x);
}

static void compare(mw_program *const program[2], const char *what, mw_error *err)
{
    static const char *const outputs[] = {"k_next", "v_next", "y"};
    program_outputs a = program_outputs_read(program[0], outputs, 3, err);
    program_outputs b = program_outputs_read(program[1], outputs, 3, err);
    program_outputs_compare(&a, &b, 3, what);
    program_outputs_deinit(&a);
    program_outputs_deinit(&b);
}

/* Places in and before the cache, which count from its end, and behind it, which are clamped. */
static void run_both(mw_program *const program[2], const cache_case *c, bool spoilt, const char *what, mw_error *err)
{
    const int32_t places[] = {0, 3, (int32_t)c->keys - 1, -2, (int32_t)c->keys + 7, 1};
    const program_numbers numbers = {.seed = 5};
    write(program, "k", &numbers, shape_of(c, c->keys), 1, spoilt, err);
    write(program, "v", &numbers, shape_of(c, c->keys), 2, spoilt, err);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        write(program, "k_row", &numbers, shape_of(c, c->rows), 10 + 3 * i, spoilt, err);
        write(program, "v_row", &numbers, shape_of(c, c->rows), 11 + 3 * i, false, err);
        write(program, "q", &numbers, shape_of(c, 1), 12 + 3 * i, false, err);
        for (int k = 0; k < 2; k++) {
            mw_program_write(program[k], "at", MW_I32, &places[i], 1, err);
            mw_program_run(program[k], err);
        }
        compare(program, what, err);
    }
}

static void share(mw_program *program, mw_error *err)
{
    mw_program_alias(program, "k_next", "k", err);
    mw_program_alias(program, "v_next", "v", err);
}

static void check_case(const cache_case *c, int threads)
{
    mw_error err = {0};
    char what[96];
    snprintf(what, sizeof what, "%d x %d x %d x %d, %d rows%s, %d threads", (int)c->batch, (int)c->heads, (int)c->keys,
             (int)c->width, (int)c->rows, c->shared ? ", shared" : "", threads);
    mw_graph *graph = build(c);
    mw_program *program[2] = {engine_compile(graph, MW_DEVICE_ANE, threads, &err),
                              program_compile_plain(graph, MW_DEVICE_ANE, threads, &err)};
    for (int i = 0; i < 2 && c->shared && err.status == MW_OK; i++)
        share(program[i], &err);
    for (int spoilt = 0; spoilt < 2 && err.status == MW_OK; spoilt++)
        run_both(program, c, spoilt == 1, what, &err);
    CHECK_OK(err);
    for (int i = 0; i < 2; i++)
        mw_program_destroy(program[i]);
    mw_graph_destroy(graph);
}

static void check_cases(int threads)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&cases[i], threads);
}

static void test_rows_have_the_bits_of_elements(void)
{
    for (int threads = 1; threads <= 3; threads++)
        check_cases(threads);
}

static void test_narrower_vectors_agree_too(void)
{
    static const char *const widths[] = {"0", "256"};
    for (int i = 0; i < 2; i++) {
        setting_begin("MW_ENGINE_WIDE", widths[i]);
        check_cases(2);
        setting_end("MW_ENGINE_WIDE");
    }
}

/* ---- against plain loops ---- */

static void check_cache(const float *cache, const float *before, const float *row, const cache_case *c, int64_t at)
{
    for (int64_t i = 0; i < c->batch * c->heads; i++)
        for (int64_t key = 0; key < c->keys; key++)
            for (int64_t e = 0; e < c->width; e++) {
                const int64_t place = (i * c->keys + key) * c->width + e;
                const float wanted = key == at ? row[i * c->width + e] : before[place];
                CHECK(cache[place] == mw__fp16_to_float(mw__fp16_from_float(wanted)));
            }
}

static void test_the_row_is_in_its_place(void)
{
    const cache_case *c = &cases[0];
    const size_t count = (size_t)mw_shape_count(shape_of(c, c->keys));
    const int32_t at = 7;
    mw_error err = {0};
    const program_numbers numbers = {.seed = 6};
    float *before = program_draw(&numbers, shape_of(c, c->keys), 1), *row = program_draw(&numbers, shape_of(c, 1), 2);
    float *after = calloc(count, sizeof *after);
    mw_graph *graph = build(c);
    mw_program *program = engine_compile(graph, MW_DEVICE_ANE, 2, &err);
    REQUIRE(before != NULL && row != NULL && after != NULL && program != NULL);
    mw_program_write(program, "k", MW_F32, before, count, &err);
    mw_program_write(program, "k_row", MW_F32, row, (size_t)mw_shape_count(shape_of(c, 1)), &err);
    mw_program_write(program, "at", MW_I32, &at, 1, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "k_next", MW_F32, after, count, &err);
    if (CHECK_OK(err))
        check_cache(after, before, row, c, at);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    free(before);
    free(row);
    free(after);
}

static size_t count_steps(mw_program *program, const char *kernel, mw_error *err)
{
    mw_plan *plan = mw_plan_create(program, err);
    mw_plan_step step;
    size_t found = 0;
    for (size_t i = 0; mw_plan_step_at(plan, i, &step); i++)
        found += strcmp(step.kernel, kernel) == 0;
    mw_plan_destroy(plan);
    return found;
}

static void test_the_plan_says_what_is_chosen_by_rows(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mw_error err = {0};
        mw_graph *graph = build(&cases[i]);
        mw_program *program = engine_compile(graph, MW_DEVICE_ANE, 2, &err);
        const size_t found = program != NULL ? count_steps(program, "select.rows", &err) : 0;
        CHECK_OK(err);
        check_note(found == cases[i].selects, __FILE__, __LINE__, "row %zu: %zu steps", i, found);
        mw_program_destroy(program);
        mw_graph_destroy(graph);
    }
}

int main(void)
{
    RUN(test_rows_have_the_bits_of_elements);
    RUN(test_narrower_vectors_agree_too);
    RUN(test_the_row_is_in_its_place);
    RUN(test_the_plan_says_what_is_chosen_by_rows);
    return check_finish();
}
