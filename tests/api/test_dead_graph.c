/* Graphs that were destroyed, and what still points to them: found as long as their remains are kept. */
#include "support/check.h"

#include <millwright/inspect.h>
#include <millwright/millwright.h>
#include <stdlib.h>

/* ---- a graph of which tensors outlive it ---- */

typedef struct dead {
    mw_graph *graph;
    mw_tensor *x, *w, *loss, *logits, *labels;
} dead;

static dead make_dead(void)
{
    dead d = {.graph = mw_graph_create(NULL, NULL)};
    d.x = mw_input(d.graph, "x", MW_F32, MW_SHAPE(4, 3));
    d.labels = mw_input(d.graph, "y", MW_I32, MW_SHAPE(4));
    d.w = mw_parameter(d.graph, "w", MW_F32, MW_SHAPE(3, 2), mw_init_constant(1));
    d.logits = mw_matmul(d.x, d.w, MW_TRANSPOSE_NONE);
    d.loss = mw_cross_entropy(d.logits, d.labels);
    CHECK_INT(mw_graph_check(d.graph, NULL), MW_OK);
    mw_graph_destroy(d.graph);
    return d;
}

static void test_queries_of_what_is_dead_answer_as_for_null(void)
{
    const dead d = make_dead();
    CHECK_INT(mw_tensor_dtype(d.logits), MW_DTYPE_NONE);
    CHECK_INT(mw_tensor_shape(d.logits).rank, 0);
    CHECK_STR(mw_tensor_name(d.w), "");
    CHECK(mw_graph_find(d.graph, "x") == NULL);
    CHECK(mw_graph_input_at(d.graph, 0) == NULL && mw_graph_output_at(d.graph, 0) == NULL);
    CHECK_INT(mw_graph_check(mw_tensor_graph(d.x), NULL), MW_ERROR_STATE);
}

#define GONE(call)                                                                                                     \
    do {                                                                                                               \
        mw_error err = {0};                                                                                            \
        (void)(call);                                                                                                  \
        check_note(err.status == MW_ERROR_STATE && strstr(err.message, "destroyed") != NULL, __FILE__, __LINE__,       \
                   "%s: %d \"%s\"", #call, (int)err.status, err.message);                                              \
    } while (0)

static void test_calls_on_what_is_dead_say_so(void)
{
    const dead d = make_dead();
    mw_tensor *dw = NULL;
    const mw_trainer_options training = mw_trainer_defaults(d.loss, mw_sgd(0.1f));
    static const char *const all[] = {"*"};
    const mw_tune_options tune = mw_tune_defaults(all, 1);
    const mw_lora_options lora = mw_lora_defaults(all, 1);
    const mw_gradcheck_options check = mw_gradcheck_defaults(d.loss, &d.w, 1);
    const mw_argument argument = {.name = "x", .values = &d.x, .count = 1};
    size_t count;
    GONE(mw_graph_check(d.graph, &err));
    GONE(mw_graph_print(d.graph, &err));
    GONE(mw_graph_print_mil(d.graph, NULL, &err));
    GONE(mw_graph_write(d.graph, "never", NULL, &err));
    GONE(mw_graph_verify(d.graph, &err));
    GONE(mw_graph_evaluation(d.graph, &err));
    GONE(mw_graph_flatten(d.graph, &err));
    GONE(mw_graph_weights(d.graph, NULL, 0, &count, &err));
    GONE(mw_graph_trainable(d.graph, &tune, &err));
    GONE(mw_graph_lora(d.graph, &lora, &err));
    GONE(mw_program_create(d.graph, NULL, &err));
    GONE(mw_trainer_create(&training, &err));
    GONE(mw_grad(d.loss, &d.w, 1, &dw, &err));
    GONE(mw_vjp(&d.loss, NULL, 1, &d.w, 1, &dw, &err));
    GONE(mw_jvp(&d.logits, 1, &d.w, NULL, 1, &dw, &err));
    GONE(mw_hvp(d.loss, &d.w, NULL, 1, &dw, &err));
    GONE(mw_gradcheck_run(&check, NULL, &err));
    GONE(mw_op(d.graph, "relu", &argument, 1, &dw, 1, &err));
}

static void test_constructors_make_nothing_of_what_is_dead(void)
{
    mw_tensor *(*const unary[])(mw_tensor *) = {mw_neg,  mw_abs,      mw_sign,          mw_square,     mw_sqrt,
                                                mw_exp,  mw_erf,      mw_tanh,          mw_sigmoid,    mw_relu,
                                                mw_silu, mw_identity, mw_stop_gradient, mw_logical_not};
    mw_tensor *(*const binary[])(mw_tensor *, mw_tensor *) = {mw_add,     mw_sub,     mw_mul,      mw_real_div,
                                                              mw_maximum, mw_minimum, mw_pow,      mw_equal,
                                                              mw_less,    mw_greater, mw_floor_div};
    const dead d = make_dead();
    mw_tensor *parts[2];
    for (size_t i = 0; i < sizeof unary / sizeof unary[0]; i++)
        CHECK(unary[i](d.x) == NULL);
    for (size_t i = 0; i < sizeof binary / sizeof binary[0]; i++) {
        for (int k = 0; k < 3; k++) { /* the other is alive, the first or the second; or neither */
            mw_graph *graph = mw_graph_create(NULL, NULL);
            mw_tensor *live = mw_input(graph, "x", MW_F32, MW_SHAPE(4, 3));
            mw_error err = {0};
            CHECK(binary[i](k == 0 ? live : d.x, k == 1 ? live : d.x) == NULL);
            mw_graph_check(graph, &err);
            if (k < 2)
                CHECK_ERROR(err, MW_ERROR_STATE, "of a graph that was destroyed");
            else
                CHECK_OK(err);
            mw_graph_destroy(graph);
        }
    }
    CHECK(mw_input(d.graph, "z", MW_F32, MW_SHAPE(1)) == NULL && mw_text(d.graph, "t") == NULL);
    CHECK(mw_parameter(d.graph, "z", MW_F32, MW_SHAPE(1), mw_init_zeros()) == NULL);
    CHECK(mw_scalar(d.graph, MW_F32, 1) == NULL && mw_constant(d.graph, MW_F32, MW_SHAPE(1), &(float){1}) == NULL);
    CHECK(mw_name(d.x, "n") == NULL && mw_output(d.x, "n") == NULL && mw_state_assign(d.w, d.w) == NULL);
    CHECK(mw_dense(d.x, 2, "d") == NULL && mw_softmax(d.x, 0) == NULL && mw_cast(d.x, MW_F16) == NULL);
    CHECK(mw_reshape(d.x, MW_SHAPE(12)) == NULL && mw_transpose(d.x, MW_AXES(1, 0)) == NULL);
    CHECK(mw_concat((mw_tensor *[]){d.x, d.x}, 2, 0) == NULL && mw_split(d.x, 2, 0, parts) != MW_OK);
    CHECK(mw_layer_norm_layer(d.x, 1, 1e-5f, "n") == NULL && mw_rms_norm(d.x, MW_AXES(1), NULL, 1e-5f) == NULL);
    CHECK(mw_batch_norm_layer(d.x, 0.1f, 1e-5f, "n") == NULL && mw_dropout(d.x, 0.5f, "n") == NULL);
    CHECK(mw_embedding(d.labels, 3, 2, "e") == NULL && mw_gather(d.x, d.labels, 0) == NULL);
    CHECK(mw_reduce_sum(d.x, MW_ALL_AXES, false) == NULL && mw_select(d.x, d.x, d.x) == NULL);
    CHECK(mw_recompute(d.x, &d.x, 1) == NULL && mw_einsum(d.x, d.x, "chw,whr->chr") == NULL);
    CHECK(mw_contract("ij,ij->i", (mw_tensor *[]){d.x, d.x}, 2) == NULL);
    CHECK_INT(mw_graph_check(d.graph, NULL), MW_ERROR_STATE);
}

static void test_other_graphs_do_not_get_the_place_of_a_dead_one_at_once(void)
{
    const dead d = make_dead();
    const dead others[] = {make_dead(), make_dead(), make_dead()};
    for (size_t i = 0; i < 3; i++)
        CHECK(others[i].graph != d.graph && others[i].x != d.x);
    CHECK_INT(mw_graph_check(d.graph, NULL), MW_ERROR_STATE);
}

/* Remains are bounded: a host that makes graphs for ever does not grow. */
static void test_graphs_come_and_go(void)
{
    for (int i = 0; i < 5000; i++)
        make_dead();
}

/* ---- destroying ---- */

static int refusals;

static void count_refusals(void *user, mw_log_level level, const char *line)
{
    (void)user;
    refusals += level == MW_LOG_ERROR && strstr(line, "mw_graph_destroy: the graph was destroyed before") != NULL;
}

static void test_destroying_a_graph_twice_does_nothing_and_says_so(void)
{
    const dead d = make_dead();
    mw_log_set(count_refusals, NULL);
    mw_graph_destroy(d.graph);
    mw_graph_destroy(d.graph);
    mw_log_set(NULL, NULL);
    CHECK_INT(refusals, 2);
}

/* ---- in the rule of a custom VJP ---- */

typedef struct culprit {
    mw_graph *victim;   /* NULL: the graph that the rule is shown */
    mw_tensor *kept[2]; /* of that graph */
} culprit;

static mw_status destroy_in_rule(const mw_custom_vjp_call *call, mw_tensor **out_dx, mw_error *err)
{
    culprit *c = call->user;
    (void)err;
    c->kept[0] = call->y;
    c->kept[1] = call->dy;
    mw_graph_destroy(c->victim != NULL ? c->victim : call->graph);
    out_dx[0] = mw_neg(call->dy);
    return MW_OK;
}

static mw_tensor *make_loss(mw_graph *graph, culprit *c, mw_tensor **out_w)
{
    *out_w = mw_parameter(graph, "w", MW_F32, MW_SHAPE(3), mw_init_constant(1));
    mw_tensor *y = mw_custom_vjp("mine", mw_square(*out_w), out_w, 1, destroy_in_rule, c);
    return mw_reduce_sum(y, MW_ALL_AXES, false);
}

static void test_a_graph_destroyed_by_a_rule_dies_when_the_gradient_is_built(void)
{
    mw_error err = {0};
    culprit c = {0};
    mw_tensor *w, *dw;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *loss = make_loss(graph, &c, &w);
    CHECK_INT(mw_grad(loss, &w, 1, &dw, &err), MW_ERROR_STATE);
    CHECK_ERROR(err, MW_ERROR_STATE, "a callback destroyed the graph");
    CHECK(dw == NULL);
    CHECK_INT(mw_graph_check(graph, NULL), MW_ERROR_STATE);
    CHECK(mw_relu(c.kept[0]) == NULL && mw_relu(c.kept[1]) == NULL);
}

static void test_a_rule_destroys_no_graph_of_the_trainers(void)
{
    for (int k = 0; k < 2; k++) {
        mw_error err = {0};
        culprit c = {0};
        mw_tensor *w;
        mw_graph *graph = mw_graph_create(NULL, NULL);
        const mw_trainer_options options = mw_trainer_defaults(make_loss(graph, &c, &w), mw_sgd(0.1f));
        c.victim = k == 0 ? NULL : graph;
        mw_trainer *trainer = mw_trainer_create(&options, &err);
        CHECK(k == 0 ? trainer != NULL && err.status == MW_OK : trainer == NULL && err.status == MW_ERROR_STATE);
        CHECK(mw_relu(c.kept[0]) == NULL && mw_relu(c.kept[1]) == NULL); /* the trainer's graph is gone */
        mw_trainer_destroy(trainer);
        if (k == 0)
            mw_graph_destroy(graph);
    }
}

int main(void)
{
    RUN(test_queries_of_what_is_dead_answer_as_for_null);
    RUN(test_calls_on_what_is_dead_say_so);
    RUN(test_constructors_make_nothing_of_what_is_dead);
    RUN(test_other_graphs_do_not_get_the_place_of_a_dead_one_at_once);
    RUN(test_graphs_come_and_go);
    RUN(test_destroying_a_graph_twice_does_nothing_and_says_so);
    RUN(test_a_graph_destroyed_by_a_rule_dies_when_the_gradient_is_built);
    RUN(test_a_rule_destroys_no_graph_of_the_trainers);
    return check_finish();
}
