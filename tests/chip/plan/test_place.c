/* mw_chip_placement_create: against every placement that there is, and what it says of programs. */
#include "base/text/json.h"
#include "support/check.h"
#include "support/chip/legality_cases.h"
#include "support/failing.h"
#include "support/page.h"

#include <dirent.h>
#include <float.h>
#include <millwright/chip_all.h>
#include <millwright/millwright.h>
#include <stdint.h>
#include <stdlib.h>

enum { TEXT_MAX = 8192 };

static mw_graph *parse(const char *inputs, const char *body)
{
    char text[TEXT_MAX];
    mw_error err = {0};
    legality_text(inputs, body, text, sizeof text);
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
    check_note(graph != NULL, __FILE__, __LINE__, "%s in %s", err.message, text);
    return graph;
}

static mw_chip_place_options as_it_is(void)
{
    mw_chip_place_options options = mw_chip_place_defaults();
    options.as_it_is = true;
    return options;
}

static mw_chip_placement *place(const mw_graph *graph, mw_chip chip, const mw_chip_place_options *options)
{
    mw_error err = {0};
    mw_chip_placement *placement = mw_chip_placement_create(graph, chip, options, &err);
    CHECK_OK(err);
    return placement;
}

static void check_refused(const mw_graph *graph, mw_chip chip, const mw_chip_place_options *options, mw_status status,
                          const char *part)
{
    mw_error err = {0};
    CHECK(mw_chip_placement_create(graph, chip, options, &err) == NULL);
    CHECK_ERROR(err, status, part);
}

/* "ccga": where each operation is. */
static const char *letters_of(const mw_chip_placement *placement, char *out, size_t size)
{
    size_t i = 0;
    for (const mw_chip_placed *o; i + 1 < size && (o = mw_chip_placement_at(placement, i)) != NULL; i++)
        out[i] = "cga"[o->backend];
    out[i] = '\0';
    return out;
}

static void check_letters(const mw_chip_placement *placement, const char *wanted)
{
    char found[64];
    CHECK_STR(letters_of(placement, found, sizeof found), wanted);
}

/* ---- against all placements ---- */

static uint64_t state = 7;

static unsigned below(unsigned count)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % count;
}

enum { STEPS = 7 };

/* Operations on random values before them: some large, some that the ANE refuses. */
static mw_graph *make_random(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *values[STEPS + 1];
    const int side = 64 << below(4);
    values[0] = mw_input(graph, "x", MW_F16, MW_SHAPE(side, side));
    const int steps = 1 + (int)below(STEPS);
    for (int i = 0; i < steps; i++) {
        mw_tensor *a = values[below((unsigned)i + 1)], *b = values[i];
        const unsigned which = below(5);
        values[i + 1] = which == 0   ? mw_matmul(a, b, MW_TRANSPOSE_NONE)
                        : which == 1 ? mw_mod(a, b)
                        : which == 2 ? mw_acos(b)
                        : which == 3 ? mw_add(a, b)
                                     : mw_softmax(b, -1);
    }
    mw_output(values[steps], "y");
    return graph;
}

static double sum_of(const mw_chip_placement *placement, const mw_chip_place_options *o, const unsigned *placed)
{
    double sum = 0.0;
    const mw_chip_placed *operation;
    for (size_t i = 0; (operation = mw_chip_placement_at(placement, i)) != NULL; i++) {
        const bool ane = placed[i] == MW_CHIP_ANE;
        if (operation->us[placed[i]] < 0.0)
            return -1.0;
        sum += operation->us[placed[i]];
        if (i == 0 || placed[i] != placed[i - 1])
            sum += ane ? o->launch_ane_us : o->launch_other_us;
        if (i > 0 && placed[i] != placed[i - 1])
            sum += ane ? o->transfer_ane_us : o->transfer_other_us;
        if (mw_chip_placement_at(placement, i + 1) == NULL && ane)
            sum += o->output_ane_us;
    }
    return sum;
}

static double least_of_all(const mw_chip_placement *placement, const mw_chip_place_options *options, size_t count)
{
    size_t ways = 1;
    double least = DBL_MAX;
    for (size_t i = 0; i < count; i++)
        ways *= MW_CHIP_BACKENDS;
    for (size_t way = 0; way < ways; way++) {
        unsigned placed[STEPS];
        for (size_t i = 0, rest = way; i < count; i++, rest /= MW_CHIP_BACKENDS)
            placed[i] = (unsigned)(rest % MW_CHIP_BACKENDS);
        const double sum = sum_of(placement, options, placed);
        least = sum >= 0.0 && sum < least ? sum : least;
    }
    return least;
}

static void check_against_all(mw_chip_place_options *options)
{
    mw_graph *graph = make_random();
    for (unsigned s = 0; s <= MW_CHIP_SHORTEST_PATH; s++) {
        options->segmenter = (mw_chip_segmenter)s;
        mw_chip_placement *placement = place(graph, MW_CHIP_H14, options);
        const mw_chip_placement_totals totals = mw_chip_placement_get_totals(placement);
        const double least = least_of_all(placement, options, totals.operation_count);
        unsigned placed[STEPS];
        for (size_t i = 0; i < totals.operation_count; i++)
            placed[i] = mw_chip_placement_at(placement, i)->backend;
        CHECK_NEAR(totals.us, sum_of(placement, options, placed), 1e-9 * totals.us);
        CHECK(totals.us >= least - 1e-9 * least);
        if (s == MW_CHIP_SHORTEST_PATH)
            CHECK_NEAR(totals.us, least, 1e-9 * least);
        mw_chip_placement_destroy(placement);
    }
    mw_graph_destroy(graph);
}

static void test_the_shortest_path_is_the_least_of_all(void)
{
    for (int n = 0; n < 60; n++) {
        mw_chip_place_options options = as_it_is();
        options.anchors = (mw_chip_anchors)below(3);
        options.launch_ane_us = below(60), options.launch_other_us = below(120);
        options.transfer_ane_us = below(100), options.transfer_other_us = below(240);
        options.output_ane_us = below(150);
        check_against_all(&options);
    }
}

/* ---- programs ---- */

static mw_tensor *zeros(mw_graph *graph, mw_shape shape)
{
    void *data = calloc((size_t)mw_shape_count(shape), 4);
    mw_tensor *made = mw_constant(graph, MW_F32, shape, data);
    free(data);
    return made;
}

static mw_graph *make_net(int channels)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(1, channels, 32, 32));
    mw_tensor *h = mw_relu(mw_conv(x, zeros(graph, MW_SHAPE(channels, channels, 3, 3)), NULL, NULL));
    mw_output(mw_reduce_mean(h, MW_AXES(2, 3), false), "y");
    return graph;
}

/* What it saves is less than a launch and the output. */
static void test_a_small_net_is_on_the_cpu(void)
{
    mw_graph *graph = make_net(32);
    mw_chip_placement *placement = place(graph, MW_CHIP_H13, NULL);
    const mw_chip_placement_totals totals = mw_chip_placement_get_totals(placement);
    CHECK(totals.operations[MW_CHIP_CPU] == totals.operation_count && totals.segment_count == 1);
    CHECK(totals.output_us == 0.0 && totals.us < 250.0);
    mw_chip_placement_destroy(placement);
    mw_graph_destroy(graph);
}

/* As mw_program_create writes it all of it is fp16, and goes to the ANE in one piece. */
static void test_a_net_stays_on_the_ane(void)
{
    mw_graph *graph = make_net(256);
    mw_chip_placement *placement = place(graph, MW_CHIP_H13, NULL);
    const mw_chip_placement_totals totals = mw_chip_placement_get_totals(placement);
    CHECK_INT(totals.segment_count, 1);
    CHECK(totals.operation_count >= 3 && totals.operations[MW_CHIP_ANE] == totals.operation_count);
    CHECK(totals.form == NULL && totals.operations_us[MW_CHIP_CPU] == 0.0);
    const mw_chip_placed_segment *segment = mw_chip_placement_segment_at(placement, 0);
    REQUIRE(segment != NULL);
    CHECK_INT(segment->count, totals.operation_count);
    CHECK_NEAR(segment->launch_us, 125.0, 0.0);
    CHECK_NEAR(totals.output_us, 125.0, 0.0);
    CHECK_NEAR(totals.us, segment->us + 250.0, 1e-9);
    CHECK_NEAR(totals.operations_us[MW_CHIP_ANE], segment->us, 1e-9);
    mw_chip_placement_destroy(placement);
    mw_graph_destroy(graph);
}

/* The same as it stands is fp32, which is not offered to the ANE, each operation for itself. */
static void test_wide_types_are_not_on_the_ane(void)
{
    mw_graph *graph = make_net(32);
    const mw_chip_place_options options = as_it_is();
    mw_chip_placement *placement = place(graph, MW_CHIP_H13, &options);
    CHECK_INT(mw_chip_placement_get_totals(placement).operations[MW_CHIP_ANE], 0);
    CHECK_STR(mw_chip_placement_at(placement, 0)->refusal, "coreml_float_type");
    CHECK_CONTAINS(mw_chip_placement_at(placement, 0)->message, "fp32");
    mw_chip_placement_destroy(placement);
    mw_graph_destroy(graph);
}

#define H "tensor<fp16, [64, 64]>"
/* A way around: the middle one is refused. */
#define AROUND H " a = abs(x = x);" H " b = mod(x = a, y = x);" H " y = abs(x = b);"

static void test_a_refused_operation_goes_around_the_ane(void)
{
    mw_graph *graph = parse(H " x", AROUND);
    mw_chip_place_options options = as_it_is();
    options.launch_ane_us = options.launch_other_us = options.transfer_ane_us = options.transfer_other_us = 0.0;
    options.output_ane_us = 0.0;
    mw_chip_placement *placement = place(graph, MW_CHIP_H17, &options);
    check_letters(placement, "aca");
    const mw_chip_placed *refused = mw_chip_placement_at(placement, 1);
    REQUIRE(refused != NULL);
    CHECK_STR(refused->operation, "mod");
    CHECK_STR(refused->name, "b");
    CHECK_STR(refused->refusal, "mod");
    CHECK(refused->us[MW_CHIP_ANE] < 0.0 && refused->segment == 1 && refused->text_line == 2);
    CHECK_CONTAINS(refused->reason, "least");
    CHECK_INT(mw_chip_placement_get_totals(placement).segment_count, 3);
    mw_chip_placement_destroy(placement);
    options = as_it_is(); /* with penalties the three stay together, off the ANE */
    placement = place(graph, MW_CHIP_H17, &options);
    check_letters(placement, "ccc");
    mw_chip_placement_destroy(placement);
    mw_graph_destroy(graph);
}

static void test_backends_can_be_left_out(void)
{
    mw_graph *graph = parse(H " x", AROUND);
    mw_chip_place_options options = as_it_is();
    options.without[MW_CHIP_GPU] = true;
    mw_chip_placement *placement = place(graph, MW_CHIP_H17, &options);
    check_letters(placement, "ccc");
    CHECK_STR(mw_chip_placement_at(placement, 1)->reason, "no other backend takes it");
    mw_chip_placement_destroy(placement);
    options.without[MW_CHIP_CPU] = true;
    check_refused(graph, MW_CHIP_H17, &options, MW_ERROR_UNSUPPORTED, "mod \"b\"");
    check_refused(graph, MW_CHIP_H17, &options, MW_ERROR_UNSUPPORTED, "(rule mod)");
    options.without[MW_CHIP_ANE] = true;
    check_refused(graph, MW_CHIP_H17, &options, MW_ERROR_ARGUMENT, "no backend is left");
    mw_graph_destroy(graph);
}

static void test_old_chips_take_nothing(void)
{
    mw_graph *graph = parse(H " x", H " y = relu(x = x);");
    const mw_chip_place_options options = as_it_is();
    mw_chip_placement *placement = place(graph, MW_CHIP_H11, &options);
    check_letters(placement, "c");
    CHECK_STR(mw_chip_placement_at(placement, 0)->refusal, "mil");
    mw_chip_placement_destroy(placement);
    mw_graph_destroy(graph);
}

/* What mw_program_create cannot write is placed as it stands, and says why: here a loop that ends on what is fed. */
static void test_what_has_no_form_is_placed_as_it_stands(void)
{
    mw_graph *graph = parse(
        "tensor<fp16, [2]> x, int32 n",
        "tensor<fp16, [2]> y, int32 k = while_loop(loop_vars = (x, n))[name = string(\"l\")]\n"
        "(tensor<fp16, [2]> a0, int32 k0) { int32 one = const()[name = string(\"one\"), val = int32(1)]; bool go = "
        "greater(x = k0, y = one)[name = string(\"go\")]; } -> (go)\n"
        "(tensor<fp16, [2]> a1, int32 k1) { int32 two = const()[name = string(\"two\"), val = int32(2)]; "
        "tensor<fp16, [2]> d = add(x = a1, y = a1)[name = string(\"d\")]; int32 k2 = sub(x = k1, y = two)[name = "
        "string(\"k2\")]; } -> (d, k2);");
    REQUIRE(graph != NULL);
    mw_error err = {0};
    mw_chip_placement *placement = place(graph, MW_CHIP_H13, NULL);
    const mw_chip_placement_totals totals = mw_chip_placement_get_totals(placement);
    char *text = mw_chip_placement_print(placement, &err);
    REQUIRE(totals.form != NULL && text != NULL);
    CHECK_CONTAINS(totals.form, "loop");
    CHECK_CONTAINS(text, "as it stands, for it has no form of the chip's: ");
    CHECK_INT(totals.operation_count, 1);
    CHECK_STR(mw_chip_placement_at(placement, 0)->refusal, "control");
    mw_string_free(text);
    mw_chip_placement_destroy(placement);
    mw_graph_destroy(graph);
}

/* A branch goes as a whole, with the products of both arms. */
static void test_blocks_go_as_a_whole(void)
{
    mw_graph *graph = parse("bool p, " H " x", H
                            " y = cond(pred = p)[name = string(\"y\")]\n{ " H " a = matmul(x = x, y = x)[name = "
                            "string(\"a\")]; } -> (a)\n{ " H " b = add(x = x, y = x)[name = string(\"b\")]; } -> (b);");
    const mw_chip_place_options options = as_it_is();
    mw_chip_placement *placement = place(graph, MW_CHIP_H17, &options);
    const mw_chip_placed *cond = mw_chip_placement_at(placement, 0);
    REQUIRE(cond != NULL && mw_chip_placement_at(placement, 1) == NULL);
    CHECK_STR(cond->operation, "cond");
    CHECK_STR(cond->refusal, "control");
    CHECK_NEAR(cond->cost.flops, 2.0 * 64 * 64 * 64 + 64 * 64, 0.0);
    mw_chip_placement_destroy(placement);
    mw_graph_destroy(graph);
}

/* Where no rule refuses the branch itself, one refuses what is in it. */
static void test_what_is_in_blocks_is_asked_too(void)
{
    mw_graph *graph = parse("bool p, " H " x", H " y = cond(pred = p)[name = string(\"y\")]\n{ " H
                                                 " a = mod(x = x, y = x)[name = string(\"a\")]; } -> (a)\n{ " H
                                                 " b = add(x = x, y = x)[name = string(\"b\")]; } -> (b);");
    const mw_chip_place_options options = as_it_is();
    mw_chip_placement *placement = place(graph, MW_CHIP_AUTO, &options);
    const mw_chip_placed *cond = mw_chip_placement_at(placement, 0);
    REQUIRE(cond != NULL && cond->refusal != NULL);
    CHECK_STR(cond->refusal, "mod");
    mw_chip_placement_destroy(placement);
    mw_graph_destroy(graph);
}

/* ---- what is given ---- */

static void test_arguments_are_checked(void)
{
    mw_graph *graph = parse(H " x", H " y = relu(x = x);");
    mw_chip_place_options options = {0};
    check_refused(NULL, MW_CHIP_H13, NULL, MW_ERROR_ARGUMENT, "graph is NULL");
    check_refused(graph, (mw_chip)99, NULL, MW_ERROR_ARGUMENT, "unknown chip 99");
    check_refused(graph, MW_CHIP_H13, &options, MW_ERROR_ARGUMENT, "mw_chip_place_defaults");
    options = mw_chip_place_defaults();
    options.segmenter = (mw_chip_segmenter)3;
    check_refused(graph, MW_CHIP_H13, &options, MW_ERROR_ARGUMENT, "segmenter 3");
    options = mw_chip_place_defaults();
    options.anchors = (mw_chip_anchors)3;
    check_refused(graph, MW_CHIP_H13, &options, MW_ERROR_ARGUMENT, "anchors 3");
    options.die = "h13";
    check_refused(graph, MW_CHIP_H13, &options, MW_ERROR_ARGUMENT, "anchors 3");
    options = mw_chip_place_defaults();
    options.die = "h99";
    check_refused(graph, MW_CHIP_H13, &options, MW_ERROR_ARGUMENT, "h99");
    options = mw_chip_place_defaults();
    options.function = "none";
    check_refused(graph, MW_CHIP_H13, &options, MW_ERROR_ARGUMENT, "none");
    const double wrong[] = {-1.0, NAN, INFINITY, 1e300, -0.5};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        options = mw_chip_place_defaults();
        *(i == 0   ? &options.launch_ane_us
          : i == 1 ? &options.launch_other_us
          : i == 2 ? &options.transfer_ane_us
          : i == 3 ? &options.transfer_other_us
                   : &options.output_ane_us) = wrong[i];
        check_refused(graph, MW_CHIP_H13, &options, MW_ERROR_ARGUMENT, "penalties are from 0");
    }
    mw_graph_destroy(graph);
}

static void test_nothing_is_read_of_nothing(void)
{
    mw_error err = {0};
    CHECK(mw_chip_placement_get_totals(NULL).operation_count == 0 && mw_chip_placement_at(NULL, 0) == NULL);
    CHECK(mw_chip_placement_segment_at(NULL, 0) == NULL && mw_chip_placement_print(NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "placement is NULL");
    err = (mw_error){0};
    CHECK(mw_chip_placement_json(NULL, &err) == NULL);
    mw_chip_placement_destroy(NULL);
    mw_graph *graph = parse(H " x", H " y = relu(x = x);");
    mw_chip_placement *placement = place(graph, MW_CHIP_H13, NULL);
    mw_graph_destroy(graph); /* which the placement outlives */
    CHECK(mw_chip_placement_at(placement, 0) != NULL && mw_chip_placement_at(placement, 99) == NULL);
    CHECK(mw_chip_placement_segment_at(placement, 1) == NULL);
    mw_chip_placement_destroy(placement);
    err = (mw_error){0};
    CHECK(mw_chip_placement_print(placement, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_STATE, "destroyed before");
}

/* A function without operations, and one whose output is its input. */
static void test_a_program_without_operations_has_no_segments(void)
{
    mw_graph *graph = parse(H " y", "");
    const mw_chip_place_options options = as_it_is();
    mw_chip_placement *placement = place(graph, MW_CHIP_H13, &options);
    CHECK(mw_chip_placement_get_totals(placement).segment_count == 0 &&
          mw_chip_placement_get_totals(placement).us == 0.0);
    mw_chip_placement_destroy(placement);
    mw_graph_destroy(graph);
}

static void test_extents_without_bound_are_placed(void)
{
    mw_graph *graph = parse("tensor<fp16, [3037000499, 1]> x, tensor<fp16, [1, 3037000499]> z",
                            "tensor<fp16, [3037000499, 3037000499]> m = matmul(x = x, y = z);"
                            "tensor<fp16, [3037000499, 3037000499]> y = exp(x = m);");
    const mw_chip_place_options options = as_it_is();
    mw_chip_placement *placement = graph != NULL ? place(graph, MW_CHIP_H17, &options) : NULL;
    CHECK(placement != NULL && isfinite(mw_chip_placement_get_totals(placement).us));
    CHECK(mw_chip_placement_get_totals(placement).us > 1e12);
    mw_chip_placement_destroy(placement);
    mw_graph_destroy(graph);
}

/* ---- text and JSON ---- */

static mw_status count_item(void *user, const mw__json_item *item, mw_error *err)
{
    (void)err;
    *(size_t *)user += item->event == MW__JSON_KEY && strcmp(item->text, "operation") == 0;
    return MW_OK;
}

static void test_text_and_json_say_the_same(void)
{
    mw_graph *graph = parse(H " x", AROUND);
    const mw_chip_place_options options = as_it_is();
    mw_chip_placement *placement = place(graph, MW_CHIP_H17, &options);
    mw_error err = {0};
    size_t operations = 0;
    char *text = mw_chip_placement_print(placement, &err), *json = mw_chip_placement_json(placement, &err);
    REQUIRE(text != NULL && json != NULL);
    CHECK_CONTAINS(text, "h17, shortest_path: 3 operations in 1 segment, ");
    CHECK_CONTAINS(text, "segment 0 on the cpu: 3 operations, ");
    CHECK_CONTAINS(text, "mod \"b\": ");
    CHECK_CONTAINS(text, "not on the ane: rule mod, the ANE does not run it");
    CHECK_INT(mw__json_read_all(mw__allocator_default(), json, strlen(json), count_item, &operations, &err), MW_OK);
    CHECK_OK(err);
    CHECK_INT(operations, 3);
    CHECK_CONTAINS(json, "\"backend\":\"cpu\"");
    CHECK_CONTAINS(json, "\"ane\":null");
    CHECK_CONTAINS(json, "\"refusal\":\"mod\"");
    mw_string_free(text);
    mw_string_free(json);
    mw_chip_placement_destroy(placement);
    mw_graph_destroy(graph);
}

/* ---- verdicts of others ---- */

static mw_graph *make_stack(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_conv_options same = mw_conv_defaults();
    same.pad_type = MW_PAD_SAME;
    mw_tensor *h = mw_input(graph, "x", MW_F16, MW_SHAPE(1, 256, 28, 28));
    for (int i = 0; i < 16; i++)
        h = mw_conv(h, mw_cast(zeros(graph, MW_SHAPE(256, 256, 3, 3)), MW_F16), NULL, &same);
    mw_output(h, "y");
    return graph;
}

static mw_graph *make_product(int m, int k)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F16, MW_SHAPE(m, k)), *w = mw_input(graph, "w", MW_F16, MW_SHAPE(k, k));
    mw_output(mw_matmul(x, w, MW_TRANSPOSE_NONE), "y");
    return graph;
}

static void check_all_on(mw_graph *graph, mw_chip_anchors anchors, mw_chip_backend wanted)
{
    mw_chip_place_options options = mw_chip_place_defaults();
    options.anchors = anchors;
    mw_chip_placement *placement = place(graph, MW_CHIP_H17, &options);
    const mw_chip_placement_totals totals = mw_chip_placement_get_totals(placement);
    check_note(totals.operations[wanted] == totals.operation_count, __FILE__, __LINE__, "not all on the %s",
               mw_chip_backend_name(wanted));
    mw_chip_placement_destroy(placement);
}

/* The table of docs/chip_cost.md: what the ane-guide, ch. 11, measured on an M5 (ANE, GPU, CPU) is no rule that either
 * set of anchors follows. */
static void test_verdicts_of_an_m5(void)
{
    mw_graph *stack = make_stack(), *large = make_product(256, 4096), *small = make_product(64, 256);
    check_all_on(stack, MW_CHIP_PLANNER, MW_CHIP_ANE);
    check_all_on(stack, MW_CHIP_FITTED, MW_CHIP_GPU);
    check_all_on(large, MW_CHIP_PLANNER, MW_CHIP_ANE);
    check_all_on(large, MW_CHIP_FITTED, MW_CHIP_GPU);
    check_all_on(small, MW_CHIP_PLANNER, MW_CHIP_CPU);
    check_all_on(small, MW_CHIP_FITTED, MW_CHIP_GPU);
    mw_graph_destroy(stack);
    mw_graph_destroy(large);
    mw_graph_destroy(small);
}

/* ---- programs of others ---- */

/* No way is shorter than the shortest, and what a rule refuses is not on the ANE. */
static size_t place_real(const mw_graph *graph, bool stands)
{
    double us[MW_CHIP_SHORTEST_PATH + 1];
    size_t count = 0;
    for (unsigned s = 0; s <= MW_CHIP_SHORTEST_PATH; s++) {
        mw_chip_place_options options = mw_chip_place_defaults();
        options.as_it_is = stands;
        options.segmenter = (mw_chip_segmenter)s;
        options.function = mw_graph_function_at(graph, 0);
        mw_chip_placement *placement = place(graph, MW_CHIP_H14, &options);
        us[s] = mw_chip_placement_get_totals(placement).us;
        const mw_chip_placed *o;
        for (count = 0; (o = mw_chip_placement_at(placement, count)) != NULL; count++)
            CHECK(o->us[o->backend] == o->cost.us && (o->refusal == NULL || o->backend != MW_CHIP_ANE));
        mw_chip_placement_destroy(placement);
    }
    for (unsigned s = 0; s < MW_CHIP_SHORTEST_PATH; s++)
        CHECK(us[MW_CHIP_SHORTEST_PATH] <= us[s] * (1.0 + 1e-12));
    return count;
}

static void test_real_programs_are_placed(void)
{
    DIR *folder = opendir(MW_SHARED_DATA "/mil");
    size_t programs = 0, operations = 0;
    if (folder == NULL)
        SKIP("the real programs are not there: %s", MW_SHARED_DATA "/mil");
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char path[1024];
        snprintf(path, sizeof path, "%s/mil/%s/model.mil", MW_SHARED_DATA, entry->d_name);
        mw_graph *graph = entry->d_name[0] != '.' ? mw_graph_open_mil(path, NULL, NULL) : NULL;
        if (graph != NULL) /* the weights of some are not there */
            operations += place_real(graph, true) + place_real(graph, false), programs++;
        mw_graph_destroy(graph);
    }
    closedir(folder);
    CHECK(programs >= 20 && operations >= 500);
}

/* The program of docs/chip_cost.md, and what stands there. */
static void test_the_document_shows_what_is_printed(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F16, MW_SHAPE(64, 64));
    mw_output(mw_relu(mw_mod(mw_relu(x), x)), "y");
    const mw_chip_place_options options = as_it_is();
    mw_chip_placement *placement = place(graph, MW_CHIP_H17, &options);
    char *text = mw_chip_placement_print(placement, &err), *document = page_read(MW_TESTS_DIR "/../docs/chip_cost.md");
    REQUIRE(text != NULL && document != NULL);
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        check_note(strstr(document, line) != NULL, __FILE__, __LINE__, "docs/chip_cost.md lacks: %s", line);
    free(document);
    mw_string_free(text);
    mw_chip_placement_destroy(placement);
    mw_graph_destroy(graph);
}

/* ---- allocations ---- */

static void check_failures(const mw_graph *graph, mw_chip_place_options options)
{
    long n = 0;
    for (bool done = false; !done && n < 100000; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        options.allocator = &allocator;
        mw_chip_placement *placement = mw_chip_placement_create(graph, MW_CHIP_H17, &options, &err);
        done = placement != NULL && !failing.failed;
        if (placement == NULL)
            check_note(err.status == MW_ERROR_MEMORY, __FILE__, __LINE__, "request %ld: %s", n, err.message);
        mw_chip_placement_destroy(placement);
        CHECK_INT(failing.live, 0);
    }
    CHECK(n > 10 && n < 100000);
}

static void test_every_failed_allocation_is_an_error(void)
{
    mw_graph *refused = parse(H " x", AROUND), *net = make_net(32);
    check_failures(refused, as_it_is());
    check_failures(net, mw_chip_place_defaults());
    mw_graph_destroy(refused);
    mw_graph_destroy(net);
}

int main(void)
{
    RUN(test_the_shortest_path_is_the_least_of_all);
    RUN(test_a_small_net_is_on_the_cpu);
    RUN(test_a_net_stays_on_the_ane);
    RUN(test_wide_types_are_not_on_the_ane);
    RUN(test_a_refused_operation_goes_around_the_ane);
    RUN(test_backends_can_be_left_out);
    RUN(test_old_chips_take_nothing);
    RUN(test_what_has_no_form_is_placed_as_it_stands);
    RUN(test_blocks_go_as_a_whole);
    RUN(test_what_is_in_blocks_is_asked_too);
    RUN(test_arguments_are_checked);
    RUN(test_nothing_is_read_of_nothing);
    RUN(test_a_program_without_operations_has_no_segments);
    RUN(test_extents_without_bound_are_placed);
    RUN(test_text_and_json_say_the_same);
    RUN(test_verdicts_of_an_m5);
    RUN(test_real_programs_are_placed);
    RUN(test_the_document_shows_what_is_printed);
    RUN(test_every_failed_allocation_is_an_error);
    return check_finish();
}
