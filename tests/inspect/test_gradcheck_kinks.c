/* The gradient check tells kinks and jumps from wrong gradients: none of many random nets full of kinks is called
 * wrong, and a fault that is planted in one is found. MW_NIGHTLY checks 200 nets ten times each. */
#include "kinked_nets.h"
#include "support/check.h"

#include <millwright/inspect.h>
#include <stdlib.h>

static bool is_nightly(void)
{
    const char *nightly = getenv("MW_NIGHTLY");
    return nightly != NULL && nightly[0] == '1';
}

static mw_gradcheck_options options_of(const kinked_net *net, uint64_t draw)
{
    mw_gradcheck_options options = mw_gradcheck_defaults(net->y, net->leaves, net->count);
    options.batch = &net->batch;
    options.seed = draw;
    options.compile.seed = draw;
    options.compile.device = MW_DEVICE_CPU;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.elements = is_nightly() ? options.elements : 12;
    return options;
}

/* ---- random nets ---- */

static void check_net(int form, uint64_t number, uint64_t draw, size_t *checked, size_t *skipped)
{
    kinked_net net;
    mw_error err = {0};
    mw_gradcheck_report report;
    kinked_net_init(&net, form, number, -1, 1.0);
    const mw_gradcheck_options options = options_of(&net, draw);
    mw_gradcheck_run(&options, &report, &err);
    check_note(err.status == MW_OK, __FILE__, __LINE__, "%s %d, drawn by %d: %s", net.form, (int)number, (int)draw,
               err.message);
    *checked += report.checked;
    *skipped += report.skipped;
    kinked_net_deinit(&net);
}

static void test_no_net_full_of_kinks_is_called_wrong(void)
{
    const uint64_t nets = is_nightly() ? 40 : 8, draws = is_nightly() ? 10 : 1;
    size_t checked = 0, skipped = 0;
    for (uint64_t i = 0; i < nets * KINKED_FORMS; i++)
        for (uint64_t draw = 0; draw < draws; draw++)
            check_net((int)(i % KINKED_FORMS), i / KINKED_FORMS, 10 * i + draw, &checked, &skipped);
    check_note(skipped <= checked / 20, __FILE__, __LINE__, "%zu of %zu were skipped", skipped, checked + skipped);
}

/* The check of a net whose gradients before a place are `factor` times what they should be. */
static mw_status check_planted(int form, uint64_t number, int place, double factor, uint64_t draw)
{
    kinked_net net;
    mw_error err = {0};
    kinked_net_init(&net, form, number, place, factor);
    const mw_gradcheck_options options = options_of(&net, draw);
    mw_gradcheck_run(&options, NULL, &err);
    kinked_net_deinit(&net);
    return err.status;
}

/* Some nets are dead in front of a place: there no gradient is, and a thousand times it is none either. */
static void test_a_planted_fault_is_found_in_each(void)
{
    const int nets = (is_nightly() ? 40 : 6) * KINKED_FORMS;
    int dead = 0;
    for (int i = 0; i < nets; i++) {
        kinked_net net;
        const int form = i % KINKED_FORMS;
        const uint64_t number = (uint64_t)(i / KINKED_FORMS), draw = (uint64_t)i;
        kinked_net_init(&net, form, number, -1, 1.0);
        const int place = (i / KINKED_FORMS + 1) % net.places;
        mw_status status = check_planted(form, number, place, 2.0, draw);
        if (status == MW_OK && check_planted(form, number, place, 1000.0, draw) == MW_OK)
            dead++;
        else
            check_note(status == MW_ERROR_NUMERIC, __FILE__, __LINE__, "%s %d, place %d: %d", net.form, i, place,
                       (int)status);
        kinked_net_deinit(&net);
    }
    CHECK(dead <= nets / 50);
}

/* ---- single kinks and jumps ---- */

typedef struct single {
    const char *name;
    mw_tensor *(*build)(mw_tensor *x);
    size_t beside, at; /* elements of three that are compared there; the others are skipped */
} single;

static const float beside[3] = {0.00005F, 1.25F, -0.0001F};
static const float exactly[3] = {0.0F, 1.25F, 0.0F};

static mw_tensor *magnitude(mw_tensor *x) { return mw_abs(x); }
static mw_tensor *rectified(mw_tensor *x) { return mw_relu(x); }
static mw_tensor *larger(mw_tensor *x) { return mw_maximum(mw_square(x), mw_mul_scalar(x, 0.5)); }
static mw_tensor *floored(mw_tensor *x) { return mw_add(mw_floor(x), x); }
static mw_tensor *modulus(mw_tensor *x) { return mw_mod(x, mw_scalar(mw_tensor_graph(x), MW_F32, 0.5)); }

static mw_tensor *jumping(mw_tensor *x)
{
    mw_tensor *above = mw_greater(x, mw_scalar(mw_tensor_graph(x), MW_F32, 0.0));
    return mw_select(above, mw_add_scalar(x, 1.0), mw_mul_scalar(x, 3.0));
}

static void check_single(const single *s, const float *at, size_t checked)
{
    mw_error err = {0};
    mw_gradcheck_report report;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(3));
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = at, .count = 3, .scale = 1.0F};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = 3};
    mw_gradcheck_options options = mw_gradcheck_defaults(s->build(x), &x, 1);
    options.batch = &batch;
    options.directions = 0;
    options.compile.provider = MW_PROVIDER_ENGINE;
    mw_gradcheck_run(&options, &report, &err);
    check_note(err.status == MW_OK && report.checked == checked && report.skipped == 3 - checked, __FILE__, __LINE__,
               "%s at %g: %zu checked, %zu skipped, %s", s->name, (double)at[0], report.checked, report.skipped,
               err.message);
    mw_graph_destroy(graph);
}

static void test_an_element_beside_a_kink_takes_shorter_steps_and_one_at_it_is_skipped(void)
{
    static const single rows[] = {{"abs", magnitude, 3, 3}, /* 0 is the mean of both sides */
                                  {"relu", rectified, 3, 1}, {"maximum", larger, 3, 1}, {"floor", floored, 3, 1},
                                  {"mod", modulus, 3, 1},    {"select", jumping, 3, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_single(&rows[i], beside, rows[i].beside);
        check_single(&rows[i], exactly, rows[i].at);
    }
}

int main(void)
{
    RUN(test_no_net_full_of_kinks_is_called_wrong);
    RUN(test_a_planted_fault_is_found_in_each);
    RUN(test_an_element_beside_a_kink_takes_shorter_steps_and_one_at_it_is_skipped);
    return check_finish();
}
