/* Language models as packages of Core ML: read back by the library's own reader and run token by token, their logits
 * are those of PyTorch within what a cache of fp16 leaves; what is in the package; what is refused. Its messages are
 * looked at by check_package.py, without any schema of the library. */
#include "base/file/file.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/on_engine.h"
#include "text/json/tree.h"

#include <math.h>
#include <millwright/text.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { TOKENS = 11, WORDS = 40, CACHE = 16 };
static const char *const families[] = {"gpt2", "llama", "mistral", "qwen2", "qwen3", "gemma2"};
enum { FAMILIES = sizeof families / sizeof *families };

/* A build without protobuf-c writes no package. */
static bool can_write(void)
{
    char folder[512];
    mw_error err = {0};
    if (!folder_enter(folder))
        return false;
    mw_text_save(MW_TESTS_DIR "/text/models/llama", "x.mlpackage", NULL, &err);
    folder_leave(folder);
    return err.status != MW_ERROR_UNSUPPORTED;
}

/* ---- what PyTorch says ---- */

static bool read_expected(const char *family, int32_t tokens[TOKENS], float logits[TOKENS * WORDS])
{
    char path[600], *text = NULL;
    size_t size = 0, i = 0;
    mw__arena arena;
    mw_error err = {0};
    snprintf(path, sizeof path, MW_TESTS_DIR "/text/models/%s/expected.json", family);
    mw__arena_init(&arena, NULL);
    mw__file_read(NULL, path, SIZE_MAX, &text, &size, &err);
    const mw__json_node *root = text != NULL ? mw__tree_read(&arena, text, size, &err) : NULL;
    mw__free(mw__allocator_default(), text);
    const mw__json_node *list = mw__tree_find(root, "tokens"), *values = mw__tree_find(root, "logits");
    for (const mw__json_node *n = list != NULL ? list->first : NULL; n != NULL && i < TOKENS; n = n->next)
        tokens[i++] = (int32_t)n->number;
    i = 0;
    for (const mw__json_node *n = values != NULL ? values->first : NULL; n != NULL && i < TOKENS * WORDS; n = n->next)
        logits[i++] = (float)n->number;
    mw__arena_deinit(&arena);
    return CHECK_OK(err) && i == TOKENS * WORDS;
}

/* ---- packages ---- */

static double difference(const float *a, const float *b)
{
    double most = 0.0, largest = 0.0;
    for (int i = 0; i < WORDS; i++) {
        most = fmax(most, fabs((double)a[i] - (double)b[i]));
        largest = fmax(largest, fabs((double)b[i]));
    }
    return most / largest;
}

/* A token after the other; the states keep keys and values in between. */
static void check_package(const char *path, const char *family, mw_device device, double tolerance)
{
    int32_t tokens[TOKENS];
    float wanted[TOKENS * WORDS], logits[WORDS];
    mw_error err = {0};
    REQUIRE(read_expected(family, tokens, wanted));
    mw_coreml *package = mw_coreml_open(path, NULL, &err);
    const mw_graph *graph = mw_coreml_graph(package, &err);
    mw_program *program = graph != NULL ? engine_compile(graph, device, 1, &err) : NULL;
    for (int at = 0; at < TOKENS && err.status == MW_OK; at++) {
        mw_program_write(program, "tokens", MW_I32, &tokens[at], 1, &err);
        mw_program_write(program, "at", MW_I32, &(int32_t){at}, 1, &err);
        mw_program_run(program, &err);
        mw_program_read(program, "logits", MW_F32, logits, WORDS, &err);
        const double d = difference(logits, wanted + at * WORDS);
        check_note(err.status != MW_OK || d < tolerance, __FILE__, __LINE__, "%s: token %d: logits differ by %.2g",
                   family, at, d);
    }
    CHECK_OK(err);
    mw_program_destroy(program);
    mw_coreml_destroy(package);
}

static void save(const char *family, const char *type, mw_error *err)
{
    char folder[600];
    mw_text_save_options o = mw_text_save_defaults();
    snprintf(folder, sizeof folder, MW_TESTS_DIR "/text/models/%s", family);
    o.type = type;
    o.cache = CACHE;
    mw_text_save(folder, "model.mlpackage", &o, err);
}

static void test_packages_write_what_pytorch_does(void)
{
    for (size_t i = 0; i < FAMILIES; i++) {
        char folder[512];
        mw_error err = {0};
        REQUIRE(folder_enter(folder));
        save(families[i], NULL, &err);
        if (CHECK_OK(err)) {
            check_package("model.mlpackage", families[i], MW_DEVICE_CPU, 5e-3); /* a cache of 11 bits */
            check_package("model.mlpackage", families[i], MW_DEVICE_ANE, 3e-2);
        }
        save(families[i], "F16", &err);
        if (CHECK_OK(err))
            check_package("model.mlpackage", families[i], MW_DEVICE_CPU, 1e-2);
        folder_leave(folder);
    }
}

/* ---- what is in it ---- */

static void test_a_package_says_its_ports_and_states(void)
{
    char folder[512];
    mw_error err = {0};
    REQUIRE(folder_enter(folder));
    save("llama", NULL, &err);
    mw_coreml *package = mw_coreml_open("model.mlpackage", NULL, &err);
    REQUIRE(CHECK_OK(err));
    const mw_description *d = mw_coreml_get_info(package).description;
    REQUIRE(d != NULL && d->function_count == 1);
    const mw_function_description *f = &d->functions[0];
    CHECK(strstr(d->text, "llama") != NULL);
    CHECK_INT(f->input_count, 2);
    CHECK_INT(f->output_count, 1);
    CHECK_INT(f->state_count, 4);
    const mw_feature *state = mw_description_find(f, "key_1");
    CHECK(state != NULL && state->dtype == MW_F16 && mw_shape_equal(state->shape, MW_SHAPE(1, 2, CACHE, 4)));
    const mw_feature *logits = mw_description_find(f, "logits");
    CHECK(logits != NULL && logits->dtype == MW_F32 && mw_shape_equal(logits->shape, MW_SHAPE(1, WORDS)));
    mw_coreml_destroy(package);
    folder_leave(folder);
}

static void test_what_a_package_cannot_be_is_refused(void)
{
    static const struct {
        const char *path, *type;
        int64_t cache;
        mw_status status;
        const char *part;
    } rows[] = {{"x.mlpackage", "Q8_0", 0, MW_ERROR_ARGUMENT, "a package has F32 or F16"},
                {"x.mlpackage", "BF16", 0, MW_ERROR_ARGUMENT, "a package has F32 or F16"},
                {"x.mlpackage", NULL, -1, MW_ERROR_ARGUMENT, "a cache of -1 tokens"},
                {"x.mlpackage", NULL, 65, MW_ERROR_ARGUMENT, "65 tokens, and it has 64 positions"},
                {"x.gguf", NULL, 8, MW_ERROR_ARGUMENT, "only a .mlpackage has one"},
                {"none/x.mlpackage", NULL, 8, MW_ERROR_FILE, "none"},
                {"mine.mlpackage", NULL, 8, MW_ERROR_FILE, "mine.mlpackage"}};
    char folder[512];
    struct stat found;
    REQUIRE(folder_enter(folder) && mkdir("mine.mlpackage", 0777) == 0);
    folder_put("mine.mlpackage/diary", "x");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int check = 0; check < 2; check++) {
            mw_error err = {0};
            mw_text_save_options o = mw_text_save_defaults();
            o.type = rows[i].type;
            o.cache = rows[i].cache;
            o.check_only = check != 0;
            mw_text_save(MW_TESTS_DIR "/text/models/llama", rows[i].path, &o, &err);
            CHECK_ERROR(err, rows[i].status, rows[i].part);
        }
    CHECK(folder_holds("mine.mlpackage/diary", "x") && stat("x.mlpackage", &found) != 0);
    CHECK_INT(folder_count("."), 1);
    folder_leave(folder);
}

/* ---- any graph ---- */

static void test_states_of_a_graph_become_those_of_mil(void)
{
    mw_error err = {0};
    float y[2];
    mw_graph *graph = mw_graph_create(NULL, &err);
    mw_tensor *sum = mw_state(graph, "sum", MW_F32, MW_SHAPE(2), mw_init_zeros());
    mw_tensor *kept = mw_state(graph, "kept", MW_F16, MW_SHAPE(2), mw_init_zeros());
    mw_tensor *next = mw_add(sum, mw_input(graph, "x", MW_F32, MW_SHAPE(2)));
    mw_state_assign(sum, next);
    mw_output(mw_add(next, mw_cast(kept, MW_F32)), "y");
    mw_graph *stateful = mw_graph_stateful(graph, &err);
    mw_program *program = stateful != NULL ? engine_compile(stateful, MW_DEVICE_CPU, 1, &err) : NULL;
    for (int i = 1; i <= 3; i++) {
        mw_program_write(program, "x", MW_F32, (float[]){1.0F, 0.5F}, 2, &err);
        mw_program_run(program, &err);
        mw_program_read(program, "y", MW_F32, y, 2, &err);
        CHECK(y[0] == (float)i && y[1] == 0.5F * (float)i);
    }
    CHECK_OK(err);
    mw_program_destroy(program);
    mw_graph_destroy(stateful);
    mw_graph_destroy(graph);
    graph = mw_graph_create(NULL, &err);
    mw_output(mw_relu(mw_input(graph, "x", MW_F32, MW_SHAPE(2))), "y");
    CHECK(mw_graph_stateful(graph, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "the graph has no state");
    mw_error_clear(&err);
    mw_graph_destroy(graph);
    CHECK(mw_graph_stateful(NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "NULL");
}

int main(void)
{
    RUN(test_states_of_a_graph_become_those_of_mil);
    if (can_write()) {
        RUN(test_packages_write_what_pytorch_does);
        RUN(test_a_package_says_its_ports_and_states);
        RUN(test_what_a_package_cannot_be_is_refused);
    }
    return check_finish();
}
