/* What losses refuse, and what they note on their labels. Their numbers are in test_loss_torch.c. */
#include "graph/ir/ir.h"
#include "support/check.h"

#include <millwright/millwright.h>

enum { N = 3, C = 4 };

static const float ones[C] = {1, 1, 1, 1};

typedef struct fixture {
    mw_graph *graph;
    mw_tensor *x, *labels, *p;
} fixture;

static fixture make(void)
{
    fixture f = {.graph = mw_graph_create(NULL, NULL)};
    f.x = mw_input(f.graph, "x", MW_F32, MW_SHAPE(N, C));
    f.labels = mw_input(f.graph, "labels", MW_I32, MW_SHAPE(N));
    f.p = mw_input(f.graph, "p", MW_F32, MW_SHAPE(N, C));
    return f;
}

/* The graph keeps the error, and the loss leads to it. */
static void expect(fixture *f, const mw_tensor *loss, mw_status status, const char *part)
{
    mw_error err = {0};
    mw_graph_check(f->graph, &err);
    CHECK_ERROR(err, status, part);
    CHECK(loss != NULL && mw_tensor_graph(loss) == f->graph);
    mw_graph_destroy(f->graph);
}

/* ---- cross-entropy ---- */

static void refuse(const mw_cross_entropy_options *options, bool dense, mw_status status, const char *part)
{
    fixture f = make();
    expect(&f, mw_cross_entropy_with(f.x, dense ? f.p : f.labels, options), status, part);
}

static mw_cross_entropy_options weighted(const float *weights, size_t count)
{
    mw_cross_entropy_options options = mw_cross_entropy_defaults();
    options.class_weights = weights;
    options.class_count = count;
    return options;
}

static void test_options_of_cross_entropy_are_checked(void)
{
    const float negative[C] = {1, -2, 1, 1}, nan[C] = {1, 1, NAN, 1}, infinite[C] = {1, 1, 1, INFINITY}, none[C] = {0};
    mw_cross_entropy_options options = {.ignore_index = -100};
    refuse(NULL, false, MW_ERROR_ARGUMENT, "must come from mw_cross_entropy_defaults");
    refuse(&options, false, MW_ERROR_ARGUMENT, "must come from mw_cross_entropy_defaults");
    const float smoothings[] = {-0.5f, 1.5f, NAN};
    const char *const texts[] = {"label smoothing -0.5 is not in 0 .. 1", "label smoothing 1.5", "label smoothing nan"};
    for (int i = 0; i < 3; i++) {
        options = mw_cross_entropy_defaults();
        options.label_smoothing = smoothings[i];
        refuse(&options, false, MW_ERROR_ARGUMENT, texts[i]);
    }
    options = weighted(ones, 3);
    refuse(&options, false, MW_ERROR_SHAPE, "3 class weights for 4 classes");
    options = weighted(NULL, 4);
    refuse(&options, false, MW_ERROR_ARGUMENT, "4 class weights, but their array is NULL");
    options = weighted(ones, 0);
    refuse(&options, false, MW_ERROR_ARGUMENT, "0 class weights, but their array is not NULL");
    options = weighted(negative, C);
    refuse(&options, false, MW_ERROR_ARGUMENT, "the weight of class 1 is -2; weights are finite and 0 or more");
    options = weighted(nan, C);
    refuse(&options, true, MW_ERROR_ARGUMENT, "the weight of class 2 is nan");
    options = weighted(infinite, C);
    refuse(&options, false, MW_ERROR_ARGUMENT, "the weight of class 3 is inf");
    options = weighted(none, C);
    refuse(&options, false, MW_ERROR_ARGUMENT, "every class weight is 0");
    options = mw_cross_entropy_defaults();
    options.ignore_index = -100;
    refuse(&options, true, MW_ERROR_ARGUMENT, "probabilities have no label -100 to ignore");
}

static void test_defaults_are_the_plain_loss(void)
{
    fixture f = make();
    const mw_cross_entropy_options options = mw_cross_entropy_defaults();
    const size_t before = f.graph->value_count;
    mw_tensor *plain = mw_cross_entropy(f.x, f.labels);
    const size_t between = f.graph->value_count;
    mw_tensor *with = mw_cross_entropy_with(f.x, f.labels, &options);
    CHECK(plain != NULL && with != NULL && with->composite->weights == NULL);
    CHECK(with->composite->vjp == plain->composite->vjp);
    CHECK(f.graph->value_count - between <= between - before); /* constants are shared */
    mw_graph_destroy(f.graph);
}

/* ---- the others ---- */

static void test_numbers_of_losses_are_checked(void)
{
    fixture f = make();
    expect(&f, mw_huber(f.x, f.p, 0.0f), MW_ERROR_ARGUMENT, "huber: delta 0 must be positive and finite");
    f = make();
    expect(&f, mw_huber(f.x, f.p, NAN), MW_ERROR_ARGUMENT, "huber: delta nan");
    f = make();
    expect(&f, mw_smooth_l1(f.x, f.p, -1.0f), MW_ERROR_ARGUMENT, "smooth_l1: beta -1 must be finite and 0");
    f = make();
    expect(&f, mw_smooth_l1(f.x, f.p, INFINITY), MW_ERROR_ARGUMENT, "smooth_l1: beta inf");
    f = make();
    expect(&f, mw_multi_margin(f.x, f.labels, 0.0f), MW_ERROR_ARGUMENT, "multi_margin: margin 0 must be positive");
}

static void test_operands_of_losses_are_checked(void)
{
    mw_tensor *(*const pairs[])(mw_tensor *, mw_tensor *) = {mw_mse, mw_l1, mw_kl_divergence, mw_hinge};
    static const char *const names[] = {"mse: y", "l1: y", "kl_divergence: log_probabilities", "hinge: y"};
    char text[128];
    for (int i = 0; i < 4; i++) {
        fixture f = make();
        mw_tensor *narrow = mw_input(f.graph, "narrow", MW_F32, MW_SHAPE(N, 1));
        snprintf(text, sizeof text, "%s [3, 4] and target [3, 1] must have one shape", names[i]);
        expect(&f, pairs[i](f.x, narrow), MW_ERROR_SHAPE, text);
        f = make();
        mw_tensor *half = mw_input(f.graph, "half", MW_F16, MW_SHAPE(N, C));
        snprintf(text, sizeof text, "%s is fp32 and target fp16; both must be fp16 or both fp32 (use mw_cast)",
                 names[i]);
        expect(&f, pairs[i](f.x, half), MW_ERROR_DTYPE, text);
    }
    fixture f = make();
    expect(&f, mw_binary_cross_entropy(f.x, f.labels, NULL), MW_ERROR_SHAPE,
           "binary_cross_entropy: logits [3, 4] and target [3] must");
    f = make();
    mw_tensor *weight = mw_input(f.graph, "q", MW_F32, MW_SHAPE(2, N, C));
    expect(&f, mw_binary_cross_entropy(f.x, f.p, weight), MW_ERROR_SHAPE,
           "the positive weight [2, 3, 4] does not broadcast to the logits [3, 4]");
    f = make();
    expect(&f, mw_nll(f.x, f.p), MW_ERROR_DTYPE,
           "nll: logits are fp32 and labels fp32; logits must be fp16 or fp32, "
           "labels int32");
    f = make();
    mw_tensor *sequence = mw_input(f.graph, "s", MW_F32, MW_SHAPE(N, 5, C));
    expect(&f, mw_cross_entropy(sequence, f.labels), MW_ERROR_SHAPE, "logits [3, 5, 4] and labels [3] do not fit");
    f = make();
    expect(&f, mw_multi_margin(f.x, mw_input(f.graph, "l", MW_I32, MW_SHAPE(5)), 1.0f), MW_ERROR_SHAPE,
           "multi_margin: logits [3, 4] and labels [5] do not fit");
}

/* An ANE's softplus fails where the argument is large; here it is -|x|. */
static void test_softplus_is_taken_of_negative_numbers_only(void)
{
    fixture f = make();
    mw_error err = {0};
    mw_tensor *x[2] = {f.x, f.p}, *dx[2];
    mw_grad(mw_binary_cross_entropy(f.x, f.p, f.p), x, 2, dx, &err);
    CHECK_OK(err);
    const mw__block *body = mw__graph_main(f.graph)->body;
    int found = 0;
    for (size_t i = 0; i < body->op_count; i++) {
        if (strcmp(body->ops[i]->kind, "softplus") != 0)
            continue;
        const mw__op *minus = mw__arg(body->ops[i], "x")->op;
        REQUIRE(minus != NULL && strcmp(minus->kind, "mul") == 0);
        const mw__op *size = mw__arg(minus, "x")->op;
        CHECK(size != NULL && strcmp(size->kind, "abs") == 0);
        found++;
    }
    CHECK_INT(found, 2); /* forward, and backward for the target */
    mw_graph_destroy(f.graph);
}

/* ---- labels ---- */

static mw_tensor *ignoring(const fixture *f, int32_t index)
{
    mw_cross_entropy_options options = mw_cross_entropy_defaults();
    options.ignore_index = index;
    return mw_cross_entropy_with(f->x, f->labels, &options);
}

static void test_an_ignored_label_is_one_for_every_use(void)
{
    fixture f = make();
    ignoring(&f, -100);
    mw_accuracy_ignoring(f.x, f.labels, -100);
    CHECK(f.labels->index_use == MW__INDEX_IGNORES && f.labels->index_ignored == -100);
    CHECK_INT(f.labels->index_limit, C);
    mw_accuracy(f.x, f.labels); /* would count it as wrong */
    CHECK_INT(f.labels->index_use, MW__INDEX_STRICT);
    ignoring(&f, -100);
    CHECK_INT(f.labels->index_use, MW__INDEX_STRICT);
    mw_graph_destroy(f.graph);
    f = make();
    ignoring(&f, -100);
    mw_accuracy_ignoring(f.x, f.labels, -1);
    CHECK_INT(f.labels->index_use, MW__INDEX_STRICT);
    mw_graph_destroy(f.graph);
}

int main(void)
{
    RUN(test_options_of_cross_entropy_are_checked);
    RUN(test_defaults_are_the_plain_loss);
    RUN(test_numbers_of_losses_are_checked);
    RUN(test_operands_of_losses_are_checked);
    RUN(test_softplus_is_taken_of_negative_numbers_only);
    RUN(test_an_ignored_label_is_one_for_every_use);
    return check_finish();
}
