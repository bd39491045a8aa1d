/* Messages read by someone who has only the headers: each tells which call, layer or operation failed, in the header's
 * words, and shows no empty name and no name of a function or file that is inside. */
#include "support/check.h"
#include "support/clean.h"
#include "support/on_engine.h"

#include <ctype.h>
#include <millwright/data.h>
#include <millwright/inspect.h>
#include <millwright/millwright.h>

enum { N = 4, D = 3, C = 2 };

static mw_graph *g, *other;
static mw_tensor *x, *y, *labels, *foreign, *dx;
static mw_error err;

static void matmul(void) { mw_matmul(mw_relu(x), mw_relu(x), MW_TRANSPOSE_NONE); }
static void softmax(void) { mw_softmax(mw_relu(x), 7); }
static void reshape(void) { mw_reshape(mw_relu(x), MW_SHAPE(5)); }
static void concat(void) { mw_concat((mw_tensor *[]){mw_relu(x), labels}, 2, 0); }
static void gather(void) { mw_gather(x, mw_relu(x), 0); }
static void dense(void) { mw_dense(x, -1, "fc"); }
static void dense_unnamed(void) { mw_dense(x, 2, NULL); }
static void input_unnamed(void) { mw_input(g, NULL, MW_F32, MW_SHAPE(-7)); }
static void parameter_unnamed(void) { mw_parameter(g, NULL, MW_I32, MW_SHAPE(2), mw_init_zeros()); }
static void assign(void) { mw_state_assign(mw_relu(x), x); }
static void two_graphs(void) { mw_add(mw_relu(x), mw_relu(foreign)); }
static void custom(void) { mw_custom_vjp(NULL, x, &x, 1, NULL, NULL); }
static void recompute(void) { mw_recompute(mw_relu(x), &foreign, 1); }
static void unknown(void) { mw_op(g, "frobnicate", NULL, 0, NULL, 0, &err); }
static void entropy(void) { mw_cross_entropy(mw_relu(x), mw_transpose(x, MW_AXES(1, 0))); }
static void grad(void) { mw_grad(mw_relu(x), &x, 1, &dx, &err); }
static void grad_integer(void) { mw_grad(mw_reduce_mean(mw_relu(x), MW_ALL_AXES, false), &labels, 1, &dx, &err); }
static void grad_foreign(void) { mw_grad(mw_reduce_mean(mw_relu(x), MW_ALL_AXES, false), &foreign, 1, &dx, &err); }
static void hvp(void) { mw_hvp(mw_reduce_mean(mw_square(x), MW_ALL_AXES, false), &x, NULL, 1, &dx, &err); }
static void jvp(void) { mw_jvp(&y, 1, &x, &foreign, 1, &dx, &err); }
static void gradcheck(void)
{
    mw_tensor *inner = mw_relu(x);
    const mw_gradcheck_options options = mw_gradcheck_defaults(mw_reduce_mean(inner, MW_ALL_AXES, false), &inner, 1);
    mw_gradcheck_run(&options, NULL, &err);
}
static void idx(void) { mw_dataset_open_idx("/dev/null", "train", &err); }
static void create(void)
{
    const mw_graph_options zeroed = {0};
    mw_graph_create(&zeroed, &err);
}
static void parse(void) { mw_graph_parse_mil(NULL, 3, NULL, NULL, &err); }
static void indices_on_the_chip(void)
{
    mw_tensor *table = mw_input(g, "table", MW_F32, MW_SHAPE(3000, D));
    mw_tensor *at = mw_input(g, "at", MW_I32, MW_SHAPE(N, D));
    mw_output(mw_gather_along_axis(table, mw_mul(at, at), 0), "rows");
    mw_program_destroy(engine_compile(g, MW_DEVICE_ANE, 0, &err));
}

static const struct {
    void (*fail)(void);
    const char *names; /* what the user wrote */
} mistakes[] = {
    {matmul, "matmul"},
    {softmax, "softmax"},
    {reshape, "reshape"},
    {concat, "concat"},
    {gather, "gather"},
    {dense, "fc"},
    {dense_unnamed, "dense"},
    {input_unnamed, "input"},
    {parameter_unnamed, "parameter"},
    {assign, "mw_state_assign: the result of relu #1"},
    {two_graphs, "add: y, the result of relu #1"},
    {custom, "custom_vjp"},
    {recompute, "mw_recompute: input 0"},
    {unknown, "frobnicate"},
    {entropy, "cross_entropy"},
    {grad, "mw_grad: the loss, the result of relu #1"},
    {grad_integer, "mw_grad: x 0, \"labels\""},
    {grad_foreign, "mw_grad: x 0, \"foreign\""},
    {hvp, "mw_hvp: v 0"},
    {jvp, "mw_jvp: v 0"},
    {gradcheck, "mw_gradcheck_run: x 0, the result of relu #1"},
    {idx, "mw_dataset_open_idx"},
    {create, "mw_graph_create"},
    {parse, "mw_graph_parse_mil"},
    {indices_on_the_chip, "int32"},
};

static void check_message(const char *message, const char *names)
{
    static const char *const inside[] = {"\"\"", "mw__", "e5rt_", "./run", ".c:", ".h:", "seed", "mw_graph_check"};
    for (size_t i = 0; i < sizeof inside / sizeof inside[0]; i++)
        check_note(strstr(message, inside[i]) == NULL, __FILE__, __LINE__, "%s in: %s", inside[i], message);
    const size_t length = strlen(message);
    CHECK(length > 10 && text_is_clean(message, false, 511));
    check_note(message[length - 1] != '.' && !isspace(message[length - 1]), __FILE__, __LINE__, "end of: %s", message);
    CHECK_CONTAINS(message, names);
}

static void test_messages_speak_of_what_the_user_wrote(void)
{
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        err = (mw_error){0};
        g = mw_graph_create(NULL, NULL);
        other = mw_graph_create(NULL, NULL);
        x = mw_input(g, "x", MW_F32, MW_SHAPE(N, D));
        y = mw_exp(x);
        labels = mw_input(g, "labels", MW_I32, MW_SHAPE(N));
        foreign = mw_input(other, "foreign", MW_F32, MW_SHAPE(N, D));
        mistakes[i].fail();
        mw_graph_check(g, &err);
        check_note(err.status != MW_OK, __FILE__, __LINE__, "no error: %s", mistakes[i].names);
        check_message(err.message, mistakes[i].names);
        mw_graph_destroy(g);
        mw_graph_destroy(other);
    }
}

int main(void)
{
    RUN(test_messages_speak_of_what_the_user_wrote);
    return check_finish();
}
