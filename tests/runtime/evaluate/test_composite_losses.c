/* Losses and metrics that are put together from several: evaluated over a set that no batch divides, against the same
 * formula in double over the whole set, for batches of different sizes. */
#include "runtime/small.h"
#include "support/check.h"

#include <millwright/millwright.h>
#include <stdlib.h>

enum { D = SMALL_D, C = SMALL_C, EXAMPLES = 37, IGNORED = 2 };

static const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};
static const int batches[] = {7, 8, 13};

/* ---- the model and its data ---- */

typedef struct net {
    mw_graph *graph;
    mw_tensor *x, *y, *target, *mask, *logits, *weight;
    int batch;
} net;

static net make_net(int batch)
{
    net n = {.graph = mw_graph_create(NULL, NULL), .batch = batch};
    n.x = mw_input(n.graph, "x", MW_F32, MW_SHAPE(batch, D));
    n.y = mw_input(n.graph, "y", MW_I32, MW_SHAPE(batch));
    n.target = mw_input(n.graph, "target", MW_F32, MW_SHAPE(batch, C));
    n.mask = mw_input(n.graph, "mask", MW_F32, MW_SHAPE(batch));
    n.logits = mw_dense(mw_tanh(mw_dense(n.x, SMALL_H, "fc1")), C, "fc2");
    n.weight = mw_graph_find(n.graph, "fc1.weight");
    return n;
}

static float target_of(int n, int c) { return (float)((n * 7 + c * 3) % 11) / 11.0f - 0.4f; }

static float mask_of(int n) { return n % 3 == 0 ? 0.0f : (float)(n % 4); }

static mw_dataset *make_data(int examples, mw_error *err)
{
    static float target[EXAMPLES * C], mask[EXAMPLES];
    const small_data raw = small_make_data();
    for (int n = 0; n < examples; n++) {
        mask[n] = mask_of(n);
        for (int c = 0; c < C; c++)
            target[n * C + c] = target_of(n, c);
    }
    const mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(D), .data = raw.x},
                                 {.name = "y", .dtype = MW_I32, .shape = {0}, .data = raw.y},
                                 {.name = "target", .dtype = MW_F32, .shape = MW_SHAPE(C), .data = target},
                                 {.name = "mask", .dtype = MW_F32, .shape = {0}, .data = mask}};
    return mw_dataset_create(columns, 4, examples, true, err);
}

/* ---- the same in double ---- */

typedef struct truth {
    small_data data;
    small_weights weights;
    double logits[EXAMPLES][C];
    int batch;
} truth;

static void fill_truth(truth *t, mw_trainer *trainer, int batch, mw_error *err)
{
    t->data = small_make_data();
    t->weights = small_read(trainer, err);
    t->batch = batch;
    for (int n = 0; n < EXAMPLES; n++)
        small_logits(&t->weights, &t->data.x[n * D], t->logits[n]);
}

static double entropy_of(const truth *t, int n)
{
    double sum = 0;
    for (int c = 0; c < C; c++)
        sum += exp(t->logits[n][c]);
    return log(sum) - t->logits[n][t->data.y[n]];
}

static double squares_of(const truth *t, int n)
{
    double sum = 0;
    for (int c = 0; c < C; c++)
        sum += t->logits[n][c] * t->logits[n][c];
    return sum;
}

static double error_of(const truth *t, int n)
{
    double sum = 0;
    for (int c = 0; c < C; c++)
        sum += (t->logits[n][c] - (double)target_of(n, c)) * (t->logits[n][c] - (double)target_of(n, c)) / C;
    return sum;
}

static double mean_of(const truth *t, double (*of)(const truth *t, int n))
{
    double sum = 0;
    for (int n = 0; n < EXAMPLES; n++)
        sum += of(t, n);
    return sum / EXAMPLES;
}

static double norm_of(const truth *t)
{
    double sum = 0;
    for (int i = 0; i < SMALL_H * D; i++)
        sum += t->weights.value[i] * t->weights.value[i];
    return sum;
}

/* ---- the losses ---- */

static mw_tensor *total(mw_tensor *x) { return mw_reduce_sum(x, MW_ALL_AXES, false); }
static mw_tensor *mean(mw_tensor *x) { return mw_reduce_mean(x, MW_ALL_AXES, false); }
static mw_tensor *entropy(const net *n) { return mw_cross_entropy(n->logits, n->y); }
static mw_tensor *error(const net *n) { return mw_mse(n->logits, n->target); }
static mw_tensor *norm(const net *n) { return total(mw_square(n->weight)); }

static mw_tensor *with_l2(const net *n) { return mw_add(entropy(n), mw_mul_scalar(norm(n), 0.01)); }
static double with_l2_of(const truth *t) { return mean_of(t, entropy_of) + 0.01 * norm_of(t); }

static const float class_weights[C] = {0.5f, 2.0f, 1.25f};

static mw_tensor *two_entropies(const net *n)
{
    mw_cross_entropy_options weighted = mw_cross_entropy_defaults(), ignoring = mw_cross_entropy_defaults();
    weighted.class_count = C;
    weighted.class_weights = class_weights;
    ignoring.ignore_index = IGNORED;
    mw_tensor *first = mw_mul_scalar(mw_cross_entropy_with(n->logits, n->y, &weighted), 0.3);
    return mw_sub(first, mw_mul_scalar(mw_cross_entropy_with(n->logits, n->y, &ignoring), -0.7));
}

static double two_entropies_of(const truth *t)
{
    double sum = 0, weight = 0, rest = 0, counted = 0;
    for (int n = 0; n < EXAMPLES; n++) {
        const double w = (double)class_weights[t->data.y[n]], one = t->data.y[n] != IGNORED ? 1 : 0;
        sum += w * entropy_of(t, n);
        weight += w;
        rest += one * entropy_of(t, n);
        counted += one;
    }
    return 0.3 * sum / weight + 0.7 * rest / counted;
}

/* Weights that are learned: exp(-s) l + s for each of two losses. source: Kendall, Gal and Cipolla 2018 */
static mw_tensor *learned_weights(const net *n)
{
    mw_tensor *s = mw_parameter(n->graph, "s", MW_F32, MW_SHAPE(1), mw_init_constant(0.5f));
    mw_tensor *r = mw_parameter(n->graph, "r", MW_F32, mw_shape_scalar(), mw_init_constant(-0.25f));
    mw_tensor *first = mw_add(mw_mul(mw_exp(mw_neg(s)), error(n)), s);
    mw_tensor *second = mw_add(r, mw_real_div(entropy(n), mw_exp(r)));
    return mw_add(mw_squeeze(first, MW_AXES(0)), second);
}

static double learned_weights_of(const truth *t)
{
    return exp(-0.5) * mean_of(t, error_of) + 0.5 + mean_of(t, entropy_of) / exp(-0.25) - 0.25;
}

static mw_tensor *masked(const net *n)
{
    mw_tensor *each = mw_reduce_sum(mw_square(n->logits), MW_AXES(1), false);
    return mw_add_scalar(mw_real_div(total(mw_mul(n->mask, each)), total(n->mask)), 1.5);
}

static double masked_of(const truth *t)
{
    double sum = 0, weight = 0;
    for (int n = 0; n < EXAMPLES; n++) {
        sum += (double)mask_of(n) * squares_of(t, n);
        weight += (double)mask_of(n);
    }
    return sum / weight + 1.5;
}

static mw_tensor *batch_sum(const net *n) { return total(mw_square(n->logits)); }
static double batch_sum_of(const truth *t) { return t->batch * mean_of(t, squares_of); }

static mw_tensor *divided_sum(const net *n) { return mw_mul_scalar(batch_sum(n), 1.0 / n->batch); }
static double divided_sum_of(const truth *t) { return mean_of(t, squares_of); }

/* The mean over the batch first; then two scalars side by side. */
static mw_tensor *outside_in(const net *n)
{
    mw_tensor *by_class = mw_reduce_mean(mw_transpose(mw_square(n->logits), MW_AXES(1, 0)), MW_AXES(1), true);
    mw_tensor *first = total(mw_reshape(by_class, MW_SHAPE(C))), *last = error(n);
    mw_tensor *joined[] = {mw_expand_dims(first, MW_AXES(0)), mw_reshape(last, MW_SHAPE(1))};
    return mean(mw_concat(joined, 2, 0));
}

static double outside_in_of(const truth *t) { return 0.5 * (mean_of(t, squares_of) + mean_of(t, error_of)); }

/* An example's loss with the mean of all in its middle: sum(l + mean(e)). */
static mw_tensor *broadcast(const net *n)
{
    mw_tensor *each = mw_reduce_sum(mw_square(n->logits), MW_AXES(1), false);
    return mean(mw_sub(each, error(n)));
}

static double broadcast_of(const truth *t) { return mean_of(t, squares_of) - mean_of(t, error_of); }

static mw_status pass(const mw_custom_vjp_call *call, mw_tensor **out_dx, mw_error *err)
{
    (void)err;
    out_dx[0] = call->dy;
    return MW_OK;
}

/* What autograd wraps around values, and changes of type. */
static mw_tensor *wrapped(const net *n)
{
    mw_tensor *first = entropy(n), *second = error(n), *x = n->x, *third = norm(n);
    first = mw_cast(mw_cast(mw_recompute(first, &x, 1), MW_F16), MW_F32);
    second = mw_custom_vjp("pass", second, &second, 1, pass, NULL);
    return mw_add(mw_add(first, mw_stop_gradient(second)), mw_stop_gradient(third));
}

static double wrapped_of(const truth *t) { return mean_of(t, entropy_of) + mean_of(t, error_of) + norm_of(t); }

/* Two runs of the batch along one axis. */
static mw_tensor *two_runs(const net *n)
{
    mw_tensor *runs[] = {mw_square(n->logits), mw_mul_scalar(mw_square(n->logits), 3.0)};
    return mean(mw_concat(runs, 2, 0));
}

static double two_runs_of(const truth *t) { return 2.0 * mean_of(t, squares_of) / C; }

/* The sums of squares and of magnitudes as one operation each. */
static mw_tensor *norms(const net *n)
{
    mw_tensor *squares = mw_reduce_sum_square(n->logits, MW_ALL_AXES, false);
    mw_tensor *magnitudes = mw_reduce_l1_norm(mw_sub(n->logits, n->target), MW_ALL_AXES, false);
    return mw_mul_scalar(mw_add(squares, mw_mul_scalar(magnitudes, 2.0)), 1.0 / n->batch);
}

static double magnitudes_of(const truth *t, int n)
{
    double sum = 0;
    for (int c = 0; c < C; c++)
        sum += fabs(t->logits[n][c] - (double)target_of(n, c));
    return sum;
}

static double norms_of(const truth *t) { return mean_of(t, squares_of) + 2.0 * mean_of(t, magnitudes_of); }

typedef struct composite {
    const char *name;
    mw_tensor *(*build)(const net *n);
    double (*expected)(const truth *t);
} composite;

static const composite composites[] = {
    {"cross-entropy and L2", with_l2, with_l2_of},
    {"two entropies", two_entropies, two_entropies_of},
    {"learned weights", learned_weights, learned_weights_of},
    {"masked mean", masked, masked_of},
    {"sum over the batch", batch_sum, batch_sum_of},
    {"divided sum", divided_sum, divided_sum_of},
    {"outside in", outside_in, outside_in_of},
    {"broadcast mean", broadcast, broadcast_of},
    {"wrapped", wrapped, wrapped_of},
    {"two runs", two_runs, two_runs_of},
    {"norms", norms, norms_of},
};
enum { COMPOSITES = sizeof composites / sizeof *composites };

static int warnings;
static char warning[1024];

static void remember(void *user, mw_log_level level, const char *line)
{
    (void)user;
    warnings += level == MW_LOG_WARNING;
    snprintf(warning, sizeof warning, "%s", line);
}

static mw_trainer *make_trainer(net *n, mw_tensor *loss, const mw_metric *metrics, size_t count, mw_device device,
                                mw_error *err)
{
    mw_trainer_options options = mw_trainer_defaults(loss, mw_sgd(0.01f));
    options.metrics = metrics;
    options.metric_count = count;
    options.compile.device = device;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.seed = 3;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(n->graph);
    return trainer;
}

/* The composite as the loss, and as the second of three metrics. */
static void evaluate_both(const composite *c, mw_device device, int batch, mw_evaluation *out, double *expected)
{
    mw_error err = {0};
    net n = make_net(batch);
    mw_tensor *loss = c->build(&n);
    const mw_metric metrics[] = {{"accuracy", mw_accuracy(n.logits, n.y)}, {c->name, loss}, {"error", error(&n)}};
    mw_trainer *trainer = make_trainer(&n, loss, metrics, 3, device, &err);
    mw_dataset *data = make_data(EXAMPLES, &err);
    mw_trainer_evaluate(trainer, data, NULL, out, &err);
    if (check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", c->name, err.message)) {
        truth t;
        fill_truth(&t, trainer, batch, &err);
        *expected = c->expected(&t);
        CHECK_INT(out->examples, EXAMPLES);
        CHECK_INT(out->metric_count, 3);
        CHECK_STR(out->metrics[0].name, "accuracy");
        CHECK_NEAR(out->metrics[0].value, small_accuracy(&t.weights, &t.data, 0, EXAMPLES), 1e-9);
        CHECK_STR(out->metrics[1].name, c->name);
        CHECK_STR(out->metrics[2].name, "error");
        CHECK_NEAR(out->metrics[2].value, mean_of(&t, error_of), device == MW_DEVICE_CPU ? 1e-6 : 2e-3);
    }
    mw_dataset_destroy(data);
    mw_trainer_destroy(trainer);
}

static void test_composites_are_exact_over_the_whole_set(void)
{
    warnings = 0;
    mw_log_set(remember, NULL);
    for (int k = 0; k < COMPOSITES * 6; k++) {
        const composite *c = &composites[k / 6];
        const mw_device device = devices[k % 2];
        const int batch = batches[k / 2 % 3];
        mw_evaluation found = {0};
        double expected = -1;
        evaluate_both(c, device, batch, &found, &expected);
        /* fp32: an ulp for each of a few operations; mask 4 rounds each value to fp16, 2^-11 of it */
        const double limit = (device == MW_DEVICE_CPU ? 1e-6 : 2e-3) * fmax(1.0, fabs(expected));
        check_note(fabs(found.loss - expected) < limit, __FILE__, __LINE__, "%s, batch %d, device %d: %.9g, not %.9g",
                   c->name, batch, (int)device, found.loss, expected);
        CHECK(found.metrics[1].value == found.loss);
    }
    mw_log_set(NULL, NULL);
    CHECK_INT(warnings, 0);
}

/* ---- what compares examples ---- */

static mw_tensor *root(const net *n) { return mw_name(mw_sqrt(error(n)), "rmse"); }

static mw_tensor *product(const net *n) { return mw_mul(entropy(n), error(n)); }

/* Each example's logits against those of all others. */
static mw_tensor *contrast(const net *n)
{
    mw_tensor *similar = mw_name(mw_matmul(n->logits, n->logits, MW_TRANSPOSE_Y), "similar");
    return mw_cross_entropy(similar, mw_range_1d(n->graph, MW_I32, 0.0, n->batch, 1.0));
}

/* One batch; its empty places hold the last example. */
static double contrast_of(const truth *t, const int *ids)
{
    double loss = 0;
    for (int i = 0; i < t->batch; i++) {
        double sum = 0, own = 0;
        for (int k = 0; k < t->batch; k++) {
            double dot = 0;
            for (int c = 0; c < C; c++)
                dot += t->logits[ids[i]][c] * t->logits[ids[k]][c];
            sum += exp(dot);
            own = k == i ? dot : own;
        }
        loss += (log(sum) - own) / t->batch;
    }
    return loss;
}

static double batch_mean(const truth *t, const int *ids, double (*of)(const truth *t, int n))
{
    double sum = 0;
    for (int i = 0; i < t->batch; i++)
        sum += of(t, ids[i]) / t->batch;
    return sum;
}

static double root_of(const truth *t, const int *ids) { return sqrt(batch_mean(t, ids, error_of)); }

static double product_of(const truth *t, const int *ids)
{
    return batch_mean(t, ids, entropy_of) * batch_mean(t, ids, error_of);
}

static double over_batches(const truth *t, double (*of)(const truth *t, const int *ids))
{
    double sum = 0;
    for (int first = 0; first < EXAMPLES; first += t->batch) {
        int ids[16];
        const int left = EXAMPLES - first < t->batch ? EXAMPLES - first : t->batch;
        for (int i = 0; i < t->batch; i++)
            ids[i] = first + (i < left ? i : left - 1);
        sum += left * of(t, ids);
    }
    return sum / EXAMPLES;
}

static const struct {
    mw_tensor *(*build)(const net *n);
    double (*of)(const truth *t, const int *ids);
    const char *said[3];
} others[] = {
    {root, root_of, {"the metric \"other\" has the term sqrt \"rmse\"", "works on what reduce_mean made", "copies"}},
    {product, product_of, {"has the term mul", "mul works on what", "mean over the batches"}},
    {contrast, contrast_of, {"has the term", "matmul \"similar\"", "of several examples"}},
};

/* The terms beside it stay exact, and the note is said once. */
static void test_other_terms_are_means_over_batches_with_one_note(void)
{
    for (int k = 0; k < 9; k++) {
        mw_error err = {0};
        net n = make_net(batches[k % 3]);
        const mw_metric metric = {"other", mw_add(with_l2(&n), others[k / 3].build(&n))};
        mw_trainer *trainer = make_trainer(&n, error(&n), &metric, 1, MW_DEVICE_CPU, &err);
        mw_dataset *data = make_data(EXAMPLES, &err);
        mw_evaluation found, again;
        truth t;
        warnings = 0;
        mw_log_set(remember, NULL);
        mw_trainer_evaluate(trainer, data, NULL, &found, &err);
        mw_trainer_evaluate(trainer, data, NULL, &again, &err);
        mw_log_set(NULL, NULL);
        if (CHECK_OK(err)) {
            fill_truth(&t, trainer, n.batch, &err);
            CHECK_NEAR(found.metrics[0].value, with_l2_of(&t) + over_batches(&t, others[k / 3].of), 2e-6);
            CHECK(found.metrics[0].value == again.metrics[0].value);
            CHECK_INT(warnings, 1);
            for (int i = 0; i < 3; i++)
                CHECK_CONTAINS(warning, others[k / 3].said[i]);
        }
        mw_dataset_destroy(data);
        mw_trainer_destroy(trainer);
    }
}

int main(void)
{
    unsetenv("MW_E5RT_LIBRARY");
    RUN(test_composites_are_exact_over_the_whole_set);
    RUN(test_other_terms_are_means_over_batches_with_one_note);
    return check_finish();
}
