/* What a model says of its ports comes back when it is written again: element types that MIL lacks, names of
 * dimensions, and the order of the inputs; also when it was trained in between, at whatever batch. */
#include "onnx_bytes.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/on_engine.h"

#include <millwright/millwright.h>
#include <millwright/onnx_check.h>
#include <stdio.h>
#include <stdlib.h>

enum { FLOAT = 1, INT32 = 6, INT64 = 7, TABLE = 9, WIDTH = 3, WORDS = 4, BATCH = 6 };

/* ---- a file ---- */

/* tensor(type)[first, second], of which a name stands for a number; NULL = the number. */
static void add_value(onnx_bytes *graph, unsigned field, const char *name, int type, const char *first, int second)
{
    onnx_bytes dims[2] = {0}, shape = {0}, tensor = {0}, whole = {0}, value = {0};
    onnx_text(&dims[0], 2, first);
    onnx_number(&dims[1], 1, (uint64_t)second);
    onnx_message(&shape, 1, &dims[0]);
    if (second > 0)
        onnx_message(&shape, 1, &dims[1]);
    onnx_number(&tensor, 1, (uint64_t)type);
    onnx_message(&tensor, 2, &shape);
    onnx_message(&whole, 1, &tensor);
    onnx_text(&value, 1, name);
    onnx_message(&value, 2, &whole);
    onnx_message(graph, field, &value);
}

static void add_table(onnx_bytes *graph)
{
    float values[TABLE * WIDTH];
    onnx_bytes table = {0};
    for (int i = 0; i < TABLE * WIDTH; i++)
        values[i] = (float)(i * 5 % 7) / 4;
    onnx_number(&table, 1, TABLE);
    onnx_number(&table, 1, WIDTH);
    onnx_number(&table, 2, FLOAT);
    onnx_text(&table, 8, "table");
    onnx_raw(&table, 9, values, sizeof values);
    onnx_message(graph, 5, &table);
}

/* y = sum of the rows that the words name, plus extra; best = the largest of them, as int64. */
static void put_words(const char *path)
{
    onnx_bytes graph = {0}, set = {0}, model = {0}, gather = onnx_node("Gather", "table words", "rows"),
               sum = onnx_node("ReduceMean", "rows", "mean"), add = onnx_node("Add", "mean extra", "y"),
               best = onnx_node("ArgMax", "y", "best");
    onnx_bytes axes = {0};
    onnx_text(&axes, 1, "axes");
    onnx_number(&axes, 8, 1);
    onnx_number(&axes, 20, 7);
    onnx_message(&sum, 5, &axes);
    onnx_int_attribute(&sum, "keepdims", 0);
    onnx_int_attribute(&best, "axis", 1);
    onnx_int_attribute(&best, "keepdims", 0);
    onnx_message(&graph, 1, &gather);
    onnx_message(&graph, 1, &sum);
    onnx_message(&graph, 1, &add);
    onnx_message(&graph, 1, &best);
    onnx_text(&graph, 2, "main");
    add_table(&graph);
    add_value(&graph, 11, "words", INT64, "people", WORDS);
    add_value(&graph, 11, "extra", FLOAT, "people", WIDTH);
    add_value(&graph, 12, "y", FLOAT, "people", WIDTH);
    add_value(&graph, 12, "best", INT64, "people", 0);
    onnx_number(&set, 2, 17);
    onnx_number(&model, 1, 8);
    onnx_message(&model, 7, &graph);
    onnx_message(&model, 8, &set);
    FILE *file = fopen(path, "wb");
    REQUIRE(file != NULL);
    fwrite(model.data, 1, model.size, file);
    fclose(file);
}

/* ---- what a file says, read by hand ---- */

typedef struct span {
    const unsigned char *at, *end;
} span;

static uint64_t take_varint(span *s)
{
    uint64_t value = 0;
    for (int shift = 0; s->at < s->end; shift += 7) {
        const unsigned char byte = *s->at++;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            break;
    }
    return value;
}

/* The field `wanted`, number `index` of its kind: its bytes, or in `number`. */
static bool find_field(span s, unsigned wanted, int index, span *out, uint64_t *number)
{
    while (s.at < s.end) {
        const uint64_t key = take_varint(&s);
        const bool is_bytes = (key & 7) == 2;
        const uint64_t value = (key & 7) == 5 ? (s.at += 4, 0) : take_varint(&s);
        const span inside = {s.at, s.at + (is_bytes ? value : 0)};
        s.at = inside.end;
        if (key >> 3 == wanted && index-- == 0) {
            *out = inside;
            *number = value;
            return true;
        }
    }
    return false;
}

static void check_port(span graph, unsigned field, int index, const char *name, int type, const char *first)
{
    span value, text, at = {0};
    uint64_t number = 0;
    if (!CHECK(find_field(graph, field, index, &value, &number) && find_field(value, 1, 0, &text, &number)))
        return;
    check_note(strlen(name) == (size_t)(text.end - text.at) && memcmp(name, text.at, strlen(name)) == 0, __FILE__,
               __LINE__, "port %d is \"%.*s\", not \"%s\"", index, (int)(text.end - text.at), (const char *)text.at,
               name);
    CHECK(find_field(value, 2, 0, &at, &number) && find_field(at, 1, 0, &at, &number));
    const span tensor = at;
    CHECK(find_field(tensor, 1, 0, &at, &number));
    CHECK_INT(number, type);
    CHECK(find_field(tensor, 2, 0, &at, &number) && find_field(at, 1, 0, &at, &number));
    const bool named = find_field(at, 2, 0, &text, &number);
    check_note(named && strlen(first) == (size_t)(text.end - text.at) && memcmp(first, text.at, strlen(first)) == 0,
               __FILE__, __LINE__, "the first extent of \"%s\" is not \"%s\"", name, first);
}

static bool load_graph(const char *path, span *out)
{
    static unsigned char data[1 << 16];
    uint64_t number;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return false;
    const size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    return find_field((span){data, data + size}, 7, 0, out, &number);
}

static void check_ports(const char *path, const char *extent)
{
    span graph;
    mw_error err = {0};
    mw_onnx_check(path, &err);
    CHECK_OK(err);
    REQUIRE(load_graph(path, &graph));
    check_port(graph, 11, 0, "words", INT64, extent);
    check_port(graph, 11, 1, "extra", FLOAT, extent);
}

static void check_results(const char *path, const char *extent)
{
    span graph;
    REQUIRE(load_graph(path, &graph));
    check_port(graph, 12, 0, "y", FLOAT, extent);
    check_port(graph, 12, 1, "best", INT64, extent);
}

/* ---- tests ---- */

static mw_graph *read_words(mw_error *err)
{
    put_words("words.onnx");
    return mw_graph_open_onnx("words.onnx", NULL, err);
}

static bool has_protobuf(const mw_error *err) { return strstr(err->message, "without protobuf-c") == NULL; }

static void test_types_and_names_of_ports_come_back(void)
{
    mw_error err = {0};
    mw_graph *graph = read_words(&err);
    if (!has_protobuf(&err))
        return;
    mw_graph_write(graph, "copy.onnx", NULL, &err);
    CHECK_OK(err);
    check_ports("copy.onnx", "people");
    check_results("copy.onnx", "people");
    mw_graph_destroy(graph);
}

static mw_trainer *train(mw_tensor *scores, mw_error *err)
{
    mw_graph *graph = mw_tensor_graph(scores);
    mw_tensor *labels = mw_input(graph, "labels", MW_I32, MW_SHAPE(BATCH));
    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(scores, labels), mw_sgd(0.1f));
    options.prediction = scores;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.device = MW_DEVICE_CPU;
    options.compile.threads = 1;
    return mw_trainer_create(&options, err);
}

static mw_graph *trainable(const mw_graph *source, mw_error *err)
{
    static const char *const patterns[] = {"*"};
    const mw_input_shape shapes[] = {{"words", MW_SHAPE(BATCH, WORDS)}, {"extra", MW_SHAPE(BATCH, WIDTH)}};
    mw_tune_options options = mw_tune_defaults(patterns, 1);
    options.shapes = shapes;
    options.shape_count = 2;
    return mw_graph_trainable(source, &options, err);
}

static void test_a_tuned_model_has_the_ports_of_its_source(void)
{
    mw_error err = {0};
    mw_graph *source = read_words(&err);
    if (!has_protobuf(&err))
        return;
    mw_graph *graph = trainable(source, &err);
    CHECK_OK(err);
    REQUIRE(graph != NULL);
    mw_trainer *trainer = train(mw_graph_output_at(graph, 0), &err);
    mw_trainer_export(trainer, source, "tuned.onnx", NULL, &err);
    CHECK_OK(err);
    check_ports("tuned.onnx", "people");
    check_results("tuned.onnx", "people");
    mw_trainer_export(trainer, source, "tuned.mlpackage", NULL, &err);
    CHECK_OK(err);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

static void test_a_model_with_a_new_head_has_the_inputs_of_its_source(void)
{
    mw_error err = {0};
    mw_graph *source = read_words(&err);
    if (!has_protobuf(&err))
        return;
    mw_graph *graph = trainable(source, &err);
    REQUIRE(graph != NULL);
    mw_trainer *trainer = train(mw_name(mw_dense(mw_graph_output_at(graph, 0), 2, "new"), "scores"), &err);
    mw_trainer_export(trainer, NULL, "head.onnx", NULL, &err);
    CHECK_OK(err);
    check_ports("head.onnx", "people");
    span written;
    if (load_graph("head.onnx", &written))
        check_port(written, 12, 0, "scores", FLOAT, "batch");
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

static void test_a_graph_is_written_for_any_number_of_examples(void)
{
    mw_error err = {0};
    span written;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(1, WIDTH));
    mw_output(mw_softmax(mw_dense(x, 2, "fc"), -1), "y");
    mw_graph *mean = mw_graph_create(NULL, NULL);
    mw_output(mw_reduce_mean(mw_input(mean, "x", MW_F32, MW_SHAPE(4, WIDTH)), MW_AXES(0), true), "y");
    mw_model_options read_only = mw_model_defaults();
    read_only.read_only = true;
    mw_model *model = mw_model_create(graph, &read_only, &err);
    mw_model_write(model, "fixed", NULL, &err);
    mw_graph *fixed = mw_graph_open_mil("fixed/model.mil", NULL, &err);
    mw_write_options options = mw_write_defaults();
    options.any_batch = true;
    mw_graph_write(fixed, "any.onnx", &options, &err);
    if (has_protobuf(&err)) {
        CHECK_OK(err);
        REQUIRE(load_graph("any.onnx", &written));
        check_port(written, 11, 0, "x", FLOAT, "batch");
        check_port(written, 12, 0, "y", FLOAT, "batch");
        CHECK_INT(mw_graph_write(mean, "mean.onnx", &options, &err), MW_ERROR_UNSUPPORTED);
    }
    mw_model_destroy(model);
    mw_graph_destroy(fixed);
    mw_graph_destroy(mean);
    mw_graph_destroy(graph);
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_types_and_names_of_ports_come_back);
    RUN(test_a_tuned_model_has_the_ports_of_its_source);
    RUN(test_a_model_with_a_new_head_has_the_inputs_of_its_source);
    RUN(test_a_graph_is_written_for_any_number_of_examples);
    folder_leave(folder);
    return check_finish();
}
