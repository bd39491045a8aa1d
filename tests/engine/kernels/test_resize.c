/* Resized images and their gradients on the engine: all grids, factors and extents, against the oracle in double; and
 * the gradient is the transpose of the resizing: dx . v = dy . resize(v) for any v, by the oracle's resizing. */
#include "base/number/random.h"
#include "support/check.h"
#include "support/on_engine.h"
#include "support/oracles/oracle.h"
#include "support/setting.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 1 << 16, SAMPLINGS = 5, MODES = SAMPLINGS + 4 };

typedef struct problem {
    int mode; /* a sampling of resize_bilinear; nearest; upsampled nearest; upsampled, corners aligned or not */
    int64_t n, c, h, w, height, width;
    char text[160];
} problem;

typedef struct built {
    mw_graph *graph;
    mw_tensor *x, *dy, *y, *dx;
} built;

static float x[MOST], dy[MOST], got[MOST];
static double wide[MOST];

static mw_tensor *resize(const problem *p, mw_tensor *in)
{
    const float scale_h = (float)p->height / (float)p->h, scale_w = (float)p->width / (float)p->w;
    switch (p->mode) {
    case SAMPLINGS:
        return mw_resize_nearest_neighbor(in, p->height, p->width);
    case SAMPLINGS + 1:
        return mw_upsample_nearest_neighbor(in, scale_h, scale_w);
    case SAMPLINGS + 2:
        return mw_upsample_bilinear(in, scale_h, scale_w, true);
    case SAMPLINGS + 3:
        return mw_upsample_bilinear(in, scale_h, scale_w, false);
    default:
        return mw_resize_bilinear(in, p->height, p->width, (mw_sampling_mode)p->mode);
    }
}

static bool build(const problem *p, built *b)
{
    mw_error err = {0};
    b->graph = mw_graph_create(NULL, NULL);
    b->x = mw_input(b->graph, "x", MW_F32, MW_SHAPE(p->n, p->c, p->h, p->w));
    b->y = resize(p, b->x);
    if (b->y == NULL || mw_shape_count(mw_tensor_shape(b->y)) > MOST)
        return false;
    b->dy = mw_input(b->graph, "dy", MW_F32, mw_tensor_shape(b->y));
    mw_vjp(&b->y, &b->dy, 1, &b->x, 1, &b->dx, &err);
    mw_output(mw_identity(b->y), "y");
    mw_output(mw_identity(b->dx), "dx");
    return check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", p->text, err.message);
}

static void set_floats(oracle *o, const mw_tensor *of, const float *numbers)
{
    for (int64_t i = 0; i < oracle_count(of); i++)
        wide[i] = (double)numbers[i];
    oracle_set(o, of, wide);
}

static void compare(const problem *p, mw_program *program, const char *name, const mw_tensor *of, const oracle *o)
{
    mw_error err = {0};
    double worst = 0.0;
    mw_program_read(program, name, MW_F32, got, (size_t)oracle_count(of), &err);
    for (int64_t i = 0; i < oracle_count(of); i++) {
        const double wanted = oracle_get(o, of)[i], apart = fabs((double)got[i] - wanted) / (1.0 + fabs(wanted));
        worst = apart <= worst ? worst : isnan(apart) ? INFINITY : apart;
    }
    check_note(err.status == MW_OK && worst <= 3e-6, __FILE__, __LINE__, "%s: %s is %g from the oracle %s", p->text,
               name, worst, err.message);
}

/* `got` holds dx. */
static void check_transpose(const problem *p, const built *b, oracle *o, mw__random *random)
{
    static float v[MOST];
    double by_dx = 0.0, by_dy = 0.0;
    for (int64_t i = 0; i < oracle_count(b->x); i++) {
        v[i] = mw__random_uniform(random) - 0.5f;
        by_dx += (double)v[i] * (double)got[i];
    }
    set_floats(o, b->x, v);
    if (!CHECK(oracle_run(o)))
        return;
    for (int64_t i = 0; i < oracle_count(b->y); i++)
        by_dy += (double)dy[i] * oracle_get(o, b->y)[i];
    check_note(fabs(by_dx - by_dy) <= 1e-5 * (1.0 + sqrt((double)oracle_count(b->y))), __FILE__, __LINE__,
               "%s: dx . v is %.9g, dy . resize(v) %.9g", p->text, by_dx, by_dy);
}

static void run_problem(const problem *p, const built *b, oracle *o, int threads)
{
    mw_error err = {0};
    mw_program *program = engine_compile(b->graph, MW_DEVICE_CPU, threads, &err);
    if (program != NULL) {
        mw_program_write(program, "x", MW_F32, x, (size_t)oracle_count(b->x), &err);
        mw_program_write(program, "dy", MW_F32, dy, (size_t)oracle_count(b->dy), &err);
        mw_program_run(program, &err);
    }
    if (check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", p->text, err.message)) {
        compare(p, program, "y", b->y, o);
        compare(p, program, "dx", b->dx, o);
    }
    mw_program_destroy(program);
}

static bool check_problem(const problem *p, mw__random *random)
{
    built b = {0};
    const bool admitted = build(p, &b);
    if (admitted) {
        oracle o;
        oracle_init(&o, b.graph);
        for (int64_t i = 0; i < oracle_count(b.x); i++)
            x[i] = mw__random_uniform(random) - 0.5f;
        for (int64_t i = 0; i < oracle_count(b.dy); i++)
            dy[i] = mw__random_uniform(random) - 0.5f;
        set_floats(&o, b.x, x);
        set_floats(&o, b.dy, dy);
        if (check_note(oracle_run(&o), __FILE__, __LINE__, "%s: the oracle does not know %s", p->text, o.missing)) {
            run_problem(p, &b, &o, 1);
            run_problem(p, &b, &o, 2);
            check_transpose(p, &b, &o, random);
        }
        oracle_deinit(&o);
    }
    mw_graph_destroy(b.graph);
    return admitted;
}

static problem draw_problem(mw__random *r)
{
    problem p = {.mode = (int)mw__random_below(r, MODES),
                 .n = 1 + (int64_t)mw__random_below(r, 2),
                 .c = 1 + (int64_t)mw__random_below(r, 3),
                 .h = 1 + (int64_t)mw__random_below(r, 9),
                 .w = 1 + (int64_t)mw__random_below(r, 13),
                 .height = 1 + (int64_t)mw__random_below(r, 17),
                 .width = 1 + (int64_t)mw__random_below(r, 23)};
    if (mw__random_below(r, 3) == 0)
        p.height = 2 * p.h, p.width = 2 * p.w;
    snprintf(p.text, sizeof p.text, "mode %d, %d x %d images of %d x %d to %d x %d", p.mode, (int)p.n, (int)p.c,
             (int)p.h, (int)p.w, (int)p.height, (int)p.width);
    return p;
}

static void test_images_of_any_extents(void)
{
    mw__random random = {.seed = 9};
    const int count = getenv("MW_NIGHTLY") != NULL ? 3000 : 60;
    int admitted = 0;
    for (int i = 0; i < count; i++) {
        const problem p = draw_problem(&random);
        admitted += check_problem(&p, &random) ? 1 : 0;
    }
    CHECK(admitted > count / 2);
}

static void test_narrower_vectors_resize_alike(void)
{
    static const char *const widths[] = {"256", "0"};
    for (int i = 0; i < 2; i++) {
        setting_begin("MW_ENGINE_WIDE", widths[i]);
        test_images_of_any_extents();
        setting_end("MW_ENGINE_WIDE");
    }
}

/* What is not finite stays where a weight is 0: neither twice the size nor the same has a part of its neighbors there.
 */
static void test_an_infinity_stays_where_it_is(void)
{
    static const int64_t extents[] = {3, 5};
    for (int i = 0; i < 2; i++) {
        const problem p = {.mode = MW_SAMPLING_STRICT_ALIGN_CORNERS,
                           .n = 1,
                           .c = 1,
                           .h = 3,
                           .w = 3,
                           .height = extents[i],
                           .width = extents[i],
                           .text = "an infinity"};
        built b = {0};
        mw_error err = {0};
        REQUIRE(build(&p, &b));
        mw_program *program = engine_compile(b.graph, MW_DEVICE_CPU, 1, &err);
        memset(x, 0, sizeof x);
        x[4] = INFINITY;
        mw_program_write(program, "x", MW_F32, x, 9, &err);
        mw_program_write(program, "dy", MW_F32, dy, (size_t)(extents[i] * extents[i]), &err);
        mw_program_run(program, &err);
        mw_program_read(program, "y", MW_F32, got, (size_t)(extents[i] * extents[i]), &err);
        CHECK_OK(err);
        CHECK(got[0] == 0.0f && isinf(got[extents[i] * extents[i] / 2]));
        CHECK(got[extents[i] - 1] == 0.0f && !isnan(got[1]));
        mw_program_destroy(program);
        mw_graph_destroy(b.graph);
    }
}

int main(void)
{
    RUN(test_images_of_any_extents);
    RUN(test_narrower_vectors_resize_alike);
    RUN(test_an_infinity_stays_where_it_is);
    return check_finish();
}
