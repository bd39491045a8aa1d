/* Layers are what people take for one, whatever way the program came: built, in evaluation form, written as MIL or ONNX
 * and read again; and the numbers are those of formulas. */
#include "networks.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/folder.h"

#include <millwright/view.h>

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CNN "input input conv batch_norm relu max_pool conv batch_norm relu max_pool reshape "

/* ---- one layer, one line ---- */

static void test_layers_of_constructors_are_one_line_each(void)
{
    mw_error err = {0};
    mw_graph *cnn = cnn_make(), *recurrent = recurrent_make(), *transformer = transformer_make(1);
    CHECK_STR(kinds_of_graph(cnn, &err), CNN "dropout linear cross_entropy");
    CHECK_STR(kinds_of_graph(recurrent, &err), "input lstm gru linear");
    CHECK_STR(kinds_of_graph(transformer, &err),
              "input embedding layer_norm linear linear linear attention linear add layer_norm linear gelu linear add "
              "layer_norm linear");
    CHECK_OK(err);
    mw_graph_destroy(transformer);
    mw_graph_destroy(recurrent);
    mw_graph_destroy(cnn);
}

/* Records that say nothing of what they are made of. */
static void test_a_metric_is_one_line(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(4, 6));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(4)), *z = mw_input(graph, "z", MW_F32, MW_SHAPE(4, 3));
    mw_tensor *logits = mw_sigmoid(mw_dense(x, 3, "fc"));
    mw_accuracy(logits, y);
    mw_output(mw_mse(logits, z), "loss");
    CHECK_STR(kinds_of_graph(graph, &err), "input input input linear sigmoid accuracy mse");
    CHECK_OK(err);
    mw_graph_destroy(graph);
}

static void test_the_evaluation_form_has_the_same_lines(void)
{
    mw_error err = {0};
    mw_graph *cnn = cnn_make(), *evaluation = mw_graph_evaluation(cnn, &err);
    CHECK_STR(kinds_of_graph(evaluation, &err), CNN "linear cross_entropy");
    CHECK_OK(err);
    mw_graph_destroy(evaluation);
    mw_graph_destroy(cnn);
}

static const void *some_values(void *user, const char *name)
{
    static float values[1 << 16];
    (void)user;
    (void)name;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        values[i] = 0.01f * (float)(i % 7 + 1);
    return values;
}

/* The evaluation of a network without its loss, as a program of constants: what `path` then reads. */
static mw_graph *write_and_read(mw_graph *(*make)(void), bool onnx, mw_error *err)
{
    mw_graph *graph = make(), *evaluation = mw_graph_evaluation(graph, err), *read = NULL;
    mw_write_options onnx_options = mw_write_defaults();
    mw_write_options mil_options = mw_write_defaults();
    onnx_options.bake = mil_options.bake = some_values;
    if (onnx && mw_graph_write(evaluation, "model.onnx", &onnx_options, err) == MW_OK)
        read = mw_graph_open_onnx("model.onnx", NULL, err);
    else if (!onnx && mw_graph_write(evaluation, "model", &mil_options, err) == MW_OK)
        read = mw_graph_open_mil("model/model.mil", NULL, err);
    mw_graph_destroy(evaluation);
    mw_graph_destroy(graph);
    return read;
}

static mw_graph *one_block(void) { return transformer_make(1); }

static void check_read(bool onnx)
{
    mw_error err = {0};
    mw_graph *cnn = write_and_read(cnn_make, onnx, &err), *recurrent = write_and_read(recurrent_make, onnx, &err),
             *transformer = write_and_read(one_block, onnx, &err);
    if (onnx && err.status == MW_ERROR_UNSUPPORTED)
        return; /* built without protobuf-c */
    CHECK_OK(err);
    CHECK(strncmp(kinds_of_graph(cnn, &err), CNN "linear", strlen(CNN "linear")) == 0);
    CHECK_STR(kinds_of_graph(recurrent, &err), "input lstm gru linear");
    CHECK_STR(kinds_of_graph(transformer, &err),
              "input embedding layer_norm linear linear linear attention linear add layer_norm linear gelu linear add "
              "layer_norm linear");
    mw_graph_destroy(transformer);
    mw_graph_destroy(recurrent);
    mw_graph_destroy(cnn);
}

static void test_programs_that_were_read_have_the_same_lines(void)
{
    char folder[512];
    REQUIRE(folder_enter(folder));
    check_read(false);
    check_read(true);
    folder_leave(folder);
}

static void test_gradients_are_one_line_for_each_layer(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(4, 6));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(4));
    mw_tensor *loss = mw_cross_entropy(mw_dense(mw_gelu(mw_dense(x, 5, "fc1"), MW_GELU_TANH), 3, "fc2"), y);
    mw_tensor *w = mw_graph_find(graph, "fc1.weight"), *dw = NULL;
    mw_grad(loss, &w, 1, &dw, &err);
    mw_output(dw, "dw");
    CHECK_STR(kinds_of_graph(graph, &err),
              "input input linear gelu linear cross_entropy gradient gradient gradient gradient");
    CHECK_OK(err);
    mw_graph_destroy(graph);
}

/* ---- spelled out ---- */

static mw_tensor *number(const mw_tensor *x, double value) { return mw_scalar(mw_tensor_graph(x), MW_F32, value); }

static mw_tensor *spelled_norm(mw_tensor *x)
{
    mw_tensor *centered = mw_sub(x, mw_reduce_mean(x, MW_AXES(1), true));
    mw_tensor *variance = mw_reduce_mean(mw_square(centered), MW_AXES(1), true);
    return mw_real_div(centered, mw_sqrt(mw_add(variance, number(x, 1e-5))));
}

static mw_tensor *spelled_rms(mw_tensor *x)
{
    mw_tensor *sum = mw_mul(mw_reduce_sum(mw_mul(x, x), MW_AXES(1), true), number(x, 0.125));
    return mw_mul(x, mw_rsqrt(mw_add(sum, number(x, 1e-5)), 0.0f));
}

static mw_tensor *spelled_gelu(mw_tensor *x)
{
    mw_tensor *erf = mw_erf(mw_mul(x, number(x, 0.7071)));
    return mw_mul(mw_mul(x, mw_add(erf, number(x, 1.0))), number(x, 0.5));
}

static mw_tensor *spelled_silu(mw_tensor *x) { return mw_mul(x, mw_sigmoid(x)); }

static mw_tensor *spelled_softmax(mw_tensor *x)
{
    mw_tensor *e = mw_exp(mw_sub(x, mw_reduce_max(x, MW_AXES(1), true)));
    return mw_real_div(e, mw_reduce_sum(e, MW_AXES(1), true));
}

static mw_tensor *spelled_attention(mw_tensor *x)
{
    mw_tensor *scores = mw_mul(mw_matmul(x, mw_relu(x), MW_TRANSPOSE_Y), number(x, 0.3));
    return mw_matmul(mw_softmax(scores, -1), x, 0);
}

static mw_tensor *spelled_relu6(mw_tensor *x) { return mw_minimum(mw_maximum(mw_relu(x), number(x, 0)), number(x, 6)); }

static void check_spelled(mw_tensor *(*spell)(mw_tensor *), const char *kinds)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_tanh(spell(mw_sin(mw_input(graph, "x", MW_F32, MW_SHAPE(8, 8))))), "y");
    CHECK_STR(kinds_of_graph(graph, &err), kinds);
    CHECK_OK(err);
    mw_graph_destroy(graph);
}

static void test_what_is_spelled_out_is_one_line(void)
{
    check_spelled(spelled_norm, "input sin layer_norm tanh");
    check_spelled(spelled_rms, "input sin rms_norm tanh");
    check_spelled(spelled_gelu, "input sin gelu tanh");
    check_spelled(spelled_silu, "input sin silu tanh");
    check_spelled(spelled_softmax, "input sin softmax tanh");
    check_spelled(spelled_attention, "input sin relu attention tanh");
    check_spelled(spelled_relu6, "input sin relu_clip tanh");
}

/* A group whose way back to itself leads over another layer falls apart instead of reading what comes after it. */
static void test_weights_that_are_used_twice_make_no_circle(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(4, 6));
    mw_tensor *w = mw_parameter(graph, "tied.weight", MW_F32, MW_SHAPE(6, 6), mw_init_zeros());
    mw_tensor *h = mw_matmul(x, w, 0);
    h = mw_add(mw_dense(h, 6, "other"), mw_matmul(h, w, 0));
    mw_output(mw_matmul(h, w, MW_TRANSPOSE_Y), "y");
    CHECK_STR(kinds_of_graph(graph, &err), "input linear linear linear add linear");
    CHECK_OK(err);
    mw_graph_destroy(graph);
}

/* ---- numbers ---- */

static const mw_summary_layer *layer_named(const mw_summary *summary, const char *name)
{
    for (size_t i = 0; i < mw_summary_count(summary); i++)
        if (strcmp(mw_summary_at(summary, i)->name, name) == 0)
            return mw_summary_at(summary, i);
    return NULL;
}

static void test_numbers_are_those_of_formulas(void)
{
    mw_error err = {0};
    mw_graph *graph = cnn_make();
    mw_summary *summary = mw_summary_create(graph, &err);
    REQUIRE(summary != NULL);
    const mw_summary_layer *conv = layer_named(summary, "conv2"), *bn = layer_named(summary, "bn2"),
                           *head = layer_named(summary, "head");
    REQUIRE(conv != NULL && bn != NULL && head != NULL);
    CHECK_STR(conv->detail, "3x3, 8 -> 16");
    CHECK_INT(conv->parameters, 16 * 8 * 9);
    CHECK_NEAR(conv->flops, 2.0 * 8 * 16 * 8 * 8 * 8 * 9, 0.5);
    CHECK(mw_shape_equal(conv->shape, MW_SHAPE(8, 16, 8, 8)));
    CHECK_INT(bn->parameters, 2 * 16);
    CHECK_INT(bn->weight_bytes, 4 * 16 * 4);
    CHECK_INT(head->parameters, 256 * 10 + 10);
    CHECK_NEAR(head->flops, 2.0 * 8 * 256 * 10 + 8 * 10, 0.5);
    CHECK_STR(head->output, "logits");
    const mw_summary_totals t = mw_summary_get_totals(summary);
    CHECK_INT(t.parameters, 8 * 3 * 9 + 16 * 8 * 9 + 2 * 8 + 2 * 16 + 2570);
    CHECK_INT(t.largest_bytes, 8 * 8 * 16 * 16 * 4);
    CHECK_INT(t.inputs, 2);
    CHECK_INT(t.outputs, 2);
    CHECK(!t.open);
    mw_summary_destroy(summary);
    mw_graph_destroy(graph);
}

/* x [2, 3] of 24 bytes, and of a chain of relus each result while its operand is there. */
static void test_values_at_once_are_those_that_live(void)
{
    mw_error err = {0};
    mw_graph *graph = chain_make(5);
    mw_summary *summary = mw_summary_create(graph, &err);
    CHECK_INT(mw_summary_get_totals(summary).activation_bytes, 48);
    CHECK_INT(mw_summary_get_totals(summary).largest_bytes, 24);
    mw_summary_destroy(summary);
    mw_graph_destroy(graph);
}

static void test_weights_that_are_shared_count_once_in_the_whole(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(4, 6));
    mw_tensor *w = mw_parameter(graph, "w", MW_F32, MW_SHAPE(6, 6), mw_init_zeros());
    mw_output(mw_matmul(mw_relu(mw_matmul(x, w, 0)), w, 0), "y");
    mw_summary *summary = mw_summary_create(graph, &err);
    CHECK_INT(mw_summary_get_totals(summary).parameters, 36);
    CHECK_INT(mw_summary_at(summary, 1)->parameters, 36);
    CHECK_INT(mw_summary_at(summary, 3)->parameters, 36);
    mw_summary_destroy(summary);
    mw_graph_destroy(graph);
}

static void test_compressed_weights_count_what_they_take(void)
{
    mw_error err = {0};
    char folder[512];
    REQUIRE(folder_enter(folder));
    mw_graph *graph = write_and_read(cnn_make, false, &err);
    mw_compress_options options = mw_compress_defaults(MW_WEIGHTS_I8);
    mw_graph *small = mw_graph_compress(graph, &options, &err);
    mw_summary *summary = mw_summary_create(small, &err);
    CHECK_OK(err);
    const mw_summary_layer *head = layer_named(summary, "head");
    REQUIRE(head != NULL);
    CHECK_STR(head->detail, "256 -> 10, int8 weights");
    CHECK_INT(head->parameters, 2570);
    CHECK(head->weight_bytes >= 2560 && head->weight_bytes < 2560 + 200);
    mw_summary_destroy(summary);
    mw_graph_destroy(small);
    mw_graph_destroy(graph);
    folder_leave(folder);
}

static void test_open_extents_count_as_one(void)
{
    mw_error err = {0};
    mw_graph *open = mw_graph_open_onnx(MW_TESTS_DIR "/data/onnx/mlp.onnx", NULL, &err);
    if (open == NULL && err.status == MW_ERROR_UNSUPPORTED)
        SKIP("%s", err.message);
    mw_summary *summary = mw_summary_create(open, &err);
    CHECK_OK(err);
    CHECK(mw_summary_get_totals(summary).open);
    CHECK_NEAR(mw_summary_get_totals(summary).flops, 2 * 12 * 16 + 16 + 2 * 16 * 5, 0.5);
    char *text = mw_summary_print(summary, &err);
    CHECK_CONTAINS(text, "? counts as 1");
    mw_string_free(text);
    mw_summary_destroy(summary);
    mw_graph_destroy(open);
}

/* ---- any program ---- */

static void check_order(const mw_summary *summary, const char *path)
{
    size_t operations = 0;
    for (size_t i = 0; i < mw_summary_count(summary); i++) {
        const mw_summary_layer *l = mw_summary_at(summary, i);
        operations += l->operation_count;
        for (size_t k = 0; k < l->read_count; k++)
            check_note(l->reads[k] < (k + 1 < l->read_count ? l->reads[k + 1] : i), __FILE__, __LINE__,
                       "%s: layer %zu reads %zu", path, i, l->reads[k]);
    }
    check_note(operations <= mw_summary_get_totals(summary).operations, __FILE__, __LINE__, "%s: %zu operations", path,
               operations);
}

static size_t lines_of(const char *text)
{
    size_t count = 0;
    for (; *text != '\0'; text++)
        count += *text == '\n';
    return count;
}

static bool check_file(const char *path)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_open_mil(path, NULL, &err);
    mw_summary *summary = graph != NULL ? mw_summary_create(graph, &err) : NULL;
    char *text = summary != NULL ? mw_summary_print(summary, &err) : NULL;
    if (summary != NULL) {
        check_order(summary, path);
        check_note(text != NULL && lines_of(text) == mw_summary_count(summary) + 4, __FILE__, __LINE__, "%s: lines",
                   path);
    }
    check_note(graph == NULL || summary != NULL, __FILE__, __LINE__, "%s: %s", path, err.message);
    mw_string_free(text);
    mw_summary_destroy(summary);
    mw_graph_destroy(graph);
    return summary != NULL;
}

static void test_programs_of_others_have_summaries(void)
{
    char path[1024];
    DIR *folder = opendir(MW_SHARED_DATA "/coremltools");
    if (folder == NULL)
        SKIP("no real programs at %s", MW_SHARED_DATA);
    size_t seen = 0, done = 0;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.' || (seen++ % 8 != 0 && getenv("MW_NIGHTLY") == NULL))
            continue;
        snprintf(path, sizeof path, MW_SHARED_DATA "/coremltools/%s/model.mil", entry->d_name);
        done += check_file(path);
    }
    closedir(folder);
    CHECK(done > 100);
}

static void test_long_chains_take_no_stack_and_little_time(void)
{
    mw_error err = {0};
    mw_graph *graph = chain_make(50000);
    mw_summary *summary = mw_summary_create(graph, &err);
    CHECK_INT(mw_summary_count(summary), 50001);
    mw_summary_destroy(summary);
    mw_graph_destroy(graph);
}

/* ---- memory and NULL ---- */

static void test_every_allocation_may_fail(void)
{
    for (long n = 0; n < 2000; n++) {
        failing_allocator failing = {.fail_at = -1};
        mw_allocator allocator = failing_allocator_of(&failing);
        mw_graph_options options = mw_graph_defaults();
        options.allocator = &allocator;
        mw_error err = {0};
        mw_graph *graph = mw_graph_create(&options, NULL);
        mw_output(mw_gelu(mw_dense(mw_input(graph, "x", MW_F32, MW_SHAPE(4, 6)), 5, "fc"), MW_GELU_TANH), "y");
        failing.fail_at = failing.requests + n;
        mw_summary *summary = mw_summary_create(graph, &err);
        failing.fail_at = -1;
        CHECK(summary != NULL || err.status == MW_ERROR_MEMORY);
        const bool whole = summary != NULL;
        mw_summary_destroy(summary);
        mw_graph_destroy(graph);
        CHECK_INT(failing.live, 0);
        if (whole)
            return;
    }
    CHECK(false);
}

static void test_a_summary_outlives_its_graph(void)
{
    mw_error err = {0};
    mw_graph *graph = cnn_make();
    mw_summary *summary = mw_summary_create(graph, &err);
    mw_graph_destroy(graph);
    CHECK_STR(mw_summary_at(summary, 2)->name, "conv1");
    CHECK(mw_summary_at(summary, 100) == NULL);
    char *text = mw_summary_print(summary, &err);
    CHECK_CONTAINS(text, "cross_entropy");
    mw_string_free(text);
    mw_summary_destroy(summary);
}

int main(void)
{
    RUN(test_layers_of_constructors_are_one_line_each);
    RUN(test_a_metric_is_one_line);
    RUN(test_the_evaluation_form_has_the_same_lines);
    RUN(test_programs_that_were_read_have_the_same_lines);
    RUN(test_gradients_are_one_line_for_each_layer);
    RUN(test_what_is_spelled_out_is_one_line);
    RUN(test_weights_that_are_used_twice_make_no_circle);
    RUN(test_numbers_are_those_of_formulas);
    RUN(test_values_at_once_are_those_that_live);
    RUN(test_weights_that_are_shared_count_once_in_the_whole);
    RUN(test_compressed_weights_count_what_they_take);
    RUN(test_open_extents_count_as_one);
    RUN(test_programs_of_others_have_summaries);
    RUN(test_long_chains_take_no_stack_and_little_time);
    RUN(test_every_allocation_may_fail);
    RUN(test_a_summary_outlives_its_graph);
    return check_finish();
}
