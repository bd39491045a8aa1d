/* What a trainer leaves: a model that others feed as they like, whatever batch it was trained with; and what cannot be
 * written is known before the first step. */
#include "support/check.h"
#include "support/folder.h"
#include "support/on_engine.h"

#include <millwright/millwright.h>
#include <string.h>
#include <sys/stat.h>

enum { BATCH = 6, WORDS = 5, TABLE = 11, WIDTH = 4, CLASSES = 3 };

static bool is_there(const char *name)
{
    struct stat status;
    return stat(name, &status) == 0;
}

/* Two inputs: words by number, and what is added to their sum. */
typedef struct net {
    mw_graph *graph;
    mw_tensor *scores;
    mw_trainer *trainer;
} net;

static net make_net(mw_tensor *(*last)(mw_tensor *), mw_error *err)
{
    net n = {.graph = mw_graph_create(NULL, NULL)};
    mw_tensor *words = mw_input(n.graph, "words", MW_I32, MW_SHAPE(BATCH, WORDS));
    mw_tensor *extra = mw_input(n.graph, "extra", MW_F32, MW_SHAPE(BATCH, WIDTH));
    mw_tensor *rows = mw_embedding(words, TABLE, WIDTH, "table");

    mw_tensor *sum = mw_add(mw_reduce_sum(rows, MW_AXES(1), false), extra);
    mw_tensor *y = last != NULL ? last(sum) : mw_dense(sum, CLASSES, "dense");
    n.scores = mw_name(y, "scores");
    mw_tensor *labels = mw_input(n.graph, "labels", MW_I32, MW_SHAPE(BATCH));
    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(y, labels), mw_sgd(0.1f));
    options.prediction = n.scores;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.device = MW_DEVICE_CPU;
    options.compile.threads = 1;
    n.trainer = mw_trainer_create(&options, err);
    return n;
}

static void drop_net(net *n)
{
    mw_trainer_destroy(n->trainer);
    mw_graph_destroy(n->graph);
}

static void check_port(const mw_tensor *tensor, const char *name, mw_dtype dtype, mw_shape shape)
{
    REQUIRE(tensor != NULL);
    CHECK_STR(mw_tensor_name(tensor), name);
    CHECK_INT(mw_tensor_dtype(tensor), dtype);
    CHECK(mw_shape_equal(mw_tensor_shape(tensor), shape));
}

/* A model of `batch` examples: the inputs of the network in their order, and its result. */
static void check_interface(const char *path, int64_t batch)
{
    mw_error err = {0};
    mw_model_options options = mw_model_defaults();
    options.read_only = true;
    mw_model *model = mw_model_open(path, &options, &err);
    CHECK_OK(err);
    REQUIRE(model != NULL);
    const mw_graph *graph = mw_model_get_info(model).graph;
    check_port(mw_graph_find(graph, "words"), "words", MW_I32, MW_SHAPE(batch, WORDS));
    check_port(mw_graph_find(graph, "extra"), "extra", MW_F32, MW_SHAPE(batch, WIDTH));
    CHECK(mw_graph_input_at(graph, 2) == NULL);
    check_port(mw_graph_output_at(graph, 0), "scores", MW_F32, MW_SHAPE(batch, CLASSES));
    CHECK(mw_graph_output_at(graph, 1) == NULL);
    mw_model_destroy(model);
}

/* The scores of all examples, in runs of `batch`. */
static void predict_with(const char *path, int64_t batch, const int32_t *words, const float *extra, float *out)
{
    mw_error err = {0};
    mw_model_options options = mw_model_defaults();
    mw_compile_options compile = mw_compile_defaults();
    compile.provider = MW_PROVIDER_ENGINE;
    compile.threads = 1;
    options.compile = &compile;
    options.batch = batch;
    mw_model *model = mw_model_open(path, &options, &err);
    mw_predictor *predictor = mw_predictor_create(model, &err);
    const mw_feed feeds[] = {
        {.name = "words", .dtype = MW_I32, .data = words, .count = BATCH * WORDS},
        {.name = "extra", .dtype = MW_F32, .data = extra, .count = BATCH * WIDTH},
    };
    const mw_batch examples = {.feeds = feeds, .feed_count = 2, .examples = BATCH};
    const mw_result result = {"scores", MW_F32, out, BATCH * CLASSES};
    mw_predictor_predict(predictor, &examples, &result, 1, &err);
    CHECK_OK(err);
    mw_predictor_destroy(predictor);
    mw_model_destroy(model);
}

static void check_values(net *n, const char *path)
{
    mw_error err = {0};
    int32_t words[BATCH * WORDS];
    float extra[BATCH * WIDTH], want[BATCH * CLASSES], got[BATCH * CLASSES];
    for (int i = 0; i < BATCH * WORDS; i++)
        words[i] = i * 7 % TABLE;
    for (int i = 0; i < BATCH * WIDTH; i++)
        extra[i] = (float)(i % 5) - 2;
    const mw_feed feeds[] = {
        {.name = "words", .dtype = MW_I32, .data = words, .count = BATCH * WORDS},
        {.name = "extra", .dtype = MW_F32, .data = extra, .count = BATCH * WIDTH},
    };
    const mw_batch batch = {.feeds = feeds, .feed_count = 2, .examples = BATCH};
    mw_trainer_predict(n->trainer, &batch, MW_F32, want, BATCH * CLASSES, &err);
    CHECK_OK(err);
    for (int64_t runs = 1; runs <= 5; runs += 4) {
        predict_with(path, runs, words, extra, got);
        for (int i = 0; i < BATCH * CLASSES; i++)
            CHECK_NEAR(got[i], want[i], 1e-5);
    }
}

static bool has_protobuf(const mw_error *err) { return strstr(err->message, "without protobuf-c") == NULL; }

static void test_an_onnx_file_of_a_trainer_takes_any_number_of_examples(void)
{
    mw_error err = {0};
    net n = make_net(NULL, &err);
    CHECK_OK(err);
    mw_trainer_export(n.trainer, NULL, "net.onnx", NULL, &err);
    if (has_protobuf(&err)) {
        CHECK_OK(err);
        check_interface("net.onnx", MW_DIM_UNKNOWN);
        check_values(&n, "net.onnx");
    }
    drop_net(&n);
}

static void test_a_package_and_a_folder_of_a_trainer_take_one_example(void)
{
    mw_error err = {0};
    net n = make_net(NULL, &err);
    mw_trainer_export(n.trainer, NULL, "net", NULL, &err);
    CHECK_OK(err);
    check_interface("net", 1);
    check_values(&n, "net");
    mw_trainer_export(n.trainer, NULL, "net.mlpackage", NULL, &err);
    if (has_protobuf(&err)) {
        CHECK_OK(err);
        check_interface("net.mlpackage", 1);
        check_values(&n, "net.mlpackage");
    }
    drop_net(&n);
}

/* A mean over the batch belongs to all examples of it. */
static mw_tensor *centered(mw_tensor *x)
{

    return mw_dense(mw_sub(x, mw_reduce_mean(x, MW_AXES(0), true)), CLASSES, "dense");
}

static void test_a_program_that_mixes_examples_keeps_its_batch(void)
{
    mw_error err = {0};
    net n = make_net(centered, &err);
    mw_trainer_export(n.trainer, NULL, "mixed", NULL, &err);
    CHECK_OK(err);
    check_interface("mixed", BATCH);
    drop_net(&n);
}

/* ONNX has no affine. */
static mw_tensor *transformed(mw_tensor *x)
{
    static const float same[BATCH * 6] = {1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0};

    mw_tensor *matrix = mw_constant(mw_tensor_graph(x), MW_F32, MW_SHAPE(BATCH, 6), same);
    mw_tensor *image = mw_affine(mw_reshape(x, MW_SHAPE(BATCH, 1, 2, 2)), matrix, 2, 2, true);
    return mw_dense(mw_reshape(image, MW_SHAPE(BATCH, 4)), CLASSES, "dense");
}

static void test_what_cannot_be_written_is_found_before_the_training(void)
{
    mw_error err = {0};
    net n = make_net(transformed, &err);
    CHECK_OK(err);
    CHECK_INT(mw_trainer_export(n.trainer, NULL, "late.onnx",
                                &(mw_write_options){.struct_size = sizeof(mw_write_options), .check_only = true}, &err),
              MW_ERROR_UNSUPPORTED);
    if (has_protobuf(&err))
        CHECK_CONTAINS(err.message, "affine");
    mw_error_clear(&err);
    CHECK_INT(mw_trainer_export(n.trainer, NULL, "late",
                                &(mw_write_options){.struct_size = sizeof(mw_write_options), .check_only = true}, &err),
              MW_OK);
    CHECK_OK(err);
    CHECK(!is_there("late.onnx") && !is_there("late"));
    drop_net(&n);
}

static void test_a_check_writes_nothing(void)
{
    static const char *const names[] = {"checked.onnx", "checked.mlpackage", "checked"};
    mw_error err = {0};
    net n = make_net(NULL, &err);
    for (size_t i = 0; i < 3; i++) {
        mw_error_clear(&err);
        mw_trainer_export(n.trainer, NULL, names[i],
                          &(mw_write_options){.struct_size = sizeof(mw_write_options), .check_only = true}, &err);
        CHECK(err.status == MW_OK || !has_protobuf(&err));
        CHECK(!is_there(names[i]));
        mw_error_clear(&err);
        mw_trainer_export(n.trainer, NULL, names[i], NULL, &err);
        CHECK(err.status != MW_OK || is_there(names[i]));
    }
    mw_error_clear(&err);
    CHECK_INT(mw_trainer_export(n.trainer, NULL, "none/net.onnx",
                                &(mw_write_options){.struct_size = sizeof(mw_write_options), .check_only = true}, &err),
              MW_ERROR_FILE);
    CHECK_CONTAINS(err.message, "none");
    drop_net(&n);
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_an_onnx_file_of_a_trainer_takes_any_number_of_examples);
    RUN(test_a_package_and_a_folder_of_a_trainer_take_one_example);
    RUN(test_a_program_that_mixes_examples_keeps_its_batch);
    RUN(test_what_cannot_be_written_is_found_before_the_training);
    RUN(test_a_check_writes_nothing);
    folder_leave(folder);
    return check_finish();
}
