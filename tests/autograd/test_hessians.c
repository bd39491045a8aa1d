/* Second derivatives of every loss and every layer that the public headers declare: the whole Hessian over all inputs
 * and parameters is symmetric, and is what differences of the gradient say. Both are evaluated by the oracle in double,
 * in the form for the CPU and in that for chips. */
#include "base/number/random.h"
#include "support/check.h"
#include "support/losses.h"
#include "support/oracles/oracle.h"

#include <dirent.h>
#include <math.h>
#include <millwright/millwright.h>
#include <stdlib.h>

enum { N = 2, C = 4, SIDE = 3, DEPTH = 3, VARIABLES = 16, ELEMENTS = 160 };

typedef struct row {
    const char *function, *detail;
    mw_tensor *(*build)(mw_graph *g);
} row;

/* ---- rows ---- */

/* An input named "p.." is drawn from 0.1 .. 0.9, others from -1 .. 1. */
static mw_tensor *input(mw_graph *g, const char *name) { return mw_input(g, name, MW_F32, MW_SHAPE(N, C)); }
static mw_tensor *image(mw_graph *g) { return mw_input(g, "image", MW_F32, MW_SHAPE(N, 2, SIDE, SIDE)); }
static mw_tensor *sequence(mw_graph *g) { return mw_input(g, "sequence", MW_F32, MW_SHAPE(3, N, DEPTH)); }

static mw_tensor *labels(mw_graph *g)
{
    static const int32_t values[N] = {2, 0};
    return mw_constant(g, MW_I32, MW_SHAPE(N), values);
}

/* A scalar in which every element counts differently and has a second derivative. */
static mw_tensor *scalar_of(mw_tensor *y)
{
    if (y == NULL)
        return NULL;
    const int64_t count = mw_shape_count(mw_tensor_shape(y));
    float *weights = malloc((size_t)count * sizeof *weights);
    for (int64_t i = 0; i < count; i++)
        weights[i] = 0.5F + (float)(i * 7 % 5) / 4.0F;
    mw_tensor *w = mw_constant(mw_tensor_graph(y), MW_F32, mw_tensor_shape(y), weights);
    free(weights);
    return mw_reduce_sum(mw_mul(mw_mul(y, w), mw_add_scalar(y, 1.0)), MW_ALL_AXES, false);
}

static mw_tensor *with_options(mw_graph *g, mw_tensor *targets, bool weighted, float smoothing, int32_t ignored)
{
    static const float weights[C] = {1.0F, 2.0F, 0.5F, 1.5F};
    mw_cross_entropy_options options = mw_cross_entropy_defaults();
    options.class_weights = weighted ? weights : NULL;
    options.class_count = weighted ? C : 0;
    options.label_smoothing = smoothing;
    options.ignore_index = ignored;
    return mw_cross_entropy_with(input(g, "x"), targets, &options);
}

static mw_tensor *confident(mw_graph *g)
{
    static const float lead[C] = {0.0F, 6.0F, 0.0F, 0.0F};
    return mw_add(input(g, "x"), mw_constant(g, MW_F32, MW_SHAPE(C), lead));
}

static mw_tensor *recurrent(mw_graph *g, bool gru)
{
    mw_recurrent_layer_options options = mw_recurrent_layer_defaults();
    options.bidirectional = !gru;
    mw_tensor *x = sequence(g);
    mw_recurrent r = gru ? mw_gru_layer(x, 2, "r", &options) : mw_lstm_layer(x, 1, "r", &options);
    return scalar_of(r.y);
}

static mw_tensor *dilated(mw_graph *g)
{
    mw_conv_options options = mw_conv_defaults();
    options.dilation[1] = 2;
    options.groups = 2;
    options.pad_type = MW_PAD_SAME;
    return mw_conv_layer(image(g), 2, MW_SHAPE(2, 2), "c", &options);
}

static loss_operands operands(mw_graph *g)
{
    static const float signs[N] = {1.0F, -1.0F};
    return (loss_operands){.x = input(g, "x"),
                           .y = input(g, "y"),
                           .z = input(g, "z"),
                           .p = input(g, "p"),
                           .l = labels(g),
                           .s = mw_constant(g, MW_F32, MW_SHAPE(N), signs)};
}

#define LOSS_ROW(id, function, operand, expression) LOSS_BUILDER(id, operands, expression)
#include "support/losses.def"
#undef LOSS_ROW

#define ROW(name, expression)                                                                                          \
    static mw_tensor *name(mw_graph *g) { return expression; }

/* clang-format off */
ROW(ce_labels, mw_cross_entropy(input(g, "x"), labels(g)))
ROW(ce_probabilities, mw_cross_entropy(input(g, "x"), input(g, "p")))
ROW(ce_confident, mw_cross_entropy(confident(g), input(g, "p")))
ROW(ce_flat, mw_cross_entropy(mw_mul_scalar(input(g, "x"), 0.125), input(g, "p")))
ROW(ce_weighted, with_options(g, labels(g), true, 0.0F, MW_IGNORE_NOTHING))
ROW(ce_smooth, with_options(g, labels(g), true, 0.2F, 0))
ROW(ce_smooth_probabilities, with_options(g, input(g, "p"), true, 0.2F, MW_IGNORE_NOTHING))
ROW(nll, mw_nll(mw_log_softmax(input(g, "x"), -1), labels(g)))
ROW(multi_margin, mw_multi_margin(mw_square(input(g, "x")), labels(g), 1.0F))
ROW(mse, mw_mse(input(g, "x"), input(g, "y")))
ROW(l1, mw_l1(mw_square(input(g, "x")), input(g, "y")))
ROW(huber, mw_huber(input(g, "x"), input(g, "y"), 0.5F))
ROW(smooth_l1, mw_smooth_l1(input(g, "x"), input(g, "y"), 0.5F))
ROW(bce, mw_binary_cross_entropy(input(g, "x"), input(g, "p"), NULL))
ROW(bce_weighted, mw_binary_cross_entropy(input(g, "x"), input(g, "p"), mw_input(g, "pw", MW_F32, MW_SHAPE(C))))
ROW(kl, mw_kl_divergence(mw_log_softmax(input(g, "x"), -1), input(g, "p")))
ROW(hinge, mw_hinge(mw_square(input(g, "x")), input(g, "y")))
ROW(log_softmax, scalar_of(mw_log_softmax(confident(g), -1)))
ROW(rms_norm, scalar_of(mw_rms_norm(input(g, "x"), MW_AXES(1), NULL, 1e-3F)))
ROW(dense, scalar_of(mw_tanh(mw_dense(input(g, "x"), 3, "d"))))
ROW(conv, scalar_of(mw_conv_layer(image(g), 2, MW_SHAPE(2, 2), "c", NULL)))
ROW(conv_dilated, scalar_of(dilated(g)))
ROW(conv_transpose, scalar_of(mw_conv_transpose_layer(image(g), 2, MW_SHAPE(2, 2), "c", NULL)))
ROW(embedding, scalar_of(mw_embedding(labels(g), 4, DEPTH, "e")))
ROW(layer_norm, scalar_of(mw_layer_norm_layer(input(g, "x"), 1, 1e-3F, "n")))
ROW(rms_norm_layer, scalar_of(mw_rms_norm_layer(input(g, "x"), 1, 1e-3F, "n")))
ROW(group_norm, scalar_of(mw_group_norm_layer(image(g), 2, 1e-3F, "n")))
ROW(instance_norm, scalar_of(mw_instance_norm_layer(image(g), 1e-3F, "n")))
ROW(batch_norm, scalar_of(mw_batch_norm_layer(image(g), 0.1F, 1e-3F, "n")))
ROW(dropout, scalar_of(mw_dropout(mw_tanh(input(g, "x")), 0.3F, "d")))
ROW(lstm, recurrent(g, false))
ROW(gru, recurrent(g, true))
ROW(attention, scalar_of(mw_multi_head_attention_layer(sequence(g), NULL, NULL, 1, NULL, "a")))
/* clang-format on */

static const row rows[] = {
    {"mw_cross_entropy", "labels", ce_labels},
    {"mw_cross_entropy", "probabilities", ce_probabilities},
    {"mw_cross_entropy", "probabilities, one class far ahead", ce_confident},
    {"mw_cross_entropy", "probabilities, no class ahead", ce_flat},
    {"mw_cross_entropy_with", "weights", ce_weighted},
    {"mw_cross_entropy_with", "weights, smoothing, an ignored label", ce_smooth},
    {"mw_cross_entropy_with", "probabilities, weights, smoothing", ce_smooth_probabilities},
    {"mw_nll", "", nll},
    {"mw_multi_margin", "", multi_margin},
    {"mw_mse", "", mse},
    {"mw_l1", "", l1},
    {"mw_huber", "", huber},
    {"mw_smooth_l1", "", smooth_l1},
    {"mw_binary_cross_entropy", "", bce},
    {"mw_binary_cross_entropy", "weight", bce_weighted},
    {"mw_kl_divergence", "", kl},
    {"mw_hinge", "", hinge},
#define LOSS_ROW(id, function, operand, expression) {#function, #id, id},
#include "support/losses.def"
#undef LOSS_ROW
    {"mw_log_softmax", "", log_softmax},
    {"mw_rms_norm", "", rms_norm},
    {"mw_dense", "", dense},
    {"mw_conv_layer", "", conv},
    {"mw_conv_layer", "dilated, groups", conv_dilated},
    {"mw_conv_transpose_layer", "", conv_transpose},
    {"mw_embedding", "", embedding},
    {"mw_layer_norm_layer", "", layer_norm},
    {"mw_rms_norm_layer", "", rms_norm_layer},
    {"mw_group_norm_layer", "", group_norm},
    {"mw_instance_norm_layer", "", instance_norm},
    {"mw_batch_norm_layer", "", batch_norm},
    {"mw_dropout", "", dropout},
    {"mw_lstm_layer", "both directions", lstm},
    {"mw_gru_layer", "", gru},
    {"mw_multi_head_attention_layer", "", attention},
};

/* What has no derivative: metrics and noise. */
static const char *const without[] = {"mw_accuracy", "mw_accuracy_ignoring", "mw_noise_normal", "mw_noise_uniform",
                                      "mw_noise_bernoulli"};

/* ---- the problem ---- */

typedef struct problem {
    const row *row;
    mw_graph *graph;
    mw_tensor *x[VARIABLES], *v[VARIABLES], *g[VARIABLES], *hv[VARIABLES];
    size_t first[VARIABLES + 1]; /* of the elements of each variable */
    size_t count;
    double at[ELEMENTS];
    double h[ELEMENTS][ELEMENTS]; /* [row][column] */
    oracle o;
} problem;

static void draw_leaf(problem *p, mw_tensor *leaf, mw__random *random)
{
    const size_t count = (size_t)oracle_count(leaf);
    double values[ELEMENTS];
    const bool generator = strstr(mw_tensor_name(leaf), "generator") != NULL;
    const bool share = mw_tensor_name(leaf)[0] == 'p', trained = leaf->role != MW__RESIDENT;
    for (size_t i = 0; i < count && i < ELEMENTS; i++) {
        const double u = (double)mw__random_uniform(random);
        values[i] = generator ? floor(u * 30.0) : share ? 0.1 + 0.8 * u : 2.0 * u - 1.0;
    }
    oracle_set(&p->o, leaf, values);
    if (!trained || !CHECK(p->count < VARIABLES && p->first[p->count] + count <= ELEMENTS))
        return;
    memcpy(p->at + p->first[p->count], values, count * sizeof *values);
    p->first[p->count + 1] = p->first[p->count] + count;
    p->x[p->count++] = leaf;
}

static bool is_leaf(const mw_tensor *value)
{
    return value->role != MW__VALUE && mw_tensor_dtype(value) == MW_F32 && value->name != NULL;
}

static bool setup(problem *p, const row *r, bool decomposed)
{
    *p = (problem){.row = r, .graph = mw_graph_create(NULL, NULL)};
    p->graph->lowering = decomposed ? MW__LOWERING_DECOMPOSED : MW__LOWERING_NATIVE;
    mw_tensor *y = r->build(p->graph);
    mw_error err = {0};
    mw__random random = {.seed = 11};
    oracle_init(&p->o, p->graph);
    const size_t values = p->graph->value_count;
    for (size_t i = 0; i < values; i++)
        if (is_leaf(p->graph->values[i]))
            draw_leaf(p, p->graph->values[i], &random);
    for (size_t i = 0; i < p->count; i++) {
        char name[16];
        snprintf(name, sizeof name, "v.%zu", i);
        p->v[i] = mw_input(p->graph, name, MW_F32, mw_tensor_shape(p->x[i]));
    }
    mw_graph_check(p->graph, &err);
    mw_grad(y, p->x, p->count, p->g, &err);
    mw_hvp(y, p->x, p->v, p->count, p->hv, &err);
    return check_note(err.status == MW_OK && p->count > 0, __FILE__, __LINE__, "%s (%s): %s", r->function, r->detail,
                      err.message);
}

static void teardown(problem *p)
{
    oracle_deinit(&p->o);
    mw_graph_destroy(p->graph);
}

static void set_all(problem *p, mw_tensor *const *leaves, const double *values)
{
    for (size_t i = 0; i < p->count; i++)
        oracle_set(&p->o, leaves[i], values + p->first[i]);
}

static bool get_all(problem *p, mw_tensor *const *from, double *out)
{
    if (!check_note(oracle_run(&p->o), __FILE__, __LINE__, "%s: the oracle does not know %s", p->row->function,
                    p->o.missing))
        return false;
    for (size_t i = 0; i < p->count; i++)
        memcpy(out + p->first[i], oracle_get(&p->o, from[i]), (p->first[i + 1] - p->first[i]) * sizeof *out);
    return true;
}

static bool fill_hessian(problem *p)
{
    const size_t n = p->first[p->count];
    for (size_t column = 0; column < n; column++) {
        double basis[ELEMENTS] = {0}, result[ELEMENTS];
        basis[column] = 1.0;
        set_all(p, p->x, p->at);
        set_all(p, p->v, basis);
        if (!get_all(p, p->hv, result))
            return false;
        for (size_t k = 0; k < n; k++)
            p->h[k][column] = result[k];
    }
    return true;
}

/* Differences with step 1e-4: truncation 1e-8 of the third derivative; constants of the rules are fp32, hence 1e-6. */
static void check_hessian(problem *p)
{
    const double step = 1e-4;
    const size_t n = p->first[p->count];
    double apart = 0.0, off = 0.0;
    if (!fill_hessian(p))
        return;
    for (size_t column = 0; column < n; column++) {
        double moved[ELEMENTS], above[ELEMENTS], below[ELEMENTS];
        memcpy(moved, p->at, sizeof moved);
        moved[column] = p->at[column] + step;
        set_all(p, p->x, moved);
        get_all(p, p->g, above);
        moved[column] = p->at[column] - step;
        set_all(p, p->x, moved);
        get_all(p, p->g, below);
        for (size_t k = 0; k < n; k++) {
            const double numeric = (above[k] - below[k]) / (2.0 * step);
            apart = fmax(apart, fabs(p->h[k][column] - p->h[column][k]) / (1.0 + fabs(p->h[k][column])));
            off = fmax(off, fabs(p->h[k][column] - numeric) / (1.0 + fabs(numeric)));
        }
    }
    check_note(apart <= 1e-6 && off <= 4e-6, __FILE__, __LINE__,
               "%s (%s): the Hessian is %.3g from symmetric and %.3g from differences", p->row->function,
               p->row->detail, apart, off);
}

static void check_rows(bool decomposed)
{
    problem *p = malloc(sizeof *p);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (setup(p, &rows[i], decomposed))
            check_hessian(p);
        teardown(p);
    }
    free(p);
}

static void test_the_hessian_of_every_loss_and_layer_is_symmetric_and_right(void) { check_rows(false); }

static void test_so_is_that_of_the_form_for_chips(void) { check_rows(true); }

/* ---- the rows are complete ---- */

static bool is_known(const char *function)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].function, function) == 0)
            return true;
    for (size_t i = 0; i < sizeof without / sizeof without[0]; i++)
        if (strcmp(without[i], function) == 0)
            return true;
    return false;
}

/* Each prototype of a header is "MW_API type *mw_name(..);". */
static size_t check_header(const char *path, bool losses)
{
    static char text[1 << 16];
    FILE *file = fopen(path, "rb");
    const size_t size = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
    size_t found = 0;
    text[size] = '\0';
    if (file != NULL)
        fclose(file);
    for (char *at = text; (at = strstr(at, "\nMW_API ")) != NULL; at++) {
        char *end = strchr(at, ';'), *open = strchr(at, '('), *name = strstr(at, "mw_");
        if (end == NULL || open == NULL || name == NULL)
            continue;
        *end = *open = '\0';
        name = strrchr(at, '*') != NULL ? strrchr(at, '*') + 1 : strrchr(at, ' ') + 1;
        const bool tensor = strstr(at, "mw_tensor *") != NULL || strstr(at, "mw_recurrent ") != NULL;
        if (tensor && (losses || strstr(open + 1, "const char *name") != NULL)) {
            check_note(is_known(name), __FILE__, __LINE__, "%s has no row here", name);
            found++;
        }
        *end = ';', *open = '(';
    }
    return found;
}

static void test_every_loss_and_layer_of_the_headers_has_a_row(void)
{
    static const char folder[] = MW_TESTS_DIR "/../include/millwright/ops";
    DIR *all = opendir(folder);
    REQUIRE(all != NULL);
    size_t layers = 0;
    for (const struct dirent *entry; (entry = readdir(all)) != NULL;) {
        char path[1200];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        layers += check_header(path, false);
    }
    closedir(all);
    CHECK(layers >= 15);
    CHECK(check_header(MW_TESTS_DIR "/../include/millwright/loss.h", true) >= 13);
    CHECK(check_header(MW_TESTS_DIR "/../include/millwright/loss_focus.h", true) == 5);
    CHECK(check_header(MW_TESTS_DIR "/../include/millwright/loss_embedding.h", true) == 6);
}

int main(void)
{
    RUN(test_the_hessian_of_every_loss_and_layer_is_symmetric_and_right);
    RUN(test_so_is_that_of_the_form_for_chips);
    RUN(test_every_loss_and_layer_of_the_headers_has_a_row);
    return check_finish();
}
