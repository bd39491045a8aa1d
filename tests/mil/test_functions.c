/* Programs of several functions: text and weights of all of them, what they share once. */
#include "mil/io.h"
#include "support/check.h"

#include <millwright/millwright.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define WEIGHT                                                                                                         \
    "tensor<fp32, [64]> w = const()[val = tensor<fp32, [64]>(BLOBFILE(path = "                                         \
    "string(\"@model_path/weights/weight.bin\"), "                                                                     \
    "offset = uint64(64)))];"
static const char text[] =
    "program(1.3){func main<ios17>(tensor<fp32, [64]> x){" WEIGHT "tensor<fp32, [64]> y = add(x = x, y = w);} -> (y);"
    "func twice<ios18>(tensor<fp32, [64]> x){" WEIGHT
    "tensor<fp32, [64]> v = add(x = x, y = w); tensor<fp32, [64]> y = add(x = v, y = w);} -> (y);}";

/* weights/weight.bin with one entry, 0, 1, .. 63. */
static bool write_weights(const char *folder)
{
    uint32_t file[32 + 64] = {1, 2};
    char path[128];
    file[16] = 0xDEADBEEF, file[17] = 2, file[18] = 256, file[20] = 128;
    for (int i = 0; i < 64; i++) {
        const float value = (float)i;
        memcpy(&file[32 + i], &value, sizeof value);
    }
    snprintf(path, sizeof path, "%s/weights", folder);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/weights/weight.bin", folder);
    FILE *out = fopen(path, "wb");
    const bool good = out != NULL && fwrite(file, sizeof file, 1, out) == 1;
    if (out != NULL)
        fclose(out);
    return good;
}

static void remove_model(const char *folder)
{
    static const char *const names[] = {"model.mil", "weights/weight.bin", "weights", ""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        CHECK(remove(path) == 0 || i == 0);
    }
}

static const mw__payload *weight_of(const mw_graph *graph, const char *function)
{
    const mw__block *body = mw__function_find(graph, function)->body;
    for (size_t i = 0; i < body->op_count; i++)
        if (body->ops[i]->results[0]->payload != NULL)
            return body->ops[i]->results[0]->payload;
    return NULL;
}

static void check_both(const mw_graph *graph, int line)
{
    const mw__payload *a = weight_of(graph, "main"), *b = weight_of(graph, "twice");
    check_note(mw_graph_function_at(graph, 1) != NULL && a != NULL && b != NULL && a->data != NULL &&
                   a->data == b->data,
               __FILE__, line, "the functions do not share their weight");
    check_near(a != NULL && a->data != NULL ? mw__payload_float(a, 63) : 0, 63, 0, __FILE__, line, "the weight");
}

static void test_shared_weights_are_loaded_and_written_once(void)
{
    char from[] = "/tmp/mw-functions-XXXXXX", to[] = "/tmp/mw-functions-XXXXXX", path[128];
    struct stat what = {0};
    mw_error err = {0};
    REQUIRE(mkdtemp(from) != NULL && mkdtemp(to) != NULL && write_weights(from));
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), from, NULL, &err);
    CHECK_OK(err);
    check_both(graph, __LINE__);
    CHECK_INT(mw_graph_write(graph, to, NULL, &err), MW_OK);
    mw_graph_destroy(graph);
    snprintf(path, sizeof path, "%s/weights/weight.bin", to);
    CHECK(stat(path, &what) == 0);
    CHECK_INT(what.st_size, 64 + 64 + 256); /* header, entry, elements */
    snprintf(path, sizeof path, "%s/model.mil", to);
    mw_graph *again = mw_graph_open_mil(path, NULL, &err);
    CHECK_OK(err);
    check_both(again, __LINE__);
    mw_graph_destroy(again);
    remove_model(from);
    remove_model(to);
}

static void test_print_keeps_every_function(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
    char *once = mw_graph_print_mil(graph, NULL, &err);
    mw_graph *read = mw_graph_parse_mil(once, strlen(once), NULL, NULL, &err);
    char *again = mw_graph_print_mil(read, NULL, &err);
    CHECK_OK(err);
    CHECK_STR(again, once);
    CHECK_CONTAINS(once, "func main<ios17>(");
    CHECK_CONTAINS(once, "func twice<ios18>(");
    mw_string_free(again);
    mw_string_free(once);
    mw_graph_destroy(read);
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_shared_weights_are_loaded_and_written_once);
    RUN(test_print_keeps_every_function);
    return check_finish();
}
