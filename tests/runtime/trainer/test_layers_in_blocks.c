/* Layers that are something else after training, inside of loops and branches: mw_graph_evaluation has the form of
 * after training there too, and what is frozen is. */
#include "graph/ir/ir.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/on_engine.h"

#include <millwright/millwright.h>

enum { N = 4, C = 3, COUNT = N * C };

typedef struct inside {
    mw_graph *graph;
    mw_tensor *x;
    bool dropout; /* or batch norm */
} inside;

static mw_tensor *layer(const inside *in, mw_tensor *x)
{
    return in->dropout ? mw_dropout(x, 0.5f, "drop") : mw_batch_norm_layer(x, 0.1f, 0.0f, "bn");
}

static mw_tensor *twice(void *user, mw_tensor *const *vars, size_t count)
{
    const inside *in = user;
    (void)count;
    return mw_less(vars[0], mw_scalar(in->graph, MW_I32, 2.0));
}

static void trip(void *user, mw_tensor *const *vars, size_t count, mw_tensor **out)
{
    const inside *in = user;
    (void)count;
    out[0] = mw_add(vars[0], mw_scalar(in->graph, MW_I32, 1.0));
    out[1] = mw_add_scalar(layer(in, vars[1]), 1.0);
}

static void taken(void *user, mw_tensor **out, size_t count)
{
    const inside *in = user;
    (void)count;
    out[0] = mw_add_scalar(layer(in, in->x), 2.0);
}

static void other(void *user, mw_tensor **out, size_t count)
{
    const inside *in = user;
    (void)count;
    out[0] = mw_neg(in->x);
}

/* "y" of x [N, C]: in a loop x + 2 after training, in the branch that is taken for x > 0 too. */
static mw_graph *build(bool loop, bool dropout)
{
    inside in = {.graph = mw_graph_create(NULL, NULL), .dropout = dropout};
    mw_tensor *out[2] = {NULL, NULL};
    in.x = mw_input(in.graph, "x", MW_F32, MW_SHAPE(N, C));
    mw_tensor *scale = mw_parameter(in.graph, "scale", MW_F32, MW_SHAPE(C), mw_init_constant(1.0f));
    in.x = mw_mul(in.x, scale);
    if (loop) {
        mw_tensor *vars[2] = {mw_scalar(in.graph, MW_I32, 0.0), in.x};
        mw_while_loop(vars, 2, twice, trip, &in, out);
        mw_output(out[1], "y");
    } else {
        mw_tensor *sum = mw_reduce_sum(in.x, MW_ALL_AXES, false);
        mw_cond(mw_greater(sum, mw_scalar(in.graph, MW_F32, 0.0)), taken, other, &in, out, 1);
        mw_output(out[0], "y");
    }
    return in.graph;
}

static void fill(float x[COUNT])
{
    for (int i = 0; i < COUNT; i++)
        x[i] = 0.5f + (float)(i * 5 % 7);
}

static void test_the_evaluation_of_a_graph_reaches_into_loops_and_branches(void)
{
    float x[COUNT], y[COUNT];
    fill(x);
    for (int k = 0; k < 4; k++) {
        mw_error err = {0};
        mw_graph *graph = build(k % 2 == 0, k / 2 == 0), *after = mw_graph_evaluation(graph, &err);
        mw_program *program = engine_compile(after, MW_DEVICE_CPU, 1, &err);
        mw_program_write(program, "x", MW_F32, x, COUNT, &err);
        mw_program_run(program, &err);
        mw_program_read(program, "y", MW_F32, y, COUNT, &err);
        CHECK_OK(err);
        for (int i = 0; i < COUNT && err.status == MW_OK; i++)
            CHECK_NEAR(y[i], x[i] + 2.0f, 1e-6);
        CHECK(mw_graph_find(after, "drop.generator") == NULL); /* what only training reads is not there */
        mw_program_destroy(program);
        mw_graph_destroy(after);
        mw_graph_destroy(graph);
    }
}

static void test_a_frozen_batch_norm_in_a_branch_has_its_running_statistics(void)
{
    float x[COUNT], loss = 0.0f, wanted = 0.0f;
    mw_error err = {0};
    fill(x);
    for (int i = 0; i < COUNT; i++)
        wanted += (x[i] + 2.0f) / COUNT;
    mw_graph *graph = build(false, false);
    mw_tensor *mean = mw_reduce_mean(mw_graph_output_at(graph, 0), MW_ALL_AXES, false);
    const mw_parameter_group frozen = mw_parameter_group_frozen("bn.*");
    mw_trainer_options options = mw_trainer_defaults(mean, mw_sgd(0.1f));
    options.groups = &frozen;
    options.group_count = 1;
    options.compile = engine_options(MW_DEVICE_CPU, 1);
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = x, .count = COUNT};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = N};
    mw_trainer_step(trainer, &batch, &loss, &err);
    CHECK_OK(err);
    CHECK_NEAR(loss, wanted, 1e-5);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
}

/* ---- states that are assigned inside ---- */

static mw_tensor *while_large(void *user, mw_tensor *const *vars, size_t count)
{
    const inside *in = user;
    mw_tensor *bounded = twice(user, vars, count);
    return mw_logical_and(bounded,
                          mw_greater(mw_reduce_mean(vars[1], MW_ALL_AXES, false), mw_scalar(in->graph, MW_F32, 3.0)));
}

/* "bn.running_mean" after a step on x, of a branch or of a loop that goes on as long as the mean of x is above 3: its
 * trips add 1 to what has a mean of 0. */
static void step_on(bool loop, const float x[COUNT], float mean[C])
{
    mw_error err = {0};
    inside in = {.graph = mw_graph_create(NULL, NULL)};
    mw_tensor *out[2] = {NULL, NULL};
    in.x = mw_mul(mw_input(in.graph, "x", MW_F32, MW_SHAPE(N, C)),
                  mw_parameter(in.graph, "scale", MW_F32, MW_SHAPE(C), mw_init_constant(1.0f)));
    mw_tensor *vars[2] = {mw_scalar(in.graph, MW_I32, 0.0), in.x};
    mw_tensor *sum = mw_reduce_sum(in.x, MW_ALL_AXES, false);
    if (loop)
        mw_while_loop(vars, 2, while_large, trip, &in, out);
    else
        mw_cond(mw_greater(sum, mw_scalar(in.graph, MW_F32, 0.0)), taken, other, &in, out, 1);
    mw_tensor *loss = mw_reduce_mean(mw_square(out[loop ? 1 : 0]), MW_ALL_AXES, false);
    mw_trainer *trainer = engine_trainer(loss, mw_sgd(0.1f), MW_DEVICE_CPU, 1, &err);
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = x, .count = COUNT};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = N};
    mw_trainer_step(trainer, &batch, NULL, &err);
    mw_trainer_read(trainer, "bn.running_mean", MW_F32, mean, C, &err);
    CHECK_OK(err);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(in.graph);
}

/* Momentum 0.1: a tenth of the mean of what the layer saw last. A loop's first trip sees x, and no second one counts.
 */
static void test_a_batch_norm_follows_only_what_its_branch_or_loop_saw(void)
{
    float x[COUNT], mean[C];
    for (int sign = -1; sign <= 1; sign += 2)
        for (int loop = 0; loop < 2; loop++) {
            fill(x);
            for (int i = 0; i < COUNT; i++)
                x[i] *= (float)sign;
            step_on(loop != 0, x, mean);
            for (int c = 0; c < C; c++) {
                const float seen = (x[c] + x[C + c] + x[2 * C + c] + x[3 * C + c]) / (float)N;
                CHECK_NEAR(mean[c], sign > 0 ? 0.1f * seen : 0.0f, 1e-6);
            }
        }
}

/* ---- constants that a file has in its blocks ---- */

#define W(name, a)                                                                                                     \
    "tensor<fp32, [3, 3]> " name " = const()[name = string(\"" name "\"), val = tensor<fp32, [3, 3]>([[" a             \
    ", 0.3, 0.2], [0.1, " a ", 0.4], [0.3, 0.1, " a "]])];"
#define B(name)                                                                                                        \
    "tensor<fp32, [3]> " name " = const()[name = string(\"" name "\"), val = tensor<fp32, [3]>([0.3, 0.2, 0.1])];"
#define LINEAR(name, bias, weight, x)                                                                                  \
    "tensor<fp32, [4, 3]> " name " = linear(bias = " bias ", weight = " weight ", x = " x ")[name = string(\"" name    \
    "\")];"

/* The "other" of both branches cannot be told apart; the weight of the loop is used in each trip. */
static const char in_blocks[] =
    "program(1.3){func main<ios18>(tensor<fp32, [4, 3]> x, tensor<bool, []> p){"
    "tensor<fp32, [4, 3]> h = cond(pred = p)[name = string(\"h\")] {" W("wa", "0.7") B("other")
        LINEAR("a", "other", "wa", "x") "} -> (a) {" W("wb", "0.9") B("other")
            LINEAR("b", "other", "wb",
                   "x") "} -> (b);"
                        "int32 start = const()[name = string(\"start\"), val = int32(0)];"
                        "int32 last, tensor<fp32, [4, 3]> y = while_loop(loop_vars = (start, h))[name = string(\"y\")]"
                        "(int32 i, tensor<fp32, [4, 3]> v) { bool more = less(x = i, y = int32(2))[name = "
                        "string(\"more\")]; } -> (more)"
                        "(int32 k, tensor<fp32, [4, 3]> u) { int32 next = add(x = k, y = int32(1))[name = "
                        "string(\"next\")];" W("wc", "0.6") B("bc")
                            LINEAR("c", "bc", "wc", "u") "} -> (next, c);} -> (y);}";

typedef struct notes {
    int trained;
    char left[300];
} notes;

static void note(void *user, const mw_tune_choice *choice)
{
    notes *n = user;
    n->trained += choice->outcome == MW_TUNE_TRAINED;
    if (choice->outcome == MW_TUNE_LEFT && strlen(n->left) < 200)
        sprintf(n->left + strlen(n->left), "%.20s: %.60s;", choice->weight->name, choice->reason);
}

/* One step on the first branch; `folder` receives the program with its new weights. */
static void train_blocks(const mw_graph *source, mw_graph *graph, const char *folder, mw_error *err)
{
    float x[COUNT], t[COUNT] = {0};
    unsigned char yes = 1;
    fill(x);
    mw_tensor *y = mw_graph_output_at(graph, 0);
    mw_tensor *loss = mw_mse(y, mw_input(graph, "t", MW_F32, MW_SHAPE(N, C)));
    mw_trainer *trainer = engine_trainer(loss, mw_sgd(0.125F), MW_DEVICE_CPU, 1, err);
    mw_feed feeds[] = {{.name = "x", .dtype = MW_F32, .data = x, .count = COUNT, .scale = 1.0F},
                       {.name = "t", .dtype = MW_F32, .data = t, .count = COUNT, .scale = 1.0F},
                       {.name = "p", .dtype = MW_BOOL, .data = &yes, .count = 1, .scale = 1.0F}};
    const mw_batch batch = {.feeds = feeds, .feed_count = 3, .examples = N};
    mw_trainer_step(trainer, &batch, NULL, err);
    mw_trainer_export(trainer, source, folder, NULL, err);
    mw_trainer_destroy(trainer);
}

/* How many elements of that constant differ from those before. */
static int count_changed(const mw_graph *graph, const char *name, float diagonal)
{
    const float before[9] = {diagonal, 0.3F, 0.2F, 0.1F, diagonal, 0.4F, 0.3F, 0.1F, diagonal};
    const float *now = NULL;
    int changed = 0;
    for (size_t i = 0; i < graph->value_count; i++)
        if (graph->values[i]->name != NULL && strcmp(graph->values[i]->name, name) == 0)
            now = graph->values[i]->payload != NULL ? graph->values[i]->payload->data : NULL;
    for (int i = 0; CHECK(now != NULL) && i < 9; i++)
        changed += now[i] != before[i];
    return changed;
}

static void test_constants_of_blocks_are_trained_and_written_back(void)
{
    static const char *const all[] = {"*"};
    char folder[512];
    mw_error err = {0};
    notes n = {0};
    mw_tune_options options = mw_tune_defaults(all, 1);
    options.skip_fixed = true;
    options.report = note;
    options.report_user = &n;
    REQUIRE(folder_enter(folder));
    mw_graph *source = mw_graph_parse_mil(in_blocks, sizeof in_blocks - 1, NULL, NULL, &err);
    mw_graph *graph = mw_graph_trainable(source, &options, &err);
    CHECK_OK(err);
    CHECK_INT(n.trained, 4);
    CHECK_CONTAINS(n.left, "other: another constant has its name;other: another constant has its name");
    if (graph != NULL)
        train_blocks(source, graph, "tuned", &err);
    mw_graph *tuned = mw_graph_open_mil("tuned/model.mil", NULL, &err);
    if (CHECK_OK(err) && tuned != NULL) {
        CHECK(count_changed(tuned, "wa", 0.7F) > 3);
        CHECK_INT(count_changed(tuned, "wb", 0.9F), 0); /* its branch was not taken */
        CHECK(count_changed(tuned, "wc", 0.6F) > 3);
    }
    mw_graph_destroy(tuned);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
    folder_leave(folder);
}

int main(void)
{
    RUN(test_constants_of_blocks_are_trained_and_written_back);
    RUN(test_the_evaluation_of_a_graph_reaches_into_loops_and_branches);
    RUN(test_a_frozen_batch_norm_in_a_branch_has_its_running_statistics);
    RUN(test_a_batch_norm_follows_only_what_its_branch_or_loop_saw);
    return check_finish();
}
