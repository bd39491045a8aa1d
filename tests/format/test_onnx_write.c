/* Graphs written as ONNX: each case of the operation table comes back with the same values, or is refused for the
 * reason that its row has. */
#include "onnx_bytes.h"
#include "onnx_kept.h"
#include "support/cases/op_cases.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/folder.h"
#include "support/on_engine.h"
#include "support/page.h"

#include <math.h>
#include <millwright/millwright.h>
#include <stdlib.h>

enum { LEAST_CASES = 532 };

/* The values of "y", which the caller frees; NULL with a reason. */
static double *run_graph(const mw_graph *graph, const op_instance *instance, size_t count, mw_error *err)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    double *y = malloc((count + 1) * sizeof *y);
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, 1, err);
    for (size_t i = 0; program != NULL && i < instance->count; i++)
        mw_program_write(program, names[i], MW_F64, instance->data[i],
                         (size_t)mw_shape_count(mw_tensor_shape(instance->in[i])), err);
    if (program != NULL && mw_program_run(program, err) == MW_OK)
        mw_program_read(program, "y", MW_F64, y, count, err);
    mw_program_destroy(program);
    if (err->status == MW_OK)
        return y;
    free(y);
    return NULL;
}

static bool is_near(const double *a, const double *b, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = isfinite(a[i]) && fabs(a[i]) > largest ? fabs(a[i]) : largest;
    for (size_t i = 0; i < count; i++)
        if (!(fabs(a[i] - b[i]) <= 1e-6 * largest) && !(isnan(a[i]) && isnan(b[i])) && a[i] != b[i])
            return false;
    return true;
}

/* For onnxruntime, if it is asked for. */
static bool keep_case(const op_case *c, const op_instance *instance, const double *y)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    static int number;
    onnx_kept_port ports[OP_CASE_INPUTS + 1];
    char name[32], title[256];
    if (onnx_kept_folder == NULL)
        return true;
    for (size_t i = 0; i < instance->count; i++)
        ports[i] = (onnx_kept_port){names[i], onnx_kept_type(mw_tensor_dtype(instance->in[i])),
                                    mw_tensor_shape(instance->in[i]), instance->data[i]};
    ports[instance->count] =
        (onnx_kept_port){"y", onnx_kept_type(mw_tensor_dtype(instance->y)), mw_tensor_shape(instance->y), y};
    snprintf(name, sizeof name, "case%03d", number++);
    snprintf(title, sizeof title, "%s (%s)", c->name, c->detail);
    return onnx_kept(name, title, "case.onnx", ports, instance->count + 1);
}

/* A graph that was read runs as the one that was written. */
static bool comes_back(const op_case *c, const op_instance *instance)
{
    mw_error err = {0};
    const size_t count = (size_t)mw_shape_count(mw_tensor_shape(instance->y));
    mw_graph *read = mw_graph_open_onnx("case.onnx", NULL, &err);
    double *want = run_graph(instance->graph, instance, count, &err);
    double *got = want != NULL ? run_graph(read, instance, count, &err) : NULL;
    const bool same = got != NULL && is_near(want, got, count) && keep_case(c, instance, want);
    check_note(same, __FILE__, __LINE__, "%s (%s): %s", c->name, c->detail, err.message);
    free(got);
    free(want);
    mw_graph_destroy(read);
    return same;
}

/* A row's, or that a port is no tensor, but never that there is no row. */
static bool is_reason(const char *message)
{
    return (strstr(message, "cannot be written") != NULL && strstr(message, "operation is not known") == NULL) ||
           strstr(message, "has a type that ONNX lacks") != NULL;
}

static bool check_case(const op_case *c)
{
    op_instance instance;
    mw_error err = {0};
    bool same = false;
    if (!check_note(op_instance_init(&instance, c, MW_F32, 1), __FILE__, __LINE__, "%s (%s)", c->name, c->detail)) {
        op_instance_deinit(&instance);
        return false;
    }
    mw_output(instance.y, "y");
    if (mw_graph_write(instance.graph, "case.onnx", NULL, &err) == MW_OK)
        same = comes_back(c, &instance);
    else
        check_note(err.status == MW_ERROR_UNSUPPORTED && is_reason(err.message), __FILE__, __LINE__, "%s (%s): %s",
                   c->name, c->detail, err.message);
    op_instance_deinit(&instance);
    return same;
}

static void test_every_case_comes_back_or_is_refused(void)
{
    const op_case *c;
    size_t passed = 0, all = 0;
    for (; (c = op_case_at(all)) != NULL; all++) /* ONNX leaves open what an index outside gives */
        passed += strstr(c->detail, "indices outside") == NULL && check_case(c);
    printf("%zu of %zu cases come back\n", passed, all);
    CHECK(passed >= LEAST_CASES);
}

/* The section "Writing" of the page names every row, and each reason. */
static void test_the_page_lists_the_rows(void)
{
    static const char *const words[] = {
#define MW_EXPORT(name, function, operation) "`" #name "`",
#define MW_NO_EXPORT(name, reason)           "`" #name "`", reason,
#include "../src/format/onnx/exports.def"
#undef MW_EXPORT
#undef MW_NO_EXPORT
    };
    char *text = page_read(MW_TESTS_DIR "/../docs/onnx.md");
    const char *section = text != NULL ? strstr(text, "## Writing") : NULL;
    REQUIRE(section != NULL);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        check_note(strstr(section, words[i]) != NULL, __FILE__, __LINE__, "docs/onnx.md lacks %s", words[i]);
    free(text);
}

/* ---- one model ---- */

static const float values[] = {1, -2, 3, 4, 5, -6};

static mw_graph *small_model(const mw_allocator *allocator)
{
    mw_graph_options options = mw_graph_defaults();
    options.allocator = allocator;
    mw_graph *graph = mw_graph_create(&options, NULL);
    if (graph == NULL)
        return NULL;
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(4, 3));
    mw_tensor *weight = mw_parameter(graph, "fc.weight", MW_F32, MW_SHAPE(2, 3), mw_init_data(values));
    mw_output(mw_gelu(mw_linear(x, weight, NULL), MW_GELU_EXACT), "y");
    return graph;
}

static const void *bake(void *user, const char *name)
{
    (void)user;
    return strcmp(name, "fc.weight") == 0 ? values : NULL;
}

static mw_status write_small(const mw_graph *graph, const char *path, mw_error *err)
{
    mw_write_options options = mw_write_defaults();
    options.bake = bake;
    return mw_graph_write(graph, path, &options, err);
}

static void test_every_allocation_may_fail(void)
{
    bool done = false;
    for (long n = 0; !done && n < 10000; n++) {
        failing_allocator failing = {.fail_at = -1};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_graph *graph = small_model(&allocator);
        mw_error err = {0};
        failing.fail_at = failing.requests + n;
        const mw_status status = write_small(graph, "small.onnx", &err);
        done = !failing.failed;
        CHECK_INT(status, done ? MW_OK : MW_ERROR_MEMORY);
        CHECK_INT(err.status, status);
        mw_graph_destroy(graph);
        CHECK_INT(failing.live, 0);
    }
    CHECK(done);
}

static size_t load(const char *path, char *out, size_t capacity)
{
    FILE *file = fopen(path, "rb");
    const size_t size = file != NULL ? fread(out, 1, capacity, file) : 0;
    if (file != NULL)
        fclose(file);
    return size;
}

static void test_bytes_are_the_same_each_time(void)
{
    static char a[4096], b[4096];
    mw_error err = {0};
    mw_graph *graph = small_model(NULL), *again = small_model(NULL);
    CHECK_INT(write_small(graph, "a.onnx", &err), MW_OK);
    CHECK_INT(write_small(again, "b.onnx", &err), MW_OK);
    const size_t size = load("a.onnx", a, sizeof a);
    CHECK(size > 0 && size == load("b.onnx", b, sizeof b) && memcmp(a, b, size) == 0);
    mw_graph_destroy(graph);
    mw_graph_destroy(again);
}

static void test_names_stay(void)
{
    mw_error err = {0};
    mw_graph *graph = small_model(NULL);
    CHECK_INT(write_small(graph, "names.onnx", &err), MW_OK);
    mw_graph *read = mw_graph_open_onnx("names.onnx", NULL, &err);
    CHECK(read != NULL && mw_graph_find(read, "x") != NULL && mw_graph_find(read, "y") != NULL);
    CHECK(read != NULL && mw_graph_find(read, "fc.weight") != NULL);
    mw_graph_destroy(read);
    mw_graph_destroy(graph);
}

static void count_problem(void *user, const mw_format_problem *problem)
{
    size_t *count = user;
    *count += strcmp(problem->operation, "non_zero") == 0 && problem->opset == 17 && problem->reason[0] != '\0';
}

static void test_a_refused_write_tells_all_and_leaves_the_old_file(void)
{
    static char before[4096], after[4096];
    mw_error err = {0};
    size_t count = 0;
    mw_graph *graph = small_model(NULL);
    CHECK_INT(write_small(graph, "kept.onnx", &err), MW_OK);
    const size_t size = load("kept.onnx", before, sizeof before);
    mw_tensor *y = mw_graph_find(graph, "x");
    for (int i = 0; i < 5; i++)
        y = mw_cast(mw_non_zero(y), MW_F32);
    mw_output(y, "z");
    mw_write_options options = mw_write_defaults();
    options.bake = bake;
    options.report = count_problem;
    options.report_user = &count;
    CHECK_INT(mw_graph_write(graph, "kept.onnx", &options, &err), MW_ERROR_UNSUPPORTED);
    CHECK(strstr(err.message, "non_zero") != NULL);
    CHECK_INT(count, 5);
    CHECK(size == load("kept.onnx", after, sizeof after) && memcmp(before, after, size) == 0);
    mw_graph_destroy(graph);
}

static void test_a_parameter_without_a_value_is_refused(void)
{
    mw_error err = {0};
    mw_graph *graph = small_model(NULL);
    CHECK_INT(mw_graph_write(graph, "none.onnx", NULL, &err), MW_ERROR_ARGUMENT);
    CHECK(strstr(err.message, "fc.weight") != NULL);
    mw_graph_destroy(graph);
}

/* ---- short programs that ask for much ---- */

static void check_too_large(mw_graph *graph, const char *why)
{
    for (int check_only = 0; check_only < 2; check_only++) {
        mw_error err = {0};
        mw_write_options options = mw_write_defaults();
        options.check_only = check_only != 0;
        CHECK_INT(mw_graph_write(graph, "large.onnx", &options, &err), MW_ERROR_UNSUPPORTED);
        CHECK_CONTAINS(err.message, why);
    }
    CHECK(fopen("large.onnx", "rb") == NULL);
    mw_graph_destroy(graph);
}

static void test_tables_of_the_file_have_a_bound(void)
{
    mw_graph *hot = mw_graph_create(NULL, NULL);
    mw_output(mw_one_hot(mw_input(hot, "x", MW_I32, MW_SHAPE(1)), INT32_MAX, 1, MW_F32, 1, 0), "y");
    check_too_large(hot, "it takes a table");
}

static void test_constants_of_equal_elements_have_a_bound(void)
{
    static const char text[] = "program(1.3)\n[buildInfo = dict<string, string>({})]\n{\n"
                               "    func main<ios17>(tensor<fp32, [1]> x) {\n"
                               "        tensor<fp32, [268435456]> c = const()[name = string(\"c\"), "
                               "val = tensor<fp32, [268435456]>(0x1p+0)];\n"
                               "        tensor<fp32, [268435456]> y = add(x = x, y = c)[name = string(\"y\")];\n"
                               "    } -> (y);\n}\n";
    mw_error err = {0};
    mw_graph *graph = mw_graph_parse_mil(text, sizeof text - 1, NULL, NULL, &err);
    CHECK_OK(err);
    check_too_large(graph, "equal elements would have 1073741824 bytes");
}

/* ---- what a model says of itself ---- */

static void write_bytes(const char *path, const onnx_bytes *bytes)
{
    FILE *file = fopen(path, "wb");
    REQUIRE(file != NULL);
    fwrite(bytes->data, 1, bytes->size, file);
    fclose(file);
}

/* y = Relu(x), with these metadata_props. */
static void write_saying(const char *path, const mw_text_pair *pairs, size_t count)
{
    onnx_bytes graph = {.size = 0};
    const onnx_bytes node = onnx_node("Relu", "x", "y"), x = onnx_value("x", NULL), y = onnx_value("y", NULL);
    onnx_message(&graph, 1, &node);
    onnx_message(&graph, 11, &x);
    onnx_message(&graph, 12, &y);
    onnx_bytes model = onnx_model(&graph);
    for (size_t i = 0; i < count; i++) {
        onnx_bytes pair = {.size = 0};
        onnx_text(&pair, 1, pairs[i].key);
        onnx_text(&pair, 2, pairs[i].value);
        onnx_message(&model, 14, &pair);
    }
    write_bytes(path, &model);
}

/* What the file says when it is read: a line for each pair, and the fields. */
static void check_says(const char *path, const char *wanted)
{
    mw_error err = {0};
    char text[600];
    mw_model_options options = mw_model_defaults();
    options.read_only = true;
    mw_model *model = mw_model_open(path, &options, &err);
    const mw_description *d = mw_model_get_info(model).description;
    CHECK_OK(err);
    snprintf(text, sizeof text, "%s|%s|%s|%s", d != NULL ? d->text : "", d != NULL ? d->version : "",
             d != NULL ? d->author : "", d != NULL ? d->license : "");
    for (size_t i = 0; d != NULL && i < d->pair_count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "|%s=%s", d->pairs[i].key, d->pairs[i].value);
    check_note(strcmp(text, wanted) == 0, __FILE__, __LINE__, "%s says %s, not %s", path, text, wanted);
    mw_model_destroy(model);
}

/* In every format, and as the graph that was read is printed. */
static void check_says_everywhere(const char *wanted)
{
    static const char *const paths[] = {"said.mlpackage", "said.onnx", "said"};
    mw_error err = {0};
    mw_model_options options = mw_model_defaults();
    options.read_only = true;
    check_says("saying.onnx", wanted);
    mw_model *model = mw_model_open("saying.onnx", &options, &err);
    for (int i = 0; i < 3; i++) {
        mw_model_write(model, paths[i], NULL, &err);
        CHECK_OK(err);
        check_says(paths[i], wanted);
    }
    mw_model_destroy(model);
    mw_graph *graph = mw_graph_open_onnx("saying.onnx", NULL, &err);
    mw_graph_write(graph, "printed", NULL, &err);
    CHECK_OK(err);
    check_says("printed", wanted);
    mw_graph_destroy(graph);
}

static void test_what_a_file_says_is_printed(void)
{
    const mw_text_pair pairs[] = {{"classes", "ant\nbee"}, {"mw.offsets", "1.7e9 0"}, {"mw.author", "somebody"}};
    write_saying("saying.onnx", pairs, 3);
    check_says_everywhere("||somebody||classes=ant\nbee|mw.offsets=1.7e9 0");
}

static void test_the_first_of_a_key_counts_for_pairs_and_fields(void)
{
    const mw_text_pair pairs[] = {{"k", "first"}, {"mw.text", "one"}, {"k", "second"}, {"mw.text", "two"}};
    write_saying("saying.onnx", pairs, 4);
    check_says_everywhere("one||||k=first");
}

/* Latin 1, and two keys that become one. */
static void test_bytes_that_are_no_text_become_one(void)
{
    const mw_text_pair pairs[] = {
        {"names", "b\xe4r"}, {"\xe4", "first"}, {"\xc3\xa4", "second"}, {"mw.license", "\xa9 nobody"}};
    write_saying("saying.onnx", pairs, 4);
    check_says_everywhere("|||\xc2\xa9 nobody|names=b\xc3\xa4r|\xc3\xa4=first");
}

static void test_a_field_comes_before_a_pair_of_its_key(void)
{
    mw_error err = {0};
    const mw_text_pair pairs[] = {{"mw.text", "of a pair"}, {"mw.author", "of a pair"}, {"bad", "b\xe4r"}, {"k", "v"}};
    mw_description description = mw_description_defaults();
    description.text = "of the field";
    description.license = "b\xe4r";
    description.pairs = pairs;
    description.pair_count = 4;
    mw_write_options options = mw_write_defaults();
    mw_write_options onnx = mw_write_defaults();
    mw_write_options coreml = mw_write_defaults();
    options.description = onnx.description = coreml.description = &description;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_relu(mw_input(graph, "x", MW_F32, MW_SHAPE(2))), "y");
    mw_graph_write(graph, "said", &options, &err);
    mw_graph_write(graph, "said.onnx", &onnx, &err);
    mw_graph_write(graph, "said.mlpackage", &coreml, &err);
    CHECK_OK(err);
    check_says("said", "of the field||of a pair||k=v");
    check_says("said.onnx", "of the field||of a pair||k=v");
    check_says("said.mlpackage", "of the field||||mw.text=of a pair|mw.author=of a pair|k=v");
    mw_graph_destroy(graph);
}

/* The numbers of the outermost fields rise, as protobuf wants them to be written. */
static void test_fields_are_in_the_order_of_their_numbers(void)
{
    const mw_text_pair pair = {"key", "value"};
    mw_error err = {0};
    mw_description description = mw_description_defaults();
    description.pairs = &pair;
    description.pair_count = 1;
    mw_write_options options = mw_write_defaults();
    options.description = &description;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_relu(mw_input(graph, "x", MW_F32, MW_SHAPE(2))), "y");
    mw_graph_write(graph, "order.onnx", &options, &err);
    CHECK_OK(err);
    mw_graph_destroy(graph);
    FILE *file = fopen("order.onnx", "rb");
    REQUIRE(file != NULL);
    int last = 0;
    for (int head; (head = fgetc(file)) != EOF; last = head >> 3) {
        int byte = 0x80;
        unsigned long size = 0;
        CHECK(head >> 3 >= last && head < 0x80);
        for (int shift = 0; (byte & 0x80) != 0 && byte != EOF; shift += 7)
            size |= (unsigned long)((byte = fgetc(file)) & 0x7f) << shift;
        if ((head & 7) == 2)
            fseek(file, (long)size, SEEK_CUR);
    }
    CHECK_INT(last, 14);
    fclose(file);
}

/* --cases FOLDER keeps what is written there. */
int main(int count, char **arguments)
{
    char folder[512];
    if (count > 2 && strcmp(arguments[1], "--cases") == 0)
        onnx_kept_folder = arguments[2];
    if (!folder_enter(folder))
        return 1;
    RUN(test_every_case_comes_back_or_is_refused);
    RUN(test_the_page_lists_the_rows);
    RUN(test_every_allocation_may_fail);
    RUN(test_bytes_are_the_same_each_time);
    RUN(test_names_stay);
    RUN(test_a_refused_write_tells_all_and_leaves_the_old_file);
    RUN(test_a_parameter_without_a_value_is_refused);
    RUN(test_tables_of_the_file_have_a_bound);
    RUN(test_constants_of_equal_elements_have_a_bound);
    RUN(test_what_a_file_says_is_printed);
    RUN(test_the_first_of_a_key_counts_for_pairs_and_fields);
    RUN(test_bytes_that_are_no_text_become_one);
    RUN(test_a_field_comes_before_a_pair_of_its_key);
    RUN(test_fields_are_in_the_order_of_their_numbers);
    folder_leave(folder);
    return check_finish();
}
