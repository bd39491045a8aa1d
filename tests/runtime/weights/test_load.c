/* Weights from files of others into trainers and programs: other names, a part, a new head, the base under adapters;
 * what is missing and unused is told; all of it goes in or nothing. */
#include "runtime/files.h"
#include "support/check.h"
#include "support/failing.h"

#include <math.h>
#include <millwright/millwright.h>
#include <string.h>
#include <sys/stat.h>

enum { IN = 2, HIDDEN = 3, OUT = 2, ALL = HIDDEN * IN + HIDDEN + OUT * HIDDEN + OUT };

/* ---- a net with weights "fc1.weight" [3, 2], "fc1.bias" [3], "fc2.weight" [2, 3], "fc2.bias" [2] ---- */

static const char *const names[] = {"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"};
static const int counts[] = {HIDDEN * IN, HIDDEN, OUT *HIDDEN, OUT};

static mw_graph *build(mw_tensor **out_logits)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(4, IN));
    *out_logits = mw_output(mw_dense(mw_tanh(mw_dense(x, HIDDEN, "fc1")), OUT, "fc2"), "logits");
    return graph;
}

static mw_trainer *train(mw_graph *graph, mw_tensor *logits, mw_error *err)
{
    mw_tensor *labels = mw_input(graph, "y", MW_I32, MW_SHAPE(4));
    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(logits, labels), mw_sgd(0.1f));
    options.prediction = logits;
    options.compile.device = MW_DEVICE_CPU;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.threads = 1;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(graph);
    return trainer;
}

static mw_trainer *make(mw_error *err)
{
    mw_tensor *logits;
    mw_graph *graph = build(&logits);
    return train(graph, logits, err);
}

static void take(mw_trainer *trainer, float out[ALL])
{
    mw_error err = {0};
    for (int i = 0, at = 0; i < 4; at += counts[i++])
        mw_trainer_read(trainer, names[i], MW_F32, out + at, (size_t)counts[i], &err);
    CHECK_OK(err);
}

/* ---- files ---- */

static float filled[16];

static const char *write(const char *name, const mw_tensor_values *tensors, size_t count)
{
    mw_error err = {0};
    mw_tensors_write(scratch(name), tensors, count, &err);
    CHECK_OK(err);
    return scratch(name);
}

static mw_tensor_values of(const char *name, mw_shape shape)
{
    return (mw_tensor_values){.name = name, .dtype = MW_F32, .shape = shape, .data = filled};
}

/* ---- what was told ---- */

static char told[1024];

static void note(void *user, const mw_weights_choice *choice)
{
    static const char *const words[] = {"taken", "missing", "shape", "unused"};
    const size_t at = strlen(told);
    CHECK(user == told);
    CHECK((choice->parameter == NULL) == (choice->outcome == MW_WEIGHTS_UNUSED));
    CHECK((choice->tensor == NULL) == (choice->outcome == MW_WEIGHTS_MISSING));
    snprintf(told + at, sizeof told - at, "%s %s<%s;", words[choice->outcome],
             choice->parameter != NULL ? choice->parameter : "", choice->tensor != NULL ? choice->tensor : "");
}

static mw_weights_options with_report(void)
{
    mw_weights_options options = mw_weights_defaults();
    options.report = note;
    options.report_user = told;
    told[0] = '\0';
    return options;
}

/* ---- tests ---- */

static void test_a_checkpoint_of_pytorch_is_loaded_in_part_under_other_names(void)
{
    static const mw_weights_prefix prefixes[] = {{"state_dict.0.", "fc1."}, {"state_dict.1.", "norm."}};
    char path[600];
    mw_error err = {0};
    mw_trainer *trainer = make(&err);
    mw_weights_options options = with_report();
    float before[ALL], after[ALL];
    options.prefixes = prefixes;
    options.prefix_count = 2;
    options.partial = true;
    take(trainer, before);
    snprintf(path, sizeof path, "%s/data/tensors/checkpoint.pt", MW_TESTS_DIR);
    mw_trainer_load_weights(trainer, path, &options, &err);
    CHECK_OK(err);
    take(trainer, after);
    for (int i = 0; i < 9; i++)
        CHECK(after[i] == (float)((i < 6 ? i : i - 6) * 7 % 23 - 11) / 4);
    CHECK(memcmp(before + 9, after + 9, sizeof before - 9 * sizeof *before) == 0);
    CHECK_CONTAINS(told, "taken fc1.weight<state_dict.0.weight;taken fc1.bias<state_dict.0.bias;"
                         "missing fc2.weight<;missing fc2.bias<;");
    CHECK_CONTAINS(told, "unused <state_dict.1.running_mean;");
    CHECK_CONTAINS(told, "unused <optimizer.state.0.exp_avg;");
    mw_trainer_destroy(trainer);
}

static void expect_refused(const char *path, const mw_weights_options *options, mw_status status, const char *part)
{
    mw_error err = {0};
    mw_trainer *trainer = make(&err);
    float before[ALL], after[ALL];
    take(trainer, before);
    mw_trainer_load_weights(trainer, path, options, &err);
    CHECK_ERROR(err, status, part);
    take(trainer, after);
    CHECK(memcmp(before, after, sizeof before) == 0);
    mw_trainer_destroy(trainer);
}

static void test_what_is_missing_is_named_and_nothing_changes(void)
{
    const mw_tensor_values some[] = {of("fc1.weight", MW_SHAPE(3, 2))};
    mw_weights_options options = with_report();
    expect_refused(
        write("some.npz", some, 1), &options, MW_ERROR_FORMAT,
        "has no tensor for 3 of the trainer's weights: \"fc1.bias\", \"fc2.weight\", \"fc2.bias\"; with `partial`");
    CHECK_STR(told, "taken fc1.weight<fc1.weight;missing fc1.bias<;missing fc2.weight<;missing fc2.bias<;");
    const mw_tensor_values other[] = {of("a", MW_SHAPE(3, 2))};
    options.partial = true;
    expect_refused(write("other.npz", other, 1), &options, MW_ERROR_ARGUMENT, "none of its 1 tensors is for a weight");
}

static void test_a_new_head_keeps_its_values_where_the_shape_differs(void)
{
    const mw_tensor_values old[] = {of("fc1.weight", MW_SHAPE(3, 2)), of("fc1.bias", MW_SHAPE(3)),
                                    of("fc2.weight", MW_SHAPE(5, 3)), of("fc2.bias", MW_SHAPE(5))};
    const char *path = write("old.safetensors", old, 4);
    expect_refused(path, NULL, MW_ERROR_FORMAT, "\"fc2.weight\" is [5, 3] in the file, but [2, 3] in the trainer");
    mw_error err = {0};
    mw_trainer *trainer = make(&err);
    mw_weights_options options = with_report();
    float before[ALL], after[ALL];
    options.new_heads = true;
    take(trainer, before);
    mw_trainer_load_weights(trainer, path, &options, &err);
    CHECK_OK(err);
    take(trainer, after);
    CHECK(memcmp(after, filled, 6 * sizeof *after) == 0 && memcmp(after + 6, filled, 3 * sizeof *after) == 0);
    CHECK(memcmp(before + 9, after + 9, sizeof before - 9 * sizeof *before) == 0);
    CHECK_CONTAINS(told, "shape fc2.weight<fc2.weight;shape fc2.bias<fc2.bias;");
    mw_trainer_destroy(trainer);
}

static const char *rename_layers(void *user, const char *tensor)
{
    static char name[64];
    ++*(int *)user;
    if (strncmp(tensor, "layer", 5) != 0)
        return NULL;
    snprintf(name, sizeof name, "fc%s", tensor + 5);
    return name;
}

static void test_a_function_names_what_the_prefixes_left(void)
{
    static const mw_weights_prefix module = {"module.", ""};
    const mw_tensor_values tensors[] = {of("module.layer1.weight", MW_SHAPE(3, 2)), of("layer1.bias", MW_SHAPE(3)),
                                        of("module.layer2.weight", MW_SHAPE(2, 3)), of("layer2.bias", MW_SHAPE(2)),
                                        of("fc1.bias", MW_SHAPE(3))};
    mw_error err = {0};
    mw_trainer *trainer = make(&err);
    mw_weights_options options = with_report();
    int calls = 0;
    options.prefixes = &module;
    options.prefix_count = 1;
    options.name = rename_layers;
    options.name_user = &calls;
    mw_trainer_load_weights(trainer, write("named.npz", tensors, 5), &options, &err);
    CHECK_OK(err);
    CHECK_INT(calls, 5);
    CHECK_STR(told, "taken fc1.weight<module.layer1.weight;taken fc1.bias<layer1.bias;"
                    "taken fc2.weight<module.layer2.weight;taken fc2.bias<layer2.bias;unused <fc1.bias;");
    mw_trainer_destroy(trainer);
    options.name = NULL;
    const mw_tensor_values two[] = {of("module.fc1.bias", MW_SHAPE(3)), of("fc1.bias", MW_SHAPE(3))};
    expect_refused(write("two.npz", two, 2), &options, MW_ERROR_ARGUMENT,
                   "\"module.fc1.bias\" and \"fc1.bias\" both stand for \"fc1.bias\"");
}

static void test_names_may_differ_in_dots_if_one_tensor_is_meant(void)
{
    const mw_tensor_values text[] = {of("fc1_weight", MW_SHAPE(3, 2)), of("fc1_bias_to_fp16", MW_SHAPE(3)),
                                     of("fc2_weight", MW_SHAPE(2, 3)), of("fc2.bias", MW_SHAPE(2)),
                                     of("fc2_bias", MW_SHAPE(2))};
    mw_error err = {0};
    mw_trainer *trainer = make(&err);
    mw_weights_options options = with_report();
    mw_trainer_load_weights(trainer, write("text.npz", text, 5), &options, &err);
    CHECK_OK(err);
    CHECK_STR(told, "taken fc1.weight<fc1_weight;taken fc1.bias<fc1_bias_to_fp16;taken fc2.weight<fc2_weight;"
                    "taken fc2.bias<fc2.bias;unused <fc2_bias;");
    mw_trainer_destroy(trainer);
    const mw_tensor_values several[] = {of("fc1_weight", MW_SHAPE(3, 2)), of("fc1_weight_to_fp16", MW_SHAPE(3, 2))};
    expect_refused(write("several.npz", several, 2), NULL, MW_ERROR_FORMAT, "no tensor for 4");
}

static void test_values_that_do_not_fit_leave_everything(void)
{
    const double wide[6] = {1, 2, 1e300, 4, 5, 6};
    const float bad[6] = {1, 2, 3, NAN, 5, 6};
    mw_tensor_values tensors[] = {of("fc1.bias", MW_SHAPE(3)), {"fc1.weight", MW_F64, MW_SHAPE(3, 2), wide}};
    mw_weights_options options = mw_weights_defaults();
    options.partial = true;
    expect_refused(write("wide.npz", tensors, 2), &options, MW_ERROR_NUMERIC, "element 2 of \"fc1.weight\" is 1e+300");
    tensors[1] = (mw_tensor_values){"fc1.weight", MW_F32, MW_SHAPE(3, 2), bad};
    expect_refused(write("bad.npz", tensors, 2), &options, MW_ERROR_NUMERIC,
                   "element 3 of \"fc1.weight\" is not finite");
    expect_refused("missing.pt", &options, MW_ERROR_FILE, "missing.pt");
    options.struct_size = 0;
    expect_refused("missing.pt", &options, MW_ERROR_ARGUMENT, "mw_weights_defaults");
}

static void test_bf16_and_integers_are_converted(void)
{
    const uint16_t brain[3] = {0x3f80, 0xc000, 0x3e80};
    const int64_t whole[2] = {-3, 4};
    const mw_tensor_values tensors[] = {{"fc1.bias", MW_BF16, MW_SHAPE(3), brain},
                                        {"fc2.bias", MW_I64, MW_SHAPE(2), whole}};
    mw_error err = {0};
    mw_trainer *trainer = make(&err);
    mw_weights_options options = mw_weights_defaults();
    options.partial = true;
    mw_trainer_load_weights(trainer, write("mixed.safetensors", tensors, 2), &options, &err);
    CHECK_OK(err);
    float got[ALL];
    take(trainer, got);
    CHECK(got[6] == 1.0f && got[7] == -2.0f && got[8] == 0.25f && got[15] == -3.0f && got[16] == 4.0f);
    mw_trainer_destroy(trainer);
}

/* ---- adapters ---- */

static mw_trainer *adapted(mw_error *err)
{
    static const char *const weights[] = {"fc1.weight"};
    mw_tensor *logits;
    mw_graph *source = build(&logits);
    mw_lora_options lora = mw_lora_defaults(weights, 1);
    lora.rank = 1;
    mw_graph *graph = mw_graph_lora(source, &lora, err);
    mw_graph_destroy(source);
    return graph != NULL ? train(graph, mw_graph_output_at(graph, 0), err) : NULL;
}

static void test_the_base_is_loaded_under_adapters(void)
{
    const mw_tensor_values base[] = {of("fc1.weight", MW_SHAPE(3, 2)), of("fc1.bias", MW_SHAPE(3)),
                                     of("fc2.weight", MW_SHAPE(2, 3)), of("fc2.bias", MW_SHAPE(2))};
    const char *path = write("base.npz", base, 4);
    mw_error err = {0};
    mw_trainer *trainer = adapted(&err);
    REQUIRE(trainer != NULL);
    float factor[2], after[2], weight[6];
    mw_trainer_read(trainer, "fc1.lora_A.weight", MW_F32, factor, 2, &err);
    CHECK_OK(err);
    mw_weights_options options = with_report();
    CHECK_INT(mw_trainer_load_weights(trainer, path, &options, &err), MW_ERROR_FORMAT);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "\"fc1.lora_A.weight\"");
    err = (mw_error){0};
    options = with_report();
    options.base = true;
    mw_trainer_load_weights(trainer, path, &options, &err);
    mw_trainer_read(trainer, "fc1.lora_A.weight", MW_F32, after, 2, &err);
    mw_trainer_read(trainer, "fc1.weight", MW_F32, weight, 6, &err);
    CHECK_OK(err);
    CHECK(memcmp(factor, after, sizeof factor) == 0 && memcmp(weight, filled, sizeof weight) == 0);
    CHECK(strstr(told, "lora") == NULL && strstr(told, "missing") == NULL);
    mw_trainer_destroy(trainer);
}

/* ---- programs ---- */

static mw_program *compile(const mw_allocator *allocator, mw_error *err)
{
    mw_tensor *logits;
    mw_graph *graph = build(&logits);
    mw_compile_options options = mw_compile_defaults();
    options.device = MW_DEVICE_CPU;
    options.provider = MW_PROVIDER_ENGINE;
    options.threads = 1;
    options.allocator = allocator;
    mw_program *program = mw_program_create(graph, &options, err);
    mw_graph_destroy(graph);
    return program;
}

static void test_a_program_takes_a_file_or_after_a_failed_allocation_nothing(void)
{
    static const mw_weights_prefix module = {"m.", ""};
    const mw_tensor_values tensors[] = {of("m.fc1.weight", MW_SHAPE(3, 2)), of("m.fc1_bias", MW_SHAPE(3))};
    const char *path = write("program.npz", tensors, 2);
    failing_allocator failing = {.fail_at = -1};
    const mw_allocator allocator = failing_allocator_of(&failing);
    mw_error err = {0};
    mw_program *program = compile(&allocator, &err);
    mw_weights_options options = mw_weights_defaults();
    options.prefixes = &module;
    options.prefix_count = 1;
    options.partial = true;
    float before[6], after[6], bias[3];
    mw_program_read(program, "fc1.weight", MW_F32, before, 6, &err);
    CHECK_OK(err);
    bool finished = false;
    for (long n = 0; !finished && n < 500; n++) {
        err = (mw_error){0};
        failing.failed = false;
        failing.fail_at = failing.requests + n;
        const long live = failing.live;
        mw_program_load_weights(program, path, &options, &err);
        failing.fail_at = -1;
        finished = !failing.failed;
        CHECK_INT(err.status, finished ? MW_OK : MW_ERROR_MEMORY);
        CHECK_INT(failing.live, live);
        err = (mw_error){0};
        mw_program_read(program, "fc1.weight", MW_F32, after, 6, &err);
        CHECK(memcmp(after, finished ? filled : before, sizeof after) == 0);
    }
    CHECK(finished);
    mw_program_read(program, "fc1.bias", MW_F32, bias, 3, &err);
    CHECK(memcmp(bias, filled, sizeof bias) == 0);
    mw_program_destroy(program);
    CHECK_INT(failing.live, 0);
}

/* A folder as hubs have it is weights, and no adapter: for trainers, programs and graphs alike. */
static void test_a_folder_of_a_model_is_weights(void)
{
    mw_error err = {0};
    float saved[ALL], loaded[ALL];
    CHECK_INT(mkdir(scratch("snapshot"), 0700), 0);
    mw_trainer *one = make(&err), *other = make(&err);
    for (int i = 0; i < ALL; i++)
        saved[i] = (float)i / 8.0f;
    for (int i = 0, at = 0; i < 4; at += counts[i++])
        mw_trainer_write(one, names[i], MW_F32, saved + at, (size_t)counts[i], &err);
    mw_trainer_save_weights(one, scratch("snapshot/model.safetensors"), &err);
    mw_trainer_load_weights(other, scratch("snapshot"), NULL, &err);
    CHECK_OK(err);
    take(other, loaded);
    CHECK(memcmp(saved, loaded, sizeof saved) == 0);
    mw_tensor *logits;
    mw_graph *graph = build(&logits), *filled_graph = mw_graph_load_weights(graph, scratch("snapshot"), NULL, &err);
    mw_program *program = mw_program_create(graph, NULL, &err);
    mw_program_load_weights(program, scratch("snapshot"), NULL, &err);
    mw_program_read(program, "fc1.weight", MW_F32, loaded, (size_t)counts[0], &err);
    CHECK_OK(err);
    CHECK(memcmp(saved, loaded, (size_t)counts[0] * sizeof(float)) == 0);
    mw_program_destroy(program);
    mw_graph_destroy(filled_graph);
    mw_graph_destroy(graph);
    mw_trainer_destroy(one);
    mw_trainer_destroy(other);
}

/* An adapter's names say what they belong to. */
static void test_an_adapter_takes_no_option(void)
{
    mw_error err = {0};
    mw_trainer *trainer = make(&err);
    CHECK_INT(mkdir(scratch("adapter"), 0700), 0);
    mw_weights_options options = mw_weights_defaults();
    options.partial = true;
    CHECK_INT(mw_trainer_load_weights(trainer, scratch("adapter"), &options, &err), MW_ERROR_ARGUMENT);
    CHECK_CONTAINS(err.message, "`partial` is for files of tensors");
    mw_trainer_destroy(trainer);
}

int main(void)
{
    for (int i = 0; i < 16; i++)
        filled[i] = (float)i - 4.5f;
    RUN(test_a_checkpoint_of_pytorch_is_loaded_in_part_under_other_names);
    RUN(test_what_is_missing_is_named_and_nothing_changes);
    RUN(test_a_new_head_keeps_its_values_where_the_shape_differs);
    RUN(test_a_function_names_what_the_prefixes_left);
    RUN(test_names_may_differ_in_dots_if_one_tensor_is_meant);
    RUN(test_values_that_do_not_fit_leave_everything);
    RUN(test_bf16_and_integers_are_converted);
    RUN(test_the_base_is_loaded_under_adapters);
    RUN(test_a_program_takes_a_file_or_after_a_failed_allocation_nothing);
    RUN(test_a_folder_of_a_model_is_weights);
    RUN(test_an_adapter_takes_no_option);
    return check_finish();
}
