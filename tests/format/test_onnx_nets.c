/* Nets that PyTorch 1.13 exported (tests/data/onnx/nets.py), the whole way: in, beside PyTorch, their heads trained
 * beside PyTorch, adapters trained, out to a package and in again. */
#include "onnx_kept.h"
#include "onnx_recorded.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/on_engine.h"

#include <stdlib.h>

static const onnx_recorded nets[] = {
    {"mobilenet", {4, {4, 3, 24, 24}}, {2, {4, 10}}, 1e-5, false, "classifier.*"},
    {"mobilenet_kept", {4, {4, 3, 24, 24}}, {2, {4, 10}}, 1e-5, false, "classifier.*"},
    {"mobilenet_train", {4, {4, 3, 24, 24}}, {2, {4, 10}}, 1e-5, false, NULL},
    {"lstm", {2, {4, 9}}, {2, {4, 4}}, 1e-5, true, "head.*"},
    {"lstm_kept", {2, {4, 9}}, {2, {4, 4}}, 1e-5, true, "head.*"},
    {"gru", {3, {3, 8, 6}}, {3, {3, 8, 3}}, 1e-5, false, NULL},
    {"encoder", {2, {4, 8}}, {2, {4, 3}}, 1e-5, true, "head.*"},
    {"unet", {4, {2, 1, 16, 16}}, {4, {2, 2, 16, 16}}, 1e-5, false, NULL},
};
enum { NETS = sizeof nets / sizeof *nets };

/* What a check works on. */
typedef struct net {
    const onnx_recorded *r;
    float *values, *y, *losses; /* of the recording */
    mw_graph *graph;
} net;

static bool open_net(net *n, const onnx_recorded *r, mw_error *err)
{
    *n = (net){.r = r, .values = onnx_recorded_values(r), .graph = onnx_recorded_graph(r, err)};
    CHECK_OK(*err);
    if (!CHECK(n->values != NULL && n->graph != NULL))
        return false;
    n->y = n->values + mw_shape_count(r->x);
    n->losses = n->y + mw_shape_count(r->y);
    return true;
}

static void close_net(net *n)
{
    mw_graph_destroy(n->graph);
    free(n->values);
}

/* ---- over the nets ---- */

static bool any_net(const onnx_recorded *r) { return r != NULL; }
static bool has_head(const onnx_recorded *r) { return r->head != NULL; }
static bool takes_any_batch(const onnx_recorded *r) { return strcmp(r->name, "mobilenet_train") != 0; }

/* Each of those nets in a folder of the test's own. */
static void for_nets(bool (*wanted)(const onnx_recorded *r), void (*check)(const net *n))
{
    char folder[512];
    REQUIRE(folder_enter(folder));
    for (size_t i = 0; i < NETS; i++) {
        net n;
        mw_error err = {0};
        if (!wanted(&nets[i]))
            continue;
        if (open_net(&n, &nets[i], &err))
            check(&n);
        close_net(&n);
    }
    folder_leave(folder);
}

/* ---- in ---- */

/* For onnxruntime, if it is asked for: the model in that file, and what ours computes. Indices are those of PyTorch,
 * int64, in what we write too. */
static bool keep_net(const net *n, const char *what, const char *model, const char *type, const float *y)
{
    static int number;
    char name[64], title[128];
    if (onnx_kept_folder == NULL)
        return true;
    const size_t inputs = (size_t)mw_shape_count(n->r->x), outputs = (size_t)mw_shape_count(n->r->y);
    double *values = calloc(inputs + outputs, sizeof *values);
    for (size_t i = 0; i < inputs + outputs; i++)
        values[i] = i < inputs ? (double)n->values[i] : (double)y[i - inputs];
    const onnx_kept_port ports[] = {{"x", n->r->integers ? type : "float32", n->r->x, values},
                                    {"y", "float32", n->r->y, values + inputs}};
    snprintf(name, sizeof name, "net%03d", number++);
    snprintf(title, sizeof title, "%s, %s", n->r->name, what);
    const bool kept = onnx_kept(name, title, model, ports, 2);
    free(values);
    return kept;
}

static void test_nets_compute_what_pytorch_does(void)
{
    char path[512];
    for (size_t i = 0; i < NETS; i++) {
        net n;
        mw_error err = {0};
        if (open_net(&n, &nets[i], &err)) {
            float *y = onnx_recorded_run(n.r, n.graph, n.values, &err);
            onnx_recorded_compare(n.r, y, n.y, n.r->tolerance, "from PyTorch");
            snprintf(path, sizeof path, MW_TESTS_DIR "/data/onnx/%s.onnx", n.r->name);
            CHECK(keep_net(&n, "as PyTorch exported it", path, "int64", y));
            free(y);
        }
        CHECK_OK(err);
        close_net(&n);
    }
}

/* ---- training ---- */

typedef struct lesson {
    int32_t labels[8], *tokens;
    mw_feed feeds[2];
    mw_batch batch;
} lesson;

static void make_lesson(lesson *l, const net *n)
{
    const size_t examples = (size_t)n->r->x.dim[0], count = (size_t)mw_shape_count(n->r->x);
    *l =
        (lesson){.tokens = calloc(count, sizeof *l->tokens), .batch = {.feed_count = 2, .examples = (int64_t)examples}};
    for (size_t i = 0; i < examples; i++)
        l->labels[i] = (int32_t)(i * 3 % (size_t)n->r->y.dim[1]);
    for (size_t i = 0; i < count; i++)
        l->tokens[i] = n->r->integers ? (int32_t)n->values[i] : 0;
    const void *x = n->r->integers ? (const void *)l->tokens : n->values;
    l->feeds[0] =
        (mw_feed){.name = "x", .dtype = n->r->integers ? MW_I32 : MW_F32, .data = x, .count = count, .scale = 1.0f};
    l->feeds[1] = (mw_feed){.name = "labels", .dtype = MW_I32, .data = l->labels, .count = examples, .scale = 1.0f};
    l->batch.feeds = l->feeds;
}

/* Adam's steps on `graph`, whose losses go to `out`; the tuned program is left in the folder "tuned", the weights that
 * were trained in "tuned.safetensors". */
static void train(const net *n, mw_graph *graph, float *out, mw_error *err)
{
    lesson l;
    make_lesson(&l, n);
    mw_tensor *labels = mw_input(graph, "labels", MW_I32, MW_SHAPE(n->r->x.dim[0]));
    mw_tensor *loss = mw_cross_entropy(mw_graph_output_at(graph, 0), labels);
    mw_trainer *trainer = engine_trainer(loss, mw_adam(0.02f), MW_DEVICE_CPU, 1, err);
    for (int i = 0; trainer != NULL && i < ONNX_STEPS; i++)
        mw_trainer_step(trainer, &l.batch, &out[i], err);
    mw_trainer_export(trainer, n->graph, "tuned", NULL, err);
    mw_trainer_save_weights(trainer, "tuned.safetensors", err);
    mw_trainer_destroy(trainer);
    free(l.tokens);
}

/* What is written as a package and read again has the same operations and constants: equal bits. */
static void check_package(const net *n, const mw_graph *graph)
{
    mw_error err = {0};
    mw_graph_write(graph, "Net.mlpackage", NULL, &err);
    mw_coreml *model = mw_coreml_open("Net.mlpackage", NULL, &err);
    CHECK_OK(err);
    if (model != NULL) {
        float *a = onnx_recorded_run(n->r, graph, n->values, &err);
        float *b = onnx_recorded_run(n->r, mw_coreml_graph(model, &err), n->values, &err);
        CHECK_OK(err);
        CHECK(memcmp(a, b, (size_t)mw_shape_count(n->r->y) * sizeof *a) == 0);
        free(a);
        free(b);
    }
    mw_coreml_destroy(model);
}

/* What is written as ONNX and read again: every operation of these nets has an operator, and comes back as itself. */
static void check_onnx(const net *n, const mw_graph *graph, const char *what)
{
    mw_error err = {0};
    const bool tuned = graph != n->graph;
    mw_graph_write(graph, "net.onnx", NULL, &err);
    mw_graph *read = mw_graph_open_onnx("net.onnx", NULL, &err);
    CHECK_OK(err);
    if (read != NULL) {
        float *a = onnx_recorded_run(n->r, graph, n->values, &err);
        float *b = onnx_recorded_run(n->r, read, n->values, &err);
        CHECK_OK(err);
        check_note(memcmp(a, b, (size_t)mw_shape_count(n->r->y) * sizeof *a) == 0, __FILE__, __LINE__,
                   "%s, %s, differs once it was written as ONNX", n->r->name, what);
        CHECK(keep_net(n, what, "net.onnx", tuned ? "int32" : "int64", a));
        free(a);
        free(b);
    }
    mw_graph_destroy(read);
}

static void check_tuned(const net *n, const char *what)
{
    mw_error err = {0};
    mw_graph *tuned = mw_graph_open_mil("tuned/model.mil", NULL, &err);
    CHECK_OK(err);
    if (tuned != NULL) {
        check_package(n, tuned);
        check_onnx(n, tuned, what);
    }
    mw_graph_destroy(tuned);
}

/* Losses to 1e-6 of themselves and 1: no gradient here is so near 0 that its rounding would turn a step of Adam. */
static void check_head(const net *n)
{
    float found[ONNX_STEPS] = {0};
    mw_error err = {0};
    const mw_tune_options options = mw_tune_defaults(&n->r->head, 1);
    mw_graph *graph = mw_graph_trainable(n->graph, &options, &err);
    train(n, graph, found, &err);
    CHECK_OK(err);
    for (int i = 0; i < ONNX_STEPS; i++) {
        const double off = fabs((double)found[i] - (double)n->losses[i]) / (1 + (double)n->losses[i]);
        check_note(off <= 1e-6, __FILE__, __LINE__, "%s: loss %d is %g, %g in PyTorch", n->r->name, i, (double)found[i],
                   (double)n->losses[i]);
    }
    CHECK(found[ONNX_STEPS - 1] < found[0]);
    check_tuned(n, "its head trained");
    mw_graph_destroy(graph);
}

static void test_heads_learn_as_in_pytorch(void) { for_nets(has_head, check_head); }

/* Steps on a copy of the net, which this frees: its loss falls, and what was trained is written. */
static void check_learns(const net *n, mw_graph *graph, const char *what, mw_error *err)
{
    float found[ONNX_STEPS] = {0};
    train(n, graph, found, err);
    CHECK_OK(*err);
    check_note(found[ONNX_STEPS - 1] < 0.85f * found[0], __FILE__, __LINE__, "%s: the loss goes from %g to %g",
               n->r->name, (double)found[0], (double)found[ONNX_STEPS - 1]);
    check_tuned(n, what);
    mw_graph_destroy(graph);
}

/* Adapters on every product and convolution (recurrent weights take none, so that of the lstm the head alone learns),
 * then all weights themselves, those of recurrent layers too. */
static void check_adapters_and_all(const net *n)
{
    static const char *const all[] = {"*"};
    mw_error err = {0};
    mw_lora_options lora = mw_lora_defaults(all, 1);
    lora.rank = 4;
    lora.skip_fixed = true;
    check_learns(n, mw_graph_lora(n->graph, &lora, &err), "with adapters", &err);
    mw_tune_options tune = mw_tune_defaults(all, 1);
    tune.skip_fixed = true;
    check_learns(n, mw_graph_trainable(n->graph, &tune, &err), "all of it trained", &err);
}

static void test_adapters_and_all_weights_learn(void) { for_nets(has_head, check_adapters_and_all); }

/* ---- base weights ---- */

static bool same_results(const net *n, const mw_graph *a, const mw_graph *b)
{
    mw_error err = {0};
    float *y = onnx_recorded_run(n->r, a, n->values, &err), *z = onnx_recorded_run(n->r, b, n->values, &err);
    const bool same = memcmp(y, z, (size_t)mw_shape_count(n->r->y) * sizeof *y) == 0;
    free(y);
    free(z);
    return CHECK_OK(err) && same;
}

/* The net with the head of "tuned.safetensors" and all else as it was: what was tuned. */
static mw_graph *load_head(const net *n, mw_error *err)
{
    mw_weights_options options = mw_weights_defaults();
    options.partial = true;
    mw_graph *loaded = mw_graph_load_weights(n->graph, "tuned.safetensors", &options, err);
    mw_graph *tuned = mw_graph_open_mil("tuned/model.mil", NULL, err);
    if (CHECK_OK(*err))
        CHECK(same_results(n, loaded, tuned) && !same_results(n, loaded, n->graph));
    mw_graph_destroy(tuned);
    return loaded;
}

/* A head is trained, and loaded into the net as it was; adapters over that begin where the head had come to. */
static void check_base(const net *n, const char *what)
{
    float head[ONNX_STEPS] = {0}, adapted[ONNX_STEPS] = {0};
    mw_error err = {0};
    const mw_tune_options tune = mw_tune_defaults(&n->r->head, 1);
    mw_graph *graph = mw_graph_trainable(n->graph, &tune, &err);
    train(n, graph, head, &err);
    mw_graph_destroy(graph);
    const net base = {n->r, n->values, n->y, n->losses, load_head(n, &err)};
    mw_lora_options lora = mw_lora_defaults(&n->r->head, 1);
    lora.skip_fixed = true; /* biases */
    graph = mw_graph_lora(base.graph, &lora, &err);
    train(&base, graph, adapted, &err);
    CHECK_OK(err);
    check_note(adapted[0] < head[ONNX_STEPS - 1] && adapted[ONNX_STEPS - 1] < adapted[0], __FILE__, __LINE__,
               "%s: the loss of the head goes to %g, with adapters from %g to %g", n->r->name,
               (double)head[ONNX_STEPS - 1], (double)adapted[0], (double)adapted[ONNX_STEPS - 1]);
    check_tuned(&base, what);
    mw_graph_destroy(graph);
    mw_graph_destroy(base.graph);
}

/* A package has no dots in its names. */
static void check_base_of_package(const net *n)
{
    onnx_recorded named = *n->r;
    mw_error err = {0};
    mw_graph_write(n->graph, "Base.mlpackage", NULL, &err);
    mw_coreml *model = mw_coreml_open("Base.mlpackage", NULL, &err);
    net package = *n;
    named.head = strncmp(n->r->name, "mobilenet", 9) == 0 ? "classifier_*" : "head_*";
    package.r = &named;
    package.graph = mw_graph_specialize(mw_coreml_graph(model, &err), NULL, 0, &err);
    if (CHECK_OK(err))
        check_base(&package, "adapters over a base in a package");
    mw_graph_destroy(package.graph);
    mw_coreml_destroy(model);
}

static void check_both_bases(const net *n)
{
    check_base(n, "adapters over a base");
    check_base_of_package(n);
}

static void test_base_weights_come_under_adapters(void) { for_nets(has_head, check_both_bases); }

static void check_layers(const mw_graph *graph, bool named)
{
    mw_error err = {0};
    size_t count = 0;
    char *text = mw_graph_print_mil(graph, NULL, &err);
    for (const char *at = text; at != NULL && (at = strstr(at, " = lstm(")) != NULL; at++)
        count++;
    CHECK_INT(count, 3);
    mw_string_free(text);
    if (named)
        CHECK(mw_graph_find(graph, "lstm.weight_hh_l1.forward0") != NULL &&
              mw_graph_find(graph, "lstm.bias_ih_l1.forward0") != NULL &&
              mw_graph_find(graph, "both.weight_ih_l0.reverse0") != NULL);
}

/* Their weights lie in another order in MIL; without constant folding PyTorch puts them together by nodes. */
static void test_recurrent_layers_are_one_operation_each(void)
{
    char folder[512];
    REQUIRE(folder_enter(folder));
    for (size_t i = 0; i < NETS; i++) {
        net n;
        mw_error err = {0};
        if (strncmp(nets[i].name, "lstm", 4) != 0 || !open_net(&n, &nets[i], &err))
            continue;
        const bool named = strcmp(nets[i].name, "lstm_kept") == 0;
        check_layers(n.graph, named);
        mw_graph_write(n.graph, "net.onnx", NULL, &err);
        mw_graph *again = mw_graph_open_onnx("net.onnx", NULL, &err);
        CHECK_OK(err);
        if (again != NULL)
            check_layers(again, named);
        mw_graph_destroy(again);
        close_net(&n);
    }
    folder_leave(folder);
}

/* ---- open extents ---- */

/* One read serves all batches: what is specialized is what is read for that batch, up to how reshapes say it. */
static void check_open(const net *n)
{
    mw_error err = {0};
    const size_t size = (size_t)mw_shape_count(n->r->y) * sizeof(float);
    mw_graph *open = onnx_recorded_open(n->r, &err);
    CHECK_OK(err);
    REQUIRE(open != NULL);
    CHECK_INT(mw_tensor_shape(mw_graph_find(open, "x")).dim[0], MW_DIM_UNKNOWN);
    float *a = onnx_recorded_run(n->r, n->graph, n->values, &err), *b = onnx_recorded_run(n->r, open, n->values, &err);
    CHECK_OK(err);
    check_note(memcmp(a, b, size) == 0, __FILE__, __LINE__, "%s differs with open extents", n->r->name);
    mw_graph_write(open, "open.onnx", NULL, &err);
    CHECK_OK(err);
    CHECK(keep_net(n, "its extents open", "open.onnx", "int64", a));
    mw_graph *again = mw_graph_open_onnx("open.onnx", NULL, &err);
    CHECK_OK(err);
    if (again != NULL) {
        float *c = onnx_recorded_run(n->r, again, n->values, &err);
        CHECK_OK(err);
        check_note(memcmp(a, c, size) == 0, __FILE__, __LINE__, "%s, open, differs once it was written", n->r->name);
        free(c);
    }
    mw_graph_destroy(again);
    free(a);
    free(b);
    mw_graph_destroy(open);
}

static void test_one_read_serves_all_batches(void) { for_nets(takes_any_batch, check_open); }

/* An application gives any number of examples, and nobody says a batch. */
static void check_prediction(const net *n)
{
    char path[512];
    mw_error err = {0};
    lesson l;
    const size_t count = (size_t)mw_shape_count(n->r->y);
    float *y = calloc(count, sizeof *y);
    const mw_result results[] = {{"y", MW_F32, y, count}};
    make_lesson(&l, n);
    snprintf(path, sizeof path, MW_TESTS_DIR "/data/onnx/%s.onnx", n->r->name);
    mw_compile_options compile = engine_options(MW_DEVICE_CPU, 1);
    mw_model_options options = mw_model_defaults();
    const mw_input_shape shape = {"x", {2, {1, n->r->x.dim[1]}}};
    options.compile = &compile;
    options.shapes = &shape;
    options.shape_count = n->r->integers ? 1 : 0; /* of sentences, how long they are */
    mw_model *model = mw_model_open(path, &options, &err);
    mw_predictor *predictor = mw_predictor_create(model, &err);
    l.batch.feed_count = 1;
    mw_predictor_predict(predictor, &l.batch, results, 1, &err);
    CHECK_OK(err);
    onnx_recorded_compare(n->r, y, n->y, n->r->tolerance, "predicted one by one");
    mw_predictor_destroy(predictor);
    mw_model_destroy(model);
    free(l.tokens);
    free(y);
}

static void test_models_predict_any_number_of_examples(void) { for_nets(has_head, check_prediction); }

/* ---- out ---- */

static void check_written(const net *n)
{
    check_package(n, n->graph);
    check_onnx(n, n->graph, "as it was read");
}

static void test_what_is_written_computes_the_same(void) { for_nets(any_net, check_written); }

/* --cases FOLDER keeps what is read and written there. */
int main(int count, char **arguments)
{
    if (count > 2 && strcmp(arguments[1], "--cases") == 0)
        onnx_kept_folder = arguments[2];
    RUN(test_nets_compute_what_pytorch_does);
    RUN(test_heads_learn_as_in_pytorch);
    RUN(test_adapters_and_all_weights_learn);
    RUN(test_base_weights_come_under_adapters);
    RUN(test_recurrent_layers_are_one_operation_each);
    RUN(test_one_read_serves_all_batches);
    RUN(test_models_predict_any_number_of_examples);
    RUN(test_what_is_written_computes_the_same);
    return check_finish();
}
