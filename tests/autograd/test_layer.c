/* Layers that are applied several times: gradients are the sums over the uses (against differences, and against two
 * layers of their own), states and noise, and what is refused. */
#include "hashed.h"
#include "support/check.h"
#include "support/on_engine.h"

#include <millwright/inspect.h>
#include <millwright/millwright.h>
#include <stdlib.h>

enum { N = 4, D = 5, C = 6, S = 4 }; /* x [N, D], pictures [N, 2, S, S], indices [N, 3] below C */

/* ---- the kinds ---- */

typedef struct kind {
    const char *name;
    mw_layer *(*shared)(mw_graph *graph, const char *name);
    mw_tensor *(*single)(mw_tensor *x, const char *name); /* the constructor of one application */
    mw_dtype dtype;
    mw_shape shape;
} kind;

static mw_layer *shared_dense(mw_graph *g, const char *name) { return mw_layer_dense(g, C, name); }
static mw_tensor *single_dense(mw_tensor *x, const char *name) { return mw_dense(x, C, name); }

static mw_layer *shared_norm(mw_graph *g, const char *name) { return mw_layer_layer_norm(g, 1, 1e-5f, name); }
static mw_tensor *single_norm(mw_tensor *x, const char *name) { return mw_layer_norm_layer(x, 1, 1e-5f, name); }
static mw_layer *shared_batch(mw_graph *g, const char *name) { return mw_layer_batch_norm(g, 0.1f, 1e-5f, name); }
static mw_tensor *single_batch(mw_tensor *x, const char *name) { return mw_batch_norm_layer(x, 0.1f, 1e-5f, name); }
static mw_layer *shared_words(mw_graph *g, const char *name) { return mw_layer_embedding(g, C, 3, name); }
static mw_tensor *single_words(mw_tensor *x, const char *name) { return mw_embedding(x, C, 3, name); }

static mw_layer *shared_conv(mw_graph *g, const char *name)
{
    mw_conv_options options = mw_conv_defaults();
    options.pad_type = MW_PAD_SAME;
    return mw_layer_conv(g, 3, MW_SHAPE(3, 3), name, &options);
}

static mw_tensor *single_conv(mw_tensor *x, const char *name)
{
    mw_conv_options options = mw_conv_defaults();
    options.pad_type = MW_PAD_SAME;
    return mw_conv_layer(x, 3, MW_SHAPE(3, 3), name, &options);
}

static mw_layer *shared_plain_conv(mw_graph *g, const char *name)
{
    return mw_layer_conv(g, 2, MW_SHAPE(2, 2), name, NULL);
}
static mw_tensor *single_plain_conv(mw_tensor *x, const char *name)
{
    return mw_conv_layer(x, 2, MW_SHAPE(2, 2), name, NULL);
}

/* A function of the user's: two layers and a parameter. */
static mw_tensor *block_of(mw_graph *g, const char *name, mw_tensor *x)
{
    char part[64];
    snprintf(part, sizeof part, "%s.in", name);
    mw_tensor *h = mw_tanh(mw_dense(x, C, part));
    snprintf(part, sizeof part, "%s.weight", name);
    mw_tensor *scale = mw_parameter(g, part, MW_F32, MW_SHAPE(C), mw_init_constant(2.0f));
    return mw_mul(h, scale);
}
static mw_tensor *block(void *user, mw_graph *g, const char *name, mw_tensor *const *x, size_t count)
{
    (void)user, (void)count;
    return block_of(g, name, x[0]);
}
static mw_layer *shared_block(mw_graph *g, const char *name) { return mw_layer_create(g, name, block, NULL); }
static mw_tensor *single_block(mw_tensor *x, const char *name) { return block_of(mw_tensor_graph(x), name, x); }

static const kind kinds[] = {
    {"dense", shared_dense, single_dense, MW_F32, {.rank = 2, .dim = {N, D}}},
    {"layer_norm", shared_norm, single_norm, MW_F32, {.rank = 2, .dim = {N, D}}},
    {"batch_norm", shared_batch, single_batch, MW_F32, {.rank = 2, .dim = {N, D}}},
    {"embedding", shared_words, single_words, MW_I32, {.rank = 2, .dim = {N, 3}}},
    {"conv", shared_conv, single_conv, MW_F32, {.rank = 4, .dim = {N, 2, S, S}}},
    {"plain conv", shared_plain_conv, single_plain_conv, MW_F32, {.rank = 4, .dim = {N, 2, S, S}}},
    {"block", shared_block, single_block, MW_F32, {.rank = 2, .dim = {N, D}}},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- feeds ---- */

typedef struct inputs {
    float x[2][N * 2 * S * S];
    int32_t indices[2][N * 3];
    mw_feed feeds[2];
    mw_batch batch;
} inputs;

static void fill(inputs *in, const kind *k)
{
    const size_t count = (size_t)mw_shape_count(k->shape);
    for (int i = 0; i < 2; i++) {
        float *values = hashed_floats(count, 7 + (uint64_t)i, 2.0f, 0.3f);
        memcpy(in->x[i], values, k->dtype == MW_F32 ? count * sizeof *values : 0);
        free(values);
        for (int j = 0; j < N * 3; j++)
            in->indices[i][j] = (j * 5 + 3 * i) % C;
        in->feeds[i] = (mw_feed){.name = i == 0 ? "a" : "b",
                                 .dtype = k->dtype,
                                 .data = k->dtype == MW_F32 ? (void *)in->x[i] : (void *)in->indices[i],
                                 .count = count};
    }
    in->batch = (mw_batch){.feeds = in->feeds, .feed_count = 2, .examples = N};
}

/* The uses enter the loss in different ways, so that their gradients differ. */
static mw_tensor *loss_of(mw_tensor *y, mw_tensor *z)
{
    mw_tensor *mixed = mw_add(mw_mul(y, mw_tanh(z)), mw_square(mw_add_scalar(y, 0.5)));
    return mw_reduce_mean(mixed, MW_ALL_AXES, false);
}

static mw_tensor *build_shared(mw_graph *g, const kind *k)
{
    mw_tensor *a = mw_input(g, "a", k->dtype, k->shape), *b = mw_input(g, "b", k->dtype, k->shape);
    mw_layer *layer = k->shared(g, "s");
    mw_tensor *y = mw_layer_apply_one(layer, a), *z = mw_layer_apply_one(layer, b);
    CHECK_INT(mw_layer_applications(layer), 2);
    return loss_of(y, z);
}

static void test_gradients_agree_with_differences(void)
{
    for (int i = 0; i < KINDS; i++) {
        inputs in;
        mw_error err = {0};
        mw_graph *g = mw_graph_create(NULL, NULL);
        mw_tensor *loss = build_shared(g, &kinds[i]), *weight = mw_graph_find(g, "s.weight");
        mw_gradcheck_options o = mw_gradcheck_defaults(loss, &weight, 1);
        mw_gradcheck_report report = {0};
        fill(&in, &kinds[i]);
        o.batch = &in.batch;
        o.compile = engine_options(MW_DEVICE_CPU, 1);
        mw_gradcheck_run(&o, &report, &err);
        check_note(report.passed && report.checked > 0, __FILE__, __LINE__, "%s: %s", kinds[i].name, err.message);
        mw_graph_destroy(g);
    }
}

/* What is compared: the gradients of all parameters of the layer `first` (and `second`) by the loss, which start alike.
 */
typedef struct gradients {
    float values[512];
    size_t count;
} gradients;

/* Every parameter of the graph whose name begins so. */
static size_t parameters_of(mw_graph *g, const char *layer, mw_tensor **out)
{
    static const char *const parts[] = {".weight", ".bias", ".in.weight", ".in.bias"};
    size_t count = 0;
    for (int i = 0; i < 4; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s", layer, parts[i]);
        if (mw_graph_find(g, name) != NULL)
            out[count++] = mw_graph_find(g, name);
    }
    return count;
}

static void write_alike(mw_program *program, mw_tensor *const *weights, size_t count, mw_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const size_t size = (size_t)mw_shape_count(mw_tensor_shape(weights[i]));
        float *values = hashed_floats(size, 3 + i, 1.0f, 0.2f);
        mw_program_write(program, mw_tensor_name(weights[i]), MW_F32, values, size, err);
        free(values);
    }
}

/* Adds the gradients of all parameters of the layers to `out`. */
static void run_gradients(const kind *k, mw_graph *g, mw_tensor *loss, const char *const *layers, int layer_count,
                          gradients *out)
{
    inputs in;
    mw_error err = {0};
    mw_tensor *weights[8], *dx[8];
    size_t count = 0;
    for (int i = 0; i < layer_count; i++)
        count += parameters_of(g, layers[i], weights + count);
    mw_grad(loss, weights, count, dx, &err);
    for (size_t i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "d%zu", i);
        mw_output(dx[i], name);
    }
    mw_program *program = engine_compile(g, MW_DEVICE_CPU, 1, &err);
    const size_t each = count / (size_t)layer_count;
    fill(&in, k);
    for (int i = 0; i < 2; i++)
        mw_program_write(program, in.feeds[i].name, k->dtype, in.feeds[i].data, in.feeds[i].count, &err);
    for (int i = 0; i < layer_count; i++)
        write_alike(program, weights + (size_t)i * each, each, &err);
    mw_program_run(program, &err);
    for (int i = 0; i < layer_count; i++) {
        out->count = 0;
        for (size_t j = 0; j < each; j++) {
            char name[16];
            float got[256];
            const size_t size = (size_t)mw_shape_count(mw_tensor_shape(weights[j]));
            snprintf(name, sizeof name, "d%zu", (size_t)i * each + j);
            mw_program_read(program, name, MW_F32, got, size, &err);
            for (size_t e = 0; e < size; e++)
                out->values[out->count++] += got[e];
        }
    }
    check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", k->name, err.message);
    mw_program_destroy(program);
}

static void test_gradients_are_the_sums_over_layers_of_their_own(void)
{
    for (int i = 0; i < KINDS; i++) {
        const kind *k = &kinds[i];
        mw_graph *g = mw_graph_create(NULL, NULL), *apart = mw_graph_create(NULL, NULL);
        mw_tensor *loss = build_shared(g, k);
        mw_tensor *a = mw_input(apart, "a", k->dtype, k->shape), *b = mw_input(apart, "b", k->dtype, k->shape);
        mw_tensor *y = k->single(a, "p"), *split = loss_of(y, k->single(b, "q"));
        gradients shared = {{0}, 0}, sum = {{0}, 0};
        run_gradients(k, g, loss, (const char *const[]){"s"}, 1, &shared);
        run_gradients(k, apart, split, (const char *const[]){"p", "q"}, 2, &sum);
        double off = 0.0, largest = 0.0;
        for (size_t j = 0; j < sum.count; j++) {
            off = fmax(off, fabs((double)(sum.values[j] - shared.values[j])));
            largest = fmax(largest, fabs((double)sum.values[j]));
        }
        check_note(shared.count == sum.count && largest > 1e-3 && off <= 1e-6, __FILE__, __LINE__,
                   "%s: off by %g of %g", k->name, off, largest);
        mw_graph_destroy(apart);
        mw_graph_destroy(g);
    }
}

/* ---- training ---- */

/* (w x + v x)^2 of one w: the same as (2 w x)^2. */
static void test_a_trainer_updates_it_once(void)
{
    mw_error err = {0};
    float got[2] = {0};
    for (int shared = 0; shared < 2; shared++) {
        mw_graph *g = mw_graph_create(NULL, NULL);
        mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(1, 1));
        mw_layer *layer = mw_layer_dense(g, 1, "fc");
        mw_tensor *y = mw_layer_apply_one(layer, x);
        y = shared == 1 ? mw_add(y, mw_layer_apply_one(layer, x)) : mw_mul_scalar(y, 2.0);
        mw_trainer *trainer =
            engine_trainer(mw_reduce_mean(mw_square(y), MW_ALL_AXES, false), mw_adam(0.01f), MW_DEVICE_CPU, 1, &err);
        const float one = 1.5f;
        const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = &one, .count = 1};
        for (int i = 0; i < 5; i++)
            mw_trainer_step(trainer, &(mw_batch){.feeds = &feed, .feed_count = 1, .examples = 1}, NULL, &err);
        mw_trainer_read(trainer, "fc.weight", MW_F32, &got[shared], 1, &err);
        mw_trainer_destroy(trainer);
        mw_graph_destroy(g);
    }
    CHECK_OK(err);
    CHECK_NEAR(got[0], got[1], 0.0);
}

/* ---- states ---- */

static double mean_of(const float *x)
{
    double sum = 0.0;
    for (int i = 0; i < N; i++)
        sum += (double)x[i * D];
    return sum / N;
}

static void test_running_statistics_follow_each_application_in_turn(void)
{
    const kind *k = &kinds[2];
    inputs in;
    mw_error err = {0};
    float mean[D];
    fill(&in, k);
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_trainer *trainer = engine_trainer(build_shared(g, k), mw_sgd(1e-3f), MW_DEVICE_CPU, 1, &err);
    mw_trainer_step(trainer, &in.batch, NULL, &err);
    mw_trainer_read(trainer, "s.running_mean", MW_F32, mean, D, &err);
    CHECK_OK(err);
    CHECK_NEAR(mean[0], 0.9 * 0.1 * mean_of(in.x[0]) + 0.1 * mean_of(in.x[1]), 1e-6);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(g);
}

static mw_tensor *drop(void *user, mw_graph *g, const char *name, mw_tensor *const *x, size_t count)
{
    (void)user, (void)g, (void)count;
    return mw_dropout(x[0], 0.5f, name);
}

static void test_dropout_draws_anew_in_each_application(void)
{
    mw_error err = {0};
    float loss = 0.0f, ones[64];
    for (int i = 0; i < 64; i++)
        ones[i] = 1.0f;
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(1, 64));
    mw_tensor *w = mw_parameter(g, "w", MW_F32, MW_SHAPE(64), mw_init_constant(1.0f));
    mw_layer *layer = mw_layer_create(g, "drop", drop, NULL);
    mw_tensor *h = mw_mul(x, w);
    mw_tensor *y = mw_sub(mw_layer_apply_one(layer, h), mw_layer_apply_one(layer, h));
    mw_trainer *trainer =
        engine_trainer(mw_reduce_mean(mw_square(y), MW_ALL_AXES, false), mw_sgd(1e-3f), MW_DEVICE_CPU, 1, &err);
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = ones, .count = 64};
    mw_trainer_step(trainer, &(mw_batch){.feeds = &feed, .feed_count = 1, .examples = 1}, &loss, &err);
    CHECK_OK(err);
    CHECK(loss > 0.5f); /* half of them differ by 2 */
    mw_trainer_destroy(trainer);
    mw_graph_destroy(g);
}

/* ---- what is refused ---- */

typedef struct act {
    const char *what;
    mw_layer *layer;
    mw_tensor *foreign;
    int calls;
} act;

static mw_tensor *odd(void *user, mw_graph *g, const char *name, mw_tensor *const *x, size_t count)
{
    act *a = user;
    const bool again = a->calls++ > 0;
    (void)count;
    const char *w = a->what;
    if (strcmp(w, "shape") == 0)
        mw_parameter(g, "w", MW_F32, again ? MW_SHAPE(3) : MW_SHAPE(2), mw_init_zeros());
    if (strcmp(w, "type") == 0)
        mw_parameter(g, "w", again ? MW_F16 : MW_F32, MW_SHAPE(2), mw_init_zeros());
    if (strcmp(w, "role") == 0 && !again)
        mw_parameter(g, "w", MW_F32, MW_SHAPE(2), mw_init_zeros());
    if (strcmp(w, "role") == 0 && again)
        mw_state(g, "w", MW_F32, MW_SHAPE(2), mw_init_zeros());
    if (strcmp(w, "new") == 0 && again)
        mw_parameter(g, "late", MW_F32, MW_SHAPE(2), mw_init_zeros());
    for (int i = 0; strcmp(w, "twice") == 0 && i < (again ? 2 : 1); i++)
        mw_parameter(g, "w", MW_F32, MW_SHAPE(2), mw_init_zeros());
    if (strcmp(w, "itself") == 0 && again)
        return mw_layer_apply_one(a->layer, x[0]);
    if (strcmp(w, "destroys") == 0 && again)
        mw_graph_destroy(g);
    if (strcmp(w, "foreign") == 0 && again)
        return a->foreign;
    if (strcmp(w, "dense") == 0)
        return mw_dense(again ? mw_concat((mw_tensor *[]){x[0], x[0]}, 2, 1) : x[0], 2, name);
    return strcmp(w, "nothing") == 0 && again ? NULL : mw_relu(x[0]);
}

static void refuse(const char *what, mw_status status, const char *part)
{
    mw_error err = {0};
    mw_graph *g = mw_graph_create(NULL, NULL), *other = mw_graph_create(NULL, NULL);
    act a = {.what = what, .foreign = mw_input(other, "x", MW_F32, MW_SHAPE(2, 2))};
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(2, 2));
    a.layer = mw_layer_create(g, "odd", odd, &a);
    CHECK(mw_layer_apply_one(a.layer, x) != NULL);
    CHECK(mw_layer_apply_one(a.layer, x) == NULL);
    if (strcmp(what, "destroys") != 0) {
        mw_graph_check(g, &err);
        check_note(err.status == status && strstr(err.message, part) != NULL, __FILE__, __LINE__, "%s: %d \"%s\"", what,
                   (int)err.status, err.message);
        CHECK_INT(mw_layer_applications(a.layer), 1);
        mw_graph_destroy(g);
    }
    mw_graph_destroy(other);
}

static void test_functions_that_are_wrong_are_refused(void)
{
    refuse("shape", MW_ERROR_SHAPE, "application 2 asks for \"w\" of shape [3], the first made it [2]");
    refuse("type", MW_ERROR_DTYPE, "application 2 asks for \"w\" in fp16, the first made it in fp32");
    refuse("role", MW_ERROR_ARGUMENT, "application 2 asks for \"w\" as a state, the first made a parameter");
    refuse("new", MW_ERROR_ARGUMENT, "application 2 asks for \"late\", which the first has not made");
    refuse("twice", MW_ERROR_ARGUMENT, "layer \"odd\": it asks for \"w\" twice in one application");
    refuse("itself", MW_ERROR_ARGUMENT, "its function applies it again");
    refuse("foreign", MW_ERROR_ARGUMENT, "mw_layer_apply");
    refuse("nothing", MW_ERROR_ARGUMENT, "layer \"odd\": its function gave nothing");
    refuse("dense", MW_ERROR_SHAPE, "application 2 asks for \"odd.weight\" of shape [2, 4], the first made it [2, 2]");
    refuse("destroys", MW_OK, "");
}

static void test_operands_and_names_that_are_wrong_are_refused(void)
{
    mw_error err = {0};
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_layer *layer = mw_layer_dense(g, 3, "fc");
    CHECK(mw_layer_apply(layer, NULL, 1) == NULL);
    mw_graph_check(g, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "layer \"fc\": it is applied to nothing");
    mw_graph_destroy(g);
    CHECK(mw_layer_apply_one(layer, NULL) == NULL); /* the graph is gone */
    g = mw_graph_create(NULL, NULL);
    CHECK(mw_layer_create(g, "", odd, NULL) == NULL);
    CHECK(mw_graph_check(g, NULL) != MW_OK);
    mw_graph_destroy(g);
}

static void test_two_layers_of_one_name_do_not_share(void)
{
    mw_error err = {0};
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(2, 2));
    CHECK(mw_layer_apply_one(mw_layer_dense(g, 2, "fc"), x) != NULL);
    CHECK(mw_layer_apply_one(mw_layer_dense(g, 2, "fc"), x) == NULL);
    mw_graph_check(g, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "fc.weight");
    mw_graph_destroy(g);
}

int main(void)
{
    RUN(test_gradients_agree_with_differences);
    RUN(test_gradients_are_the_sums_over_layers_of_their_own);
    RUN(test_a_trainer_updates_it_once);
    RUN(test_running_statistics_follow_each_application_in_turn);
    RUN(test_dropout_draws_anew_in_each_application);
    RUN(test_functions_that_are_wrong_are_refused);
    RUN(test_operands_and_names_that_are_wrong_are_refused);
    RUN(test_two_layers_of_one_name_do_not_share);
    return check_finish();
}
