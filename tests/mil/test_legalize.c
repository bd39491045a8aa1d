/* What a device accepts: the fp16 form of programs, the identity form of outputs, and refusals by name. */
#include "mil/legalize/legalize.h"
#include "mil/legalize/numbers/narrow.h"
#include "support/check.h"
#include "support/failing.h"
#include <math.h>
#include <millwright/millwright.h>

static mw_graph *legalize_with(const mw_graph *from, const mw__legalize_options *options, mw_error *err)
{
    mw_graph *to = mw_graph_create(NULL, NULL);
    if (mw__mil_legalize_with(from, to, options, err) == MW_OK)
        return to;
    mw_graph_destroy(to);
    return NULL;
}

static mw_graph *legalize(const mw_graph *from, const mw__device_traits *device, mw_error *err)
{
    return legalize_with(from, &(mw__legalize_options){.device = device}, err);
}

/* The legal form as text, freed with mw_string_free; NULL with err set. */
static char *legal_text(const mw_graph *from, const mw__device_traits *device, mw_error *err)
{
    mw_graph *to = legalize(from, device, err);
    char *text = to != NULL ? mw_graph_print_mil(to, NULL, err) : NULL;
    if (to != NULL)
        check_note(mw_graph_verify(to, err) == MW_OK, __FILE__, __LINE__, "%s", err->message);
    mw_graph_destroy(to);
    return text;
}

static void test_floats_become_fp16_on_the_ane(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2, 3));
    mw_tensor *w = mw_parameter(graph, "fc.weight", MW_F32, MW_SHAPE(4, 3), mw_init_zeros());
    mw_tensor *h = mw_add(mw_matmul(x, w, MW_TRANSPOSE_Y), mw_scalar(graph, MW_F32, 0.5));
    mw_output(mw_softmax(h, -1), "y");
    char *text = legal_text(graph, mw__device_find(MW_DEVICE_ANE), &err);
    CHECK_OK(err);
    REQUIRE(text != NULL);
    CHECK(strstr(text, "fp32") == NULL);
    CHECK_CONTAINS(text, "func main<ios18>(tensor<fp16, [4, 3]> fc_weight, tensor<fp16, [2, 3]> x) {");
    CHECK_CONTAINS(text, "val = fp16(0x1p-1)");
    CHECK_CONTAINS(text, "tensor<fp16, [2, 4]> y = softmax(");
    mw_string_free(text);
    mw_graph_destroy(graph);
}

/* Steps are written out one by one, so there must be a number of them; a bound beyond fp16 bounds nothing there. */
static void test_recurrent_networks_are_written_out_on_the_ane(void)
{
    static const float numbers[4] = {0.5F, 0.25F, -0.5F, 1.0F};
    for (int known = 0; known < 2; known++) {
        mw_error err = {0};
        mw_graph *graph = mw_graph_create(NULL, NULL);
        mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(known ? 3 : MW_DIM_UNKNOWN, 2, 1));
        mw_tensor *weight = mw_constant(graph, MW_F32, MW_SHAPE(4, 1), numbers);
        mw_recurrent_options options = mw_recurrent_defaults();
        options.clip = 1e6;
        const mw_recurrent_weights weights = {.weight_ih = weight, .weight_hh = weight};
        mw_output(mw_lstm(x, NULL, NULL, &weights, &options).y, "y");
        char *text = legal_text(graph, mw__device_find(MW_DEVICE_ANE), &err);
        if (known) {
            CHECK_OK(err);
            REQUIRE(text != NULL);
            CHECK(strstr(text, "lstm(") == NULL && strstr(text, "clip(") == NULL && strstr(text, "fp32") == NULL);
        } else {
            CHECK_ERROR(err, MW_ERROR_UNSUPPORTED,
                        "to be written out over time the number of steps and the hidden elements must be known");
        }
        mw_string_free(text);
        mw_graph_destroy(graph);
    }
}

static void test_the_cpu_keeps_the_declared_types(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *labels = mw_input(graph, "labels", MW_I32, MW_SHAPE(4));
    mw_output(mw_add(labels, mw_scalar(graph, MW_I32, 1)), "y");
    char *text = legal_text(graph, mw__device_find(MW_DEVICE_CPU), &err);
    CHECK_OK(err);
    REQUIRE(text != NULL);
    CHECK_CONTAINS(text, "func main<ios18>(tensor<int32, [4]> labels)");
    CHECK_CONTAINS(text, "tensor<int32, [4]> y = add(");
    mw_string_free(text);
    mw_graph_destroy(graph);
}

/* A forward product differentiates operations that nothing reads afterwards. Unread inputs stay: they are ports. */
static void test_operations_that_no_result_needs_stay_behind(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(4)), *v = mw_input(graph, "v", MW_F32, MW_SHAPE(4));
    mw_tensor *y = mw_exp(x), *dy = NULL;
    mw_input(graph, "unread", MW_F32, MW_SHAPE(2));
    mw_jvp(&y, 1, &x, &v, 1, &dy, &err);
    mw_output(dy, "dy");
    char *text = legal_text(graph, mw__device_find(MW_DEVICE_CPU), &err);
    CHECK_OK(err);
    REQUIRE(text != NULL);
    CHECK(strstr(text, "fill(") == NULL);
    CHECK_CONTAINS(text, "= exp(");
    CHECK_CONTAINS(text, "unread");
    mw_string_free(text);
    mw_graph_destroy(graph);
}

static void test_integer_inputs_and_what_they_meet_become_fp16(void)
{
    mw_error err = {0};
    const int32_t classes[] = {0, 1, 2};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *labels = mw_input(graph, "labels", MW_I32, MW_SHAPE(4, 1));
    mw_tensor *range = mw_constant(graph, MW_I32, MW_SHAPE(3), classes);
    mw_tensor *hot = mw_equal(labels, range);
    mw_tensor *one = mw_scalar(graph, MW_F32, 1), *zero = mw_scalar(graph, MW_F32, 0);
    mw_output(mw_select(hot, one, zero), "hot");
    char *text = legal_text(graph, mw__device_find(MW_DEVICE_ANE), &err);
    CHECK_OK(err);
    REQUIRE(text != NULL);
    CHECK_CONTAINS(text, "tensor<fp16, [4, 1]> labels");
    CHECK_CONTAINS(text, "tensor<fp16, [3]>([0x0p+0, 0x1p+0, 0x1p+1])");
    CHECK_CONTAINS(text, "tensor<bool, [4, 3]> ");
    mw_string_free(text);
    mw_graph_destroy(graph);
}

static void test_axes_stay_integers_beside_fp16_labels(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *labels = mw_input(graph, "labels", MW_I32, MW_SHAPE(4, 1));
    mw_tensor *shifted = mw_add(labels, mw_scalar(graph, MW_I32, 1));
    mw_output(mw_squeeze(shifted, MW_AXES(1)), "y"); /* the axis and the addend are one shared constant or two */
    char *text = legal_text(graph, mw__device_find(MW_DEVICE_ANE), &err);
    CHECK_OK(err);
    REQUIRE(text != NULL);
    CHECK_CONTAINS(text, "tensor<int32, [1]>([1])");
    CHECK_CONTAINS(text, "fp16(0x1p+0)");
    CHECK_CONTAINS(text, "tensor<fp16, [4]> y");
    mw_string_free(text);
    mw_graph_destroy(graph);
}

static void test_computed_integers_that_meet_labels_are_cast(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *labels = mw_input(graph, "labels", MW_I32, MW_SHAPE(4, 1));
    mw_tensor *range = mw_square(mw_range_1d(graph, MW_I32, 0, 3, 1));
    mw_tensor *one = mw_scalar(graph, MW_F32, 1), *zero = mw_scalar(graph, MW_F32, 0);
    mw_output(mw_select(mw_equal(labels, range), one, zero), "hot");
    char *text = legal_text(graph, mw__device_find(MW_DEVICE_ANE), &err);
    CHECK_OK(err);
    REQUIRE(text != NULL);
    CHECK_CONTAINS(text, "tensor<fp16, [3]> cast_0 = cast(");
    CHECK_CONTAINS(text, "y = cast_0)");
    mw_string_free(text);
    mw_graph_destroy(graph);
}

static void test_a_range_that_meets_labels_is_made_in_fp16(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *labels = mw_input(graph, "labels", MW_I32, MW_SHAPE(4, 1));
    mw_tensor *range = mw_range_1d(graph, MW_I32, 0, 3, 1);
    mw_tensor *one = mw_scalar(graph, MW_F32, 1), *zero = mw_scalar(graph, MW_F32, 0);
    mw_output(mw_select(mw_equal(labels, range), one, zero), "hot");
    char *text = legal_text(graph, mw__device_find(MW_DEVICE_ANE), &err);
    CHECK_OK(err);
    REQUIRE(text != NULL);
    CHECK_CONTAINS(text, "tensor<fp16, [3]> range_1d_0 = range_1d(");
    CHECK(strstr(text, "cast(") == NULL);
    mw_string_free(text);
    mw_graph_destroy(graph);
}

static void test_casts_to_fp32_vanish_on_the_ane(void)
{
    static const char mil[] = "program(1.3)\n{\n func main<ios18>(tensor<fp32, [4]> x) {\n"
                              "tensor<fp16, [4]> h = cast(dtype = string(\"fp16\"), x = x);\n"
                              "tensor<fp16, [4]> r = relu(x = h);\n"
                              "tensor<fp32, [4]> y = cast(dtype = string(\"fp32\"), x = r);\n} -> (y);\n}";
    mw_error err = {0};
    mw_graph *graph = mw_graph_parse_mil(mil, sizeof mil - 1, NULL, NULL, &err);
    CHECK_OK(err);
    REQUIRE(graph != NULL);
    char *text = legal_text(graph, mw__device_find(MW_DEVICE_ANE), &err);
    CHECK_OK(err);
    REQUIRE(text != NULL);
    CHECK(strstr(text, "fp32") == NULL);
    CHECK_CONTAINS(text, "tensor<fp16, [4]> y = relu(");
    mw_string_free(text);
    mw_graph_destroy(graph);
}

static void test_outputs_that_are_inputs_or_repeated_get_an_identity(void)
{
    static const char mil[] = "program(1.3)\n{\n func main<ios18>(tensor<fp16, [4]> x) {\n"
                              "tensor<fp16, [4]> y = relu(x = x);\n} -> (x, y, y);\n}";
    mw_error err = {0};
    mw_graph *graph = mw_graph_parse_mil(mil, sizeof mil - 1, NULL, NULL, &err);
    REQUIRE(graph != NULL);
    char *text = legal_text(graph, mw__device_find(MW_DEVICE_CPU), &err);
    CHECK_OK(err);
    REQUIRE(text != NULL);
    CHECK_CONTAINS(text, "x_out = identity(x = x)");
    CHECK_CONTAINS(text, "y_out = identity(x = y)");
    CHECK_CONTAINS(text, "} -> (x_out, y, y_out);");
    mw_string_free(text);
    mw_graph_destroy(graph);
}

static void test_strict_refuses_scalars_that_fp16_cannot_hold_by_name(void)
{
    static const struct {
        double value;
        const char *message;
    } cases[] = {{1e-9, "becomes 0"}, {-1e-9, "becomes 0"}, {1e6, "becomes infinite"}};
    for (size_t i = 0; i < 3; i++) {
        mw_error err = {0};
        mw_graph *graph = mw_graph_create(NULL, NULL);
        mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(4));
        mw_output(mw_mul(x, mw_name(mw_scalar(graph, MW_F32, cases[i].value), "rate")), "y");
        mw_graph *to = legalize_with(
            graph, &(mw__legalize_options){.device = mw__device_find(MW_DEVICE_ANE), .strict = true}, &err);
        CHECK(to == NULL);
        CHECK_ERROR(err, MW_ERROR_NUMERIC, cases[i].message);
        CHECK_CONTAINS(err.message, "mul");
        CHECK_STR(err.tensor, "rate");
        mw_graph_destroy(to);
        mw_graph_destroy(graph);
    }
}

static void test_infinity_zero_and_default_epsilon_are_not_refused(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(4));
    mw_tensor *sum = mw_add(mw_mul(x, mw_scalar(graph, MW_F32, 0)), mw_scalar(graph, MW_F32, -INFINITY));
    mw_output(mw_rsqrt(sum, 1e-12f), "y"); /* MIL's default, which is 0 in fp16 */
    char *text = legal_text(graph, mw__device_find(MW_DEVICE_ANE), &err);
    CHECK_OK(err);
    mw_string_free(text);
    mw_graph_destroy(graph);
}

static void test_integers_beyond_fp16_are_refused(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *labels = mw_input(graph, "labels", MW_I32, MW_SHAPE(4));
    mw_output(mw_add(labels, mw_scalar(graph, MW_I32, 2049)), "y");
    CHECK(legalize(graph, mw__device_find(MW_DEVICE_ANE), &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_NUMERIC, "is not exact");
    mw_graph_destroy(graph);
}

static void refused(const char *mil, const char *message)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_parse_mil(mil, strlen(mil), NULL, NULL, &err);
    CHECK_OK(err);
    REQUIRE(graph != NULL);
    mw_graph *to = legalize(graph, mw__device_find(MW_DEVICE_ANE), &err);
    CHECK(to == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, message);
    mw_graph_destroy(to);
    mw_graph_destroy(graph);
}

#define MIL(input, body) "program(1.3)\n{\n func main<ios18>(" input ") {\n" body "} -> (y);\n}"

static void test_rows_refuse_what_the_ane_cannot_do(void)
{
    refused(MIL("tensor<fp16, [1, 1, 1, 1, 1, 1]> x", "tensor<fp16, [1, 1, 1, 1, 1, 1]> y = relu(x = x);\n"),
            "relu \"y\": the ANE has at most 5 dimensions");
    refused(MIL("tensor<fp16, [5, 2]> x, tensor<int32, [3]> i",
                "tensor<fp16, [3, 2]> y = gather(axis = int32(0), batch_dims = int32(0), indices = i, "
                "validate_indices = bool(false), x = x);\n"),
            "which is an fp16 port on the ANE, and fp16 cannot be an index");
    refused(MIL("tensor<int32, [3]> i",
                "tensor<fp16, [3, 4]> y = one_hot(axis = int32(-1), indices = i, off_value = fp16(0), "
                "on_value = fp16(1), one_hot_vector_size = int32(4));\n"),
            "rewrite one_hot did not apply, which wants indices that come from an input");
    refused(MIL("tensor<bool, [3]> a", "tensor<bool, [3]> y = logical_and(x = a, y = a);\n"), "logical_and");
    refused(MIL("tensor<int16, [3]> a", "tensor<fp16, [3]> y = cast(dtype = string(\"fp16\"), x = a);\n"),
            "input \"a\" is int16");
}

static void gives_half(const char *mil, const char *form)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_parse_mil(mil, strlen(mil), NULL, NULL, &err);
    REQUIRE(graph != NULL);
    char *text = legal_text(graph, mw__device_find(MW_DEVICE_ANE), &err);
    if (CHECK_OK(err))
        CHECK_CONTAINS(text, form);
    mw_string_free(text);
    mw_graph_destroy(graph);
}

static void test_integers_and_truths_pass_ports_in_fp16(void)
{
    gives_half(MIL("tensor<fp16, [3]> a", "tensor<bool, [3]> y = greater(x = a, y = a);\n"),
               "tensor<fp16, [3]> y = select(a = const_0, b = const_1, cond = greater_0)");
    gives_half(MIL("tensor<fp16, [3]> a", "tensor<int32, [3]> y = cast(dtype = string(\"int32\"), x = a);\n"),
               "tensor<fp16, [3]> y = cast(dtype = ");
    gives_half(MIL("tensor<fp16, [3]> a", "tensor<fp16, [3]> f = floor(x = a); tensor<int32, [3]> y = cast(dtype = "
                                          "string(\"int32\"), x = f);\n"),
               "tensor<fp16, [3]> y = floor(x = a)");
    gives_half(MIL("tensor<bool, [3]> a", "tensor<fp16, [3]> y = select(a = fp16(1), b = fp16(2), cond = a);\n"),
               "func main<ios18>(tensor<fp16, [3]> a) {");
    gives_half(MIL("tensor<bool, [3]> a", "tensor<bool, [3]> y = logical_not(x = a);\n"), "greater(x = a, y = ");
}

static void test_a_text_is_checked_by_the_rows_alone(void)
{
    static const char mil[] = MIL("tensor<fp32, [3]> a", "tensor<fp32, [3]> y = relu(x = a);\n");
    mw_error err = {0};
    mw_graph *graph = mw_graph_parse_mil(mil, sizeof mil - 1, NULL, NULL, &err);
    REQUIRE(graph != NULL);
    CHECK(mw__mil_check_legal(graph, mw__device_find(MW_DEVICE_CPU), &err) == MW_OK);
    CHECK(mw__mil_check_legal(graph, mw__device_find(MW_DEVICE_ANE), &err) == MW_ERROR_UNSUPPORTED);
    CHECK_CONTAINS(err.message, "input \"a\" is fp32");
    mw_graph_destroy(graph);
}

static void test_every_failed_allocation_is_an_error_without_a_leak(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *labels = mw_input(graph, "labels", MW_I32, MW_SHAPE(4));
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(4));
    mw_tensor *hit = mw_equal(labels, mw_scalar(graph, MW_I32, 3));
    mw_tensor *masked = mw_add(x, mw_name(mw_scalar(graph, MW_F32, -3.4e38), "mask"));
    mw_output(mw_select(hit, masked, mw_clip(x, 1e-10F, 2.0F)), "y");
    REQUIRE(mw_graph_check(graph, &err) == MW_OK);
    for (long n = 0; n < 10000; n++) {
        failing_allocator failing = {.fail_at = n};
        mw_allocator allocator = failing_allocator_of(&failing);
        mw_graph_options options = mw_graph_defaults();
        options.allocator = &allocator;
        mw_error failure = {0};
        mw_graph *to = mw_graph_create(&options, NULL);
        mw__narrowing *narrowed = NULL;
        const mw__legalize_options how = {.device = mw__device_find(MW_DEVICE_ANE), .out_narrowed = &narrowed};
        const mw_status status = to != NULL ? mw__mil_legalize_with(graph, to, &how, &failure) : MW_ERROR_MEMORY;
        CHECK(status != MW_OK || (narrowed != NULL && narrowed->next != NULL && narrowed->next->next == NULL));
        check_note(status == MW_OK || status == MW_ERROR_MEMORY, __FILE__, __LINE__, "allocation %ld: %s", n,
                   failure.message);
        mw_graph_destroy(to);
        CHECK_INT(failing.live, 0);
        if (status == MW_OK && !failing.failed)
            break;
    }
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_floats_become_fp16_on_the_ane);
    RUN(test_recurrent_networks_are_written_out_on_the_ane);
    RUN(test_the_cpu_keeps_the_declared_types);
    RUN(test_operations_that_no_result_needs_stay_behind);
    RUN(test_integer_inputs_and_what_they_meet_become_fp16);
    RUN(test_axes_stay_integers_beside_fp16_labels);
    RUN(test_a_range_that_meets_labels_is_made_in_fp16);
    RUN(test_computed_integers_that_meet_labels_are_cast);
    RUN(test_casts_to_fp32_vanish_on_the_ane);
    RUN(test_outputs_that_are_inputs_or_repeated_get_an_identity);
    RUN(test_strict_refuses_scalars_that_fp16_cannot_hold_by_name);
    RUN(test_infinity_zero_and_default_epsilon_are_not_refused);
    RUN(test_integers_beyond_fp16_are_refused);
    RUN(test_rows_refuse_what_the_ane_cannot_do);
    RUN(test_integers_and_truths_pass_ports_in_fp16);
    RUN(test_a_text_is_checked_by_the_rows_alone);
    RUN(test_every_failed_allocation_is_an_error_without_a_leak);
    return check_finish();
}
