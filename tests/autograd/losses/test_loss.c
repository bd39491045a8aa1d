/* Losses and metrics against formulas written out in double, their gradients, and what they refuse. */
#include "support/check.h"
#include "support/oracles/oracle.h"

#include <millwright/millwright.h>

enum { N = 3, C = 4 };

static const double logits_at[N * C] = {1.0, -2.0, 0.5, 3.0, 700.0, 0.0, -700.0, 1.0, 2.0, 2.0, 2.0, -1.0};
static const double labels_at[N] = {3.0, 0.0, 1.0};
static const double shares_at[N * C] = {0.1, 0.2, 0.3, 0.4, 1.0, 0.0, 0.0, 0.0, 0.5, 0.25, 0.0, 0.0};

typedef struct fixture {
    mw_graph *graph;
    mw_tensor *logits, *labels;
    oracle o;
} fixture;

static fixture make(bool dense)
{
    fixture f = {.graph = mw_graph_create(NULL, NULL)};
    f.logits = mw_input(f.graph, "logits", MW_F32, MW_SHAPE(N, C));
    f.labels =
        dense ? mw_input(f.graph, "labels", MW_F32, MW_SHAPE(N, C)) : mw_input(f.graph, "labels", MW_I32, MW_SHAPE(N));
    return f;
}

static const double *run(fixture *f, const mw_tensor *value, bool dense)
{
    oracle_init(&f->o, f->graph);
    oracle_set(&f->o, f->logits, logits_at);
    oracle_set(&f->o, f->labels, dense ? shares_at : labels_at);
    return value != NULL && CHECK(oracle_run(&f->o)) ? oracle_get(&f->o, value) : NULL;
}

static void drop(fixture *f)
{
    oracle_deinit(&f->o);
    mw_graph_destroy(f->graph);
}

static double log_softmax(int n, int c)
{
    double largest = -INFINITY, sum = 0.0;
    for (int k = 0; k < C; k++)
        largest = fmax(largest, logits_at[n * C + k]);
    for (int k = 0; k < C; k++)
        sum += exp(logits_at[n * C + k] - largest);
    return logits_at[n * C + c] - largest - log(sum);
}

static double share(int n, int c, bool dense) { return dense ? shares_at[n * C + c] : labels_at[n] == c ? 1.0 : 0.0; }

static void check_cross_entropy(bool dense)
{
    fixture f = make(dense);
    mw_tensor *loss = mw_cross_entropy(f.logits, f.labels), *dx = NULL;
    mw_error err = {0};
    mw_grad(loss, &f.logits, 1, &dx, &err);
    CHECK_OK(err);
    double expected = 0.0;
    for (int n = 0; n < N; n++)
        for (int c = 0; c < C; c++)
            expected -= share(n, c, dense) == 0.0 ? 0.0 : share(n, c, dense) * log_softmax(n, c) / N;
    const double *got = run(&f, loss, dense);
    if (got != NULL)
        CHECK_NEAR(got[0], expected, 1e-9);
    const double *gradient = got != NULL ? oracle_get(&f.o, dx) : NULL;
    for (int n = 0; gradient != NULL && n < N; n++) {
        double whole = 0.0;
        for (int c = 0; c < C; c++)
            whole += share(n, c, dense);
        for (int c = 0; c < C; c++)
            CHECK_NEAR(gradient[n * C + c], (exp(log_softmax(n, c)) * whole - share(n, c, dense)) / N, 1e-8);
    }
    drop(&f);
}

static void test_cross_entropy_of_integer_labels(void) { check_cross_entropy(false); }

static void test_cross_entropy_of_probabilities(void) { check_cross_entropy(true); }

static void test_gradient_of_the_label_probabilities(void)
{
    fixture f = make(true);
    mw_tensor *dp = NULL;
    mw_error err = {0};
    mw_grad(mw_cross_entropy(f.logits, f.labels), &f.labels, 1, &dp, &err);
    CHECK_OK(err);
    const double *got = run(&f, dp, true);
    for (int i = 0; got != NULL && i < N * C; i++)
        CHECK_NEAR(got[i], -log_softmax(i / C, i % C) / N,
                   1e-7 * (1.0 - log_softmax(i / C, i % C))); /* 1 / N is fp32 */
    drop(&f);
}

static void test_loss_remembers_the_examples(void)
{
    fixture f = make(false);
    mw_tensor *loss = mw_cross_entropy(f.logits, f.labels);
    REQUIRE(loss != NULL && loss->composite != NULL && loss->composite->examples != NULL);
    const double *got = run(&f, loss->composite->examples, false);
    for (int n = 0; got != NULL && n < N; n++)
        CHECK_NEAR(got[n], -log_softmax(n, (int)labels_at[n]), 1e-9);
    drop(&f);
}

static void test_integer_labels_carry_their_limit(void)
{
    fixture f = make(false);
    mw_cross_entropy(f.logits, f.labels);
    CHECK_INT(f.labels->index_limit, C);
    mw_graph_destroy(f.graph);
}

/* Row 0 is right, row 1 is right, row 2 has three equal largest logits: the first counts, the label is the second. */
static void test_accuracy_gives_ties_to_the_lowest_class(void)
{
    fixture f = make(false);
    mw_tensor *accuracy = mw_accuracy(f.logits, f.labels);
    const double *got = run(&f, accuracy, false);
    if (got != NULL)
        CHECK_NEAR(got[0], 2.0 / 3.0, 1e-7);
    drop(&f);
}

static void test_accuracy_of_probabilities(void)
{
    fixture f = make(true);
    mw_tensor *accuracy = mw_accuracy(f.logits, f.labels);
    const double *got = run(&f, accuracy, true);
    if (got != NULL)
        CHECK_NEAR(got[0], 1.0, 1e-7);
    drop(&f);
}

static void test_mse_and_its_gradient(void)
{
    fixture f = make(true);
    mw_tensor *loss = mw_mse(f.logits, f.labels), *d[2], *x[2] = {f.logits, f.labels};
    mw_error err = {0};
    mw_grad(loss, x, 2, d, &err);
    CHECK_OK(err);
    double expected = 0.0;
    for (int i = 0; i < N * C; i++)
        expected += (logits_at[i] - shares_at[i]) * (logits_at[i] - shares_at[i]) / (N * C);
    const double *got = run(&f, loss, true);
    if (got != NULL) {
        CHECK_NEAR(got[0], expected, 1e-6 * expected);
        CHECK_NEAR(oracle_get(&f.o, d[0])[3], 2.0 * (3.0 - 0.4) / (N * C), 1e-6);
        CHECK_NEAR(oracle_get(&f.o, d[1])[3], -2.0 * (3.0 - 0.4) / (N * C), 1e-6);
    }
    drop(&f);
}

/* ---- refusals: the graph keeps the first error ---- */

static void expect(mw_graph *graph, mw_status status, const char *part)
{
    mw_error err = {0};
    mw_graph_check(graph, &err);
    CHECK_ERROR(err, status, part);
    mw_graph_destroy(graph);
}

static void test_labels_of_another_length_are_refused_with_both_shapes(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *logits = mw_input(graph, "logits", MW_F32, MW_SHAPE(N, C));
    mw_cross_entropy(logits, mw_input(graph, "labels", MW_I32, MW_SHAPE(5)));
    expect(graph, MW_ERROR_SHAPE, "logits [3, 4] and labels [5]");
}

static void test_labels_of_another_type_are_refused(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *logits = mw_input(graph, "logits", MW_F32, MW_SHAPE(N, C));
    mw_cross_entropy(logits, mw_input(graph, "labels", MW_F16, MW_SHAPE(N, C)));
    expect(graph, MW_ERROR_DTYPE, "labels fp16");
}

static void test_mse_of_different_shapes_is_refused(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *y = mw_input(graph, "y", MW_F32, MW_SHAPE(N, C));
    mw_mse(y, mw_input(graph, "t", MW_F32, MW_SHAPE(N, 1)));
    expect(graph, MW_ERROR_SHAPE, "y [3, 4] and target [3, 1]");
}

/* The loss of a failed graph is not NULL, so that what is made from it can report the graph's first error. */
static void test_loss_of_a_failed_graph_leads_to_its_error(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(N, C)), *y = mw_input(graph, "y", MW_I32, MW_SHAPE(N));
    mw_tensor *bad = mw_matmul(x, x, MW_TRANSPOSE_NONE);
    mw_tensor *losses[] = {mw_cross_entropy(bad, y), mw_accuracy(bad, y), mw_mse(bad, x), mw_mse(x, bad)};
    CHECK(bad == NULL);
    for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++) {
        mw_error err = {0};
        mw_tensor *dx = x;
        CHECK(losses[i] != NULL && mw_tensor_graph(losses[i]) == graph);
        CHECK(mw_grad(losses[i], &x, 1, &dx, &err) != MW_OK && dx == NULL);
        CHECK_ERROR(err, MW_ERROR_SHAPE, "matmul #1: inner dimensions differ");
        CHECK(mw_mul_scalar(losses[i], 2) == NULL && mw_output(losses[i], "loss") == NULL);
    }
    CHECK(mw_cross_entropy(NULL, NULL) == NULL && mw_mse(NULL, NULL) == NULL);
    mw_graph_destroy(graph);
    graph = mw_graph_create(NULL, NULL);
    CHECK(mw_mse(NULL, mw_input(graph, "x", MW_F32, MW_SHAPE(N))) == NULL); /* nothing failed */
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_cross_entropy_of_integer_labels);
    RUN(test_cross_entropy_of_probabilities);
    RUN(test_gradient_of_the_label_probabilities);
    RUN(test_loss_remembers_the_examples);
    RUN(test_integer_labels_carry_their_limit);
    RUN(test_accuracy_gives_ties_to_the_lowest_class);
    RUN(test_accuracy_of_probabilities);
    RUN(test_mse_and_its_gradient);
    RUN(test_labels_of_another_length_are_refused_with_both_shapes);
    RUN(test_labels_of_another_type_are_refused);
    RUN(test_mse_of_different_shapes_is_refused);
    RUN(test_loss_of_a_failed_graph_leads_to_its_error);
    return check_finish();
}
