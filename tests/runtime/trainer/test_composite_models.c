/* Models whose losses have several terms or several rows for an example: a variational autoencoder and a tagger of
 * sequences, evaluated over sets that no batch divides, against the same models in double. */
#include "support/check.h"

#include <millwright/millwright.h>
#include <stdlib.h>

static const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};
static const int batches[] = {7, 8, 13};

static int warnings;
static char warning[1024];

static void remember(void *user, mw_log_level level, const char *line)
{
    (void)user;
    warnings += level == MW_LOG_WARNING;
    snprintf(warning, sizeof warning, "%s", line);
}

static float pseudo(uint32_t seed)
{
    uint32_t x = seed * 2654435761u + 12345u;
    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    return (float)(x & 0xffffu) / 32768.0f - 1.0f;
}

static void read(mw_trainer *trainer, const char *name, double *out, int count, mw_error *err)
{
    float values[256];
    mw_trainer_read(trainer, name, MW_F32, values, (size_t)count, err);
    for (int i = 0; i < count; i++)
        out[i] = (double)values[i];
}

/* y = W x + b */
static void dense(const double *w, const double *b, int rows, int columns, const double *x, double *y)
{
    for (int r = 0; r < rows; r++) {
        y[r] = b[r];
        for (int c = 0; c < columns; c++)
            y[r] += w[r * columns + c] * x[c];
    }
}

/* ---- a variational autoencoder ---- */

enum { D = 6, Z = 2, EXAMPLES = 37 };

typedef struct vae {
    mw_graph *graph;
    mw_tensor *noise, *reconstruction, *divergence, *norm;
} vae;

/* z = mu + exp(log variance / 2) * noise; the noise is a column of the data, or made in the step.
 * source  Kingma and Welling 2014 */
static vae make_vae(int batch, bool fed)
{
    vae v = {.graph = mw_graph_create(NULL, NULL)};
    const mw_axes rest = MW_AXES(1);
    mw_tensor *x = mw_input(v.graph, "x", MW_F32, MW_SHAPE(batch, D));
    mw_tensor *mu = mw_dense(x, Z, "mu"), *spread = mw_dense(x, Z, "spread");
    v.noise = fed ? mw_input(v.graph, "noise", MW_F32, MW_SHAPE(batch, Z))
                  : mw_noise_normal(v.graph, MW_F32, MW_SHAPE(batch, Z), 0.0f, 1.0f, "noise");
    mw_tensor *z = mw_add(mu, mw_mul(mw_exp(mw_mul_scalar(spread, 0.5)), v.noise));
    mw_tensor *error = mw_square(mw_sub(mw_dense(z, D, "decode"), x));
    mw_tensor *parts = mw_sub(mw_add_scalar(spread, 1.0), mw_add(mw_square(mu), mw_exp(spread)));
    mw_tensor *each = mw_mul_scalar(mw_reduce_sum(parts, rest, false), -0.5);
    v.reconstruction = mw_reduce_mean(mw_reduce_sum(error, rest, false), MW_ALL_AXES, false);
    v.divergence = mw_mul_scalar(mw_reduce_sum(each, MW_ALL_AXES, false), 1.0 / batch);
    v.norm = mw_reduce_sum(mw_square(mw_graph_find(v.graph, "decode.weight")), MW_ALL_AXES, false);
    return v;
}

static mw_trainer *make_vae_trainer(int batch, bool fed, mw_device device, mw_error *err)
{
    vae v = make_vae(batch, fed);
    mw_tensor *loss = mw_add(v.reconstruction, mw_mul_scalar(v.divergence, 0.3));
    const mw_metric metrics[] = {{"reconstruction", v.reconstruction}, {"divergence", v.divergence}, {"norm", v.norm}};
    mw_trainer_options options = mw_trainer_defaults(mw_add(loss, mw_mul_scalar(v.norm, 0.01)), mw_adam(0.02f));
    options.metrics = metrics;
    options.metric_count = 3;
    options.prediction = v.noise;
    options.compile.device = device;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.seed = 5;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(v.graph);
    return trainer;
}

typedef struct vae_data {
    float x[EXAMPLES * D], noise[EXAMPLES * Z];
} vae_data;

static mw_dataset *make_vae_data(vae_data *data, mw_error *err)
{
    for (int i = 0; i < EXAMPLES * D; i++)
        data->x[i] = pseudo((uint32_t)i);
    for (int i = 0; i < EXAMPLES * Z; i++)
        data->noise[i] = 2.0f * pseudo(7000u + (uint32_t)i);
    const mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(D), .data = data->x},
                                 {.name = "noise", .dtype = MW_F32, .shape = MW_SHAPE(Z), .data = data->noise}};
    return mw_dataset_create(columns, 2, EXAMPLES, false, err);
}

/* The noise that the coming step has, which evaluation sees in every batch. */
static void repeat_noise(mw_trainer *trainer, int batch, vae_data *data, mw_error *err)
{
    float x[16 * D] = {0}, noise[16 * Z];
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = x, .count = (size_t)(batch * D), .scale = 1.0f};
    const mw_batch fed = {.feeds = &feed, .feed_count = 1, .examples = batch};
    mw_trainer_predict(trainer, &fed, MW_F32, noise, (size_t)(batch * Z), err);
    for (int n = 0; n < EXAMPLES; n++)
        for (int i = 0; i < Z; i++)
            data->noise[n * Z + i] = noise[n % batch * Z + i];
}

/* loss, reconstruction, divergence, norm */
static void expect_vae(mw_trainer *trainer, const vae_data *data, double out[4], mw_error *err)
{
    double w[3][D * Z], b[3][D];
    static const char *const names[3][2] = {
        {"mu.weight", "mu.bias"}, {"spread.weight", "spread.bias"}, {"decode.weight", "decode.bias"}};
    for (int k = 0; k < 3; k++) {
        read(trainer, names[k][0], w[k], D * Z, err);
        read(trainer, names[k][1], b[k], k < 2 ? Z : D, err);
    }
    out[1] = out[2] = out[3] = 0;
    for (int n = 0; n < EXAMPLES; n++) {
        double x[D], mu[Z], spread[Z], z[Z], y[D];
        for (int i = 0; i < D; i++)
            x[i] = (double)data->x[n * D + i];
        dense(w[0], b[0], Z, D, x, mu);
        dense(w[1], b[1], Z, D, x, spread);
        for (int i = 0; i < Z; i++) {
            z[i] = mu[i] + exp(spread[i] / 2) * (double)data->noise[n * Z + i];
            out[2] -= 0.5 * (1 + spread[i] - mu[i] * mu[i] - exp(spread[i])) / EXAMPLES;
        }
        dense(w[2], b[2], D, Z, z, y);
        for (int i = 0; i < D; i++)
            out[1] += (y[i] - x[i]) * (y[i] - x[i]) / EXAMPLES;
    }
    for (int i = 0; i < D * Z; i++)
        out[3] += w[2][i] * w[2][i];
    out[0] = out[1] + 0.3 * out[2] + 0.01 * out[3];
}

static bool keep_validation(void *user, const mw_progress *progress)
{
    if (progress->epoch_end)
        *(mw_evaluation *)user = progress->validation;
    return false;
}

static void test_both_terms_of_an_autoencoder_are_validated(void)
{
    mw_log_set(remember, NULL);
    warnings = 0;
    for (int k = 0; k < 12; k++) {
        const mw_device device = devices[k % 2];
        const bool fed = k / 2 % 2 == 0;
        const int batch = batches[k / 4];
        mw_error err = {0};
        vae_data data;
        mw_dataset *dataset = make_vae_data(&data, &err);
        mw_trainer *trainer = make_vae_trainer(batch, fed, device, &err);
        mw_evaluation found = {0};
        mw_fit_options fit = mw_fit_defaults(dataset, 4);
        fit.data.validation = dataset;
        fit.progress.function = keep_validation;
        fit.progress.user = &found;
        fit.progress.quiet = fit.progress.ignore_signals = true;
        mw_trainer_fit(trainer, &fit, &err);
        if (CHECK_OK(err)) {
            double expected[4];
            if (!fed)
                repeat_noise(trainer, batch, &data, &err);
            expect_vae(trainer, &data, expected, &err);
            CHECK_OK(err);
            /* fp32: some operations of an ulp each; mask 4: every value is rounded to fp16 */
            const double limit = device == MW_DEVICE_CPU ? 1e-5 : 1e-2;
            CHECK_NEAR(found.loss, expected[0], limit);
            for (int i = 0; i < 3; i++)
                CHECK_NEAR(found.metrics[i].value, expected[i + 1], limit);
        }
        mw_trainer_destroy(trainer);
        mw_dataset_destroy(dataset);
    }
    mw_log_set(NULL, NULL);
    CHECK_INT(warnings, 0);
}

/* ---- a tagger: each example is T rows of [batch * T, ..] ---- */

enum { T = 3, F = 4, TAGS = 3, PADDING = -1 };

static int32_t tag_of(int n, int t) { return (n + 2 * t) % 5 == 0 || t > n % T ? PADDING : (n * 5 + t) % TAGS; }

/* The words of a batch as rows of one matrix; labels are [batch, T] or, as another input, [batch * T] at once. */
static mw_trainer *make_tagger(int batch, bool flat, mw_device device, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *words = mw_input(graph, "words", MW_F32, MW_SHAPE(batch, T, F));
    mw_tensor *tags = mw_input(graph, "tags", MW_I32, flat ? MW_SHAPE(batch * T) : MW_SHAPE(batch, T));
    mw_tensor *place = mw_parameter(graph, "place", MW_F32, MW_SHAPE(T, F), mw_init_constant(0.25f));
    mw_tensor *rows = mw_reshape(mw_mul(words, place), MW_SHAPE(batch * T, F));
    mw_tensor *logits = mw_dense(rows, TAGS, "tag");
    mw_tensor *labels = flat ? tags : mw_reshape(tags, MW_SHAPE(batch * T));
    mw_cross_entropy_options padded = mw_cross_entropy_defaults();
    padded.ignore_index = PADDING;
    const mw_metric metrics[] = {{"accuracy", mw_accuracy_ignoring(logits, labels, PADDING)},
                                 {"squares", mw_reduce_mean(mw_square(logits), MW_ALL_AXES, false)}};
    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy_with(logits, labels, &padded), mw_sgd(0.1f));
    options.metrics = metrics;
    options.metric_count = 2;
    options.compile.device = device;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.seed = 5;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(graph);
    return trainer;
}

/* loss, accuracy, squares */
static void expect_tagger(mw_trainer *trainer, const float *words, double out[3], mw_error *err)
{
    double w[TAGS * F], b[TAGS], place[T * F], counted = 0;
    read(trainer, "tag.weight", w, TAGS * F, err);
    read(trainer, "tag.bias", b, TAGS, err);
    read(trainer, "place", place, T * F, err);
    out[0] = out[1] = out[2] = 0;
    for (int row = 0; row < EXAMPLES * T; row++) {
        double x[F], logits[TAGS], sum = 0;
        int best = 0;
        const int32_t tag = tag_of(row / T, row % T);
        for (int i = 0; i < F; i++)
            x[i] = (double)words[row * F + i] * place[row % T * F + i];
        dense(w, b, TAGS, F, x, logits);
        for (int c = 0; c < TAGS; c++) {
            sum += exp(logits[c]);
            best = logits[c] > logits[best] ? c : best;
            out[2] += logits[c] * logits[c] / (EXAMPLES * T * TAGS);
        }
        if (tag == PADDING)
            continue;
        counted++;
        out[0] += log(sum) - logits[tag];
        out[1] += best == tag;
    }
    out[0] /= counted;
    out[1] /= counted;
}

static void test_an_example_of_several_rows_counts_once(void)
{
    static float words[EXAMPLES * T * F];
    static int32_t tags[EXAMPLES * T];
    for (int i = 0; i < EXAMPLES * T * F; i++)
        words[i] = pseudo(90000u + (uint32_t)i);
    for (int i = 0; i < EXAMPLES * T; i++)
        tags[i] = tag_of(i / T, i % T);
    const mw_column columns[] = {{.name = "words", .dtype = MW_F32, .shape = MW_SHAPE(T, F), .data = words},
                                 {.name = "tags", .dtype = MW_I32, .shape = MW_SHAPE(T), .data = tags}};
    mw_log_set(remember, NULL);
    warnings = 0;
    for (int k = 0; k < 12; k++) {
        mw_error err = {0};
        mw_dataset *dataset = mw_dataset_create(columns, 2, EXAMPLES, false, &err);
        mw_trainer *trainer = make_tagger(batches[k / 4], k / 2 % 2 == 1, devices[k % 2], &err);
        mw_evaluation found;
        double expected[3];
        mw_trainer_evaluate(trainer, dataset, NULL, &found, &err);
        if (CHECK_OK(err)) {
            expect_tagger(trainer, words, expected, &err);
            CHECK_NEAR(found.loss, expected[0], k % 2 == 0 ? 1e-6 : 2e-3);
            CHECK_NEAR(found.metrics[0].value, expected[1], k % 2 == 0 ? 1e-7 : 2e-4); /* thirds are rounded */
            CHECK_NEAR(found.metrics[1].value, expected[2], k % 2 == 0 ? 1e-6 : 2e-3);
        }
        mw_trainer_destroy(trainer);
        mw_dataset_destroy(dataset);
    }
    mw_log_set(NULL, NULL);
    CHECK_INT(warnings, 0);
}

/* ---- many batches ---- */

/* A sum of 20,000 values near 1 in fp16 would stop at 2048, and one in fp32 lose digits. */
static void test_many_batches_lose_nothing(void)
{
    enum { MANY = 20001, WIDE = 128 };
    static float x[MANY];
    double expected = 0;
    for (int n = 0; n < MANY; n++) {
        x[n] = 1.0f + 0.25f * (float)(n % 3); /* its square is exact in fp16 */
        expected += (double)x[n] * (double)x[n] / MANY;
    }
    for (int k = 0; k < 2; k++) {
        mw_error err = {0};
        mw_graph *graph = mw_graph_create(NULL, NULL);
        mw_tensor *in = mw_input(graph, "x", MW_F32, MW_SHAPE(WIDE));
        mw_tensor *w = mw_parameter(graph, "w", MW_F32, MW_SHAPE(1), mw_init_constant(1.0f));
        mw_tensor *sum = mw_reduce_sum(mw_square(mw_mul(in, w)), MW_ALL_AXES, false);
        mw_trainer_options options = mw_trainer_defaults(mw_mul_scalar(sum, 1.0 / WIDE), mw_sgd(0.1f));
        options.compile.device = devices[k];
        options.compile.provider = MW_PROVIDER_ENGINE;
        mw_trainer *trainer = mw_trainer_create(&options, &err);
        const mw_column column = {.name = "x", .dtype = MW_F32, .shape = {0}, .data = x};
        mw_dataset *dataset = mw_dataset_create(&column, 1, MANY, false, &err);
        mw_evaluation found;
        mw_trainer_evaluate(trainer, dataset, NULL, &found, &err);
        CHECK_OK(err);
        CHECK_NEAR(found.loss, expected, 1e-12);
        mw_dataset_destroy(dataset);
        mw_trainer_destroy(trainer);
        mw_graph_destroy(graph);
    }
}

int main(void)
{
    unsetenv("MW_E5RT_LIBRARY");
    RUN(test_both_terms_of_an_autoencoder_are_validated);
    RUN(test_an_example_of_several_rows_counts_once);
    RUN(test_many_batches_lose_nothing);
    return check_finish();
}
