/* Noise in training: whatever draws random numbers goes on from a checkpoint bit for bit, on both masks; refused steps
 * and evaluation leave the numbers alone; files hold the operations that were written. */
#include "graph/random/noise.h"
#include "graph/transform/flatten/flatten.h"
#include "runtime/files.h"
#include "runtime/trainer/object/trainer_object.h"
#include "support/check.h"
#include "support/evaluated.h"
#include "support/failing.h"

#include <millwright/millwright.h>
#include <stdlib.h>

enum { N = 8, D = 6, C = 3, BATCHES = 16 };

static const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};

static bool to_noise(void *names, mw__clone *clone, const mw__op *op) { return mw__noise_rule(names, clone, op); }

/* ---- nets ---- */

/* x [N, D] times or plus something random -> "fc" [C], mean square of the distance to "y". */
typedef mw_tensor *disturb(mw_tensor *x);

#define LIKE_X mw_tensor_graph(x), MW_F32, MW_SHAPE(N, D)

static mw_tensor *by_noise_normal(mw_tensor *x) { return mw_add(x, mw_noise_normal(LIKE_X, 0.1f, 0.5f, "noise")); }
static mw_tensor *by_noise_uniform(mw_tensor *x) { return mw_mul(x, mw_noise_uniform(LIKE_X, 0.5f, 1.5f, "noise")); }
static mw_tensor *by_noise_bernoulli(mw_tensor *x) { return mw_mul(x, mw_noise_bernoulli(LIKE_X, 0.5f, "noise")); }
static mw_tensor *by_dropout(mw_tensor *x) { return mw_dropout(x, 0.5f, "noise"); }
static mw_tensor *by_random_normal(mw_tensor *x) { return mw_add(x, mw_random_normal(LIKE_X, 0.1f, 0.5f, -1)); }
static mw_tensor *by_random_uniform(mw_tensor *x) { return mw_mul(x, mw_random_uniform(LIKE_X, 0.5f, 1.5f, -1)); }
static mw_tensor *by_random_bernoulli(mw_tensor *x) { return mw_mul(x, mw_random_bernoulli(LIKE_X, 0.5f, -1)); }
static mw_tensor *by_random_categorical(mw_tensor *x)
{
    return mw_add(x, mw_random_categorical(x, MW_CATEGORICAL_LOGITS, D, -1));
}
static mw_tensor *by_two(mw_tensor *x) { return by_random_uniform(by_random_normal(x)); }
static mw_tensor *by_recomputed(mw_tensor *x)
{
    mw_tensor *const start = x;
    return mw_recompute(mw_tanh(by_random_normal(x)), &start, 1);
}
static mw_tensor *by_fixed(mw_tensor *x) { return mw_add(x, mw_random_normal(LIKE_X, 0.0f, 0.5f, 7)); }

typedef struct setup {
    disturb *disturb;
    mw_device device;
    uint64_t seed;
    int accumulate, dispatch_steps;
    bool dynamic;
} setup;

static mw_trainer *train_graph(mw_tensor *h, const setup *s, mw_error *err)
{
    mw_graph *graph = mw_tensor_graph(h);
    mw_tensor *y = mw_input(graph, "y", MW_F32, MW_SHAPE(N, C)), *prediction = mw_dense(h, C, "fc");
    mw_tensor *loss = mw_mse(prediction, y);
    mw_trainer_options options = mw_trainer_defaults(loss, mw_adam(0.01f));
    options.prediction = prediction;
    options.compile.device = s->device;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.threads = 1;
    options.compile.seed = s->seed;
    options.accumulate = s->accumulate;
    options.dispatch_steps = s->dispatch_steps;
    options.precision.dynamic = s->dynamic;
    options.precision.interval = s->dynamic ? 3 : 0;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(graph);
    return trainer;
}

static mw_trainer *make(const setup *s, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(N, D));
    return train_graph(s->disturb(x), s, err);
}

/* ---- batches ---- */

typedef struct data {
    float x[BATCHES * N * D], y[BATCHES * N * C];
    mw_feed feeds[BATCHES][2];
    mw_batch batches[BATCHES];
} data;

static void fill(data *d)
{
    for (int i = 0; i < BATCHES * N * D; i++)
        d->x[i] = (float)(i * 37 % 101) / 50.0f - 1.0f;
    for (int i = 0; i < BATCHES * N * C; i++)
        d->y[i] = (float)(i * 53 % 97) / 50.0f - 1.0f;
    for (int b = 0; b < BATCHES; b++) {
        d->feeds[b][0] = (mw_feed){.name = "x", .data = d->x + b * N * D, .dtype = MW_F32, .count = N * D};
        d->feeds[b][1] = (mw_feed){.name = "y", .data = d->y + b * N * C, .dtype = MW_F32, .count = N * C};
        d->batches[b] = (mw_batch){.feeds = d->feeds[b], .feed_count = 2, .examples = N};
    }
}

static void step(mw_trainer *trainer, const data *d, int first, int count, float *out, mw_error *err)
{
    mw_trainer_step_many(trainer, d->batches + first, (size_t)count, out, err);
}

static bool same_state(mw_trainer *a, mw_trainer *b)
{
    for (size_t i = 0; i < a->owner.state.count; i++) {
        const mw__state_entry *x = &a->owner.state.entries[i], *y = mw__state_find(&b->owner.state, x->name);
        if (y == NULL || x->size != y->size || memcmp(x->data, y->data, x->size) != 0)
            return false;
    }
    return a->owner.state.count == b->owner.state.count;
}

/* ---- going on ---- */

/* Saved after 5 batches (with accumulation in the middle of an update), continued for 8 more. */
static void check_resumes(setup s, const char *who)
{
    static data d;
    mw_error err = {0};
    float a[8] = {0}, b[8] = {0}, first[5], again[5];
    fill(&d);
    s.seed = 1;
    mw_trainer *straight = make(&s, &err), *same = make(&s, &err);
    s.seed = 99; /* all must come from the file */
    mw_trainer *resumed = make(&s, &err);
    step(straight, &d, 0, 5, first, &err);
    step(same, &d, 0, 5, again, &err);
    step(resumed, &d, 0, 2, NULL, &err);
    mw_trainer_save(straight, scratch("noise.safetensors"), NULL, &err);
    step(straight, &d, 5, 8, a, &err);
    mw_trainer_load(resumed, scratch("noise.safetensors"), NULL, &err);
    step(resumed, &d, 5, 8, b, &err);
    const bool good = err.status == MW_OK && memcmp(a, b, sizeof a) == 0 && memcmp(first, again, sizeof first) == 0 &&
                      same_state(straight, resumed);
    check_note(good, __FILE__, __LINE__, "%s: resumed losses %.9g .. %.9g, straight on %.9g .. %.9g; %s", who,
               (double)b[0], (double)b[7], (double)a[0], (double)a[7], err.message);
    mw_trainer_destroy(straight);
    mw_trainer_destroy(same);
    mw_trainer_destroy(resumed);
}

static const struct {
    disturb *disturb;
    const char *name;
    bool on_ane; /* random_categorical needs sums along an axis, which the ANE has not */
} all[] = {{by_noise_normal, "noise_normal", true},
           {by_noise_uniform, "noise_uniform", true},
           {by_noise_bernoulli, "noise_bernoulli", true},
           {by_dropout, "dropout", true},
           {by_random_normal, "random_normal", true},
           {by_random_uniform, "random_uniform", true},
           {by_random_bernoulli, "random_bernoulli", true},
           {by_random_categorical, "random_categorical", false},
           {by_two, "two of them", true},
           {by_recomputed, "in a segment that is recomputed", true}};

static void check_all(setup s)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        for (int d = 0; d < 2; d++) {
            if (d == 1 && !all[i].on_ane)
                continue;
            s.disturb = all[i].disturb;
            s.device = devices[d];
            check_resumes(s, all[i].name);
        }
    }
}

static void test_every_generator_goes_on_bit_for_bit(void) { check_all((setup){0}); }

static void test_every_generator_goes_on_in_the_middle_of_an_accumulation(void) { check_all((setup){.accumulate = 3}); }

static void test_every_generator_goes_on_with_several_steps_a_dispatch(void)
{
    check_all((setup){.dispatch_steps = 2});
}

static void test_every_generator_goes_on_with_a_dynamic_scale(void) { check_all((setup){.dynamic = true}); }

/* A fixed seed means the same numbers in each step, after a checkpoint too. */
static void test_a_fixed_seed_goes_on(void)
{
    check_resumes((setup){.disturb = by_fixed, .device = MW_DEVICE_CPU}, "fixed seed");
}

/* One batch again and again with a rate of 0: nothing but the noise can change the loss. */
static void test_each_batch_has_numbers_of_its_own(void)
{
    static data d;
    fill(&d);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        for (int accumulate = 1; accumulate <= 3; accumulate += 2) {
            mw_error err = {0};
            float losses[6] = {0};
            const setup s = {.disturb = all[i].disturb, .device = MW_DEVICE_CPU, .accumulate = accumulate};
            mw_trainer *trainer = make(&s, &err);
            mw_trainer_set_learning_rate(trainer, 0.0f, &err);
            for (int k = 0; k < 6; k++)
                mw_trainer_step(trainer, &d.batches[0], &losses[k], &err);
            CHECK_OK(err);
            for (int k = 0; k < 6; k++)
                for (int j = 0; j < k; j++)
                    CHECK(losses[k] != losses[j]);
            mw_trainer_destroy(trainer);
        }
    }
}

/* The loss of the refused batch is infinite; the next batch has the numbers that the refused one had. */
static void test_a_refused_step_keeps_its_numbers(void)
{
    static data d, bad;
    fill(&d);
    fill(&bad);
    for (int i = 0; i < N * D; i++)
        bad.x[i] = 6e4f * (float)(i % 2 == 0 ? 1 : -1);
    for (int i = 0; i < N * C; i++)
        bad.y[i] = -6e4f;
    for (int dynamic = 0; dynamic < 2; dynamic++) {
        mw_error err = {0}, refusal = {0};
        const setup s = {.disturb = by_noise_normal, .device = MW_DEVICE_ANE, .dynamic = dynamic == 1};
        mw_trainer *one = make(&s, &err), *other = make(&s, &err);
        float a[4] = {0}, b[4] = {0};
        float before[32], after[32];
        step(one, &d, 0, 2, NULL, &err);
        step(other, &d, 0, 2, NULL, &err);
        mw_trainer_read(one, "noise.generator", MW_F32, before, 32, &err);
        const mw_status status = mw_trainer_step(one, &bad.batches[0], NULL, &refusal);
        CHECK_INT(status, dynamic == 1 ? MW_OK : MW_ERROR_NUMERIC);
        CHECK_INT(mw_trainer_get_info(one).counters.refused_steps, 1);
        mw_trainer_read(one, "noise.generator", MW_F32, after, 32, &err);
        CHECK(memcmp(before, after, sizeof before) == 0);
        step(one, &d, 2, 4, a, &err);
        step(other, &d, 2, 4, b, &err);
        CHECK_OK(err);
        CHECK(memcmp(a, b, sizeof a) == 0);
        mw_trainer_destroy(one);
        mw_trainer_destroy(other);
    }
}

/* ---- evaluation ---- */

static void test_evaluation_reads_the_generator_where_it_stands(void)
{
    static data d;
    fill(&d);
    for (int k = 0; k < 2; k++) {
        mw_error err = {0};
        const setup s = {.disturb = by_random_normal, .device = devices[k]};
        mw_trainer *trainer = make(&s, &err);
        const mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(D), .data = d.x},
                                     {.name = "y", .dtype = MW_F32, .shape = MW_SHAPE(C), .data = d.y}};
        mw_dataset *dataset = mw_dataset_create(columns, 2, BATCHES * N, false, &err);
        step(trainer, &d, 0, 3, NULL, &err);
        float before[32], after[32], one[N * C], two[N * C], three[N * C];
        double first = 0, second = 0;
        mw_trainer_read(trainer, "random_normal.1.generator", MW_F32, before, 32, &err);
        evaluated(trainer, dataset, &first, NULL, &err);
        evaluated(trainer, dataset, &second, NULL, &err);
        mw_trainer_predict(trainer, &d.batches[0], MW_F32, one, N * C, &err);
        mw_trainer_predict(trainer, &d.batches[0], MW_F32, two, N * C, &err);
        mw_trainer_read(trainer, "random_normal.1.generator", MW_F32, after, 32, &err);
        mw_trainer_set_learning_rate(trainer, 0.0f, &err);
        step(trainer, &d, 3, 1, NULL, &err);
        mw_trainer_predict(trainer, &d.batches[0], MW_F32, three, N * C, &err);
        CHECK_OK(err);
        CHECK_NEAR(first, second, 0.0);
        CHECK(first > 0.0);
        CHECK(memcmp(before, after, sizeof before) == 0);
        CHECK(memcmp(one, two, sizeof one) == 0);
        CHECK(memcmp(one, three, sizeof one) != 0);
        mw_dataset_destroy(dataset);
        mw_trainer_destroy(trainer);
    }
}

/* ---- files ---- */

/* PyTorch's files know no generator. */
static void test_weights_leave_the_generator_out(void)
{
    mw_error err = {0};
    setup s = {.disturb = by_noise_normal, .device = MW_DEVICE_CPU};
    mw_trainer *noisy = make(&s, &err);
    float a[32], b[32], weights[C * D], loaded[C * D];
    mw_trainer_save_weights(noisy, scratch("weights.safetensors"), &err);
    size_t size = 0;
    unsigned char *bytes = get_file(scratch("weights.safetensors"), &size);
    REQUIRE(bytes != NULL);
    CHECK(memmem(bytes, size, "fc.weight", 9) != NULL);
    CHECK(memmem(bytes, size, "generator", 9) == NULL);
    free(bytes);
    s.seed = 5;
    mw_trainer *other = make(&s, &err);
    mw_trainer_read(other, "noise.generator", MW_F32, a, 32, &err);
    mw_trainer_load_weights(other, scratch("weights.safetensors"), NULL, &err);
    mw_trainer_read(other, "noise.generator", MW_F32, b, 32, &err);
    mw_trainer_read(noisy, "fc.weight", MW_F32, weights, C * D, &err);
    mw_trainer_read(other, "fc.weight", MW_F32, loaded, C * D, &err);
    CHECK_OK(err);
    CHECK(memcmp(a, b, sizeof a) == 0);
    CHECK(memcmp(weights, loaded, sizeof weights) == 0);
    mw_trainer_destroy(other);
    mw_trainer_destroy(noisy);
}

/* The text of folder/model.mil; to be freed. */
static char *read_text(const char *folder)
{
    char path[600];
    size_t size = 0;
    snprintf(path, sizeof path, "%s/model.mil", folder);
    unsigned char *bytes = get_file(path, &size);
    char *text = calloc(1, size + 1);
    if (bytes != NULL)
        memcpy(text, bytes, size);
    free(bytes);
    return text;
}

/* A program without a state set has MIL's own operations in place of the noise. */
static void test_written_programs_hold_operations_of_mil(void)
{
    static const struct {
        disturb *disturb;
        const char *operation;
    } cases[] = {{by_noise_normal, " random_normal("},           {by_noise_uniform, " random_uniform("},
                 {by_noise_bernoulli, " random_bernoulli("},     {by_random_normal, " random_normal("},
                 {by_random_uniform, " random_uniform("},        {by_random_bernoulli, " random_bernoulli("},
                 {by_random_categorical, " random_categorical("}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mw_error err = {0};
        const setup s = {.disturb = cases[i].disturb, .device = MW_DEVICE_CPU};
        mw_trainer *trainer = make(&s, &err);
        mw_trainer_export(trainer, NULL, scratch("written"), NULL, &err);
        CHECK_OK(err);
        char *text = read_text(scratch("written"));
        CHECK_CONTAINS(text, cases[i].operation);
        CHECK(strstr(text, "floor_div") == NULL && strstr(text, "generator") == NULL);
        mw_graph *back = mw_graph_open_mil(scratch("written/model.mil"), NULL, &err);
        CHECK_OK(err);
        free(text);
        mw_graph_destroy(back);
        mw_trainer_destroy(trainer);
    }
}

static void test_the_evaluation_of_a_graph_holds_operations_of_mil(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(N, D));
    mw_output(by_noise_uniform(x), "y");
    mw_graph *evaluation = mw_graph_evaluation(graph, &err);
    REQUIRE(CHECK_OK(err));
    char *text = mw_graph_print_mil(evaluation, NULL, &err);
    CHECK_CONTAINS(text, " random_uniform(");
    CHECK(strstr(text, "generator") == NULL);
    mw_string_free(text);
    mw_graph_destroy(evaluation);
    mw_graph_destroy(graph);
}

/* ---- programs that were read ---- */

#define HEAD "program(1.3){func main<ios18>(tensor<fp32, [8, 6]> x){"
#define WEIGHT                                                                                                         \
    "tensor<fp32, [3, 6]> fc_weight = const()[name = string(\"fc_weight\"), val = tensor<fp32, [3, 6]>(0x1p-2)];"
#define LINEAR                                                                                                         \
    WEIGHT                                                                                                             \
    "tensor<fp32, [3]> fc_bias = const()[name = string(\"fc_bias\"), val = tensor<fp32, [3]>(0x0p+0)];"                \
    "tensor<fp32, [8, 3]> z = linear(bias = fc_bias, weight = fc_weight, x = h)[name = string(\"z\")];} -> (z);}"

/* Seed -1, and no seed at all. */
static const char read_normal[] =
    HEAD "tensor<fp32, [8, 6]> noise = random_normal(mean = fp32(0x0p+0), seed = int32(-1), shape = tensor<int32, "
         "[2]>([8, 6]), stddev = fp32(0x1p-1))[name = string(\"noise\")];"
         "tensor<fp32, [8, 6]> h = add(x = x, y = noise)[name = string(\"h\")];" LINEAR;
static const char read_bernoulli[] =
    HEAD "tensor<fp32, [8, 6]> noise = random_bernoulli(prob = fp32(0x1p-1), shape = tensor<int32, [2]>([8, 6]))"
         "[name = string(\"noise\")];"
         "tensor<fp32, [8, 6]> h = mul(x = x, y = noise)[name = string(\"h\")];" LINEAR;
/* Three trips of a loop draw three times. */
static const char read_loop[] =
    HEAD "tensor<fp32, [8, 6]> h, int32 n = while_loop(loop_vars = (x, int32(0)))[name = string(\"loop\")]"
         " (tensor<fp32, [8, 6]> v, int32 i)"
         " { bool c = less(x = i, y = int32(3))[name = string(\"c\")]; } -> (c)"
         " (tensor<fp32, [8, 6]> v, int32 i)"
         " { tensor<fp32, [8, 6]> noise = random_uniform(high = fp32(0x1.8p+0), low = fp32(0x1p-1), seed = int32(-1), "
         "shape = tensor<int32, [2]>([8, 6]))[name = string(\"noise\")];"
         "   tensor<fp32, [8, 6]> m = mul(x = v, y = noise)[name = string(\"m\")];"
         "   int32 j = add(x = i, y = int32(1))[name = string(\"j\")]; } -> (m, j);" LINEAR;

static mw_graph *parse(const char *text, mw_error *err)
{
    return mw_graph_parse_mil(text, strlen(text), NULL, NULL, err);
}

static mw_trainer *tune(const mw_graph *source, mw_device device, uint64_t seed, mw_error *err)
{
    static const char *const patterns[] = {"fc_weight"};
    const mw_tune_options tune = mw_tune_defaults(patterns, 1);
    mw_graph *graph = mw_graph_trainable(source, &tune, err);
    mw_tensor *y = mw_input(graph, "y", MW_F32, MW_SHAPE(N, C));
    mw_trainer_options options = mw_trainer_defaults(mw_mse(mw_graph_output_at(graph, 0), y), mw_adam(0.01f));
    options.compile.device = device;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.seed = seed;
    mw_trainer *trainer = graph != NULL ? mw_trainer_create(&options, err) : NULL;
    mw_graph_destroy(graph);
    return trainer;
}

static void test_programs_that_were_read_go_on_bit_for_bit(void)
{
    static data d;
    const char *const texts[] = {read_normal, read_bernoulli, read_loop};
    fill(&d);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 2; k++) {
            mw_error err = {0};
            float a[8] = {0}, b[8] = {0};
            mw_graph *source = parse(texts[i], &err);
            mw_trainer *straight = tune(source, devices[k], 1, &err), *resumed = tune(source, devices[k], 2, &err);
            step(straight, &d, 0, 5, NULL, &err);
            mw_trainer_save(straight, scratch("read.safetensors"), NULL, &err);
            step(straight, &d, 5, 8, a, &err);
            mw_trainer_load(resumed, scratch("read.safetensors"), NULL, &err);
            step(resumed, &d, 5, 8, b, &err);
            CHECK_OK(err);
            CHECK(memcmp(a, b, sizeof a) == 0);
            mw_trainer_destroy(resumed);
            mw_trainer_destroy(straight);
            mw_graph_destroy(source);
        }
    }
}

static void test_every_trip_of_a_loop_has_a_generator(void)
{
    mw_error err = {0};
    float a[32], b[32], c[32];
    mw_graph *source = parse(read_loop, &err);
    mw_trainer *trainer = tune(source, MW_DEVICE_CPU, 1, &err);
    mw_trainer_read(trainer, "noise.generator", MW_F32, a, 32, &err);
    mw_trainer_read(trainer, "noise_2.generator", MW_F32, b, 32, &err);
    mw_trainer_read(trainer, "noise_3.generator", MW_F32, c, 32, &err);
    CHECK_OK(err);
    CHECK(memcmp(a, b, sizeof a) != 0 && memcmp(b, c, sizeof b) != 0);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(source);
}

/* What is written back is the program that was read, with other weights. */
static void test_a_tuned_program_keeps_its_random_operations(void)
{
    static data d;
    mw_error err = {0};
    fill(&d);
    mw_graph *source = parse(read_normal, &err);
    mw_trainer *trainer = tune(source, MW_DEVICE_CPU, 1, &err);
    step(trainer, &d, 0, 3, NULL, &err);
    mw_trainer_export(trainer, source, scratch("tuned"), NULL, &err);
    mw_graph_write(source, scratch("plain"), NULL, &err);
    CHECK_OK(err);
    char *tuned = read_text(scratch("tuned")), *plain = read_text(scratch("plain"));
    const char *a = strstr(tuned, "noise = random_normal("), *b = strstr(plain, "noise = random_normal(");
    if (CHECK(a != NULL && b != NULL))
        CHECK(strncmp(a, b, strcspn(b, "\n")) == 0);
    CHECK(strstr(tuned, "generator") == NULL);
    free(tuned);
    free(plain);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(source);
}

/* ---- gradients of one's own ---- */

static mw_status draw_random(const mw_custom_vjp_call *call, mw_tensor **out_dx, mw_error *err)
{
    (void)err;
    out_dx[0] = mw_mul(call->dy, mw_random_uniform(call->graph, MW_F32, MW_SHAPE(N, D), 0.5f, 1.5f, -1));
    return MW_OK;
}

static mw_status draw_noise(const mw_custom_vjp_call *call, mw_tensor **out_dx, mw_error *err)
{
    (void)err;
    out_dx[0] = mw_mul(call->dy, mw_noise_uniform(call->graph, MW_F32, MW_SHAPE(N, D), 0.5f, 1.5f, "inside"));
    return MW_OK;
}

static mw_status use_noise(const mw_custom_vjp_call *call, mw_tensor **out_dx, mw_error *err)
{
    (void)err;
    out_dx[0] = mw_mul(call->dy, call->inputs[1]);
    if (call->wants[1])
        out_dx[1] = mw_mul_scalar(call->dy, 0.0);
    return MW_OK;
}

static mw_custom_vjp_rule *rule_of_disturb;
static mw_tensor *by_custom(mw_tensor *x)
{
    mw_tensor *h = mw_mul(x, mw_parameter(mw_tensor_graph(x), "factor", MW_F32, MW_SHAPE(D), mw_init_constant(1.0f)));
    mw_tensor *const inputs[] = {h, mw_noise_uniform(LIKE_X, 0.5f, 1.5f, "outside")};
    return mw_custom_vjp("disturbed", h, inputs, rule_of_disturb == use_noise ? 2 : 1, rule_of_disturb, NULL);
}

/* A rule runs when the step is built, too late for a state of the trainer. */
static void test_rules_that_draw_are_refused(void)
{
    mw_custom_vjp_rule *const rules[] = {draw_random, draw_noise};
    const char *const names[] = {"\"random_uniform\" was made by the rule",
                                 "\"inside.generator\" was made by the rule"};
    for (int i = 0; i < 2; i++) {
        mw_error err = {0};
        rule_of_disturb = rules[i];
        CHECK(make(&(setup){.disturb = by_custom, .device = MW_DEVICE_CPU}, &err) == NULL);
        CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, names[i]);
    }
    rule_of_disturb = use_noise;
    for (int d = 0; d < 2; d++)
        check_resumes((setup){.disturb = by_custom, .device = devices[d]}, "noise of a rule");
}

/* ---- classes ---- */

/* Frequencies of the rows' classes; a row without a positive p gives class 0. Bounds are five standard deviations. */
static void test_classes_are_drawn_as_often_as_their_probabilities_say(void)
{
    enum { DRAWS = 4000, CLASSES = 4, CASES = 3 };
    const float p[CASES][CLASSES] = {{1, 2, 0, 5}, {0, 0, 0, 0}, {0, 0, 3, 0}};
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(CASES, CLASSES)), *y = mw_dense(x, 1, "fc");
    mw_trainer_options options = mw_trainer_defaults(mw_mse(y, mw_mul_scalar(y, 0.0)), mw_adam(0.01f));
    options.prediction = mw_random_categorical(x, MW_CATEGORICAL_PROBS, DRAWS, -1);
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.device = MW_DEVICE_CPU;
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    mw_graph_destroy(graph);
    const mw_feed feed = {.name = "x", .data = p, .dtype = MW_F32, .count = CASES * CLASSES};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = CASES};
    static float drawn[CASES * DRAWS];
    mw_trainer_predict(trainer, &batch, MW_F32, drawn, CASES * DRAWS, &err);
    REQUIRE(CHECK_OK(err));
    double seen[CASES][CLASSES] = {{0}};
    for (int i = 0; i < CASES * DRAWS; i++)
        seen[i / DRAWS][(int)drawn[i]]++;
    for (int c = 0; c < CLASSES; c++)
        CHECK_NEAR(seen[0][c], DRAWS * (double)p[0][c] / 8, 5 * sqrt(DRAWS * (double)p[0][c] / 8));
    CHECK_NEAR(seen[1][0], DRAWS, 0.0);
    CHECK_NEAR(seen[2][2], DRAWS, 0.0);
    mw_trainer_destroy(trainer);
}

/* ---- names ---- */

typedef struct trips {
    mw_graph *graph;
    int count;
} trips;

static mw_tensor *is_within(void *user, mw_tensor *const *vars, size_t count)
{
    const trips *l = user;
    (void)count;
    return mw_less(vars[0], mw_scalar(l->graph, MW_I32, l->count));
}

static void draw_once(void *user, mw_tensor *const *vars, size_t count, mw_tensor **out_vars)
{
    const trips *l = user;
    (void)count;
    mw_tensor *noise = mw_name(mw_random_normal(l->graph, MW_F32, MW_SHAPE(2), 0, 1, -1), "noise");
    out_vars[0] = mw_add(vars[0], mw_scalar(l->graph, MW_I32, 1));
    out_vars[1] = mw_add(vars[1], noise);
}

typedef struct draw_rules {
    mw__noise_names names;
    mw__flatten flatten;
} draw_rules;

static bool apply_draw_rules(void *user, mw__clone *clone, const mw__op *op)
{
    draw_rules *rules = user;
    return mw__noise_rule(&rules->names, clone, op) || mw__flatten_rule(&rules->flatten, clone, op);
}

/* As a trainer copies it: each trip draws from a generator with a name of its own, which is found at once. */
static void test_each_trip_of_a_loop_tries_one_name(void)
{
    enum { TRIPS = 300 };
    mw_error err = {0};
    trips loop = {mw_graph_create(NULL, NULL), TRIPS};
    mw_tensor *x = mw_input(loop.graph, "x", MW_F32, MW_SHAPE(2)), *vars[2];
    mw_while_loop((mw_tensor *[]){mw_scalar(loop.graph, MW_I32, 0), x}, 2, is_within, draw_once, &loop, vars);
    mw_output(vars[1], "y");
    draw_rules rules = {.flatten = {0}};
    mw__noise_names_init(&rules.names, NULL);
    const mw__clone_options options = {.rule = apply_draw_rules, .user = &rules, .keep_outputs = true};
    mw_graph *copy = mw__clone_graph(NULL, loop.graph, &options, NULL, &err);
    CHECK_OK(err);
    for (int trip = 1; trip <= TRIPS; trip++) {
        char name[40];
        snprintf(name, sizeof name, trip == 1 ? "noise.generator" : "noise_%d.generator", trip);
        CHECK(mw_graph_find(copy, name) != NULL);
    }
    CHECK_INT(rules.names.tried, TRIPS);
    mw__noise_names_deinit(&rules.names);
    mw__graph_free(copy);
    mw_graph_destroy(loop.graph);
}

/* ---- memory ---- */

static void test_noise_survives_every_failed_allocation(void)
{
    bool finished = false;
    for (long n = 0; !finished && n < 20000; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_graph_options how = mw_graph_defaults();
        how.allocator = &allocator;
        mw_error err = {0};
        mw_graph *graph = mw_graph_create(&how, NULL), *copy = NULL;
        if (graph != NULL) {
            mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(N, D));
            mw_output(by_noise_bernoulli(by_random_categorical(by_random_normal(x))), "y");
            mw__noise_names names;
            mw__noise_names_init(&names, &allocator);
            const mw__clone_options options = {.rule = to_noise, .user = &names, .keep_outputs = true};
            mw_graph *noisy =
                mw_graph_check(graph, &err) == MW_OK ? mw__clone_graph(&allocator, graph, &options, NULL, &err) : NULL;
            mw__noise_names_deinit(&names);
            copy = noisy != NULL ? mw_graph_evaluation(noisy, &err) : NULL;
            mw__graph_free(noisy);
        }
        finished = !failing.failed;
        CHECK((copy != NULL) == finished);
        mw_graph_destroy(copy);
        mw_graph_destroy(graph);
        CHECK_INT(failing.live, 0);
    }
    CHECK(finished);
}

int main(void)
{
    unsetenv("MW_E5RT_LIBRARY");
    RUN(test_every_generator_goes_on_bit_for_bit);
    RUN(test_every_generator_goes_on_in_the_middle_of_an_accumulation);
    RUN(test_every_generator_goes_on_with_several_steps_a_dispatch);
    RUN(test_every_generator_goes_on_with_a_dynamic_scale);
    RUN(test_a_fixed_seed_goes_on);
    RUN(test_each_batch_has_numbers_of_its_own);
    RUN(test_a_refused_step_keeps_its_numbers);
    RUN(test_evaluation_reads_the_generator_where_it_stands);
    RUN(test_weights_leave_the_generator_out);
    RUN(test_written_programs_hold_operations_of_mil);
    RUN(test_the_evaluation_of_a_graph_holds_operations_of_mil);
    RUN(test_programs_that_were_read_go_on_bit_for_bit);
    RUN(test_every_trip_of_a_loop_has_a_generator);
    RUN(test_a_tuned_program_keeps_its_random_operations);
    RUN(test_rules_that_draw_are_refused);
    RUN(test_classes_are_drawn_as_often_as_their_probabilities_say);
    RUN(test_each_trip_of_a_loop_tries_one_name);
    RUN(test_noise_survives_every_failed_allocation);
    return check_finish();
}
