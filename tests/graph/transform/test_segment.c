/* Cutting a function: what is shared, what is not, where no cut may be, and what an order of calls must keep. */
#include "graph/ir/ir.h"
#include "graph/transform/segment/segment.h"
#include "support/check.h"
#include "support/failing.h"

#include <millwright/millwright.h>
#include <string.h>

enum { SIDE = 64, LAYERS = 5 };

/* What the layers have; all alike unless something is asked for. */
typedef struct layers {
    bool own_weights; /* each a constant of its own, different in the last element alone */
    bool own_offsets; /* a matrix that is added, different in every element */
    bool noise;       /* each draws from a seed of its own */
    bool chain;       /* nothing but one operation on one value */
    bool half;
    const mw_allocator *allocator;
} layers;

static mw_tensor *matrix(mw_graph *graph, const layers *l, int layer, bool own, float base)
{
    float data[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++)
        data[i] = base + (float)(i % 13) * 0.01f;
    if (own)
        data[SIDE * SIDE - 1] = (float)layer;
    for (int i = 0; own && l->own_offsets && i < SIDE * SIDE; i++)
        data[i] += (float)layer;
    mw_tensor *x = mw_constant(graph, MW_F32, MW_SHAPE(SIDE, SIDE), data);
    return l->half ? mw_cast(x, MW_F16) : x;
}

static mw_tensor *layer_of(mw_graph *graph, const layers *l, mw_tensor *x, int layer)
{
    for (int i = 0; i < 12 && l->chain; i++)
        x = i % 2 == 0 ? mw_tanh(x) : mw_sigmoid(x);
    if (l->chain)
        return x;
    mw_tensor *h = mw_matmul(x, matrix(graph, l, layer, l->own_weights, 0.5f), 0);
    h = mw_add(h, matrix(graph, l, layer, l->own_offsets, 0.25f));
    if (l->noise)
        h = mw_mul(h, mw_random_normal(graph, MW_F32, MW_SHAPE(SIDE, SIDE), 0.0f, 1.0f, layer + 1));
    for (int i = 0; i < 6; i++)
        h = mw_mul(mw_tanh(h), mw_sigmoid(h));
    return mw_add(x, h);
}

static mw_graph *build(const layers *l)
{
    mw_graph_options options = mw_graph_defaults();
    options.allocator = l->allocator;
    mw_graph *graph = mw_graph_create(&options, NULL);
    if (graph == NULL)
        return NULL;
    mw_tensor *x = mw_input(graph, "x", l->half ? MW_F16 : MW_F32, MW_SHAPE(SIDE, SIDE));
    for (int layer = 0; layer < LAYERS; layer++)
        x = layer_of(graph, l, x, layer);
    mw_output(x, "y");
    return graph;
}

static mw_status cut(const mw_graph *graph, const layers *l, size_t calls, mw__segmentation *out, mw_error *err)
{
    *out = (mw__segmentation){0};
    MW_TRY(mw_graph_check(graph, err));
    return mw__segment_make(mw__graph_main(graph), &(mw__segment_options){.calls_max = calls, .half_ports = l->half},
                            out, err);
}

/* Every place is written before it is read, by one call at a time, and holds what is put there. */
static void check_places(const mw_graph *graph, const mw__segmentation *s)
{
    const mw__block *body = mw__graph_main(graph)->body;
    const size_t ports = body->input_count + body->output_count;
    bool written[4096] = {false};
    for (size_t i = 0; i < ports + s->between_count; i++)
        written[i] = i < body->input_count || (i >= ports && s->contents[i - ports] != NULL);
    for (size_t c = 0; c < s->call_count; c++) {
        const mw__segment *segment = &s->segments[s->calls[c].segment];
        const size_t *places = s->calls[c].places;
        for (size_t i = 0; i < segment->input_count; i++)
            CHECK(written[places[i]]);
        for (size_t i = segment->input_count; i < segment->input_count + segment->output_count; i++) {
            CHECK(places[i] >= body->input_count);
            written[places[i]] = true;
            for (size_t k = 0; k < i; k++)
                CHECK(places[k] != places[i]);
        }
    }
    for (size_t i = body->input_count; i < ports; i++)
        CHECK(written[i]);
}

static void check_graphs(const mw__segmentation *s)
{
    for (size_t i = 0; i < s->segment_count; i++) {
        const mw__block *body = mw__graph_main(s->segments[i].graph)->body;
        mw_error err = {0};
        CHECK_INT(mw_graph_verify(s->segments[i].graph, &err), MW_OK);
        CHECK_INT(body->input_count, s->segments[i].input_count);
        CHECK_INT(body->output_count, s->segments[i].output_count);
        for (size_t k = 0; k < body->input_count; k++)
            CHECK_STR(body->inputs[k]->name, s->segments[i].ports[k]);
    }
}

/* The number of functions; *out_calls receives that of calls. */
static size_t count_functions(const layers *l, size_t *out_calls, size_t *out_contents)
{
    mw_error err = {0};
    mw__segmentation s;
    mw_graph *graph = build(l);
    cut(graph, l, 100, &s, &err);
    CHECK_OK(err);
    if (s.call_count > 1) {
        check_places(graph, &s);
        check_graphs(&s);
    }
    const size_t functions = s.segment_count;
    *out_calls = s.call_count;
    *out_contents = 0;
    for (size_t i = 0; i < s.between_count; i++)
        *out_contents += s.contents[i] != NULL;
    mw__segmentation_deinit(&s);
    mw_graph_destroy(graph);
    return functions;
}

static void test_equal_layers_are_one_function(void)
{
    size_t calls, contents;
    CHECK_INT(count_functions(&(layers){.half = false}, &calls, &contents), 1);
    CHECK_INT(calls, LAYERS);
    CHECK_INT(contents, 0);
}

/* The hash of a constant is that of its first bytes. */
static void test_weights_that_differ_in_the_last_byte_are_not_shared(void)
{
    size_t calls, contents;
    CHECK(count_functions(&(layers){.own_weights = true}, &calls, &contents) >= LAYERS);
    CHECK_INT(contents, 0);
}

static void test_matrices_that_are_added_become_inputs(void)
{
    size_t calls, contents;
    CHECK_INT(count_functions(&(layers){.own_offsets = true}, &calls, &contents), 1);
    CHECK_INT(calls, LAYERS);
    CHECK_INT(contents, LAYERS);
}

static void test_draws_of_different_seeds_are_not_shared(void)
{
    size_t calls, contents;
    CHECK(count_functions(&(layers){.noise = true}, &calls, &contents) >= LAYERS);
}

/* A device may leave what is between them as it is; fp32 ports or not, nothing is handed on. */
static void test_no_cut_where_a_value_may_stay_unrounded(void)
{
    for (int half = 0; half < 2; half++) {
        size_t calls, contents;
        count_functions(&(layers){.chain = true, .half = half == 1}, &calls, &contents);
        CHECK_INT(calls, 1);
    }
}

/* ---- states ---- */

/* Output 0 is written over input 0, which is read before and after it. */
static void test_what_reads_a_state_stands_before_what_writes_it(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *state = mw_input(graph, "state", MW_F32, MW_SHAPE(SIDE)),
              *x = mw_input(graph, "x", MW_F32, MW_SHAPE(SIDE));
    mw_output(mw_add(state, mw_tanh(x)), "next");
    for (int i = 0; i < 10; i++)
        x = mw_add(mw_mul(x, x), i == 6 ? state : x);
    mw_output(x, "y");
    const size_t old[] = {0, SIZE_MAX};
    for (size_t calls = 2; calls < 20; calls++) {
        mw__segmentation s;
        mw__segment_make(mw__graph_main(graph), &(mw__segment_options){.calls_max = calls, .old = old}, &s, &err);
        CHECK_OK(err);
        bool written = false;
        for (size_t c = 0; c < s.call_count && s.call_count > 1; c++) {
            const mw__segment *segment = &s.segments[s.calls[c].segment];
            for (size_t i = 0; i < segment->input_count; i++)
                CHECK(!written || s.calls[c].places[i] != 0);
            for (size_t i = segment->input_count; i < segment->input_count + segment->output_count; i++)
                written = written || s.calls[c].places[i] == 2;
        }
        CHECK(written || s.call_count == 1);
        mw__segmentation_deinit(&s);
    }
    mw_graph_destroy(graph);
}

/* ---- refusals and failures ---- */

static void keep(void *user, mw_tensor **out_results, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out_results[i] = mw_tanh(user);
}

static void test_blocks_are_refused_by_name(void)
{
    mw_error err = {0};
    mw__segmentation s;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *pred = mw_input(graph, "pred", MW_BOOL, mw_shape_scalar()),
              *x = mw_input(graph, "x", MW_F32, MW_SHAPE(4));
    mw_tensor *y = NULL;
    mw_cond(pred, keep, keep, x, &y, 1);
    mw_output(mw_tanh(y), "y");
    CHECK_INT(cut(graph, &(layers){.half = false}, 4, &s, &err), MW_ERROR_UNSUPPORTED);
    CHECK(strstr(err.message, "cond") != NULL && strstr(err.message, "segments") != NULL);
    mw__segmentation_deinit(&s);
    mw_graph_destroy(graph);
}

static void test_cutting_survives_failures_of_memory(void)
{
    long n = 0;
    for (bool done = false; !done && n < 100000; n++) {
        failing_allocator failing = {.fail_at = -1};
        const mw_allocator allocator = failing_allocator_of(&failing);
        const layers l = {.own_offsets = true, .allocator = &allocator};
        mw_error err = {0};
        mw__segmentation s;
        mw_graph *graph = build(&l);
        failing.fail_at = failing.requests + n;
        const mw_status status = cut(graph, &l, 100, &s, &err);
        done = !failing.failed;
        check_note(done ? status == MW_OK : status == MW_ERROR_MEMORY, __FILE__, __LINE__, "request %ld: %d %s", n,
                   (int)status, err.message);
        mw__segmentation_deinit(&s);
        mw_graph_destroy(graph);
        CHECK_INT(failing.live, 0);
    }
    CHECK(n > 10 && n < 100000);
}

int main(void)
{
    RUN(test_equal_layers_are_one_function);
    RUN(test_weights_that_differ_in_the_last_byte_are_not_shared);
    RUN(test_matrices_that_are_added_become_inputs);
    RUN(test_draws_of_different_seeds_are_not_shared);
    RUN(test_no_cut_where_a_value_may_stay_unrounded);
    RUN(test_what_reads_a_state_stands_before_what_writes_it);
    RUN(test_blocks_are_refused_by_name);
    RUN(test_cutting_survives_failures_of_memory);
    return check_finish();
}
