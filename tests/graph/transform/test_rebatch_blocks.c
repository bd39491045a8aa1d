/* Programs with loops, branches and lists for another batch: each example is what it is in the source, or something is
 * refused by name. */
#include "support/check.h"
#include "support/failing.h"
#include "support/on_engine.h"

#include <math.h>
#include <millwright/millwright.h>
#include <string.h>

enum { STEPS = 3, WIDTH = 4, MOST = 7 };

/* What the functions of a loop or branch see. */
typedef struct net {
    mw_graph *graph;
    int64_t batch;
    mw_tensor *x, *x3, *weight, *start;
} net;

typedef mw_tensor *make(net *n);

static mw_tensor *number(const net *n, double value) { return mw_scalar(n->graph, MW_I32, value); }

static mw_tensor *filled(const net *n, float value)
{
    float data[MOST * WIDTH];
    for (int i = 0; i < MOST * WIDTH; i++)
        data[i] = value;
    return mw_constant(n->graph, MW_F32, MW_SHAPE(n->batch, WIDTH), data);
}

static mw_tensor *some_weight(const net *n)
{
    float data[WIDTH * WIDTH];
    for (int i = 0; i < WIDTH * WIDTH; i++)
        data[i] = (float)(i * 5 % 7) / 9.0F - 0.3F;
    return mw_name(mw_constant(n->graph, MW_F32, MW_SHAPE(WIDTH, WIDTH), data), "weight");
}

static mw_graph *make_net_with(make *of, int64_t batch, const mw_graph_options *options)
{
    net n = {.graph = mw_graph_create(options, NULL), .batch = batch};
    n.x3 = mw_input(n.graph, "x", MW_F32, MW_SHAPE(batch, STEPS, WIDTH));
    n.x = mw_reduce_sum(n.x3, MW_AXES(1), false);
    n.weight = some_weight(&n);
    mw_output(of(&n), "y");
    return n.graph;
}

static mw_graph *make_net(make *of, int64_t batch) { return make_net_with(of, batch, NULL); }

/* ---- loops ---- */

static mw_tensor *three_times(void *user, mw_tensor *const *vars, size_t count)
{
    (void)count;
    return mw_less(vars[0], number(user, 3));
}

static void next(void *user, mw_tensor *const *vars, mw_tensor **out) { out[0] = mw_add(vars[0], number(user, 1)); }

static mw_tensor *loop(net *n, mw_loop_condition *condition, mw_loop_body *body, mw_tensor *start)
{
    mw_tensor *vars[2] = {number(n, 0), start}, *out[2];
    return mw_while_loop(vars, 2, condition, body, n, out) == MW_OK ? out[1] : NULL;
}

static void body_of_net(void *user, mw_tensor *const *vars, size_t count, mw_tensor **out)
{
    const net *n = user;
    (void)count;
    next(user, vars, out);
    out[1] = mw_tanh(mw_add(mw_matmul(vars[1], n->weight, MW_TRANSPOSE_NONE), n->x));
}

static mw_tensor *carries(net *n) { return loop(n, three_times, body_of_net, n->x); }
static mw_tensor *starts_at_zeros(net *n) { return loop(n, three_times, body_of_net, filled(n, 0.0F)); }
static mw_tensor *starts_at_computed(net *n)
{
    return loop(n, three_times, body_of_net, mw_matmul(filled(n, 0.5F), n->weight, MW_TRANSPOSE_NONE));
}

/* What a loop starts with is in its body what it is elsewhere. */
static void body_with_sum(void *user, mw_tensor *const *vars, size_t count, mw_tensor **out)
{
    const net *n = user;
    (void)count;
    next(user, vars, out);
    out[1] = mw_add(vars[1], mw_mul(n->x, mw_reduce_sum(n->start, MW_ALL_AXES, false)));
}

static mw_tensor *start_is_read_inside(net *n)
{
    n->start = filled(n, 0.25F);
    return loop(n, three_times, body_with_sum, n->start);
}

static void body_of_shapes(void *user, mw_tensor *const *vars, size_t count, mw_tensor **out)
{
    const net *n = user;
    const int64_t begin[] = {0, 1, 0}, size[] = {n->batch, 1, 2};
    (void)count;
    next(user, vars, out);
    mw_tensor *cut = mw_slice_by_size(mw_reshape(vars[1], MW_SHAPE(n->batch, 2, 2)), begin, size);
    mw_tensor *zeros = mw_constant(n->graph, MW_F32, MW_SHAPE(n->batch, 2), (float[MOST * 2]){0});
    out[1] = mw_add(vars[1], mw_concat((mw_tensor *[]){mw_reshape(cut, MW_SHAPE(n->batch, 2)), zeros}, 2, 1));
}

static mw_tensor *shapes_inside(net *n) { return loop(n, three_times, body_of_shapes, n->x); }

static void body_of_layer(void *user, mw_tensor *const *vars, size_t count, mw_tensor **out)
{
    const net *n = user;
    mw_recurrent_layer_options o = mw_recurrent_layer_defaults();
    o.batch_first = true;
    (void)count;
    next(user, vars, out);
    out[1] = mw_reduce_sum(mw_lstm_layer(mw_mul(n->x3, mw_expand_dims(vars[1], MW_AXES(1))), WIDTH, "l", &o).y,
                           MW_AXES(1), false);
}

static mw_tensor *layer_inside(net *n) { return loop(n, three_times, body_of_layer, n->x); }

static void body_of_loop(void *user, mw_tensor *const *vars, size_t count, mw_tensor **out)
{
    (void)count;
    next(user, vars, out);
    out[1] = mw_mul_scalar(loop(user, three_times, body_of_net, vars[1]), 0.5);
}

static mw_tensor *nested(net *n) { return loop(n, three_times, body_of_loop, filled(n, 0.0F)); }

/* As many trips as there are steps. */
static mw_tensor *each_step(void *user, mw_tensor *const *vars, size_t count)
{
    const net *n = user;
    (void)count;
    const mw_slice one[] = {{.begin = 1, .squeeze = true}};
    return mw_less(vars[0], mw_slice_by_index(mw_shape_of(n->x3), one));
}

static mw_tensor *counts_steps(net *n) { return loop(n, each_step, body_of_net, n->x); }

/* ---- branches ---- */

static void yes(void *user, mw_tensor **out, size_t count)
{
    const net *n = user;
    (void)count;
    out[0] = mw_add(n->x, filled(n, 1.0F));
}

static void no(void *user, mw_tensor **out, size_t count)
{
    const net *n = user;
    (void)count;
    out[0] = mw_mul_scalar(n->x, 3.0);
}

static mw_tensor *branches(net *n)
{
    mw_tensor *out[1] = {NULL};
    mw_tensor *pred = mw_greater(mw_reduce_sum(n->weight, MW_ALL_AXES, false), mw_scalar(n->graph, MW_F32, 0.0));
    mw_cond(pred, yes, no, n, out, 1);
    return out[0];
}

static void gives_constant(void *user, mw_tensor **out, size_t count)
{
    (void)count;
    out[0] = filled(user, 0.25F);
}

static void gives_filled(void *user, mw_tensor **out, size_t count)
{
    const net *n = user;
    (void)count;
    out[0] = mw_tanh(mw_fill(n->graph, MW_F32, MW_SHAPE(n->batch, WIDTH), 0.5));
}

/* A branch, or a trip, that hands out the same for all examples where the other one has rows. */
static mw_tensor *branch_of(net *n, mw_branch *other)
{
    mw_tensor *out[1] = {NULL};
    mw_tensor *pred = mw_less(mw_reduce_sum(n->weight, MW_ALL_AXES, false), mw_scalar(n->graph, MW_F32, -1e6));
    mw_cond(pred, yes, other, n, out, 1);
    return out[0];
}

static mw_tensor *branch_of_constants(net *n) { return branch_of(n, gives_constant); }
static mw_tensor *branch_of_filled(net *n) { return branch_of(n, gives_filled); }

static void body_that_resets(void *user, mw_tensor *const *vars, size_t count, mw_tensor **out)
{
    const net *n = user;
    (void)count;
    next(user, vars, out);
    out[1] = mw_add(vars[2], n->x);
    out[2] = filled(n, 0.5F);
}

static mw_tensor *resets(net *n)
{
    mw_tensor *vars[3] = {number(n, 0), n->x, filled(n, 0.0F)}, *out[3] = {NULL};
    mw_while_loop(vars, 3, three_times, body_that_resets, n, out);
    return out[1];
}

/* Word after word, each sliced at a place that is computed. */
static void body_of_words(void *user, mw_tensor *const *vars, size_t count, mw_tensor **out)
{
    const net *n = user;
    mw_tensor *zero = mw_constant(n->graph, MW_I32, MW_SHAPE(1), (const int32_t[]){0});
    mw_tensor *at[3] = {zero, mw_reshape(vars[0], MW_SHAPE(1)), zero};
    const int64_t size[3] = {n->batch, 1, WIDTH};
    (void)count;
    next(user, vars, out);
    mw_tensor *word = mw_squeeze(mw_slice_by_size_at(n->x3, mw_concat(at, 3, 0), size), MW_AXES(1));
    out[1] = mw_tanh(mw_add(vars[1], word));
}

static mw_tensor *words(net *n) { return loop(n, three_times, body_of_words, n->x); }

/* ---- lists ---- */

static void body_of_list(void *user, mw_tensor *const *vars, size_t count, mw_tensor **out)
{
    const net *n = user;
    (void)count;
    next(user, vars, out);
    mw_tensor *old = mw_list_read(vars[1], mw_sub(number(n, 2), vars[0]));
    out[1] = mw_list_write(vars[1], vars[0], mw_add(mw_mul_scalar(old, 2.0), mw_mul(n->x, mw_cast(out[0], MW_F32))));
}

static mw_tensor *lists(net *n)
{
    static const int32_t places[3] = {0, 1, 2};
    mw_tensor *list = mw_make_list(n->graph, MW_F32, MW_SHAPE(n->batch, WIDTH), 3, false);
    mw_tensor *all =
        mw_list_gather(loop(n, three_times, body_of_list, list), mw_constant(n->graph, MW_I32, MW_SHAPE(3), places));
    return mw_sub(mw_reduce_sum(all, MW_AXES(0), false), mw_list_read(list, number(n, 1)));
}

static mw_tensor *zeros_in_list(net *n)
{
    mw_tensor *list = mw_make_list(n->graph, MW_F32, MW_SHAPE(n->batch, WIDTH), 2, false);
    list = mw_list_write(mw_list_write(list, number(n, 0), filled(n, 0.5F)), number(n, 1), n->x);
    return mw_add(mw_list_read(list, number(n, 0)), mw_list_read(list, number(n, 1)));
}

/* ---- the same for each example ---- */

static void run_net(const mw_graph *g, int64_t batch, int64_t examples, float *out, mw_error *err)
{
    float x[MOST * STEPS * WIDTH];
    const int64_t each = STEPS * WIDTH;
    for (int64_t i = 0; i < batch * each; i++)
        x[i] = (float)(i % (examples * each) * 7 % 11) / 5.0F - 1.0F;
    mw_program *program = engine_compile(g, MW_DEVICE_CPU, 1, err);
    mw_program_write(program, "x", MW_F32, x, (size_t)(batch * each), err);
    mw_program_run(program, err);
    mw_program_read(program, "y", MW_F32, out, (size_t)(batch * WIDTH), err);
    mw_program_destroy(program);
}

static void check_net(const char *name, make *of, int64_t from, int64_t to)
{
    float got[MOST * WIDTH] = {0}, wanted[MOST * WIDTH] = {0};
    mw_error err = {0};
    mw_graph *source = make_net(of, from), *evaluated = mw_graph_evaluation(source, &err);
    mw_graph *made = mw_graph_rebatch(evaluated, to, &err);
    if (check_note(made != NULL, __FILE__, __LINE__, "%s, %d to %d: %s", name, (int)from, (int)to, err.message)) {
        run_net(evaluated, from, from, wanted, &err);
        run_net(made, to, from, got, &err);
        CHECK_OK(err);
        for (int64_t i = 0; i < to * WIDTH; i++) {
            const float source_value = wanted[i % (from * WIDTH)];
            if (!check_note(fabsf(got[i] - source_value) <= 1e-5F * (1.0F + fabsf(source_value)), __FILE__, __LINE__,
                            "%s, %d to %d: element %d is %.9g, not %.9g", name, (int)from, (int)to, (int)i,
                            (double)got[i], (double)source_value))
                break;
        }
        CHECK(wanted[1] != 0.0F);
    }
    mw_graph_destroy(made);
    mw_graph_destroy(evaluated);
    mw_graph_destroy(source);
}

static void test_blocks_and_lists_take_another_batch(void)
{
    static const struct {
        const char *name;
        make *of;
    } nets[] = {{"carries", carries},
                {"starts at zeros", starts_at_zeros},
                {"starts at what is computed", starts_at_computed},
                {"the start is read inside", start_is_read_inside},
                {"shapes inside", shapes_inside},
                {"a layer inside", layer_inside},
                {"nested", nested},
                {"counts steps", counts_steps},
                {"branches", branches},
                {"a branch of constants", branch_of_constants},
                {"a branch of what is filled", branch_of_filled},
                {"a trip that resets", resets},
                {"words at computed places", words},
                {"lists", lists},
                {"zeros in a list", zeros_in_list}};
    for (size_t i = 0; i < sizeof nets / sizeof nets[0]; i++) {
        check_net(nets[i].name, nets[i].of, 3, 1);
        check_net(nets[i].name, nets[i].of, 3, 2);
        check_net(nets[i].name, nets[i].of, 4, MOST);
        check_net(nets[i].name, nets[i].of, 1, 5);
    }
}

/* ---- refusals ---- */

static mw_tensor *while_large(void *user, mw_tensor *const *vars, size_t count)
{
    const net *n = user;
    (void)count;
    return mw_greater(mw_reduce_mean(mw_abs(vars[1]), MW_ALL_AXES, false), mw_scalar(n->graph, MW_F32, 0.2));
}

static void body_of_half(void *user, mw_tensor *const *vars, size_t count, mw_tensor **out)
{
    (void)count;
    next(user, vars, out);
    out[1] = mw_mul_scalar(vars[1], 0.5);
}

static mw_tensor *decides_together(net *n) { return loop(n, while_large, body_of_half, n->x); }

static mw_tensor *each_example(void *user, mw_tensor *const *vars, size_t count)
{
    const net *n = user;
    const mw_slice one[] = {{.begin = 0, .squeeze = true}};
    (void)count;
    return mw_less(vars[0], mw_slice_by_index(mw_shape_of(n->x3), one));
}

static mw_tensor *counts_examples(net *n) { return loop(n, each_example, body_of_half, n->x); }

static void body_of_mean(void *user, mw_tensor *const *vars, size_t count, mw_tensor **out)
{
    (void)count;
    next(user, vars, out);
    out[1] = mw_sub(vars[1], mw_reduce_mean(vars[1], MW_AXES(0), true));
}

static mw_tensor *mixes(net *n) { return loop(n, three_times, body_of_mean, n->x); }

static void body_of_rows(void *user, mw_tensor *const *vars, size_t count, mw_tensor **out)
{
    const net *n = user;
    float data[MOST * WIDTH];
    for (int i = 0; i < MOST * WIDTH; i++)
        data[i] = (float)i;
    (void)count;
    next(user, vars, out);
    out[1] = mw_add(vars[1], mw_constant(n->graph, MW_F32, MW_SHAPE(n->batch, WIDTH), data));
}

static mw_tensor *has_rows(net *n) { return loop(n, three_times, body_of_rows, n->x); }

static void body_of_two(void *user, mw_tensor *const *vars, size_t count, mw_tensor **out)
{
    const net *n = user;
    (void)count;
    next(user, vars, out);
    out[1] = mw_add(vars[1], n->x);
    out[2] = mw_mul_scalar(vars[2], 2.0);
}

/* One value is the state of each example, and a table besides. */
static mw_tensor *enters_twice(net *n)
{
    mw_tensor *ones = filled(n, 1.0F), *vars[3] = {number(n, 0), ones, ones}, *out[3] = {NULL};
    mw_while_loop(vars, 3, three_times, body_of_two, n, out);
    return mw_mul(out[1], mw_reduce_sum(out[2], MW_ALL_AXES, false));
}

static void body_of_pairs(void *user, mw_tensor *const *vars, size_t count, mw_tensor **out)
{
    const net *n = user;
    mw_tensor *pair[2] = {n->x, n->x};
    (void)count;
    next(user, vars, out);
    out[1] = mw_add(vars[1], mw_concat(pair, 2, 0));
    out[2] = mw_add(vars[2], mw_reshape(mw_stack(pair, 2, 1), MW_SHAPE(2 * n->batch, WIDTH)));
}

/* Two rows of each example stand beside each other here, and apart there. */
static mw_tensor *enters_in_two_orders(net *n)
{
    float data[2 * MOST * WIDTH];
    for (int i = 0; i < 2 * MOST * WIDTH; i++)
        data[i] = i / WIDTH % 2 == 0 ? 1.0F : 2.0F;
    mw_tensor *rows = mw_constant(n->graph, MW_F32, MW_SHAPE(2 * n->batch, WIDTH), data);
    mw_tensor *vars[3] = {number(n, 0), rows, rows}, *out[3] = {NULL};
    mw_while_loop(vars, 3, three_times, body_of_pairs, n, out);
    mw_tensor *apart = mw_reduce_sum(mw_reshape(out[1], MW_SHAPE(2, n->batch, WIDTH)), MW_AXES(0), false);
    return mw_add(apart, mw_reduce_sum(mw_reshape(out[2], MW_SHAPE(n->batch, 2, WIDTH)), MW_AXES(1), false));
}

static mw_tensor *place_in_batch(net *n)
{
    mw_tensor *list = mw_make_list(n->graph, MW_F32, MW_SHAPE(n->batch, WIDTH), 2, false);
    mw_tensor *at = mw_cast(mw_reduce_mean(n->x, MW_ALL_AXES, false), MW_I32);
    return mw_list_read(mw_list_write(list, at, n->x), number(n, 0));
}

static void test_what_cannot_be_is_refused_by_name(void)
{
    static const struct {
        make *of;
        const char *why;
    } nets[] = {{decides_together, "reduce_mean"},
                {counts_examples, "its condition is computed from the number of examples, 3"},
                {mixes, "reduce_mean"},
                {has_rows, "has values of its own for each of the 3 examples"},
                {enters_twice, "a value is its loop_vars twice"},
                {enters_in_two_orders, "a value is its loop_vars twice"},
                {place_in_batch, "reduce_mean"}};
    for (size_t i = 0; i < sizeof nets / sizeof nets[0]; i++) {
        mw_error err = {0};
        mw_graph *source = make_net(nets[i].of, 3), *made = mw_graph_rebatch(source, 5, &err);
        check_note(made == NULL && err.status == MW_ERROR_UNSUPPORTED && strstr(err.message, nets[i].why) != NULL,
                   __FILE__, __LINE__, "\"%s\", not with \"%s\"", err.message, nets[i].why);
        mw_graph_destroy(made);
        mw_graph_destroy(source);
    }
}

static mw_tensor *assigns_rows(net *n)
{
    mw_tensor *state = mw_state(n->graph, "memory", MW_F32, MW_SHAPE(1, WIDTH), mw_init_constant(0.5F));
    mw_tensor *sum = mw_add(n->x, state);
    mw_state_assign(state, sum);
    return mw_identity(sum);
}

/* A state has no rows, so that those of more examples do not fit into it. */
static void test_a_state_that_holds_one_example_is_refused_by_name(void)
{
    mw_error err = {0};
    mw_graph *source = make_net(assigns_rows, 1), *made = mw_graph_rebatch(source, 3, &err);
    CHECK(made == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "state \"memory\" is [1, 4], and would be assigned [3, 4]");
    mw_graph_destroy(made);
    mw_graph_destroy(source);
}

/* Such a copy has both forms, so that it can be trained with the means of its own batch. */
static mw_tensor *normalized(net *n)
{
    return mw_reshape(mw_batch_norm_layer(mw_reshape(n->x, MW_SHAPE(n->batch, WIDTH, 1, 1)), 0.1F, 1e-5F, "norm"),
                      MW_SHAPE(n->batch, WIDTH));
}

static void test_a_layer_with_another_form_in_evaluation_is_judged_by_that(void)
{
    mw_error err = {0};
    mw_graph *source = make_net(normalized, 3), *made = mw_graph_rebatch(source, 5, &err);
    mw_graph *evaluated = mw_graph_evaluation(made, &err), *one = mw_graph_rebatch(evaluated, 1, &err);
    CHECK_OK(err);
    CHECK(made != NULL && mw_shape_equal(mw_tensor_shape(mw_graph_output_at(made, 0)), MW_SHAPE(5, WIDTH)));
    CHECK(one != NULL && mw_shape_equal(mw_tensor_shape(mw_graph_output_at(one, 0)), MW_SHAPE(1, WIDTH)));
    mw_graph_destroy(one);
    mw_graph_destroy(evaluated);
    mw_graph_destroy(made);
    mw_graph_destroy(source);
}

/* ---- tunings ---- */

static void body_of_half_list(void *user, mw_tensor *const *vars, size_t count, mw_tensor **out)
{
    (void)count;
    next(user, vars, out);
    out[1] = mw_mul_scalar(vars[1], 0.5);
    out[2] = mw_list_write(vars[2], vars[0], out[1]);
}

static mw_tensor *while_bounded(void *user, mw_tensor *const *vars, size_t count)
{
    return mw_logical_and(three_times(user, vars, count), while_large(user, vars, count));
}

static mw_tensor *decides_with_list(net *n)
{
    mw_tensor *list = mw_make_list(n->graph, MW_F32, MW_SHAPE(n->batch, WIDTH), 3, false);
    mw_tensor *vars[3] = {number(n, 0), n->x, list}, *out[3] = {NULL};
    mw_while_loop(vars, 3, while_bounded, body_of_half_list, n, out);
    return mw_add(out[1], mw_list_read(out[2], number(n, 1)));
}

/* A tuning takes what training means: examples may decide together. */
static void check_tuning(make *of, int64_t to)
{
    static const char *const all[] = {"*"};
    const mw_input_shape wide = {.input = "x", .shape = MW_SHAPE(to, STEPS, WIDTH)};
    float got[MOST * WIDTH] = {0}, wanted[MOST * WIDTH] = {0};
    mw_error err = {0};
    mw_tune_options options = mw_tune_defaults(all, 1);
    options.shapes = &wide;
    options.shape_count = 1;
    options.skip_fixed = true;
    mw_graph *three = make_net(of, 3), *direct = make_net(of, to);
    mw_graph *made = mw_graph_trainable(three, &options, &err);
    mw_graph *flat = mw_graph_flatten(made, &err);
    run_net(made, to, to, got, &err);
    run_net(direct, to, to, wanted, &err);
    CHECK_OK(err);
    CHECK(memcmp(got, wanted, sizeof got) == 0 && wanted[to * WIDTH - 1] != 0.0F);
    run_net(flat, to, to, got, &err);
    CHECK_OK(err);
    CHECK(memcmp(got, wanted, sizeof got) == 0);
    mw_graph_destroy(flat);
    mw_graph_destroy(made);
    mw_graph_destroy(direct);
    mw_graph_destroy(three);
}

static mw_tensor *decides(net *n)
{
    return mw_matmul(loop(n, while_bounded, body_of_half, n->x), n->weight, MW_TRANSPOSE_NONE);
}

static mw_tensor *decides_list(net *n) { return mw_matmul(decides_with_list(n), n->weight, MW_TRANSPOSE_NONE); }

static mw_tensor *weighted_lists(net *n) { return mw_matmul(lists(n), n->weight, MW_TRANSPOSE_NONE); }

static void test_a_tuning_takes_other_shapes_into_loops_and_lists(void)
{
    static make *const nets[] = {decides, decides_list, starts_at_zeros, weighted_lists, nested};
    for (size_t i = 0; i < sizeof nets / sizeof nets[0]; i++) {
        check_tuning(nets[i], 1);
        check_tuning(nets[i], 5);
    }
}

static void test_every_allocation_may_fail(void)
{
    static make *const nets[] = {lists, starts_at_computed};
    for (long n = 0, k = 0; k < 2; n++) {
        failing_allocator failing = {.fail_at = -1};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_graph_options options = mw_graph_defaults();
        mw_error err = {0};
        options.allocator = &allocator;
        mw_graph *source = make_net_with(nets[k], 3, &options);
        failing.requests = 0;
        failing.fail_at = n;
        mw_graph *other = mw_graph_rebatch(source, 7, &err);
        CHECK_INT(other == NULL, failing.failed);
        check_note(err.status == (failing.failed ? MW_ERROR_MEMORY : MW_OK), __FILE__, __LINE__, "%s", err.message);
        mw_graph_destroy(other);
        mw_graph_destroy(source);
        CHECK_INT(failing.live, 0);
        if (!failing.failed) {
            k++;
            n = -1;
        }
    }
}

int main(void)
{
    RUN(test_blocks_and_lists_take_another_batch);
    RUN(test_what_cannot_be_is_refused_by_name);
    RUN(test_a_state_that_holds_one_example_is_refused_by_name);
    RUN(test_a_layer_with_another_form_in_evaluation_is_judged_by_that);
    RUN(test_a_tuning_takes_other_shapes_into_loops_and_lists);
    RUN(test_every_allocation_may_fail);
    return check_finish();
}
