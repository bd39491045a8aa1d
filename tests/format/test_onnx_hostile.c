/* Small ONNX files that ask for much: memory when they are written, numbers at their limits, deep nesting. */
#include "base/text/text.h"
#include "format/protobuf/outline.h"
#include "onnx_run.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/growth.h"
#include "support/meter.h"

#include <pthread.h>
#include <stdlib.h>

static const int64_t matrix[] = {2, 3};

/* ---- elements that their type does not have ---- */

/* x + cast(c), with the initializer c. */
static mw_status read_constant(const onnx_bytes *tensor, mw_error *err)
{
    onnx_bytes graph = onnx_begin(matrix, 2), cast = onnx_node("Cast", "c", "f");
    onnx_int_attribute(&cast, "to", 1);
    onnx_message(&graph, 5, tensor);
    onnx_message(&graph, 1, &cast);
    onnx_add_node(&graph, "Add", "x f", "y");
    const onnx_bytes model = onnx_model(&graph);
    mw_graph_destroy(onnx_read_bytes(&model, NULL, err));
    return err->status;
}

static void test_bytes_that_are_no_bool_are_refused(void)
{
    const int64_t three = 3;
    for (unsigned char last = 0; last < 4; last++) {
        mw_error err = {0};
        const unsigned char bytes[] = {0, 1, last};
        const onnx_bytes tensor = onnx_tensor_of("c", 9, &three, 1, bytes, sizeof bytes);
        CHECK_INT(read_constant(&tensor, &err), last < 2 ? MW_OK : MW_ERROR_FORMAT);
        if (last == 2)
            CHECK_CONTAINS(err.message, "element 2 is 2, no bool");
    }
}

/* Small types stand in a list of wider numbers, whose low bytes alone would be another number. */
static void test_numbers_beyond_their_type_are_refused(void)
{
    static const struct {
        int type;
        int64_t low, high;
    } rows[] = {{2, 0, 255}, {3, -128, 127}, {4, 0, 65535}, {5, -32768, 32767}, {9, 0, 1}, {10, -32768, 65535}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const int64_t values[] = {rows[i].low, rows[i].high, rows[i].low - 1, rows[i].high + 1};
        for (int k = 0; k < 4; k++) {
            mw_error err = {0};
            onnx_bytes tensor = {.size = 0};
            onnx_number(&tensor, 1, 1);
            onnx_number(&tensor, 2, (uint64_t)rows[i].type);
            onnx_number(&tensor, 5, (uint64_t)values[k]);
            onnx_text(&tensor, 8, "c");
            const mw_status status = read_constant(&tensor, &err);
            check_note(status == (k < 2 ? MW_OK : MW_ERROR_FORMAT), __FILE__, __LINE__, "type %d, %lld: %s",
                       rows[i].type, (long long)values[k], err.message);
        }
    }
}

/* ---- memory ---- */

/* 151 bytes whose one value has 2^32 elements. */
static void test_a_table_that_only_the_file_would_hold_is_not_written(void)
{
    const int64_t indices[] = {0, 1}, depth = INT32_MAX, two = 2;
    const float values[] = {0, 1};
    onnx_bytes graph = onnx_begin(matrix, 2), node = onnx_node("OneHot", "i d v", "y");
    const onnx_bytes i = onnx_tensor_of("i", 7, &two, 1, indices, sizeof indices);
    const onnx_bytes d = onnx_tensor_of("d", 7, NULL, 0, &depth, sizeof depth);
    const onnx_bytes v = onnx_tensor_of("v", 1, &two, 1, values, sizeof values);
    mw_error err = {0};
    meter m = {0};
    const mw_allocator allocator = {meter_resize, &m};
    mw_onnx_options options = mw_onnx_defaults();
    options.allocator = &allocator;
    onnx_message(&graph, 5, &i);
    onnx_message(&graph, 5, &d);
    onnx_message(&graph, 5, &v);
    onnx_message(&graph, 1, &node);
    const onnx_bytes model = onnx_model(&graph);
    mw_graph *made = onnx_read_bytes(&model, &options, &err);
    CHECK_OK(err);
    CHECK_INT(mw_graph_write(made, "copy.onnx", NULL, &err), MW_ERROR_UNSUPPORTED);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "it takes a table of more than 64 MiB in the file");
    CHECK(m.most < (size_t)100 << 20);
    mw_graph_destroy(made);
    CHECK_INT(m.held, 0);
}

/* ---- numbers at their limits ---- */

typedef struct operator_row {
    const char *name, *attributes;
    int until;
    size_t inputs;
} operator_row;

static const operator_row operators[] = {
#define MW_ONNX(name, since, until, inputs, function, attributes) {#name, attributes, until, inputs},
#include "format/onnx/read/operators.def"
#undef MW_ONNX
};

static const int64_t limits[] = {INT64_MIN, INT64_MIN + 1,        INT32_MIN,        -1,       0,
                                 INT32_MAX, (int64_t)1 << 32 | 1, (int64_t)1 << 62, INT64_MAX};

/* The operator over x [1, 2, 6, 6], w [2, 2, 3, 3] and vectors, as many as it needs. */
static onnx_bytes operator_with(const operator_row *row, const char *attribute, int64_t value, size_t count)
{
    static const char *const inputs[] = {"",          "x",           "x w",           "x w v",          "x w v v",
                                         "x w v v v", "x w v v v v", "x w v v v v v", "x w v v v v v v"};
    const int64_t image[] = {1, 2, 6, 6}, kernel[] = {2, 2, 3, 3}, two = 2;
    const int64_t list[4] = {value, value, value, value};
    const float zeros[36] = {0};
    onnx_bytes graph = onnx_begin(image, 4), node = onnx_node(row->name, inputs[row->inputs], "y");
    const onnx_bytes w = onnx_tensor_of("w", 1, kernel, 4, zeros, sizeof zeros);
    const onnx_bytes v = onnx_tensor_of("v", 1, &two, 1, zeros, 8);
    if (count == 0)
        onnx_int_attribute(&node, attribute, value);
    else
        onnx_ints_attribute(&node, attribute, list, count);
    onnx_message(&graph, 5, &w);
    onnx_message(&graph, 5, &v);
    onnx_message(&graph, 1, &node);
    return onnx_model_of(&graph, row->until);
}

static void read_with(const operator_row *row, const char *attribute, int64_t value, size_t count)
{
    mw_error err = {0};
    const onnx_bytes model = operator_with(row, attribute, value, count);
    mw_graph *graph = onnx_read_bytes(&model, NULL, &err);
    if (graph != NULL)
        mw_graph_verify(graph, &err);
    else
        check_note(err.message[0] != '\0', __FILE__, __LINE__, "%s: refused without a word", row->name);
    check_note(graph == NULL || err.status == MW_OK, __FILE__, __LINE__, "%s, %s = %lld: %s", row->name, attribute,
               (long long)value, err.message);
    mw_graph_destroy(graph);
}

/* The sanitizers see an overflow on the way. */
static void test_every_integer_attribute_is_read_or_refused_at_its_limits(void)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        char list[256], *saved = NULL;
        snprintf(list, sizeof list, "%s", operators[i].attributes);
        for (char *name = strtok_r(list, " ", &saved); name != NULL; name = strtok_r(NULL, " ", &saved))
            for (size_t k = 0; k < sizeof limits / sizeof *limits; k++)
                for (size_t count = 0; count <= 4; count += 2)
                    read_with(&operators[i], name, limits[k], count);
    }
}

/* Numbers of element types, where 2^32 + 1 is not 1. */
static void test_an_element_type_is_not_cut_to_32_bits(void)
{
    mw_error err = {0};
    onnx_bytes graph = onnx_begin(matrix, 2), node = onnx_node("Cast", "x", "y");
    onnx_int_attribute(&node, "to", (int64_t)1 << 32 | 1);
    onnx_message(&graph, 1, &node);
    const onnx_bytes model = onnx_model(&graph);
    CHECK(onnx_read_bytes(&model, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "Cast \"y\": it casts to");
}

/* ---- the stack ---- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { STACK = 2 << 20 }; /* frames are longer there */
#else
enum { STACK = 128 << 10 };
#endif

typedef struct reading {
    const onnx_bytes *model;
    bool made;
    mw_error err;
} reading;

static void *read_it(void *user)
{
    reading *r = user;
    mw_graph *graph = onnx_read_bytes(r->model, NULL, &r->err);
    r->made = graph != NULL;
    mw_graph_destroy(graph);
    return NULL;
}

/* Reads the model in a thread with a small stack; what is wrong with it is of no interest if `any`. */
static void check_small_stack(const onnx_bytes *model, bool any)
{
    reading r = {.model = model};
    pthread_attr_t attributes;
    pthread_t thread;
    REQUIRE(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, STACK) == 0);
    REQUIRE(pthread_create(&thread, &attributes, read_it, &r) == 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    CHECK(any || r.made);
    if (!any)
        CHECK_OK(r.err);
}

/* A body with inputs and outputs as that of a Loop with one variable, around `inner` or a Relu. */
static onnx_bytes loop_body(const onnx_bytes *inner, const char *operation)
{
    onnx_bytes body = {.size = 0}, node = onnx_node(operation, "n - a", "b");
    onnx_add_name(&body, 11, "i");
    onnx_add_name(&body, 11, "c");
    onnx_add_name(&body, 11, "a");
    if (inner != NULL) {
        onnx_bytes attribute = {.size = 0};
        onnx_text(&attribute, 1, "body");
        onnx_message(&attribute, 6, inner);
        onnx_number(&attribute, 20, 5);
        onnx_message(&node, 5, &attribute);
        onnx_message(&body, 1, &node);
    } else {
        onnx_add_node(&body, "Relu", "a", "b");
    }
    onnx_add_node(&body, "Identity", "c", "d");
    onnx_add_name(&body, 12, "d");
    onnx_add_name(&body, 12, "b");
    return body;
}

/* Loops in loops, whose number of trips is known or computed. */
static void test_loops_in_loops_are_read_on_a_small_stack(void)
{
    for (int computed = 0; computed < 2; computed++) {
        for (int depth = 15; depth <= 30; depth += 15) {
            const int64_t trips = 1;
            onnx_bytes body = loop_body(NULL, "Loop");
            for (int i = 1; i < depth; i++)
                body = loop_body(&body, "Loop");
            onnx_bytes graph = onnx_begin(matrix, 2), node = onnx_node("Loop", "n - x", "y"), attribute = {.size = 0};
            const onnx_bytes count = onnx_tensor_of("n", 7, NULL, 0, &trips, sizeof trips);
            onnx_text(&attribute, 1, "body");
            onnx_message(&attribute, 6, &body);
            onnx_number(&attribute, 20, 5);
            onnx_message(&node, 5, &attribute);
            if (computed) {
                onnx_bytes cast = onnx_node("Cast", "r", "n"), sum = onnx_node("ReduceMax", "x", "r");
                onnx_int_attribute(&cast, "to", 7);
                onnx_int_attribute(&sum, "keepdims", 0);
                onnx_message(&graph, 1, &sum);
                onnx_message(&graph, 1, &cast);
            } else {
                onnx_message(&graph, 5, &count);
            }
            onnx_message(&graph, 1, &node);
            const onnx_bytes model = onnx_model(&graph);
            check_small_stack(&model, depth > 16);
        }
    }
}

/* A long chain of integers that follow from an input: each is looked back from, in vain. */
static void test_long_chains_of_integers_are_read_on_a_small_stack(void)
{
    onnx_bytes graph = onnx_begin(matrix, 2), cast = onnx_node("Cast", "x", "v0");
    char inputs[32], to[16];
    onnx_int_attribute(&cast, "to", 7);
    onnx_message(&graph, 1, &cast);
    onnx_bytes back = onnx_node("Cast", "v90", "y"), truth = onnx_node("Cast", "x", "t");
    onnx_int_attribute(&truth, "to", 9);
    onnx_message(&graph, 1, &truth);
    for (int i = 1; i <= 90; i++) {
        snprintf(inputs, sizeof inputs, "t v%d v%d", i - 1, i - 1);
        snprintf(to, sizeof to, "v%d", i);
        onnx_add_node(&graph, "Where", inputs, to);
    }
    onnx_int_attribute(&back, "to", 1);
    onnx_message(&graph, 1, &back);
    const onnx_bytes model = onnx_model(&graph);
    check_small_stack(&model, false);
}

/* The borders of a Pad, for which a program is compiled and run. */
static void test_constants_are_computed_on_a_small_stack(void)
{
    const int64_t pads[] = {0, 1, 0, 2}, square[] = {2, 2}, flat = -1, one = 1;
    onnx_bytes graph = onnx_begin(matrix, 2);
    const onnx_bytes list = onnx_tensor_of("p", 7, square, 2, pads, sizeof pads);
    const onnx_bytes shape = onnx_tensor_of("f", 7, &one, 1, &flat, sizeof flat);
    onnx_message(&graph, 5, &list);
    onnx_message(&graph, 5, &shape);
    onnx_add_node(&graph, "Transpose", "p", "t");
    onnx_add_node(&graph, "Transpose", "t", "u");
    onnx_add_node(&graph, "Reshape", "u f", "q");
    onnx_add_node(&graph, "Pad", "x q", "y");
    const onnx_bytes model = onnx_model(&graph);
    check_small_stack(&model, false);
}

/* Functions that call the next one, and messages in messages up to the limit. */
static void test_deep_calls_and_messages_are_read_on_a_small_stack(void)
{
    onnx_bytes graph = onnx_begin(matrix, 2), call = onnx_node("f0", "x", "y");
    onnx_text(&call, 7, "loc");
    onnx_message(&graph, 1, &call);
    onnx_bytes model = onnx_model(&graph);
    for (int i = 0; i < 31; i++) {
        char name[8], next[8];
        snprintf(name, sizeof name, "f%d", i);
        snprintf(next, sizeof next, "f%d", i + 1);
        onnx_bytes function = {.size = 0}, node = onnx_node(i == 30 ? "Relu" : next, "a", "r");
        if (i < 30)
            onnx_text(&node, 7, "loc");
        onnx_text(&function, 1, name);
        onnx_text(&function, 4, "a");
        onnx_text(&function, 5, "r");
        onnx_text(&function, 10, "loc");
        onnx_message(&function, 7, &node);
        onnx_message(&model, 25, &function);
    }
    check_small_stack(&model, false);
    for (int depth = 2; depth <= 256; depth *= 2) {
        onnx_bytes type = {.size = 0}, value = {.size = 0};
        for (int i = 0; i < depth; i++) { /* a sequence of sequences */
            onnx_bytes outer = {.size = 0}, sequence = {.size = 0};
            onnx_message(&sequence, 1, &type);
            onnx_message(&outer, 4, &sequence);
            type = outer;
        }
        graph = onnx_begin(matrix, 2);
        onnx_text(&value, 1, "v");
        onnx_message(&value, 2, &type);
        onnx_message(&graph, 13, &value);
        onnx_add_node(&graph, "Relu", "x", "y");
        model = onnx_model(&graph);
        check_small_stack(&model, depth > 8);
    }
}

/* ---- work ---- */

static void put_message(mw__text *to, unsigned field, const mw__text *message)
{
    mw__outline_put_bytes(to, field, message->data, message->size);
}

static void put_node(mw__text *to, const onnx_bytes *node) { mw__outline_put_bytes(to, 1, node->data, node->size); }

/* The attribute of an If: a graph of `count` nodes, each of which takes what the one before it gives. */
static void put_branch(mw__text *node, const char *name, int count)
{
    mw__text graph, attribute;
    char from[24] = "a", to[24] = "a";
    mw__text_init(&graph, NULL);
    mw__text_init(&attribute, NULL);
    for (int i = 0; i < count; i++) {
        snprintf(to, sizeof to, "%s%d", name, i);
        const onnx_bytes inner = onnx_node("Relu", from, to);
        put_node(&graph, &inner);
        snprintf(from, sizeof from, "%s", to);
    }
    onnx_bytes output = {.size = 0};
    onnx_text(&output, 1, to);
    mw__outline_put_bytes(&graph, 12, output.data, output.size);
    mw__outline_put_bytes(&attribute, 1, name, strlen(name));
    put_message(&attribute, 6, &graph);
    mw__outline_put_number(&attribute, 20, 5);
    put_message(node, 5, &attribute);
    mw__text_deinit(&attribute);
    mw__text_deinit(&graph);
}

/* A function that takes the short one of two branches. */
static void put_function(mw__text *model, int count)
{
    static const unsigned char yes = 1;
    mw__text function, node;
    mw__text_init(&function, NULL);
    mw__text_init(&node, NULL);
    onnx_bytes texts = {.size = 0}, known = onnx_node("Constant", "", "c"), attribute = {.size = 0};
    const onnx_bytes truth = onnx_tensor_of("", 9, NULL, 0, &yes, 1), choice = onnx_node("If", "c", "r");
    onnx_text(&attribute, 1, "value");
    onnx_message(&attribute, 5, &truth);
    onnx_number(&attribute, 20, 4);
    onnx_message(&known, 5, &attribute);
    onnx_text(&texts, 1, "f");
    onnx_text(&texts, 4, "a");
    onnx_text(&texts, 5, "r");
    onnx_text(&texts, 10, "loc");
    mw__text_append(&function, (const char *)texts.data, texts.size);
    mw__outline_put_bytes(&function, 7, known.data, known.size);
    mw__text_append(&node, (const char *)choice.data, choice.size);
    put_branch(&node, "then_branch", 1);
    put_branch(&node, "else_branch", count);
    put_message(&function, 7, &node);
    put_message(model, 25, &function);
    mw__text_deinit(&node);
    mw__text_deinit(&function);
}

static void put_calls(mw__text *model, int count)
{
    mw__text graph;
    mw__text_init(&graph, NULL);
    const onnx_bytes ports = onnx_begin(matrix, 2);
    mw__text_append(&graph, (const char *)ports.data, ports.size);
    for (int i = 0; i < count; i++) {
        char from[24], to[24];
        snprintf(from, sizeof from, i == 0 ? "x" : "h%d", i);
        snprintf(to, sizeof to, i == count - 1 ? "y" : "h%d", i + 1);
        onnx_bytes call = onnx_node("f", from, to);
        onnx_text(&call, 7, "loc");
        put_node(&graph, &call);
    }
    put_message(model, 7, &graph);
    mw__text_deinit(&graph);
}

/* As many calls as the branch has nodes that no call enters. */
static growth_times of_calls(int n)
{
    growth_times t = {0};
    mw_error err = {0};
    mw__text model;
    mw__text_init(&model, NULL);
    onnx_bytes opset = {.size = 0};
    onnx_number(&opset, 2, 13);
    mw__outline_put_number(&model, 1, 7);
    mw__outline_put_bytes(&model, 8, opset.data, opset.size);
    put_calls(&model, n);
    put_function(&model, n);
    FILE *file = fopen("model.onnx", "wb");
    CHECK(file != NULL && fwrite(model.data, 1, model.size, file) == model.size && fclose(file) == 0);
    mw__text_deinit(&model);
    const double begin = growth_seconds();
    mw_graph_destroy(mw_graph_open_onnx("model.onnx", NULL, &err));
    growth_note(&t, "read", begin);
    CHECK_OK(err);
    return t;
}

static void test_branches_that_no_call_takes_are_looked_through_once(void) { growth_check(of_calls, 2000); }

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_bytes_that_are_no_bool_are_refused);
    RUN(test_numbers_beyond_their_type_are_refused);
    RUN(test_a_table_that_only_the_file_would_hold_is_not_written);
    RUN(test_every_integer_attribute_is_read_or_refused_at_its_limits);
    RUN(test_an_element_type_is_not_cut_to_32_bits);
    RUN(test_loops_in_loops_are_read_on_a_small_stack);
    RUN(test_long_chains_of_integers_are_read_on_a_small_stack);
    RUN(test_constants_are_computed_on_a_small_stack);
    RUN(test_deep_calls_and_messages_are_read_on_a_small_stack);
    RUN(test_branches_that_no_call_takes_are_looked_through_once);
    folder_leave(folder);
    return check_finish();
}
