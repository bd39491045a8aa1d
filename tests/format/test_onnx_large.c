/* Models with much weight in another file, or in their own: what reading, compiling, running and writing take of
 * memory, and what happens when that file changes meanwhile. */
#include "onnx_run.h"
#include "support/check.h"
#include "support/child.h"
#include "support/folder.h"
#include "support/on_engine.h"

#include <millwright/onnx_check.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WIDEST = 4096 };

/* Of each layer, whose weight is a square: 48 layers of 1024 have 200 MB, 42 of 4096 have 2.8 GB. */
static int width = 1024;

/* The element type of weights, and whether each stands in a node of its own. */
typedef struct weight_kind {
    int type;
    size_t size;
    bool nodes;
} weight_kind;
enum { FLOAT = 1, INT32 = 6, INT64 = 7, DOUBLE = 11 };
static weight_kind kind = {FLOAT, sizeof(float), false};

static size_t weight_size(void) { return (size_t)width * (size_t)width * kind.size; }

/* The weight of layer i is the unit matrix times this. */
static float factor(int layer) { return layer % 2 == 0 ? 2.0f : 0.5f; }

static void put_weights(const char *path, int layers)
{
    float *row = calloc((size_t)width, sizeof *row);
    FILE *file = fopen(path, "wb");
    if (row == NULL || file == NULL)
        abort();
    for (int i = 0; i < layers; i++)
        for (int k = 0; k < width; k++) {
            row[k] = factor(i);
            if (fwrite(row, sizeof *row, (size_t)width, file) != (size_t)width)
                abort();
            row[k] = 0;
        }
    if (fclose(file) != 0)
        abort();
    free(row);
}

static void add_pair(onnx_bytes *tensor, const char *key, const char *value)
{
    onnx_bytes pair = {.size = 0};
    onnx_text(&pair, 1, key);
    onnx_text(&pair, 2, value);
    onnx_message(tensor, 13, &pair);
}

static onnx_bytes weight_of(int layer, const char *name)
{
    onnx_bytes tensor = {.size = 0};
    char offset[32];
    snprintf(offset, sizeof offset, "%lld", (long long)layer * (long long)weight_size());
    onnx_number(&tensor, 1, (uint64_t)width);
    onnx_number(&tensor, 1, (uint64_t)width);
    onnx_number(&tensor, 2, 1);
    onnx_text(&tensor, 8, name);
    onnx_number(&tensor, 14, 1);
    add_pair(&tensor, "location", "weights.bin");
    add_pair(&tensor, "offset", offset);
    return tensor;
}

/* x through that many layers. */
static onnx_bytes chain(int layers)
{
    const int64_t extents[] = {1, width};
    onnx_bytes graph = onnx_begin(extents, 2);
    char name[16], inputs[32], to[16];
    for (int i = 0; i < layers; i++) {
        snprintf(name, sizeof name, "w%d", i);
        snprintf(inputs, sizeof inputs, i == 0 ? "x w0" : "h%d w%d", i, i);
        snprintf(to, sizeof to, i == layers - 1 ? "y" : "h%d", i + 1);
        const onnx_bytes weight = weight_of(i, name), node = onnx_node("MatMul", inputs, to);
        onnx_message(&graph, 5, &weight);
        onnx_message(&graph, 1, &node);
    }
    return onnx_model(&graph);
}

/* ---- the same with the weights in the model itself ---- */

static size_t put_varint(FILE *file, uint64_t value)
{
    size_t count = 1;
    for (; value >= 0x80; value >>= 7, count++)
        if (file != NULL)
            fputc((int)(value & 0x7f) | 0x80, file);
    if (file != NULL)
        fputc((int)value, file);
    return count;
}

/* The fields of a weight up to its elements. */
static onnx_bytes head_of(const char *name)
{
    onnx_bytes tensor = {.size = 0};
    onnx_number(&tensor, 1, (uint64_t)width);
    onnx_number(&tensor, 1, (uint64_t)width);
    onnx_number(&tensor, 2, (uint64_t)kind.type);
    onnx_text(&tensor, 8, name);
    return tensor;
}

/* Bytes of a field of that length, with its number of one byte. */
static size_t field_size(size_t length) { return 1 + put_varint(NULL, length) + length; }

static void put_head(FILE *file, int field, size_t length)
{
    fputc(field << 3 | 2, file);
    put_varint(file, length);
}

/* Copies one element of the kind. */
static void put_element(char *to, float value)
{
    const double wide = (double)value;
    const int32_t number = (int32_t)value;
    const int64_t large = (int64_t)value;
    const void *from = kind.type == DOUBLE  ? (const void *)&wide
                       : kind.type == INT32 ? (const void *)&number
                       : kind.type == INT64 ? (const void *)&large
                                            : (const void *)&value;
    memcpy(to, from, kind.size);
}

static void put_rows(FILE *file, float value)
{
    char *row = calloc((size_t)width, kind.size);
    if (row == NULL)
        abort();
    for (int k = 0; k < width; k++) {
        put_element(row + (size_t)k * kind.size, value);
        fwrite(row, kind.size, (size_t)width, file);
        put_element(row + (size_t)k * kind.size, 0);
    }
    free(row);
}

/* What stands around a weight: the tensor alone, or a Constant with the one attribute `value`. */
typedef struct weight_frame {
    onnx_bytes node, attribute, head;
    bool says_place; /* Tensor.data_location: here, as the Python package writes it */
    size_t tensor_size, attribute_size, size;
} weight_frame;

static void frame_weight(weight_frame *f, int layer)
{
    char name[16];
    snprintf(name, sizeof name, "w%d", layer);
    *f = (weight_frame){.head = head_of(name), .says_place = layer % 2 == 1};
    f->tensor_size = f->head.size + field_size(weight_size()) + (f->says_place ? 2 : 0);
    f->size = f->tensor_size;
    if (!kind.nodes)
        return;
    onnx_text(&f->attribute, 1, "value");
    onnx_number(&f->attribute, 20, 4);
    onnx_text(&f->node, 2, name);
    onnx_text(&f->node, 4, "Constant");
    f->attribute_size = f->attribute.size + field_size(f->tensor_size);
    f->size = f->node.size + field_size(f->attribute_size);
}

static void put_weight(FILE *file, int layer, float value)
{
    weight_frame f;
    frame_weight(&f, layer);
    put_head(file, kind.nodes ? 1 : 5, f.size); /* Graph.node, Graph.initializer */
    if (kind.nodes) {
        fwrite(f.node.data, 1, f.node.size, file);
        put_head(file, 5, f.attribute_size); /* Node.attribute */
        fwrite(f.attribute.data, 1, f.attribute.size, file);
        put_head(file, 5, f.tensor_size); /* Attribute.t */
    }
    fwrite(f.head.data, 1, f.head.size, file);
    put_head(file, 9, weight_size()); /* Tensor.raw_data */
    put_rows(file, value);
    if (f.says_place) {
        fputc(14 << 3, file);
        fputc(0, file);
    }
}

static void put_inside(FILE *file, const onnx_bytes *rest, int layers, const float *weights)
{
    size_t whole = rest->size;
    for (int i = 0; i < layers; i++) {
        weight_frame f;
        frame_weight(&f, i);
        whole += field_size(f.size);
    }
    put_head(file, 7, whole); /* Model.graph */
    fwrite(rest->data, 1, rest->size, file);
    for (int i = 0; i < layers; i++)
        put_weight(file, i, weights[i]);
}

/* h, or x, times the weight, which is cast where it is not float. */
static void put_layer(onnx_bytes *graph, int layer, bool last)
{
    char h[16], weight[16], taken[16], inputs[40], to[16];
    snprintf(h, sizeof h, "h%d", layer);
    snprintf(weight, sizeof weight, "w%d", layer);
    snprintf(taken, sizeof taken, "%c%d", kind.type == FLOAT ? 'w' : 'c', layer);
    snprintf(inputs, sizeof inputs, "%s %s", layer == 0 ? "x" : h, taken);
    snprintf(to, sizeof to, "h%d", layer + 1);
    const onnx_bytes node = onnx_node("MatMul", inputs, last ? "y" : to);
    onnx_bytes cast = onnx_node("Cast", weight, taken);
    onnx_int_attribute(&cast, "to", FLOAT);
    if (kind.type != FLOAT)
        onnx_message(graph, 1, &cast);
    onnx_message(graph, 1, &node);
}

/* Writes model.onnx, whose size is returned. */
static double put_model_inside(int layers)
{
    const int64_t extents[] = {1, width};
    onnx_bytes graph = onnx_begin(extents, 2), opset = {.size = 0}, model = {.size = 0};
    float weights[64];
    for (int i = 0; i < layers; i++) {
        put_layer(&graph, i, i == layers - 1);
        weights[i] = kind.type == INT32 || kind.type == INT64 ? 1 : factor(i);
    }
    onnx_number(&opset, 2, 13);
    onnx_number(&model, 1, 7);
    onnx_message(&model, 8, &opset);
    FILE *file = fopen("model.onnx", "wb");
    if (file == NULL || fwrite(model.data, 1, model.size, file) != model.size)
        abort();
    put_inside(file, &graph, layers, weights);
    const double size = (double)ftell(file);
    if (fclose(file) != 0)
        abort();
    return size;
}

/* y of one run, which is x for an even number of layers. */
static void check_program(const mw_graph *graph, mw_error *err)
{
    static float x[WIDEST], y[WIDEST];
    mw_program *program = graph != NULL ? engine_compile(graph, MW_DEVICE_CPU, 1, err) : NULL;
    for (int i = 0; i < width; i++)
        x[i] = (float)(i % 17);
    if (program != NULL && mw_program_write(program, "x", MW_F32, x, (size_t)width, err) == MW_OK &&
        mw_program_run(program, err) == MW_OK)
        mw_program_read(program, "y", MW_F32, y, (size_t)width, err);
    CHECK_INT(err->status, MW_OK);
    CHECK(memcmp(x, y, sizeof x) == 0);
    mw_program_destroy(program);
}

/* ---- memory ---- */

/* The most that the process had, in bytes; 0 where nobody says. */
static double peak_memory(void)
{
    char line[256];
    double kilobytes = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "VmHWM:", 6) == 0)
            kilobytes = atof(line + 6);
    if (file != NULL)
        fclose(file);
    return kilobytes * 1024;
}

/* What is done with the file. */
enum { READ, RUN_IT, WRITE, CHECK_IT };

static int measure_child(double file_bytes, int what)
{
    mw_error err = {0};
    mw_graph *graph = what != CHECK_IT ? mw_graph_open_onnx("model.onnx", NULL, &err) : NULL;
    if (what == RUN_IT)
        check_program(graph, &err);
    else if (what == WRITE)
        mw_graph_write(graph, "written.onnx", NULL, &err);
    else if (what == CHECK_IT)
        mw_onnx_check("written.onnx", &err);
    mw_graph_destroy(graph);
    const double peak = peak_memory();
    if (err.status == MW_OK && peak <= 1.2 * file_bytes)
        return 0;
    fprintf(stderr, "a file of %.0f MB took %.0f MB: %s\n", file_bytes / 1e6, peak / 1e6, err.message);
    return 1;
}

static void put_model_beside(int layers)
{
    const onnx_bytes model = chain(layers);
    put_weights("weights.bin", layers);
    FILE *file = fopen("model.onnx", "wb");
    if (file == NULL || fwrite(model.data, 1, model.size, file) != model.size || fclose(file) != 0)
        abort();
}

/* In a process of its own, as the peak is that of a process. */
static void check_memory(int layers, int what)
{
    int status = 1;
    fflush(NULL);
    char wide[16], bytes[32], doing[16];
    snprintf(wide, sizeof wide, "%d", width);
    snprintf(bytes, sizeof bytes, "%.0f", (double)layers * (double)weight_size());
    snprintf(doing, sizeof doing, "%d", what);
    const pid_t pid = fork();
    if (pid == 0)
        execl("/proc/self/exe", "test_format_onnx_large", wide, bytes, doing, (char *)NULL);
    REQUIRE(pid > 0 && waitpid(pid, &status, 0) == pid);
    CHECK_INT(status, 0);
}

/* Sanitizers keep what is freed; other systems than Linux do not say. */
static bool is_measured(void) { return !child_is_sanitized() && peak_memory() > 0; }

static void test_a_model_takes_no_more_memory_than_its_weights(void)
{
    if (!is_measured()) {
        check_skip("nobody says what a process took at most");
        return;
    }
    put_model_beside(48);
    check_memory(48, RUN_IT);
    put_model_inside(48);
    check_memory(48, RUN_IT);
    put_model_inside(24);
    check_memory(24, WRITE);
    check_memory(24, CHECK_IT);
    if (getenv("MW_NIGHTLY") != NULL) {
        width = WIDEST;
        put_model_beside(42);
        check_memory(42, RUN_IT);
        width = 1024;
    }
}

/* Weights that become others, and those in nodes, take no more than what they become. */
static void test_weights_of_any_type_and_place_take_no_memory_twice(void)
{
    static const weight_kind kinds[] = {{FLOAT, 4, true},  {DOUBLE, 8, false}, {DOUBLE, 8, true},
                                        {INT32, 4, false}, {INT64, 8, false},  {INT64, 8, true}};
    const weight_kind usual = kind;
    if (!is_measured()) {
        check_skip("nobody says what a process took at most");
        return;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        kind = kinds[i];
        const int layers = kind.size == 8 ? 6 : 12;
        put_model_inside(layers);
        check_memory(layers, READ);
        if (kind.type == DOUBLE)
            check_memory(layers, RUN_IT);
    }
    kind = usual;
}

/* ---- elements that become others ---- */

/* Element i, which every type below has. */
static int number_at(size_t i, bool is_signed)
{
    return (int)((uint32_t)i * 2654435761u >> 8) % 120 - (is_signed ? 60 : 0);
}

static const struct {
    int type;
    size_t size;
    bool is_signed, is_real;
} element_rows[] = {{FLOAT, 4, true, true}, {2, 1, false, false},    {3, 1, true, false},     {4, 2, false, false},
                    {5, 2, true, false},    {INT32, 4, true, false}, {INT64, 8, true, false}, {DOUBLE, 8, true, true},
                    {12, 4, false, false},  {13, 8, false, false}};

/* A third of it, where the type has such numbers. */
static void put_number(char *to, size_t row, size_t i)
{
    const int64_t number = number_at(i, element_rows[row].is_signed);
    const double third = (double)number / 3;
    const float single = (float)third;
    const void *from = element_rows[row].type == DOUBLE  ? (const void *)&third
                       : element_rows[row].type == FLOAT ? (const void *)&single
                                                         : (const void *)&number;
    memcpy(to, from, element_rows[row].size); /* the low bytes of an integer come first */
}

enum { ELEMENTS = 300000, BESIDE = 13 };

static void put_numbers(size_t row)
{
    char *data = calloc(ELEMENTS, element_rows[row].size);
    FILE *file = fopen("numbers.bin", "wb");
    if (data == NULL || file == NULL)
        abort();
    for (size_t i = 0; i < ELEMENTS; i++)
        put_number(data + i * element_rows[row].size, row, i);
    fwrite("behind these", 1, BESIDE, file);
    if (fwrite(data, element_rows[row].size, ELEMENTS, file) != ELEMENTS || fclose(file) != 0)
        abort();
    free(data);
}

/* y = cast(w) + x, w of an initializer or of a node. */
static onnx_bytes model_of_numbers(size_t row, bool node)
{
    const int64_t one = 1;
    onnx_bytes graph = onnx_begin(&one, 1), tensor = {.size = 0}, cast = onnx_node("Cast", "w", "c");
    onnx_number(&tensor, 1, ELEMENTS);
    onnx_number(&tensor, 2, (uint64_t)element_rows[row].type);
    onnx_text(&tensor, 8, "w");
    onnx_number(&tensor, 14, 1);
    add_pair(&tensor, "location", "numbers.bin");
    add_pair(&tensor, "offset", "13");
    if (node) {
        onnx_bytes constant = onnx_node("Constant", "", "w"), attribute = {.size = 0};
        onnx_text(&attribute, 1, "value");
        onnx_message(&attribute, 5, &tensor);
        onnx_number(&attribute, 20, 4);
        onnx_message(&constant, 5, &attribute);
        onnx_message(&graph, 1, &constant);
    } else {
        onnx_message(&graph, 5, &tensor);
    }
    onnx_int_attribute(&cast, "to", FLOAT);
    onnx_message(&graph, 1, &cast);
    const onnx_bytes sum = onnx_node("Add", "c x", "y");
    onnx_message(&graph, 1, &sum);
    return onnx_model(&graph);
}

static void check_numbers(size_t row, const mw_graph *graph, mw_error *err)
{
    static float y[ELEMENTS];
    const float zero = 0;
    size_t wrong = 0;
    mw_program *program = graph != NULL ? engine_compile(graph, MW_DEVICE_CPU, 1, err) : NULL;
    if (program != NULL && mw_program_write(program, "x", MW_F32, &zero, 1, err) == MW_OK &&
        mw_program_run(program, err) == MW_OK)
        mw_program_read(program, "y", MW_F32, y, ELEMENTS, err);
    CHECK_OK(*err);
    for (size_t i = 0; i < ELEMENTS; i++) {
        const double number = number_at(i, element_rows[row].is_signed);
        wrong += y[i] != (float)(element_rows[row].is_real ? number / 3 : number);
    }
    check_note(wrong == 0, __FILE__, __LINE__, "type %d: %zu elements are others", element_rows[row].type, wrong);
    mw_program_destroy(program);
}

static void test_large_weights_of_every_type_are_the_numbers_of_the_file(void)
{
    for (size_t row = 0; row < sizeof element_rows / sizeof *element_rows; row++) {
        put_numbers(row);
        for (int node = 0; node < 2; node++) {
            mw_error err = {0};
            const onnx_bytes model = model_of_numbers(row, node);
            mw_graph *graph = onnx_read_bytes(&model, NULL, &err);
            check_numbers(row, graph, &err);
            mw_graph_destroy(graph);
        }
    }
}

/* The limits of int64 are those of int32; of others the name and the place are said. */
static void test_a_large_weight_beyond_int32_is_refused_by_element(void)
{
    static const struct {
        int64_t last;
        mw_status status;
    } rows[] = {{INT64_MAX, MW_OK}, {(int64_t)INT32_MAX + 1, MW_ERROR_UNSUPPORTED}};
    for (size_t i = 0; i < 2; i++) {
        mw_error err = {0};
        put_numbers(6);
        FILE *file = fopen("numbers.bin", "r+b");
        CHECK(file != NULL && fseek(file, -8, SEEK_END) == 0 && fwrite(&rows[i].last, 8, 1, file) == 1);
        CHECK(file != NULL && fclose(file) == 0);
        const onnx_bytes model = model_of_numbers(6, false);
        mw_graph *graph = onnx_read_bytes(&model, NULL, &err);
        CHECK_INT(err.status, rows[i].status);
        if (i == 1)
            CHECK_CONTAINS(err.message, "element 299999 of \"w\" is 2147483648: no int32");
        mw_graph_destroy(graph);
    }
}

/* ---- files that change ---- */

static void test_weights_may_be_cut_or_overwritten_while_the_graph_is_in_use(void)
{
    for (int cut = 0; cut < 2; cut++) {
        const onnx_bytes model = chain(2);
        mw_error err = {0};
        put_weights("weights.bin", 2);
        mw_graph *graph = onnx_read_bytes(&model, NULL, &err);
        CHECK_OK(err);
        if (cut) {
            CHECK_INT(truncate("weights.bin", 0), 0);
        } else {
            FILE *file = fopen("weights.bin", "r+b");
            static const char ones[65536] = {1, 1, 1, 1};
            for (int i = 0; file != NULL && i < 2 * (int)weight_size() / 65536; i++)
                fwrite(ones, 1, sizeof ones, file);
            if (file == NULL || fclose(file) != 0)
                abort();
        }
        check_program(graph, &err);
        mw_graph_destroy(graph);
    }
}

static void test_a_model_may_be_cut_while_its_graph_is_in_use(void)
{
    mw_error err = {0};
    put_model_inside(2);
    mw_graph *graph = mw_graph_open_onnx("model.onnx", NULL, &err);
    CHECK_OK(err);
    CHECK_INT(truncate("model.onnx", 0), 0);
    check_program(graph, &err);
    mw_graph_destroy(graph);
}

/* After any of its parts: an error, the same as of a small file. */
static void test_a_large_model_that_ends_early_is_refused(void)
{
    const double size = put_model_inside(2);
    for (int part = 1; part < 8; part++) {
        mw_error err = {0};
        put_model_inside(2);
        CHECK_INT(truncate("model.onnx", (off_t)(size * part / 8)), 0);
        CHECK(mw_graph_open_onnx("model.onnx", NULL, &err) == NULL);
        CHECK_ERROR(err, MW_ERROR_FORMAT, "\"model.onnx\" is no protobuf of its kind");
    }
}

static void test_weights_that_are_cut_before_they_are_read_are_refused(void)
{
    const onnx_bytes model = chain(2);
    mw_error err = {0};
    put_weights("weights.bin", 2);
    CHECK_INT(truncate("weights.bin", (off_t)weight_size() + 12345), 0);
    CHECK(onnx_read_bytes(&model, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "tensor \"w1\": 4194304 bytes at 4194304 do not lie in \"weights.bin\"");
}

/* The graph is written with the weights that it was read with. */
static void test_large_weights_are_written_again(void)
{
    const onnx_bytes model = chain(2);
    mw_error err = {0};
    put_weights("weights.bin", 2);
    mw_graph *graph = onnx_read_bytes(&model, NULL, &err);
    CHECK_INT(mw_graph_write(graph, "folder", NULL, &err), MW_OK);
    mw_graph_destroy(graph);
    graph = mw_graph_open_mil("folder/model.mil", NULL, &err);
    check_program(graph, &err);
    mw_graph_destroy(graph);
}

int main(int count, char **arguments)
{
    char folder[512];
    if (count == 4) {
        width = atoi(arguments[1]);
        return measure_child(atof(arguments[2]), atoi(arguments[3]));
    }
    if (!folder_enter(folder))
        return 1;
    RUN(test_a_model_takes_no_more_memory_than_its_weights);
    RUN(test_weights_of_any_type_and_place_take_no_memory_twice);
    RUN(test_large_weights_of_every_type_are_the_numbers_of_the_file);
    RUN(test_a_large_weight_beyond_int32_is_refused_by_element);
    RUN(test_weights_may_be_cut_or_overwritten_while_the_graph_is_in_use);
    RUN(test_a_model_may_be_cut_while_its_graph_is_in_use);
    RUN(test_a_large_model_that_ends_early_is_refused);
    RUN(test_weights_that_are_cut_before_they_are_read_are_refused);
    RUN(test_large_weights_are_written_again);
    folder_leave(folder);
    return check_finish();
}
