/* set_segmenter: what the analytics of a program say with the function that the engine is given, without one, and with
 * one that fails. */
#include "chip/cost/engine.h"
#include "engine/cache/cache_case.h"
#include "engine/core/segmenter.h"
#include "engine/run.h"
#include "support/check.h"
#include "support/folder.h"

#include <millwright/chip_all.h>
#include <millwright/millwright.h>

/* On the ANE the first costs 160 us less than on the CPU: more than its launch, and less than launch and change. The
 * middle one is refused by the ANE; the last has a branch. */
#define SQUARE "tensor<fp16, [400, 400]>"
#define PROGRAM                                                                                                        \
    RUN_TEXT("bool p, " SQUARE " x",                                                                                   \
             SQUARE " a = matmul(transpose_x = bool(false), transpose_y = bool(false), x = x, y = x)[name = "          \
                    "string(\"a\")];\n" SQUARE " b = mod(x = a, y = x)[name = string(\"b\")];\n" SQUARE                \
                    " y = cond(pred = p)[name = string(\"y\")]\n{ " SQUARE                                             \
                    " c = add(x = b, y = x)[name = string(\"c\")]; } -> (c)\n{ " SQUARE                                \
                    " d = mul(x = b, y = x)[name = string(\"d\")]; } -> (d);\n",                                       \
             "y")
#define HALF RUN_TEXT("tensor<fp16, [8]> x", "tensor<fp16, [8]> y = add(x = x, y = x)[name = string(\"y\")];\n", "y")

static void begin(const char *text)
{
    cache_forget();
    folder_empty(".");
    cache_put_model("model", text, HALF_ONE);
}

/* The analytics live as long as the library. */
static const e5rt_mw_analytics *compile(const char *text, uint64_t mask, const char *segmenter, void **library)
{
    begin(text);
    cache_case c = CACHE_CASE;
    void *out = NULL;
    c.mask = mask;
    c.segmenter = segmenter;
    const bool good = cache_compile(&c, library) == 0;
    check_note(good, __FILE__, __LINE__, "%s", cache_message());
    if (good)
        CHECK_INT(e5rt_program_library_get_segmentation_analytics(*library, &out), 0);
    return out;
}

static const char *backend(const e5rt_mw_analytics *analytics, const char *name)
{
    for (uint64_t i = 0; i < analytics->placement_count; i++)
        if (strcmp(analytics->placements[i].op_name, name) == 0)
            return analytics->placements[i].selected_backend;
    return "nowhere";
}

static void test_names_are_read_in_any_spelling(void)
{
    CHECK_INT(mw__segmenter_named("coarse"), MW__SEGMENTER_COARSE);
    CHECK_INT(mw__segmenter_named("Segmenter_Graph"), MW__SEGMENTER_GRAPH);
    CHECK_INT(mw__segmenter_named("shortest-path"), MW__SEGMENTER_SHORTEST_PATH);
    CHECK_INT(mw__segmenter_named("SegmenterShortestPath"), MW__SEGMENTER_SHORTEST_PATH);
    CHECK_INT(mw__segmenter_named("segmenter"), MW__SEGMENTER_NONE);
    CHECK_INT(mw__segmenter_named(""), MW__SEGMENTER_NONE);
    CHECK_INT(mw__segmenter_named(NULL), MW__SEGMENTER_NONE);
}

/* One of several devices has each operation; what a branch has in it goes with it. */
static void test_operations_are_placed_by_the_segmenter(void)
{
    static const char *const names[] = {"coarse", "graph", "shortest_path"};
    mw_chip_register();
    for (size_t s = 0; s < 3; s++) {
        void *library = NULL;
        const e5rt_mw_analytics *analytics = compile(PROGRAM, 7, names[s], &library);
        REQUIRE(analytics != NULL && analytics->placement_count == 5);
        const e5rt_mw_placement *first = &analytics->placements[0], *mod = &analytics->placements[1];
        CHECK_STR(first->backend_support, "ane mps_graph bnns");
        CHECK_STR(mod->backend_support, "mps_graph bnns");
        CHECK_CONTAINS(mod->validation_messages, "mod: ");
        CHECK(strcmp(mod->selected_backend, "ane") != 0);
        CHECK_STR(backend(analytics, "c"), backend(analytics, "y"));
        CHECK_STR(backend(analytics, "a"), strcmp(names[s], "shortest_path") == 0 ? "bnns" : "ane");
        CHECK(first->estimated_runtime > 0.0 && first->estimated_runtime < 1e-3);
        CHECK_STR(analytics->selected_backend, "bnns"); /* which computed it */
        e5rt_program_library_release(&library);
    }
}

/* What it says is what mw_chip_placement_create says. */
static void test_costs_are_those_of_a_placement(void)
{
    mw_chip_register();
    void *library = NULL;
    mw_error err = {0};
    const e5rt_mw_analytics *analytics = compile(PROGRAM, 7, "shortest_path", &library);
    mw_graph *graph = mw_graph_open_mil("model/model.mil", NULL, &err);
    mw_chip_place_options options = mw_chip_place_defaults();
    options.as_it_is = true;
    mw_chip_placement *placement = mw_chip_placement_create(graph, MW_CHIP_AUTO, &options, &err);
    CHECK_OK(err);
    REQUIRE(analytics != NULL && placement != NULL && mw_chip_placement_get_totals(placement).operation_count == 3);
    for (size_t i = 0; i < 3; i++)
        CHECK_NEAR(analytics->placements[i].estimated_runtime, mw_chip_placement_at(placement, i)->cost.us * 1e-6,
                   1e-15);
    mw_chip_placement_destroy(placement);
    mw_graph_destroy(graph);
    e5rt_program_library_release(&library);
}

static void test_one_device_has_all(void)
{
    mw_chip_register();
    void *library = NULL;
    const e5rt_mw_analytics *analytics = compile(PROGRAM, E5RT_CPU, "graph", &library);
    REQUIRE(analytics != NULL);
    for (uint64_t i = 0; i < analytics->placement_count; i++)
        CHECK_STR(analytics->placements[i].selected_backend, "bnns");
    e5rt_program_library_release(&library);
    analytics = compile(HALF, E5RT_ANE, "graph", &library);
    REQUIRE(analytics != NULL);
    CHECK_STR(analytics->placements[0].selected_backend, "ane");
    e5rt_program_library_release(&library);
}

static void test_the_bundle_says_the_same(void)
{
    mw_chip_register();
    void *library = NULL;
    mw_error err = {0};
    const char *bundle = NULL;
    char path[1100];
    REQUIRE(compile(PROGRAM, 7, "shortest_path", &library) != NULL);
    CHECK_INT(e5rt_program_library_get_e5_bundle_path(library, &bundle), 0);
    snprintf(path, sizeof path, "%s/analytics.mil", bundle);
    mw_graph *graph = mw_graph_open_mil(path, NULL, &err);
    char *text = graph != NULL ? mw_graph_print_mil(graph, NULL, &err) : NULL;
    CHECK_OK(err);
    REQUIRE(text != NULL);
    CHECK_CONTAINS(text, "SelectedBackend = string(\"bnns\")");
    mw_string_free(text);
    mw_graph_destroy(graph);
    e5rt_program_library_release(&library);
}

/* ---- without, and with another ---- */

static void check_plain(const char *segmenter)
{
    void *library = NULL;
    const e5rt_mw_analytics *analytics = compile(PROGRAM, 7, segmenter, &library);
    REQUIRE(analytics != NULL);
    for (uint64_t i = 0; i < analytics->placement_count; i++)
        CHECK_STR(analytics->placements[i].selected_backend, "bnns");
    CHECK_STR(analytics->placements[0].backend_support, "ane bnns");
    e5rt_program_library_release(&library);
}

static mw_status declines(const mw__segmenter_request *request, mw__segmented *out, const mw_allocator *allocator,
                          mw_error *err)
{
    (void)request;
    (void)out;
    (void)allocator;
    return mw__fail(err, MW_ERROR_UNSUPPORTED, "not this one");
}

static mw_status runs_out(const mw__segmenter_request *request, mw__segmented *out, const mw_allocator *allocator,
                          mw_error *err)
{
    (void)request;
    (void)out;
    (void)allocator;
    return mw__fail(err, MW_ERROR_MEMORY, "no memory for segments");
}

static void test_without_a_placement_the_program_is_where_it_is(void)
{
    mw_chip_register();
    check_plain(NULL); /* none was set */
    mw__engine_give_segmenter(NULL);
    check_plain("graph"); /* nobody knows one, as in the engine's own library */
    mw__engine_give_segmenter(declines);
    check_plain("graph");
    mw__engine_give_segmenter(NULL);
}

static void test_memory_that_runs_out_is_an_error(void)
{
    void *library = NULL, *out = NULL;
    begin(PROGRAM);
    cache_case c = {.path = "model", .mask = 7, .segmenter = "graph"};
    REQUIRE(cache_compile(&c, &library) == 0);
    mw__engine_give_segmenter(runs_out);
    CHECK_INT(e5rt_program_library_get_segmentation_analytics(library, &out), E5RT_ALLOCATION_FAILURE);
    CHECK_CONTAINS(e5rt_get_last_error_message(), "no memory for segments");
    mw__engine_give_segmenter(NULL);
    CHECK_INT(e5rt_program_library_get_segmentation_analytics(library, &out), 0);
    e5rt_program_library_release(&library);
}

/* The core knows no costs, whatever it compiles, until the library beside it is registered. */
static void test_registering_gives_it(void)
{
    mw_error err = {0};
    mw__engine_give_segmenter(NULL);
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_relu(mw_input(graph, "x", MW_F32, MW_SHAPE(4))), "y");
    mw_compile_options options = mw_compile_defaults();
    options.provider = MW_PROVIDER_ENGINE;
    mw_program *program = mw_program_create(graph, &options, &err);
    CHECK_OK(err);
    CHECK(mw__engine_given_segmenter() == NULL);
    mw_chip_register();
    CHECK(mw__engine_given_segmenter() != NULL);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_names_are_read_in_any_spelling);
    RUN(test_operations_are_placed_by_the_segmenter);
    RUN(test_costs_are_those_of_a_placement);
    RUN(test_one_device_has_all);
    RUN(test_the_bundle_says_the_same);
    RUN(test_without_a_placement_the_program_is_where_it_is);
    RUN(test_memory_that_runs_out_is_an_error);
    RUN(test_registering_gives_it);
    cache_forget();
    folder_leave(folder);
    return check_finish();
}
