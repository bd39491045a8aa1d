/* Reading Core ML's models: real packages print as Apple's compiler prints them, and run as what it made of them;
 * recorded ones (tests/data/coreml/make.py) have every form. */
#include "format/package.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/on_engine.h"

#include <millwright/coreml.h>
#include <millwright/mil.h>
#include <millwright/program.h>
#include <stdlib.h>

static char *print_model(const char *path, mw_error *err)
{
    mw_coreml *model = mw_coreml_open(path, NULL, err);
    const mw_graph *graph = model != NULL ? mw_coreml_graph(model, err) : NULL;
    char *text = graph != NULL ? mw_graph_print_mil(graph, NULL, err) : NULL;
    mw_coreml_destroy(model);
    return text;
}

static void check_same_text(const char *path, const char *printed, const char *expected)
{
    size_t i = 0;
    while (printed[i] != '\0' && printed[i] == expected[i])
        i++;
    const size_t from = i > 60 ? i - 60 : 0;
    check_note(printed[i] == expected[i], __FILE__, __LINE__, "%s differs:\n  %.120s\n  %.120s", path, printed + from,
               expected + from);
}

static void check_prints_as(const char *package, const char *text_path)
{
    size_t size;
    mw_error err = {0};
    char *expected = package_read_file(text_path, &size);
    char *printed = print_model(package, &err);
    CHECK_OK(err);
    if (CHECK(printed != NULL && expected != NULL))
        check_same_text(package, printed, expected);
    mw_string_free(printed);
    free(expected);
}

/* ---- what others compiled ---- */

static const char *const compiled[] = {REAL "silero-unified_int8", REAL "silero-unified_palette_4bit",
                                       REAL "silero-vad-unified-v6.0.0"};

static void test_packages_print_as_apples_compiler_prints_them(void)
{
    if (!package_exists(REAL))
        SKIP("no packages at " REAL);
    for (size_t i = 0; i < sizeof compiled / sizeof *compiled; i++) {
        char package[512], text[512];
        snprintf(package, sizeof package, "%s.mlpackage", compiled[i]);
        snprintf(text, sizeof text, "%s.mlmodelc/model.mil", compiled[i]);
        check_prints_as(package, text);
        snprintf(package, sizeof package, "%s.mlmodelc", compiled[i]);
        check_prints_as(package, text);
    }
}

/* The text from the first function on, without attributes of functions: what the other printer leaves out. */
static char *body_of(char *text)
{
    char *at = strstr(text, "\n{\n"), *attribute;
    if (at == NULL)
        return text;
    while ((attribute = strstr(at, " [FlexibleShapeInformation")) != NULL) {
        char *end = strstr(attribute, ")))] {");
        memmove(attribute, end + 4, strlen(end + 4) + 1);
    }
    const size_t length = strlen(at);
    if (at[length - 1] == '\n')
        at[length - 1] = '\0';
    return at;
}

static void test_packages_print_as_another_printer_prints_them(void)
{
    static const char *const pairs[][2] = {
        {"basic-pitch", "basic-pitch__nmp"},
        {"DTLN_AEC_128_Part1", "dtln-aec-coreml__DTLN_AEC_128_Part1"},
        {"silero-vad-encoder-v6.0.0", "mobius__silero-vad-encoder-v6.0.0"},
        {"silero-vad-stft-v6.0.0", "mobius__silero-vad-stft-v6.0.0"},
    };
    if (!package_exists(REAL))
        SKIP("no packages at " REAL);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char package[512], path[512];
        size_t size;
        mw_error err = {0};
        snprintf(package, sizeof package, REAL "%s.mlpackage", pairs[i][0]);
        snprintf(path, sizeof path, MW_SHARED_DATA "/mil/%s-from-protobuf/model.mil", pairs[i][1]);
        char *expected = package_read_file(path, &size);
        char *printed = print_model(package, &err);
        CHECK_OK(err);
        if (CHECK(printed != NULL && expected != NULL))
            check_same_text(package, body_of(printed), body_of(expected));
        mw_string_free(printed);
        free(expected);
    }
}

/* ---- running ---- */

static uint32_t next_state;

/* Numbers in [0, 1) for every input. */
static void feed(mw_program *program, mw_error *err)
{
    mw_port port;
    next_state = 7;
    for (size_t i = 0; mw_program_port_at(program, i, &port); i++) {
        const size_t count = (size_t)mw_shape_count(port.shape);
        float *data = calloc(count + 1, sizeof *data);
        for (size_t k = 0; k < count; k++) {
            next_state = next_state * 1664525u + 1013904223u;
            data[k] = (float)next_state / 4294967296.0f; /* magnitudes are not negative */
        }
        if (!port.is_output)
            mw_program_write(program, port.name, MW_F32, data, count, err);
        free(data);
    }
}

/* The results of one run of the model, one after the other; NULL with err set. Freed with free. */
static float *run_model(const char *path, size_t *out_count, mw_error *err)
{
    mw_port port;
    float *results = NULL;
    *out_count = 0;
    mw_coreml *model = mw_coreml_open(path, NULL, err);
    const mw_graph *graph = model != NULL ? mw_coreml_graph(model, err) : NULL;
    mw_program *program = graph != NULL ? engine_compile(graph, MW_DEVICE_CPU, 1, err) : NULL;
    mw_coreml_destroy(model);
    if (program == NULL)
        return NULL;
    feed(program, err);
    mw_program_run(program, err);
    for (size_t i = 0; err->status == MW_OK && mw_program_port_at(program, i, &port); i++) {
        const size_t count = (size_t)mw_shape_count(port.shape);
        if (!port.is_output)
            continue;
        results = realloc(results, (*out_count + count) * sizeof *results);
        mw_program_read(program, port.name, MW_F32, results + *out_count, count, err);
        *out_count += count;
    }
    mw_program_destroy(program);
    return results;
}

static void test_a_package_runs_as_what_was_compiled_of_it(void)
{
    if (!package_exists(REAL))
        SKIP("no packages at " REAL);
    for (size_t i = 0; i < sizeof compiled / sizeof *compiled; i++) {
        char path[512];
        size_t counts[2];
        mw_error err = {0};
        snprintf(path, sizeof path, "%s.mlpackage", compiled[i]);
        float *ours = run_model(path, &counts[0], &err);
        snprintf(path, sizeof path, "%s.mlmodelc", compiled[i]);
        float *theirs = run_model(path, &counts[1], &err);
        CHECK_OK(err);
        CHECK_INT(counts[0], counts[1]);
        CHECK(ours != NULL && counts[0] > 0 && memcmp(ours, theirs, counts[0] * sizeof *ours) == 0);
        free(ours);
        free(theirs);
    }
}

static void test_every_real_package_runs(void)
{
    static const char *const names[] = {"basic-pitch", "DTLN_AEC_128_Part1", "silero-vad-encoder-v6.0.0",
                                        "silero-vad-stft-v6.0.0"};
    if (!package_exists(REAL))
        SKIP("no packages at " REAL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[512];
        size_t count = 0;
        mw_error err = {0};
        snprintf(path, sizeof path, REAL "%s.mlpackage", names[i]);
        float *results = run_model(path, &count, &err);
        CHECK_OK(err);
        bool finite = results != NULL && count > 0;
        for (size_t k = 0; results != NULL && k < count; k++)
            finite = finite && isfinite(results[k]);
        check_note(finite, __FILE__, __LINE__, "%s: a result is not finite", names[i]);
        free(results);
    }
}

/* The weights of this one were not kept. An entry of zeros for each literal of its text that lies in the file: its type
 * stands before "(BLOBFILE", its place behind "offset = tensor<uint64, []>(". */
static bool make_weights(const char *path, const char *text)
{
    static const char blob[] = "(BLOBFILE(", place[] = "offset = tensor<uint64, []>(";
    static const uint32_t header[16] = {1, 2};
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL && fwrite(header, 1, sizeof header, file) == sizeof header);
    for (const char *at = text; file != NULL && (at = strstr(at, blob)) != NULL; at++) {
        const char *type = at;
        while (strncmp(type, "tensor<", 7) != 0)
            type--;
        const bool half = strncmp(type, "tensor<fp16", 11) == 0;
        uint64_t count = 1, offset = strtoull(strstr(at, place) + sizeof place - 1, NULL, 10);
        for (const char *extent = strchr(type, '[') + 1; extent < at && *extent != '>';
             extent += strcspn(extent, ",>") + 1)
            count *= strtoull(extent + (*extent == ' '), NULL, 10);
        const uint64_t bytes = count * (half ? 2 : 4);
        const uint64_t entry[3] = {0xdeadbeef | (uint64_t)(half ? 1 : 2) << 32, bytes, offset + 64};
        fseek(file, (long)offset, SEEK_SET);
        fwrite(entry, 1, sizeof entry, file); /* little-endian, as every machine of ours */
        fseek(file, (long)(offset + 64 + bytes - 1), SEEK_SET);
        fputc(0, file);
    }
    return file != NULL && fclose(file) == 0;
}

/* The package says what is missing; with a weight file of the right size it prints, and (nightly) runs. */
static void test_missing_weights_are_named(void)
{
    static const char text_path[] =
        MW_SHARED_DATA "/mil/similarity-search-kit__all-MiniLM-L6-v2-from-protobuf/model.mil";
    char folder[512];
    size_t size, count = 0;
    mw_error err = {0};
    if (!package_exists(REAL))
        SKIP("no packages at " REAL);
    CHECK(mw_coreml_open(REAL "all-MiniLM-L6-v2.mlpackage", NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FILE, "weights/weight.bin");
    char *expected = package_read_file(text_path, &size);
    REQUIRE(expected != NULL && folder_enter(folder));
    CHECK(package_copy(REAL "all-MiniLM-L6-v2.mlpackage", "p") && make_weights("p/" WEIGHTS, expected));
    err = (mw_error){0};
    char *printed = print_model("p", &err);
    CHECK_OK(err);
    if (CHECK(printed != NULL))
        check_same_text("all-MiniLM-L6-v2", body_of(printed), body_of(expected));
    if (getenv("MW_NIGHTLY") != NULL) {
        float *results = run_model("p", &count, &err);
        CHECK_OK(err);
        check_note(results != NULL && count == 384, __FILE__, __LINE__, "%zu results, the first %g", count,
                   results != NULL ? (double)results[0] : 0);
        free(results);
    }
    mw_string_free(printed);
    free(expected);
    folder_leave(folder);
}

/* ---- recorded forms ---- */

static void test_recorded_packages_print_as_their_texts(void)
{
    check_prints_as(RECORDED "literals.mlpackage", RECORDED "literals.mil");
    check_prints_as(RECORDED "functions.mlpackage", RECORDED "functions.mil");
    check_prints_as(RECORDED "classifier.mlpackage", RECORDED "classifier.mil");
}

static void test_functions_states_and_shapes_are_described(void)
{
    mw_error err = {0};
    mw_coreml *model = mw_coreml_open(RECORDED "functions.mlpackage", NULL, &err);
    REQUIRE(model != NULL);
    const mw_description *d = mw_coreml_get_info(model).description;
    CHECK_INT(mw_coreml_get_info(model).specification, 9);
    CHECK_STR(mw_coreml_get_info(model).kind, "mlProgram");
    CHECK_STR(d->text, "two functions");
    CHECK_STR(d->version, "1.2");
    CHECK_STR(d->author, "nobody");
    CHECK_STR(d->license, "none");
    CHECK_INT(d->pair_count, 1);
    CHECK_STR(d->pairs[0].key, "key");
    CHECK_INT(d->function_count, 2);
    CHECK_INT(d->standard, 0);
    const mw_feature *x = mw_description_find(&d->functions[0], "x");
    const mw_feature *k = mw_description_find(&d->functions[0], "k");
    const mw_feature *b = mw_description_find(&d->functions[1], "b");
    REQUIRE(x != NULL && k != NULL && b != NULL);
    CHECK(x->kind == MW_FEATURE_TENSOR && x->dtype == MW_F16 && x->admits == MW_ADMITS_RANGES);
    CHECK_INT(x->shape.dim[1], 4);
    CHECK_INT(x->low.dim[1], 2);
    CHECK_INT(x->high.dim[1], MW_DIM_UNKNOWN);
    CHECK_INT(d->functions[0].state_count, 1);
    CHECK(k->has_shape && k->dtype == MW_F16);
    CHECK(b->optional && b->has_value && b->value == 0.5);
    CHECK(b->admits == MW_ADMITS_LISTED && b->shape_count == 2 && b->shapes[1].dim[1] == 8);
    CHECK_STR(mw_description_find(&d->functions[1], "a")->text, "the first");
    CHECK(mw_description_find(&d->functions[1], "x") == NULL);
    mw_admitted_shapes admitted;
    CHECK(mw_graph_admitted_shapes(mw_coreml_graph(model, &err), "x", &admitted, &err) == MW_OK);
    CHECK(admitted.kind == MW_ADMITS_RANGES && admitted.high.dim[1] == MW_DIM_UNKNOWN);
    CHECK_OK(err);
    mw_coreml_destroy(model);
}

static void test_images_and_classes_are_described(void)
{
    mw_error err = {0};
    mw_coreml *model = mw_coreml_open(RECORDED "classifier.mlpackage", NULL, &err);
    REQUIRE(model != NULL);
    const mw_function_description *f = &mw_coreml_get_info(model).description->functions[0];
    CHECK_STR(f->name, "main");
    CHECK_STR(f->label, "label");
    CHECK_STR(f->probabilities, "label_probs");
    const mw_feature *image = mw_description_find(f, "image");
    REQUIRE(image != NULL);
    CHECK(image->kind == MW_FEATURE_IMAGE && image->layout == MW_IMAGE_BGR);
    CHECK(mw_shape_equal(image->shape, MW_SHAPE(6, 8)));
    CHECK(mw_description_find(f, "label")->kind == MW_FEATURE_STRING);
    CHECK(mw_description_find(f, "label_probs")->kind == MW_FEATURE_DICTIONARY);
    char *text = mw_description_print(mw_coreml_get_info(model).description, &err);
    CHECK_CONTAINS(text, "input image: BGR image [6, 8]  a picture\n");
    mw_string_free(text);
    mw_program *program = engine_compile(mw_coreml_graph(model, &err), MW_DEVICE_CPU, 1, &err);
    float pixels[3 * 6 * 8];
    mw_label label;
    for (size_t i = 0; i < 144; i++)
        pixels[i] = 1.0f;
    mw_program_write(program, "image", MW_F32, pixels, 144, &err);
    mw_program_run(program, &err);
    CHECK(mw_program_label(program, "label", &label, &err) == MW_OK);
    CHECK_OK(err);
    CHECK_STR(label.name, "dog"); /* its row of weights is the largest */
    mw_program_destroy(program);
    mw_coreml_destroy(model);
}

static void test_each_part_of_a_pipeline_is_a_model(void)
{
    mw_error err = {0};
    mw_coreml *model = mw_coreml_open(RECORDED "pipeline.mlpackage", NULL, &err);
    CHECK_OK(err);
    REQUIRE(model != NULL);
    CHECK_STR(mw_coreml_get_info(model).kind, "pipeline");
    CHECK_INT(mw_coreml_get_info(model).part_count, 2);
    CHECK_STR(mw_coreml_get_info(mw_coreml_part(model, 0)).name, "network");
    CHECK_STR(mw_coreml_get_info(mw_coreml_part(model, 1)).name, "model1");
    CHECK(mw_coreml_graph(mw_coreml_part(model, 0), &err) != NULL);
    CHECK_STR(mw_coreml_get_info(mw_coreml_part(model, 1)).description->functions[0].inputs[0].name, "y");
    CHECK(mw_coreml_part(model, 2) == NULL);
    CHECK(mw_coreml_graph(model, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "pipeline");
    err = (mw_error){0};
    CHECK(mw_coreml_graph(mw_coreml_part(model, 1), &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "nonMaximumSuppression");
    mw_coreml_destroy(model);
}

static void test_other_kinds_are_refused_by_name(void)
{
    mw_error err = {0};
    CHECK(mw_coreml_open(RECORDED "network.mlpackage", NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "neuralNetwork");
    CHECK_CONTAINS(err.message, "coremltools.convert");
    err = (mw_error){0};
    CHECK(mw_coreml_open(RECORDED, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FILE, "neither Manifest.json nor coremldata.bin");
    err = (mw_error){0};
    CHECK(mw_coreml_open(NULL, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "NULL");
    CHECK(mw_coreml_get_info(NULL).description == NULL && mw_coreml_part(NULL, 0) == NULL);
    mw_coreml_destroy(NULL);
}

int main(void)
{
    RUN(test_packages_print_as_apples_compiler_prints_them);
    RUN(test_packages_print_as_another_printer_prints_them);
    RUN(test_a_package_runs_as_what_was_compiled_of_it);
    RUN(test_every_real_package_runs);
    RUN(test_missing_weights_are_named);
    RUN(test_recorded_packages_print_as_their_texts);
    RUN(test_functions_states_and_shapes_are_described);
    RUN(test_images_and_classes_are_described);
    RUN(test_each_part_of_a_pipeline_is_a_model);
    RUN(test_other_kinds_are_refused_by_name);
    return check_finish();
}
