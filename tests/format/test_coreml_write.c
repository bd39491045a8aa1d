/* Writing packages: what was read comes back, what was built is there, what Core ML would refuse is refused, and a
 * failure leaves the old package. tests/data/coreml/compare.py, which knows nothing of the library, compares. */
#include "base/file/file.h"
#include "format/package.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/folder.h"
#include "support/on_engine.h"

#include <errno.h>
#include <millwright/coreml.h>
#include <millwright/weights.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char *print_model(const char *path)
{
    mw_error err = {0};
    mw_coreml *model = mw_coreml_open(path, NULL, &err);
    const mw_graph *graph = model != NULL ? mw_coreml_graph(model, &err) : NULL;
    char *text = graph != NULL ? mw_graph_print_mil(graph, NULL, &err) : NULL;
    CHECK_OK(err);
    mw_coreml_destroy(model);
    return text;
}

static mw_status copy_model(const char *from, const char *to, mw_error *err)
{
    mw_write_options options = mw_write_defaults();
    mw_coreml *model = mw_coreml_open(from, NULL, err);
    options.description = mw_coreml_get_info(model).description;
    mw_graph_write(mw_coreml_graph(model, err), to, &options, err);
    mw_coreml_destroy(model);
    return err->status;
}

/* ---- what was read ---- */

static void test_a_package_that_is_read_and_written_says_the_same(void)
{
    static const char *const names[] = {"basic-pitch",
                                        "DTLN_AEC_128_Part1",
                                        "silero-unified_int8",
                                        "silero-unified_palette_4bit",
                                        "silero-vad-stft-v6.0.0",
                                        "silero-vad-encoder-v6.0.0",
                                        "silero-vad-unified-v6.0.0"};
    char folder[512];
    if (!package_exists(REAL))
        SKIP("no packages at " REAL);
    if (system("python3 -c pass") != 0)
        SKIP("no python3 to compare packages with");
    REQUIRE(folder_enter(folder));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[512], command[2048];
        mw_error err = {0};
        snprintf(path, sizeof path, REAL "%s.mlpackage", names[i]);
        CHECK(copy_model(path, "copy.mlpackage", &err) == MW_OK);
        CHECK_OK(err);
        snprintf(command, sizeof command, "python3 -B '" MW_TESTS_DIR "/data/coreml/compare.py' '%s' copy.mlpackage",
                 path);
        check_note(system(command) == 0, __FILE__, __LINE__, "%s differs, as above", names[i]);
    }
    CHECK_INT(folder_count("."), 1);
    folder_leave(folder);
}

/* The text without the places of weights, which may move. */
static char *without_offsets(char *text)
{
    for (char *at = text; (at = strstr(at, "offset = ")) != NULL; at++)
        for (char *digit = at + strcspn(at, ")") - 1; *digit >= '0' && *digit <= '9'; digit--)
            *digit = '0';
    return text;
}

static void test_recorded_packages_come_back(void)
{
    static const char *const names[] = {"literals", "functions", "classifier"};
    char folder[512];
    REQUIRE(folder_enter(folder));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[512];
        mw_error err = {0};
        snprintf(path, sizeof path, RECORDED "%s.mlpackage", names[i]);
        CHECK(copy_model(path, "copy.mlpackage", &err) == MW_OK);
        CHECK_OK(err);
        char *before = print_model(path), *after = print_model("copy.mlpackage");
        REQUIRE(before != NULL && after != NULL);
        CHECK_STR(without_offsets(after), without_offsets(before));
        mw_coreml *a = mw_coreml_open(path, NULL, &err), *b = mw_coreml_open("copy.mlpackage", NULL, &err);
        char *said = mw_description_print(mw_coreml_get_info(a).description, &err);
        char *again = mw_description_print(mw_coreml_get_info(b).description, &err);
        CHECK_STR(again, said);
        CHECK_INT(mw_coreml_get_info(b).specification, mw_coreml_get_info(a).specification);
        mw_string_free(said);
        mw_string_free(again);
        mw_coreml_destroy(a);
        mw_coreml_destroy(b);
        mw_string_free(before);
        mw_string_free(after);
    }
    folder_leave(folder);
}

/* ---- what was built ---- */

static float weight[4 * 12];

static const void *give_weight(void *user, const char *name)
{
    (void)user;
    return strcmp(name, "fc.weight") == 0 ? weight : NULL;
}

/* An image in, the probability of four labels out. */
static mw_graph *build_classifier(mw_opset opset)
{
    static const char *const labels[] = {"ant", "bee", "cow", "say \"\\\""};
    mw_graph_options options = mw_graph_defaults();
    options.opset = opset;
    mw_graph *graph = mw_graph_create(&options, NULL);
    mw_tensor *x = mw_input(graph, "image", MW_F32, MW_SHAPE(1, 3, 2, 2));
    mw_tensor *w = mw_parameter(graph, "fc.weight", MW_F32, MW_SHAPE(4, 12), mw_init_zeros());
    mw_tensor *h = mw_matmul(mw_reshape(x, MW_SHAPE(1, 12)), w, MW_TRANSPOSE_Y);
    mw_tensor *label, *probabilities;
    const mw_classes classes = {.count = 4, .names = labels};
    mw_classify(mw_softmax(h, 1), &classes, &label, &probabilities);
    mw_output(label, "label");
    mw_output(probabilities, "label_probs");
    for (int i = 0; i < 48; i++)
        weight[i] = (float)i / 64;
    return graph;
}

static void test_a_classifier_of_images_is_written_and_read(void)
{
    char folder[512];
    mw_error err = {0};
    const mw_feature image = {.name = "image",
                              .text = "a picture",
                              .kind = MW_FEATURE_IMAGE,
                              .layout = MW_IMAGE_RGB,
                              .has_shape = true,
                              .shape = MW_SHAPE(2, 2)};
    const mw_function_description function = {.name = "main", .input_count = 1, .inputs = &image};
    const mw_text_pair pair = {"key", "value"};
    mw_description description = mw_description_defaults();
    description.author = "nobody";
    description.license = "none";
    description.version = "1";
    description.text = "four animals";
    description.pairs = &pair;
    description.pair_count = 1;
    description.functions = &function;
    description.function_count = 1;
    mw_write_options options = mw_write_defaults();
    options.description = &description;
    options.bake = give_weight;
    mw_graph *graph = build_classifier(MW_IOS16);
    REQUIRE(folder_enter(folder));
    CHECK(mw_graph_write(graph, "Animals.mlpackage", &options, &err) == MW_OK);
    CHECK_OK(err);
    mw_coreml *model = mw_coreml_open("Animals.mlpackage", NULL, &err);
    CHECK_OK(err);
    REQUIRE(model != NULL);
    CHECK_INT(mw_coreml_get_info(model).specification, 7);
    char *said = mw_description_print(mw_coreml_get_info(model).description, &err);
    CHECK_STR(said, "description: four animals\nversion: 1\nauthor: nobody\nlicense: none\nkey: value\nfunction main\n"
                    "    input image: RGB image [2, 2]  a picture\n    output label: string\n"
                    "    output label_probs: dictionary by string\n    predicted label: label\n"
                    "    probabilities: label_probs\n");
    mw_string_free(said);
    float pixels[12];
    mw_label label = {0};
    for (int i = 0; i < 12; i++)
        pixels[i] = 255;
    mw_program *program = engine_compile(mw_coreml_graph(model, &err), MW_DEVICE_CPU, 1, &err);
    mw_program_write(program, "image", MW_F32, pixels, 12, &err);
    mw_program_run(program, &err);
    mw_program_label(program, "label", &label, &err);
    CHECK_OK(err);
    CHECK_STR(label.name, "say \"\\\"");
    mw_program_destroy(program);
    mw_coreml_destroy(model);
    mw_graph_destroy(graph);
    folder_leave(folder);
}

static void test_what_is_written_and_read_prints_the_same_when_written_again(void)
{
    char folder[512];
    mw_write_options options = mw_write_defaults();
    options.bake = give_weight;
    REQUIRE(folder_enter(folder));
    for (int opset = MW_IOS15; opset <= MW_IOS18; opset++) {
        mw_error err = {0};
        mw_graph *graph = build_classifier((mw_opset)opset);
        CHECK(mw_graph_write(graph, "a.mlpackage", &options, &err) == MW_OK);
        CHECK(copy_model("a.mlpackage", "b.mlpackage", &err) == MW_OK);
        CHECK_OK(err);
        char *first = print_model("a.mlpackage"), *second = print_model("b.mlpackage");
        REQUIRE(first != NULL && second != NULL);
        CHECK_STR(second, first);
        CHECK_CONTAINS(first, opset >= MW_IOS18 ? "program(1.3)" : "program(1.0)");
        mw_string_free(first);
        mw_string_free(second);
        mw_graph_destroy(graph);
    }
    folder_leave(folder);
}

static float run_sum(const mw_graph *graph, mw_error *err)
{
    float x[64], y[64], sum = 0;
    for (int i = 0; i < 64; i++)
        x[i] = (float)(i % 7) / 8;
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, 1, err);
    mw_program_write(program, "x", MW_F32, x, 64, err);
    mw_program_run(program, err);
    mw_program_read(program, "y", MW_F32, y, 64, err);
    mw_program_destroy(program);
    for (int i = 0; i < 64; i++)
        sum += y[i] * (float)(i + 1);
    return sum;
}

static void test_compressed_weights_are_written_as_they_are_stored(void)
{
    static float numbers[64 * 64];
    static const char *const operations[] = {"", "constexpr_cast", "", "constexpr_lut_to_dense"};
    char folder[512];
    uint32_t state = 1;
    for (size_t i = 0; i < 64 * 64; i++) {
        state = state * 1664525u + 1013904223u;
        numbers[i] = (float)(int32_t)state / 2147483648.0f;
    }
    REQUIRE(folder_enter(folder));
    for (int opset = MW_IOS16; opset <= MW_IOS18; opset += 2)
        for (int form = MW_WEIGHTS_F16; form <= MW_WEIGHTS_PALETTE; form++) {
            mw_error err = {0};
            mw_graph_options made = mw_graph_defaults();
            made.opset = (mw_opset)opset;
            mw_graph *graph = mw_graph_create(&made, NULL);
            mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(1, 64));
            mw_tensor *w = mw_name(mw_constant(graph, MW_F32, MW_SHAPE(64, 64), numbers), "w");
            mw_output(mw_matmul(x, w, MW_TRANSPOSE_Y), "y");
            const mw_compress_options options = mw_compress_defaults((mw_weight_form)form);
            mw_graph *small = mw_graph_compress(graph, &options, &err);
            CHECK(mw_graph_write(small, "small.mlpackage", NULL, &err) == MW_OK);
            mw_coreml *model = mw_coreml_open("small.mlpackage", NULL, &err);
            CHECK_OK(err);
            REQUIRE(model != NULL);
            const float wanted = run_sum(small, &err);
            CHECK(run_sum(mw_coreml_graph(model, &err), &err) == wanted);
            char *text = mw_graph_print_mil(mw_coreml_graph(model, &err), NULL, &err);
            CHECK_CONTAINS(text, operations[form]);
            CHECK_CONTAINS(text, "BLOBFILE");
            mw_string_free(text);
            CHECK_OK(err);
            mw_coreml_destroy(model);
            mw_graph_destroy(small);
            mw_graph_destroy(graph);
        }
    folder_leave(folder);
}

/* ---- what Core ML would refuse ---- */

static mw_status write_text(const char *inputs, const char *body, const char *opset, mw_error *err)
{
    char text[2048];
    snprintf(text, sizeof text, "program(1.3)\n{\n func main<%s>(%s) { %s;\n}", opset, inputs, body);
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, err);
    mw_graph_write(graph, "refused.mlpackage", NULL, err);
    mw_graph_destroy(graph);
    return err->status;
}

static void test_what_core_ml_would_refuse_is_refused_by_name(void)
{
    static const struct {
        const char *inputs, *body, *opset, *why;
    } cases[] = {
        {"tensor<bool, [2]> x", "tensor<bool, [2]> y = logical_not(x = x); } -> (y)", "ios18", "\"x\": ports are fp32"},
        {"tensor<fp16, [2]> x", "tensor<fp16, [2]> y = relu(x = x); } -> (y)", "ios15", "fp16 ports need ios16"},
        {"fp32 x", "fp32 y = relu(x = x); } -> (y)", "ios18", "at least one axis"},
        {"tensor<fp32, [1, 1, 1, 1, 1, 2]> x", "tensor<fp32, [1, 1, 1, 1, 1, 2]> y = relu(x = x); } -> (y)", "ios18",
         "at most 5 axes"},
        {"tensor<fp32, [0]> x", "tensor<fp32, [0]> y = relu(x = x); } -> (y)", "ios18", "at least one element"},
        {"tensor<fp32, [2]> x", "} -> (x)", "ios18", "an output is not an input"},
        {"tensor<fp32, [2]> x", "tensor<fp32, [2]> c = const()[val = tensor<fp32, [2]>([1, 2])]; } -> (c)", "ios18",
         "an output is not a constant"},
        {"tensor<fp32, [2]> x", "tensor<fp32, [2]> y = relu(x = x); } -> (y, y)", "ios18", "an output twice"},
        {"tensor<fp32, [2]> x", "} -> ()", "ios18", "no output"},
        {"tensor<fp32, [2]> x", "tensor<fp32, [2]> y = frobnicate(x = x); } -> (y)", "ios18", "frobnicate"},
        {"state<tensor<fp32, [2]>> k, tensor<fp32, [2]> x",
         "tensor<fp32, [2]> y = read_state(input = k); tensor<fp32, [2]> z = add(x = x, y = y); } -> (z)", "ios18",
         "\"k\": states are fp16"},
        {"tensor<fp32, [?]> x", "tensor<fp32, [?]> y = relu(x = x); } -> (y)", "ios18", "describe its ranges"},
        {"tensor<fp32, [2]> x", "tensor<fp32, [3]> y = relu(x = x); } -> (y)", "ios18", "relu"},
    };
    char folder[512];
    REQUIRE(folder_enter(folder));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mw_error err = {0};
        write_text(cases[i].inputs, cases[i].body, cases[i].opset, &err);
        check_note(err.status != MW_OK && strstr(err.message, cases[i].why) != NULL, __FILE__, __LINE__,
                   "case %zu: %d \"%s\", not \"%s\"", i, (int)err.status, err.message, cases[i].why);
    }
    CHECK_INT(folder_count("."), 0);
    folder_leave(folder);
}

static mw_status write_described(const mw_feature *feature, bool is_output, mw_error *err)
{
    static const char text[] =
        "program(1.3)\n{\n func main<ios18>(tensor<fp32, [1, 3, ?, 4]> x) { tensor<fp32, [1, 3, ?, "
        "4]> y = relu(x = x); } -> (y);\n}";
    const mw_feature standard = {
        .name = "x", .kind = MW_FEATURE_TENSOR, .dtype = MW_F32, .has_shape = true, .shape = MW_SHAPE(1, 3, 2, 4)};
    const mw_function_description function = {.name = "main",
                                              .inputs = is_output ? &standard : feature,
                                              .input_count = 1,
                                              .outputs = feature,
                                              .output_count = is_output};
    mw_description description = mw_description_defaults();
    description.functions = &function;
    description.function_count = 1;
    mw_write_options options = mw_write_defaults();
    options.description = &description;
    mw_graph *graph = mw_graph_parse_mil(text, sizeof text - 1, NULL, NULL, err);
    mw_graph_write(graph, "described.mlpackage", &options, err);
    mw_graph_destroy(graph);
    return err->status;
}

static void test_descriptions_that_do_not_fit_are_refused(void)
{
    const mw_shape shape = MW_SHAPE(1, 3, 2, 4);
    const mw_shape listed[] = {MW_SHAPE(1, 3, 2, 4), MW_SHAPE(1, 3, 2, 5)};
    const struct {
        mw_feature feature;
        bool is_output;
        const char *why;
    } cases[] = {
        {{.name = "q", .kind = MW_FEATURE_TENSOR, .dtype = MW_F32}, false, "names \"q\", which is no input"},
        {{.name = "x", .kind = MW_FEATURE_TENSOR, .dtype = MW_F32}, true, "which is no output"},
        {{.name = "x", .kind = MW_FEATURE_TENSOR, .dtype = MW_F16}, false, "element type is another"},
        {{.name = "x", .kind = MW_FEATURE_TENSOR, .dtype = MW_BOOL}, false, "cannot have that element type"},
        {{.name = "x", .kind = MW_FEATURE_STRING}, false, "another kind than the port"},
        {{.name = "x", .kind = MW_FEATURE_SEQUENCE}, false, "another kind than the port"},
        {{.name = "x", .kind = MW_FEATURE_IMAGE}, false, "needs a layout"},
        {{.name = "x", .kind = MW_FEATURE_IMAGE, .layout = MW_IMAGE_GRAY}, false, "channels of its layout"},
        {{.name = "x", .kind = MW_FEATURE_IMAGE, .layout = MW_IMAGE_RGB}, false, "needs a size"},
        {{.name = "x", .kind = MW_FEATURE_IMAGE, .layout = MW_IMAGE_RGB, .has_shape = true, .shape = MW_SHAPE(2, 3)},
         false,
         "another one than the port's"},
        {{.name = "x", .kind = MW_FEATURE_TENSOR, .dtype = MW_F32, .has_shape = true, .shape = MW_SHAPE(1, 3, 2)},
         false,
         "another one than the port's"},
        {{.name = "x",
          .kind = MW_FEATURE_TENSOR,
          .dtype = MW_F32,
          .admits = MW_ADMITS_RANGES,
          .low = shape,
          .high = MW_SHAPE(1, 3, 9, 5)},
         false,
         "ranges allow what"},
        {{.name = "x",
          .kind = MW_FEATURE_TENSOR,
          .dtype = MW_F32,
          .admits = MW_ADMITS_RANGES,
          .low = shape,
          .high = MW_SHAPE(1, 3, 1, 4)},
         false,
         "ranges allow what"},
        {{.name = "x",
          .kind = MW_FEATURE_TENSOR,
          .dtype = MW_F32,
          .admits = MW_ADMITS_LISTED,
          .shapes = listed,
          .shape_count = 2},
         false,
         "a listed shape"},
        {{.name = "x", .kind = MW_FEATURE_TENSOR, .dtype = MW_F32, .admits = MW_ADMITS_LISTED}, false, "is empty"},
    };
    char folder[512];
    REQUIRE(folder_enter(folder));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mw_error err = {0};
        write_described(&cases[i].feature, cases[i].is_output, &err);
        check_note(err.status == MW_ERROR_ARGUMENT && strstr(err.message, cases[i].why) != NULL, __FILE__, __LINE__,
                   "case %zu: %d \"%s\", not \"%s\"", i, (int)err.status, err.message, cases[i].why);
    }
    const mw_feature good = {.name = "x",
                             .kind = MW_FEATURE_TENSOR,
                             .dtype = MW_F32,
                             .admits = MW_ADMITS_RANGES,
                             .has_shape = true,
                             .shape = shape,
                             .low = shape,
                             .high = MW_SHAPE(1, 3, MW_DIM_UNKNOWN, 4),
                             .optional = true,
                             .has_value = true,
                             .value = 0.25};
    mw_error err = {0};
    CHECK(write_described(&good, false, &err) == MW_OK);
    mw_coreml *model = mw_coreml_open("described.mlpackage", NULL, &err);
    CHECK_OK(err);
    REQUIRE(model != NULL);
    const mw_feature *x = &mw_coreml_get_info(model).description->functions[0].inputs[0];
    CHECK(x->optional && x->has_value && x->value == 0.25 && x->high.dim[2] == MW_DIM_UNKNOWN && x->low.dim[2] == 2);
    mw_admitted_shapes admitted;
    CHECK(mw_graph_admitted_shapes(mw_coreml_graph(model, &err), "x", &admitted, &err) == MW_OK);
    CHECK(admitted.kind == MW_ADMITS_RANGES);
    mw_coreml_destroy(model);
    folder_leave(folder);
}

static void test_wrong_calls_are_refused(void)
{
    char folder[512];
    mw_graph *graph = build_classifier(MW_IOS18);
    mw_write_options unmade = {0};
    mw_error err = {0};
    REQUIRE(folder_enter(folder));
    CHECK(mw_graph_write(NULL, "x.mlpackage", NULL, &err) == MW_ERROR_ARGUMENT);
    err = (mw_error){0};
    CHECK(mw_graph_write(graph, NULL, NULL, &err) == MW_ERROR_ARGUMENT);
    err = (mw_error){0};
    CHECK(mw_graph_write(graph, "x.mlpackage", &unmade, &err) == MW_ERROR_ARGUMENT);
    err = (mw_error){0};
    CHECK(mw_graph_write(graph, "x.mlpackage", NULL, &err) == MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "\"fc.weight\" has no value");
    err = (mw_error){0};
    CHECK(mw_graph_write(graph, "x.mlmodel", NULL, &err) == MW_ERROR_ARGUMENT);
    mw_write_options options = mw_write_defaults();
    options.bake = give_weight;
    err = (mw_error){0};
    CHECK(mw_graph_write(graph, "x.mlmodel", &options, &err) == MW_ERROR_ARGUMENT);
    CHECK_CONTAINS(err.message, "models are not written as .mlmodel");
    CHECK(mkdir("mine.mlpackage", 0700) == 0);
    folder_put("mine.mlpackage/letter", "precious");
    err = (mw_error){0};
    CHECK(mw_graph_write(graph, "mine.mlpackage", &options, &err) == MW_ERROR_FILE);
    CHECK_CONTAINS(err.message, "no package; it is left");
    CHECK(folder_holds("mine.mlpackage/letter", "precious"));
    CHECK_INT(folder_count("."), 1);
    mw_graph_destroy(graph);
    folder_leave(folder);
}

/* Looked at, an empty folder stays the one that it is; written, it is replaced. */
static void test_an_empty_folder_is_replaced_and_a_check_leaves_it(void)
{
    char folder[512];
    struct stat before, after;
    mw_graph *graph = build_classifier(MW_IOS18);
    mw_write_options options = mw_write_defaults();
    mw_error err = {0};
    REQUIRE(folder_enter(folder));
    options.bake = give_weight;
    options.check_only = true;
    CHECK(mkdir("empty.mlpackage", 0711) == 0 && stat("empty.mlpackage", &before) == 0);
    CHECK_INT(mw_graph_write(graph, "empty.mlpackage", &options, &err), MW_OK);
    CHECK(stat("empty.mlpackage", &after) == 0 && before.st_ino == after.st_ino && before.st_mode == after.st_mode);
    options.check_only = false;
    CHECK_INT(mw_graph_write(graph, "empty.mlpackage", &options, &err), MW_OK);
    CHECK_OK(err);
    CHECK(access("empty.mlpackage/Manifest.json", R_OK) == 0);
    mw_graph_destroy(graph);
    folder_leave(folder);
}

/* ---- a failure leaves the old package ---- */

static long call_budget;

static bool spend(void) { return call_budget-- > 0; }

static int failing_rename(int folder, const char *from, const char *to)
{
    if (!spend()) {
        errno = EIO;
        return -1;
    }
    return mw__file_real_calls.rename(folder, from, to);
}

static int failing_fsync(int descriptor)
{
    if (!spend()) {
        errno = EIO;
        return -1;
    }
    return mw__file_real_calls.fsync(descriptor);
}

static long failing_write(int descriptor, const void *data, size_t size)
{
    if (!spend()) {
        errno = ENOSPC;
        return -1;
    }
    return mw__file_real_calls.write(descriptor, data, size);
}

static void test_a_failed_save_leaves_the_old_package(void)
{
    char folder[512];
    mw_error err = {0};
    mw__file_calls calls = mw__file_real_calls;
    calls.rename = failing_rename;
    calls.fsync = failing_fsync;
    calls.write = failing_write;
    REQUIRE(folder_enter(folder));
    CHECK(copy_model(RECORDED "literals.mlpackage", "m.mlpackage", &err) == MW_OK);
    char *before = print_model("m.mlpackage");
    mw_coreml *model = mw_coreml_open(RECORDED "classifier.mlpackage", NULL, &err);
    bool done = false;
    for (long n = 0; n < 200 && !done; n++) {
        err = (mw_error){0};
        call_budget = n;
        mw__file_set_calls(&calls);
        done = mw_graph_write(mw_coreml_graph(model, &err), "m.mlpackage", NULL, &err) == MW_OK;
        mw__file_set_calls(NULL);
        CHECK_INT(folder_count("."), 1);
        char *after = print_model("m.mlpackage");
        if (!done)
            CHECK_STR(after, before);
        else
            CHECK_CONTAINS(after, "classify");
        mw_string_free(after);
    }
    CHECK(done);
    mw_string_free(before);
    mw_coreml_destroy(model);
    folder_leave(folder);
}

static void test_every_allocation_may_fail(void)
{
    char folder[512];
    REQUIRE(folder_enter(folder));
    bool good = false;
    for (long n = 0; !good; n++) {
        failing_allocator failing = {.fail_at = -1};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_graph_options options = mw_graph_defaults();
        options.allocator = &allocator;
        mw_error err = {0};
        mw_coreml *model = mw_coreml_open(RECORDED "functions.mlpackage", &options, &err);
        mw_write_options how = mw_write_defaults();
        how.description = mw_coreml_get_info(model).description;
        failing.fail_at = failing.requests + n;
        good = mw_graph_write(mw_coreml_graph(model, &err), "m.mlpackage", &how, &err) == MW_OK;
        check_note(good ? !failing.failed : err.status == MW_ERROR_MEMORY, __FILE__, __LINE__, "allocation %ld: %d %s",
                   n, (int)err.status, err.message);
        mw_coreml_destroy(model);
        CHECK_INT(failing.live, 0);
        CHECK_INT(folder_count("."), good);
        REQUIRE(n < 20000);
    }
    folder_leave(folder);
}

static void test_a_link_to_a_package_stays_one(void)
{
    char folder[512];
    struct stat status;
    mw_error err = {0};
    REQUIRE(folder_enter(folder));
    CHECK(copy_model(RECORDED "literals.mlpackage", "real.mlpackage", &err) == MW_OK);
    CHECK(symlink("real.mlpackage", "link.mlpackage") == 0);
    CHECK(copy_model(RECORDED "classifier.mlpackage", "link.mlpackage/", &err) == MW_OK);
    CHECK_OK(err);
    CHECK(lstat("link.mlpackage", &status) == 0 && S_ISLNK(status.st_mode));
    char *text = print_model("real.mlpackage");
    CHECK_CONTAINS(text, "classify");
    mw_string_free(text);
    CHECK_INT(folder_count("."), 2);
    folder_leave(folder);
}

int main(void)
{
    RUN(test_a_package_that_is_read_and_written_says_the_same);
    RUN(test_recorded_packages_come_back);
    RUN(test_a_classifier_of_images_is_written_and_read);
    RUN(test_what_is_written_and_read_prints_the_same_when_written_again);
    RUN(test_compressed_weights_are_written_as_they_are_stored);
    RUN(test_what_core_ml_would_refuse_is_refused_by_name);
    RUN(test_an_empty_folder_is_replaced_and_a_check_leaves_it);
    RUN(test_descriptions_that_do_not_fit_are_refused);
    RUN(test_wrong_calls_are_refused);
    RUN(test_a_failed_save_leaves_the_old_package);
    RUN(test_every_allocation_may_fail);
    RUN(test_a_link_to_a_package_stays_one);
    return check_finish();
}
