/* Models with much weight in another file: what reading, compiling and running take of memory, and what happens when
 * that file changes meanwhile. */
#include "onnx_run.h"
#include "support/check.h"
#include "support/child.h"
#include "support/folder.h"
#include "support/on_engine.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WIDEST = 4096 };

/* Of each layer, whose weight is a square: 48 layers of 1024 have 200 MB, 42 of 4096 have 2.8 GB. */
static int width = 1024;

static size_t weight_size(void) { return (size_t)width * (size_t)width * sizeof(float); }

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
    onnx_number(&tensor, 2, 1);
    onnx_text(&tensor, 8, name);
    return tensor;
}

/* Bytes of a field of that length, with its number of one byte. */
static size_t field_size(size_t length) { return 1 + put_varint(NULL, length) + length; }

static void put_inside(FILE *file, const onnx_bytes *rest, int layers, const float *weights)
{
    char name[16];
    size_t whole = rest->size;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < layers; i++) {
            snprintf(name, sizeof name, "w%d", i);
            const onnx_bytes head = head_of(name);
            const bool says_place = i % 2 == 1; /* Tensor.data_location: here, as the Python package writes it */
            const size_t size = head.size + field_size(weight_size()) + (says_place ? 2 : 0);
            if (pass == 0) {
                whole += field_size(size);
                continue;
            }
            if (i == 0) {
                fputc(7 << 3 | 2, file); /* Model.graph */
                put_varint(file, whole);
                fwrite(rest->data, 1, rest->size, file);
            }
            fputc(5 << 3 | 2, file); /* Graph.initializer */
            put_varint(file, size);
            fwrite(head.data, 1, head.size, file);
            fputc(9 << 3 | 2, file); /* Tensor.raw_data */
            put_varint(file, weight_size());
            for (int k = 0; k < width; k++) {
                float row[WIDEST] = {0};
                row[k] = weights[i];
                fwrite(row, sizeof *row, (size_t)width, file);
            }
            if (says_place) {
                fputc(14 << 3, file);
                fputc(0, file);
            }
        }
}

/* Writes model.onnx, whose size is returned. */
static double put_model_inside(int layers)
{
    const int64_t extents[] = {1, width};
    onnx_bytes graph = onnx_begin(extents, 2), opset = {.size = 0}, model = {.size = 0};
    char inputs[32], to[16];
    float weights[64];
    for (int i = 0; i < layers; i++) {
        snprintf(inputs, sizeof inputs, i == 0 ? "x w0" : "h%d w%d", i, i);
        snprintf(to, sizeof to, i == layers - 1 ? "y" : "h%d", i + 1);
        const onnx_bytes node = onnx_node("MatMul", inputs, to);
        onnx_message(&graph, 1, &node);
        weights[i] = factor(i);
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
        mw_run(program, err) == MW_OK)
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

static int measure_child(int layers)
{
    const double file_bytes = (double)layers * (double)weight_size();
    mw_error err = {0};
    mw_graph *graph = mw_onnx_read("model.onnx", NULL, &err);
    check_program(graph, &err);
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
static void check_memory(int layers, bool inside)
{
    int status = 1;
    if (inside)
        put_model_inside(layers);
    else
        put_model_beside(layers);
    fflush(NULL);
    char wide[16], many[16];
    snprintf(wide, sizeof wide, "%d", width);
    snprintf(many, sizeof many, "%d", layers);
    const pid_t pid = fork();
    if (pid == 0)
        execl("/proc/self/exe", "test_format_onnx_large", wide, many, (char *)NULL);
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
    for (int inside = 0; inside < 2; inside++)
        check_memory(48, inside);
    if (getenv("MW_NIGHTLY") != NULL) {
        width = WIDEST;
        check_memory(42, false);
        width = 1024;
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
    mw_graph *graph = mw_onnx_read("model.onnx", NULL, &err);
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
        CHECK(mw_onnx_read("model.onnx", NULL, &err) == NULL);
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
    CHECK_INT(mw_graph_write_mil(graph, "folder", NULL, &err), MW_OK);
    mw_graph_destroy(graph);
    graph = mw_graph_read_mil("folder/model.mil", NULL, &err);
    check_program(graph, &err);
    mw_graph_destroy(graph);
}

int main(int count, char **arguments)
{
    char folder[512];
    if (count == 3) {
        width = atoi(arguments[1]);
        return measure_child(atoi(arguments[2]));
    }
    if (!folder_enter(folder))
        return 1;
    RUN(test_a_model_takes_no_more_memory_than_its_weights);
    RUN(test_weights_may_be_cut_or_overwritten_while_the_graph_is_in_use);
    RUN(test_a_model_may_be_cut_while_its_graph_is_in_use);
    RUN(test_a_large_model_that_ends_early_is_refused);
    RUN(test_weights_that_are_cut_before_they_are_read_are_refused);
    RUN(test_large_weights_are_written_again);
    folder_leave(folder);
    return check_finish();
}
