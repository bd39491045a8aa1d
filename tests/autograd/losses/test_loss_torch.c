/* Losses against PyTorch: values and gradients recorded by data/torch/losses_cases.py, on both devices. */
#include "support/check.h"
#include "support/on_engine.h"

#include "base/number/number.h"
#include "base/text/error.h"
#include "format/tensors/safetensors.h"
#include <millwright/learn.h>
#include <millwright/millwright.h>
#include <stdlib.h>

enum { X, T, W, OPERANDS };

static const char *const names[OPERANDS] = {"x", "t", "w"};

typedef struct loss_case {
    const mw__safetensors *file;
    long index;
    mw_device device;
    double tolerance;
    mw_tensor *in[OPERANDS], *dx[OPERANDS]; /* NULL: none, or none is recorded */
    mw_program *program;
} loss_case;

static const mw__safetensors_tensor *find(const loss_case *c, const char *prefix, const char *name)
{
    char key[64];
    snprintf(key, sizeof key, "%ld.%s%s", c->index, prefix, name);
    return mw__safetensors_find(c->file, key);
}

/* The elements, of whatever type; *out_count is 0 if there is no such tensor. */
static void *load(const loss_case *c, const char *prefix, const char *name, size_t *out_count, mw_error *err)
{
    const mw__safetensors_tensor *tensor = find(c, prefix, name);
    void *data = tensor != NULL ? calloc(1, tensor->size + 1) : NULL;
    if (data != NULL)
        mw__safetensors_read(c->file, tensor, data, err);
    *out_count = data != NULL ? (size_t)mw_shape_count(tensor->shape) : 0;
    return data;
}

static mw_tensor *cross_entropy(const loss_case *c, double smoothing, int64_t ignored, mw_error *err)
{
    mw_cross_entropy_options options = mw_cross_entropy_defaults();
    float *weights = load(c, "", "w", &options.class_count, err);
    options.class_weights = weights;
    options.label_smoothing = (float)smoothing;
    options.ignore_index = (int32_t)ignored;
    mw_tensor *loss = mw_cross_entropy_with(c->in[X], c->in[T], &options);
    free(weights);
    return loss;
}

/* ---- the losses by name ---- */

typedef mw_tensor *build_loss(const loss_case *c, float number, int64_t second);

#define LOSS(name, call)                                                                                               \
    static mw_tensor *name(const loss_case *c, float number, int64_t second)                                           \
    {                                                                                                                  \
        mw_tensor *x = c->in[X], *t = c->in[T], *w = c->in[W];                                                         \
        (void)t, (void)w, (void)number, (void)second;                                                                  \
        return call;                                                                                                   \
    }
LOSS(nll, mw_nll(x, t))
LOSS(mse, mw_mse(x, t))
LOSS(l1, mw_l1(x, t))
LOSS(kl_divergence, mw_kl_divergence(x, t))
LOSS(hinge, mw_hinge(x, t))
LOSS(multi_margin, mw_multi_margin(x, t, number))
LOSS(huber, mw_huber(x, t, number))
LOSS(smooth_l1, mw_smooth_l1(x, t, number))
LOSS(binary_cross_entropy, mw_binary_cross_entropy(x, t, w))
LOSS(focal, mw_focal(x, t, number))
LOSS(binary_focal, mw_binary_focal(x, t, (float)second / 100.0f, number))
LOSS(poisson_nll, mw_poisson_nll(x, t))
LOSS(pinball, mw_pinball(x, t, number))
LOSS(cosine_embedding, mw_cosine_embedding(x, t, w, number))
LOSS(triplet, mw_triplet(x, t, w, number))
LOSS(info_nce, mw_info_nce(x, t, number))
LOSS(nt_xent, mw_nt_xent(x, t, number))

/* Over the last axes, as many as the number says. */
static mw_tensor *dice(const loss_case *c, float number, int64_t second)
{
    mw_axes axes = {0};
    (void)second;
    for (int i = 1; i <= (int)number; i++)
        axes.axis[axes.count++] = -i;
    return mw_dice(c->in[X], c->in[T], axes, 1.0f);
}

static mw_tensor *row(mw_tensor *x, int64_t index)
{
    const mw_slice slices[2] = {{.begin = index, .end = index + 1, .squeeze = true},
                                {.from_start = true, .to_end = true}};
    return x != NULL ? mw_slice_by_index(x, slices) : NULL;
}

static mw_tensor *ctc(const loss_case *c, float number, int64_t second)
{
    (void)number;
    return mw_ctc(mw_log_softmax(c->in[X], -1), c->in[T], row(c->in[W], 0), row(c->in[W], 1), second);
}

#define NAMED(name)                                                                                                    \
    {                                                                                                                  \
#name, name                                                                                                    \
    }
static const struct {
    const char *name;
    build_loss *build;
} rows[] = {NAMED(nll),
            NAMED(mse),
            NAMED(l1),
            NAMED(kl_divergence),
            NAMED(hinge),
            NAMED(multi_margin),
            NAMED(huber),
            NAMED(smooth_l1),
            NAMED(binary_cross_entropy),
            NAMED(focal),
            NAMED(binary_focal),
            NAMED(poisson_nll),
            NAMED(pinball),
            NAMED(dice),
            NAMED(cosine_embedding),
            NAMED(triplet),
            NAMED(info_nce),
            NAMED(nt_xent),
            NAMED(ctc)};

static mw_tensor *build(const loss_case *c, const char *loss, double number, int64_t second, mw_error *err)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(loss, rows[i].name) == 0)
            return rows[i].build(c, (float)number, second);
    mw__fail(err, MW_ERROR_FORMAT, "no loss \"%s\"", loss);
    return NULL;
}

static mw_tensor *build_noted(loss_case *c, mw_graph *graph, const char *note, mw_error *err)
{
    char loss[40] = "", number[40] = "0";
    long long second = 0;
    double value = 0.0;
    if (sscanf(note, "%39s %39s %lld", loss, number, &second) < 1 ||
        !mw__number_read(number, strlen(number), MW__NUMBER_F64, &value))
        return mw__fail(err, MW_ERROR_FORMAT, "bad note \"%s\"", note), NULL;
    const bool entropy = strcmp(loss, "cross_entropy") == 0;
    for (int i = 0; i < OPERANDS; i++) {
        const mw__safetensors_tensor *tensor = find(c, "", names[i]);
        if (tensor != NULL && !(entropy && i == W)) /* there it is constant */
            c->in[i] = mw_input(graph, names[i], tensor->dtype, tensor->shape);
    }
    return entropy ? cross_entropy(c, value, second, err) : build(c, loss, value, second, err);
}

/* The program: y and the gradients that are recorded. */
static void make(loss_case *c, mw_graph *graph, const char *note, mw_error *err)
{
    mw_tensor *loss = build_noted(c, graph, note, err), *wanted[OPERANDS], *gradients[OPERANDS];
    size_t count = 0;
    mw_output(loss, "y");
    for (int i = 0; i < OPERANDS; i++)
        if (find(c, "d", names[i]) != NULL)
            wanted[count++] = c->in[i];
    if (mw_graph_check(graph, err) != MW_OK || mw_grad(loss, wanted, count, gradients, err) != MW_OK)
        return;
    for (size_t i = 0, k = 0; i < OPERANDS; i++) {
        char port[32];
        snprintf(port, sizeof port, "d.%s", names[i]);
        if (find(c, "d", names[i]) != NULL)
            c->dx[i] = mw_output(gradients[k++], port);
    }
    c->program = engine_compile(graph, c->device, 1, err);
}

static void feed(const loss_case *c, int operand, mw_error *err)
{
    size_t count;
    void *data = load(c, "", names[operand], &count, err);
    if (data != NULL)
        mw_program_write(c->program, names[operand], mw_tensor_dtype(c->in[operand]), data, count, err);
    free(data);
}

static void compare(const loss_case *c, const char *port, const char *prefix, const char *name, mw_error *err)
{
    size_t count;
    float *wanted = load(c, prefix, name, &count, err), *got = calloc(count + 1, sizeof *got);
    double largest = 0.0;
    if (got != NULL && wanted != NULL)
        mw_program_read(c->program, port, MW_F32, got, count, err);
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs((double)wanted[i]));
    CHECK(count > 0);
    for (size_t i = 0; i < count && !mw__failed(err); i++)
        if (!(fabs((double)got[i] - (double)wanted[i]) <= c->tolerance * largest))
            mw__fail(err, MW_ERROR_STATE, "%s[%zu] is %.9g, PyTorch's %.9g", port, i, (double)got[i],
                     (double)wanted[i]);
    free(got);
    free(wanted);
}

static void check_case(loss_case *c, const char *note)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    make(c, graph, note, &err);
    for (int i = 0; i < OPERANDS && c->program != NULL; i++)
        if (c->in[i] != NULL)
            feed(c, i, &err);
    if (c->program != NULL) {
        mw_program_run(c->program, &err);
        compare(c, "y", "", "y", &err);
    }
    for (int i = 0; i < OPERANDS && c->program != NULL; i++) {
        char port[32];
        snprintf(port, sizeof port, "d.%s", names[i]);
        if (c->dx[i] != NULL)
            compare(c, port, "d", names[i], &err);
    }
    check_note(err.status == MW_OK && c->program != NULL, __FILE__, __LINE__, "case %ld, %s: %s", c->index, note,
               err.message);
    mw_program_destroy(c->program);
    mw_graph_destroy(graph);
}

/* `tolerance` 0 = the record's. */
static void check_all(mw_device device, double tolerance)
{
    char path[512], key[32];
    mw__safetensors file;
    mw_error err = {0};
    snprintf(path, sizeof path, "%s/data/torch/losses.safetensors", MW_TESTS_DIR);
    REQUIRE(mw__safetensors_open(&file, mw__allocator_default(), path, &err) == MW_OK);
    const char *recorded = mw__safetensors_metadata(&file, "tolerance"), *note;
    double allowed = 0.0;
    long index = 0;
    CHECK(recorded != NULL && mw__number_read(recorded, strlen(recorded), MW__NUMBER_F64, &allowed));
    while (snprintf(key, sizeof key, "loss.%ld", index) > 0 && (note = mw__safetensors_metadata(&file, key)) != NULL) {
        loss_case c = {.file = &file, .index = index++, .device = device};
        c.tolerance = tolerance > 0.0 ? tolerance : allowed;
        check_case(&c, note);
    }
    CHECK_INT(index, 170);
    mw__safetensors_close(&file);
}

static void test_losses_agree_with_torch(void) { check_all(MW_DEVICE_CPU, 0.0); }

/* Logits up to 18 are off by 2^-7 as fp16, and their gradients by that share. */
static void test_losses_agree_with_torch_in_fp16(void) { check_all(MW_DEVICE_ANE, 0x1p-7); }

int main(void)
{
    RUN(test_losses_agree_with_torch);
    RUN(test_losses_agree_with_torch_in_fp16);
    return check_finish();
}
