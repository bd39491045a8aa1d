/* A recurrent net for another batch: its states start at zeros, of which each example has its own. */
#include "support/check.h"
#include "support/on_engine.h"

#include <millwright/millwright.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 4, INPUTS = 3, HIDDEN = 3, MOST = 5 };

typedef struct shape_case {
    const char *name;
    bool gru, bidirectional, own_states, tiled_states;
    int layers;
} shape_case;

/* Of 3 elements, as many as there are examples, so that a bias could be taken for one. */
static mw_graph *make_net(const shape_case *c, int64_t batch)
{
    static const float states[2 * 2 * MOST * HIDDEN] = {0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F, 0.7F, 0.8F, 0.9F};
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(batch, STEPS, INPUTS));
    mw_recurrent_layer_options o = mw_recurrent_layer_defaults();
    o.batch_first = true;
    o.layers = c->layers;
    o.bidirectional = c->bidirectional;
    if (c->own_states)
        o.h = mw_constant(g, MW_F32, MW_SHAPE(c->layers * (c->bidirectional ? 2 : 1), batch, HIDDEN), states);
    if (c->tiled_states)
        o.h = mw_tile(mw_constant(g, MW_F32, MW_SHAPE(c->layers, 1, HIDDEN), states), MW_SHAPE(1, batch, 1));
    mw_recurrent r = c->gru ? mw_gru_layer(x, HIDDEN, "l", &o) : mw_lstm_layer(x, HIDDEN, "l", &o);
    mw_output(mw_reduce_sum(r.y, MW_AXES(1, 2), false), "y");
    return g;
}

static void run_net(const mw_graph *g, int64_t batch, float *out, mw_error *err)
{
    float x[MOST * STEPS * INPUTS];
    for (int i = 0; i < MOST * STEPS * INPUTS; i++)
        x[i] = (float)(i * 7 % 11) / 5.0F - 1.0F;
    mw_program *program = engine_compile(g, MW_DEVICE_CPU, 1, err);
    mw_program_write(program, "x", MW_F32, x, (size_t)batch * STEPS * INPUTS, err);
    mw_program_run(program, err);
    mw_program_read(program, "y", MW_F32, out, (size_t)batch, err);
    mw_program_destroy(program);
}

static void check_case(const shape_case *c, int64_t to)
{
    float got[MOST] = {0}, wanted[MOST] = {0};
    mw_error err = {0};
    mw_graph *three = make_net(c, 3), *direct = make_net(c, to);
    mw_graph *evaluated = mw_graph_evaluation(three, &err), *made = mw_graph_rebatch(evaluated, to, &err);
    if (check_note(made != NULL, __FILE__, __LINE__, "%s to %d: %s", c->name, (int)to, err.message)) {
        run_net(made, to, got, &err);
        run_net(direct, to, wanted, &err);
        check_note(err.status == MW_OK && memcmp(got, wanted, sizeof got) == 0, __FILE__, __LINE__,
                   "%s to %d: %.9g, not %.9g; %s", c->name, (int)to, (double)got[to - 1], (double)wanted[to - 1],
                   err.message);
    }
    mw_graph_destroy(made);
    mw_graph_destroy(evaluated);
    mw_graph_destroy(direct);
    mw_graph_destroy(three);
}

static void test_recurrent_layers_take_another_batch(void)
{
    static const shape_case cases[] = {
        {.name = "lstm", .layers = 1},
        {.name = "gru", .gru = true, .layers = 1},
        {.name = "lstm, both ways, two layers", .bidirectional = true, .layers = 2},
        {.name = "gru, both ways, two layers", .gru = true, .bidirectional = true, .layers = 2},
        {.name = "gru, three layers", .gru = true, .layers = 3},
        {.name = "gru, one state for all", .gru = true, .tiled_states = true, .layers = 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_case(&cases[i], 1);
        check_case(&cases[i], 2);
        check_case(&cases[i], MOST);
    }
}

/* The shapes of a tuning are those of another batch: from 3 examples to 5, which constants of 3 rows are in the way of.
 */
static void test_a_tuning_of_recurrent_layers_takes_another_batch(void)
{
    static const shape_case cases[] = {{.name = "lstm", .layers = 1}, {.name = "gru", .gru = true, .layers = 2}};
    static const char *const all[] = {"*"};
    const mw_input_shape wide = {.input = "x", .shape = MW_SHAPE(MOST, STEPS, INPUTS)};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        float got[MOST] = {0}, wanted[MOST] = {0};
        mw_error err = {0};
        mw_tune_options options = mw_tune_defaults(all, 1);
        options.shapes = &wide;
        options.shape_count = 1;
        options.skip_fixed = true;
        mw_graph *three = make_net(&cases[i], 3), *direct = make_net(&cases[i], MOST);
        mw_graph *made = mw_graph_trainable(three, &options, &err);
        run_net(made, MOST, got, &err);
        run_net(direct, MOST, wanted, &err);
        CHECK_OK(err);
        CHECK(memcmp(got, wanted, sizeof got) == 0 && wanted[MOST - 1] != 0.0F);
        mw_graph_destroy(made);
        mw_graph_destroy(direct);
        mw_graph_destroy(three);
    }
}

static void test_states_that_differ_from_example_to_example_are_refused(void)
{
    static const shape_case c = {.name = "lstm", .own_states = true, .layers = 1};
    mw_error err = {0};
    mw_graph *three = make_net(&c, 3), *made = mw_graph_rebatch(three, 5, &err);
    CHECK(made == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "has values of its own for each of the 3 examples");
    mw_graph_destroy(made);
    mw_graph_destroy(three);
}

/* x + f(zeros, weights), where the weights have a row for each example: which one is of which nobody knows. */
static void check_rows_of_weights(int kind)
{
    static const float rows[4 * INPUTS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    static const float zeros[4 * INPUTS] = {0};
    mw_error err = {0};
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(4, INPUTS));
    mw_tensor *z = mw_constant(g, MW_F32, MW_SHAPE(4, INPUTS), zeros);
    mw_tensor *w = kind % 2 == 0 ? mw_constant(g, MW_F32, MW_SHAPE(4, INPUTS), rows)
                                 : mw_parameter(g, "w", MW_F32, MW_SHAPE(4, INPUTS), mw_init_normal(0.0f, 1.0f));
    mw_tensor *v = kind < 2   ? mw_add(z, w)
                   : kind < 4 ? mw_maximum(w, z)
                   : kind < 6 ? mw_select(mw_greater(w, z), w, z)
                              : mw_reduce_sum(mw_stack((mw_tensor *[]){z, w}, 2, 0), MW_AXES(0), false);
    mw_output(mw_add(x, v), "y");
    mw_graph *made = mw_graph_rebatch(g, 8, &err);
    check_note(made == NULL && err.status == MW_ERROR_UNSUPPORTED, __FILE__, __LINE__, "kind %d was taken: %s", kind,
               err.message);
    mw_graph_destroy(made);
    mw_graph_destroy(g);
}

static void test_weights_with_a_row_for_each_example_are_refused(void)
{
    for (int kind = 0; kind < 8; kind++)
        check_rows_of_weights(kind);
}

/* ---- the work ---- */

/* The bytes that were asked for. */
static void *counted_resize(void *user, void *pointer, size_t size)
{
    *(size_t *)user += size;
    if (size > 0)
        return realloc(pointer, size);
    free(pointer);
    return NULL;
}

static size_t bytes_of_layers(int count)
{
    size_t bytes = 0;
    const mw_allocator counted = {.resize = counted_resize, .user = &bytes};
    mw_graph_options how = mw_graph_defaults();
    how.allocator = &counted;
    mw_error err = {0};
    mw_graph *g = mw_graph_create(&how, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(3, 1, INPUTS));
    mw_recurrent_layer_options o = mw_recurrent_layer_defaults();
    o.batch_first = true;
    for (int i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "l%d", i);
        x = mw_gru_layer(x, HIDDEN, name, &o).y;
    }
    mw_output(x, "y");
    bytes = 0;
    mw_graph *made = mw_graph_rebatch(g, 5, &err);
    CHECK_OK(err);
    const size_t used = bytes;
    mw_graph_destroy(made);
    mw_graph_destroy(g);
    return used;
}

/* Not the square: each layer has states that are looked for. */
static void test_layers_four_times_as_many_take_four_times_the_work(void)
{
    const size_t few = bytes_of_layers(32), many = bytes_of_layers(128);
    check_note(many < 6 * few, __FILE__, __LINE__, "%zu bytes, then %zu", few, many);
}

/* The same where rows are channels, whose slopes differ. */
static void test_slopes_that_differ_from_example_to_example_are_refused(void)
{
    static const float minus[4 * INPUTS] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}, slopes[4] = {1, 2, 3, 4};
    mw_error err = {0};
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_expand_dims(mw_input(g, "x", MW_F32, MW_SHAPE(4, INPUTS)), MW_AXES(0, 3));
    mw_tensor *m = mw_constant(g, MW_F32, MW_SHAPE(1, 4, INPUTS, 1), minus);
    mw_output(mw_add(x, mw_prelu(m, mw_constant(g, MW_F32, MW_SHAPE(4), slopes))), "y");
    mw_graph *made = mw_graph_rebatch(g, 8, &err);
    CHECK(made == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "has values of its own for each of the 4 examples");
    mw_graph_destroy(made);
    mw_graph_destroy(g);
}

/* ---- adapters ---- */

/* An adapter whose rank is the batch: B is zeros at first, with as many alike columns as there are examples. */
static mw_graph *make_adapted(int64_t batch)
{
    static const float zeros[MOST * HIDDEN];
    static const float a[3 * HIDDEN] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, w[HIDDEN * HIDDEN] = {0.1F, -0.2F, 0.3F, 0.5F};
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(batch, STEPS, INPUTS));
    mw_tensor *b = mw_constant(g, MW_F32, MW_SHAPE(HIDDEN, 3), zeros);
    mw_tensor *delta = mw_matmul(b, mw_constant(g, MW_F32, MW_SHAPE(3, HIDDEN), a), MW_TRANSPOSE_NONE);
    mw_tensor *weight = mw_add(mw_constant(g, MW_F32, MW_SHAPE(HIDDEN, HIDDEN), w), delta);
    const mw_recurrent_weights weights = {.weight_ih = weight, .weight_hh = weight};
    mw_tensor *y = mw_rnn(mw_transpose(x, MW_AXES(1, 0, 2)), NULL, &weights, NULL).y;
    mw_tensor *beside = mw_matmul(mw_constant(g, MW_F32, MW_SHAPE(batch, 3), zeros), b, MW_TRANSPOSE_Y);
    mw_output(mw_reduce_sum(mw_add(y, beside), MW_AXES(0, 2), false), "y");
    return g;
}

static void test_recurrent_layers_with_adapters_take_another_batch(void)
{
    for (int64_t to = 1; to <= MOST; to += 2) {
        float got[MOST] = {0}, wanted[MOST] = {0};
        mw_error err = {0};
        mw_graph *three = make_adapted(3), *direct = make_adapted(to), *made = mw_graph_rebatch(three, to, &err);
        run_net(made, to, got, &err);
        run_net(direct, to, wanted, &err);
        CHECK_OK(err);
        CHECK(memcmp(got, wanted, sizeof got) == 0 && wanted[to - 1] != 0.0F);
        mw_graph_destroy(made);
        mw_graph_destroy(direct);
        mw_graph_destroy(three);
    }
}

int main(void)
{
    RUN(test_slopes_that_differ_from_example_to_example_are_refused);
    RUN(test_recurrent_layers_with_adapters_take_another_batch);
    RUN(test_layers_four_times_as_many_take_four_times_the_work);
    RUN(test_weights_with_a_row_for_each_example_are_refused);
    RUN(test_recurrent_layers_take_another_batch);
    RUN(test_a_tuning_of_recurrent_layers_takes_another_batch);
    RUN(test_states_that_differ_from_example_to_example_are_refused);
    return check_finish();
}
