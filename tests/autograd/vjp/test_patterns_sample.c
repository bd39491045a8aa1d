/* The gradients of images sampled at places in both forms of graph: the same numbers, and nothing in the form for chips
 * that a chip refuses. */
#include "support/cases/op_cases.h"
#include "support/check.h"

#include "mil/legalize/legality.h"
#include <math.h>
#include <millwright/millwright.h>
#include <string.h>

/* A case with the gradients of the sum of its squares. */
typedef struct fixture {
    op_instance instance;
    mw_tensor *x[OP_CASE_INPUTS], *dx[OP_CASE_INPUTS];
    size_t count;
    oracle o;
} fixture;

static bool make(fixture *f, const op_case *c, mw__lowering lowering)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    *f = (fixture){.count = 0};
    graph->lowering = lowering;
    bool good = op_instance_init_in(&f->instance, graph, c, MW_F32, 11, false);
    for (size_t i = 0; good && i < f->instance.count; i++)
        if (mw_tensor_dtype(f->instance.in[i]) == MW_F32)
            f->x[f->count++] = f->instance.in[i];
    if (good)
        mw_grad(mw_reduce_sum(mw_square(f->instance.y), MW_ALL_AXES, false), f->x, f->count, f->dx, &err);
    oracle_init(&f->o, graph);
    op_instance_feed(&f->instance, &f->o);
    good = good && err.status == MW_OK && oracle_run(&f->o);
    return check_note(good, __FILE__, __LINE__, "%s (%s): %s%s", c->name, c->detail, err.message, f->o.missing);
}

static void drop(fixture *f)
{
    oracle_deinit(&f->o);
    op_instance_deinit(&f->instance);
}

/* Both are evaluated in double; their constants are fp32. */
static void compare(const op_case *c, const fixture *a, const fixture *b)
{
    for (size_t i = 0; i < a->count; i++) {
        const double *left = oracle_get(&a->o, a->dx[i]), *right = oracle_get(&b->o, b->dx[i]);
        for (int64_t k = 0; k < oracle_count(a->dx[i]); k++)
            check_note(fabs(left[k] - right[k]) <= 1e-5 * (1.0 + fabs(left[k])), __FILE__, __LINE__,
                       "%s (%s): input %zu element %lld: %g and %g", c->name, c->detail, i, (long long)k, left[k],
                       right[k]);
    }
}

static void test_both_forms_give_the_same_gradients(void)
{
    for (size_t i = 0; i < op_cases_sample.count; i++) {
        const op_case *c = &op_cases_sample.rows[i];
        fixture native, chip;
        const bool good = make(&native, c, MW__LOWERING_NATIVE), both = make(&chip, c, MW__LOWERING_DECOMPOSED);
        if (good && both)
            compare(c, &native, &chip);
        drop(&native);
        drop(&chip);
    }
}

/* All but the operation itself. */
static void test_the_form_for_chips_is_one_that_they_run(void)
{
    const mw__legality legality = {.device = mw__device_find(MW_DEVICE_ANE)};
    for (size_t i = 0; i < op_cases_sample.count; i++) {
        const op_case *c = &op_cases_sample.rows[i];
        fixture f;
        if (strcmp(c->name, "crop_resize") != 0 && make(&f, c, MW__LOWERING_DECOMPOSED)) {
            const mw__block *body = mw__graph_main(f.instance.graph)->body;
            mw_error err = {0};
            for (size_t k = 0; k < body->op_count && err.status == MW_OK; k++) {
                const char *kind = body->ops[k]->kind;
                check_note(strstr(kind, "gather") == NULL && strstr(kind, "scatter") == NULL &&
                               (mw__legalizer_check_op(&legality, body->ops[k], &err) == MW_OK ||
                                strstr(err.message, "fp16 ports") != NULL), /* coordinates that are fed as int32 */
                           __FILE__, __LINE__, "%s (%s): %s %s", c->name, c->detail, kind, err.message);
            }
            drop(&f);
        }
    }
}

/* Before ios17 an index -1 of a gather is the last; of a crop it is no image. */
static void test_a_crop_of_no_image_gives_no_image_a_gradient(void)
{
    enum { IMAGES = 2, PIXELS = 9 };
    const double boxes[4][5] = {{-1, 0, 0, 2, 2}, {NAN, 0, 0, 2, 2}, {1e30, 0, 0, 2, 2}, {0, 0, 0, 0, 0}};
    double x[IMAGES * PIXELS];
    mw_graph_options options = mw_graph_defaults();
    options.opset = MW_IOS16;
    mw_graph *graph = mw_graph_create(&options, NULL);
    mw_error err = {0};
    mw_tensor *image = mw_input(graph, "x", MW_F32, MW_SHAPE(IMAGES, 1, 3, 3)), *y = NULL, *dx = NULL;
    mw_tensor *roi = mw_input(graph, "roi", MW_F32, MW_SHAPE(4, 1, 5, 1, 1));
    const mw_argument arguments[] = {{"roi", &roi, 1}, {"x", &image, 1}};
    mw_op(graph, "crop_resize", arguments, 2, &y, 1, NULL);
    mw_grad(mw_reduce_sum(y, MW_ALL_AXES, false), &image, 1, &dx, &err);
    CHECK_OK(err);
    for (int i = 0; i < IMAGES * PIXELS; i++)
        x[i] = i;
    oracle o;
    oracle_init(&o, graph);
    oracle_set(&o, image, x);
    oracle_set(&o, roi, boxes[0]);
    if (CHECK(oracle_run(&o)))
        for (int i = 0; i < IMAGES * PIXELS; i++)
            CHECK(oracle_get(&o, dx)[i] == (i == 0 ? 1.0 : 0.0));
    oracle_deinit(&o);
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_both_forms_give_the_same_gradients);
    RUN(test_the_form_for_chips_is_one_that_they_run);
    RUN(test_a_crop_of_no_image_gives_no_image_a_gradient);
    return check_finish();
}
