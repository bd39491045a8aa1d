/* Steps in segments: how many programs and operations they are, what is refused, what fails, what else is asked of the
 * program. */
#include "runtime/trainer/object/trainer_access.h"
#include "segment_trainer.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/on_engine.h"

#include <e5rt/e5rt.h>
#include <millwright/inspect.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};

static mw_trainer_parts count_parts(const segment_setting *s, mw_error *err)
{
    segment_trained t;
    segment_create(&t, s, err);
    const mw_trainer_parts parts = mw_trainer_get_parts(t.trainer);
    segment_destroy(&t);
    return parts;
}

/* ---- sharing ---- */

/* A layer more is a call more for each pass, and a dropout more whose state is written with those of the others. */
static void test_deep_transformers_are_eight_programs_at_most(void)
{
    for (size_t k = 0; k < 4; k++) {
        size_t compiled[3];
        static const int depths[] = {6, 12, 24};
        for (size_t i = 0; i < 3; i++) {
            mw_error err = {0};
            const segment_net net = {"transformer", segment_transformer, depths[i]};
            const mw_trainer_parts parts = count_parts(
                &(segment_setting){
                    .net = &net, .device = devices[k % 2], .segments = 126, .clip_norm = k < 2 ? 0.0f : 1.0f},
                &err);
            CHECK_OK(err);
            CHECK(parts.programs <= 8);
            CHECK(parts.calls >= 3 * (size_t)depths[i]);
            CHECK_INT(parts.held, parts.calls + 2);
            CHECK_INT(parts.held_max, k % 2 == 0 ? 0 : 128);
            CHECK(parts.operations > 400 * (size_t)depths[i]);
            compiled[i] = parts.compiled;
        }
        CHECK(compiled[1] - compiled[0] <= 12 && compiled[2] - compiled[1] <= 24);
    }
}

static void test_what_differs_between_layers_is_an_input(void)
{
    mw_error err = {0};
    const mw_trainer_parts parts =
        count_parts(&(segment_setting){.net = &segment_nets[0], .segments = 126}, &err); /* dropouts have keys */
    CHECK_OK(err);
    CHECK(parts.programs <= 6);
    CHECK(parts.compiled < parts.operations / 2);
}

/* ---- automatic ---- */

static void test_auto_leaves_short_steps_whole_and_cuts_long_ones(void)
{
    mw_error err = {0};
    CHECK_INT(count_parts(&(segment_setting){.net = &segment_nets[6], .segments = MW_SEGMENTS_AUTO}, &err).calls, 1);
    CHECK(count_parts(&(segment_setting){.net = &segment_nets[0], .segments = MW_SEGMENTS_AUTO}, &err).calls > 8);
    CHECK_OK(err);
}

static void test_auto_stays_within_what_a_process_holds_by_longer_segments(void)
{
    static const segment_net net = {"transformer", segment_transformer, 12};
    size_t last = SIZE_MAX;
    static const segment_setting asked[] = {
        {.dispatch_steps = 1}, {.accumulate = 4}, {.dispatch_steps = 5}, {.dispatch_steps = 20}};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        mw_error err = {0};
        segment_setting s = asked[i];
        s.net = &net;
        s.device = MW_DEVICE_ANE;
        s.segments = MW_SEGMENTS_AUTO;
        const mw_trainer_parts parts = count_parts(&s, &err);
        CHECK_OK(err);
        CHECK(parts.held <= parts.held_max);
        CHECK(parts.calls > 1 && parts.calls <= last);
        last = parts.calls;
    }
}

static void test_more_operations_than_a_process_holds_are_refused_with_both_counts(void)
{
    mw_error err = {0};
    segment_setting s = {.net = &segment_nets[6], .device = MW_DEVICE_ANE, .segments = 300};
    count_parts(&s, &err);
    CHECK_INT(err.status, MW_ERROR_UNSUPPORTED);
    CHECK(strstr(err.message, "302 operations") != NULL && strstr(err.message, "holds 128") != NULL);
    err = (mw_error){0};
    s = (segment_setting){.net = &segment_nets[0], .device = MW_DEVICE_ANE, .segments = 20, .dispatch_steps = 50};
    count_parts(&s, &err);
    CHECK_INT(err.status, MW_ERROR_UNSUPPORTED);
    err = (mw_error){0};
    s.device = MW_DEVICE_CPU; /* holds any number */
    CHECK(count_parts(&s, &err).held > 128);
    CHECK_OK(err);
}

static void test_numbers_that_are_no_count_are_refused(void)
{
    static const int bad[] = {-2, 4097, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mw_error err = {0};
        count_parts(&(segment_setting){.net = &segment_nets[2], .segments = bad[i]}, &err);
        CHECK_INT(err.status, MW_ERROR_ARGUMENT);
        CHECK(strstr(err.message, "segments is") != NULL);
    }
}

/* ---- the program ---- */

static void test_the_program_of_segments_reads_as_the_whole(void)
{
    mw_error err = {0};
    segment_trained whole, cut;
    segment_setting s = {.net = &segment_nets[0], .device = MW_DEVICE_ANE};
    segment_create(&whole, &s, &err);
    s.segments = 30;
    segment_create(&cut, &s, &err);
    CHECK_OK(err);
    mw_program *a = mw_trainer_program(whole.trainer), *b = mw_trainer_program(cut.trainer);
    CHECK_STR(mw_program_mil(a), mw_program_mil(b));
    CHECK_STR(mw_program_where(a), mw_program_where(b));
    CHECK_INT(mw_program_port_count(a), mw_program_port_count(b));
    CHECK(mw_plan_create(b, &err) == NULL);
    CHECK_INT(err.status, MW_ERROR_UNSUPPORTED);
    CHECK(strstr(err.message, "segments") != NULL);
    err = (mw_error){0};
    CHECK_INT(mw_trainer_profile(cut.trainer, MW_TRAINER_STEP, 4, &err), MW_ERROR_UNSUPPORTED);
    err = (mw_error){0};
    CHECK_INT(mw_program_run(b, &err), MW_OK); /* on what is there, zeros */
    segment_destroy(&whole);
    segment_destroy(&cut);
}

static void test_kept_folders_have_the_segments_beside_the_whole(void)
{
    mw_error err = {0};
    char folder[] = "/tmp/segments-XXXXXX", path[96];
    CHECK(mkdtemp(folder) != NULL);
    const mw_trainer_parts parts =
        count_parts(&(segment_setting){.net = &segment_nets[2], .segments = 3, .keep_folder = folder}, &err);
    CHECK_OK(err);
    for (size_t i = 0; i < parts.programs; i++) {
        snprintf(path, sizeof path, "%s/segment_%zu/model.mil", folder, i);
        CHECK(access(path, R_OK) == 0);
        mw_graph *graph = mw_graph_open_mil(path, NULL, &err);
        CHECK_INT(mw_graph_verify(graph, &err), MW_OK);
        mw_graph_destroy(graph);
        CHECK_INT(remove(path), 0);
        snprintf(path, sizeof path, "%s/segment_%zu", folder, i);
        char weights[128];
        snprintf(weights, sizeof weights, "rm -r %s", path);
        CHECK_INT(system(weights), 0);
    }
    snprintf(path, sizeof path, "rm -r %s", folder);
    CHECK_INT(system(path), 0);
}

static void test_segments_are_taken_from_a_cache(void)
{
    mw_error err = {0};
    char folder[] = "/tmp/segments-XXXXXX", command[64];
    CHECK(mkdtemp(folder) != NULL);
    segment_trained plain, first, again;
    segment_setting s = {.net = &segment_nets[2], .segments = 9};
    segment_create(&plain, &s, &err);
    s.cache_folder = folder;
    segment_create(&first, &s, &err);
    segment_create(&again, &s, &err);
    segment_train(&plain, &s, 0, 3, &err);
    segment_train(&first, &s, 0, 3, &err);
    segment_train(&again, &s, 0, 3, &err);
    if (CHECK_OK(err)) {
        segment_check_equal(&plain, &first, &s);
        segment_check_equal(&plain, &again, &s);
    }
    segment_destroy(&plain);
    segment_destroy(&first);
    segment_destroy(&again);
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK_INT(system(command), 0);
}

static void test_evaluation_sees_what_segments_trained(void)
{
    mw_error err = {0};
    segment_trained whole, cut;
    segment_setting s = {.net = &segment_nets[3], .average_decay = 0.5f};
    segment_create(&whole, &s, &err);
    segment_train(&whole, &s, 0, 4, &err);
    s.segments = 20;
    segment_create(&cut, &s, &err);
    segment_train(&cut, &s, 0, 4, &err);
    for (int averages = 0; averages < 2; averages++) {
        segment_batch batch;
        segment_fill(&batch, whole.graph, 99);
        const mw_column columns[] = {
            {.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(16), .data = batch.feeds[0].data},
            {.name = "y", .dtype = MW_I32, .shape = mw_shape_scalar(), .data = batch.feeds[1].data}};
        mw_evaluation a, b;
        mw_dataset *set = mw_dataset_create(columns, 2, 8, false, &err);
        mw_trainer_use_averages(whole.trainer, averages == 1, &err);
        mw_trainer_use_averages(cut.trainer, averages == 1, &err);
        mw_trainer_evaluate(whole.trainer, set, NULL, &a, &err);
        mw_trainer_evaluate(cut.trainer, set, NULL, &b, &err);
        if (CHECK_OK(err))
            CHECK(memcmp(&a.loss, &b.loss, sizeof a.loss) == 0);
        mw_dataset_destroy(set);
        segment_free(&batch);
    }
    segment_destroy(&whole);
    segment_destroy(&cut);
}

/* ---- failures ---- */

enum { FAULTS_MAX = 200000, FAULTS = 300 };

static long count_requests(bool of_engine, bool steps)
{
    failing_allocator failing = {.fail_at = -1};
    const mw_allocator allocator = failing_allocator_of(&failing);
    mw_error err = {0};
    segment_trained t;
    segment_setting s = {.net = &segment_nets[2], .segments = 9, .dispatch_steps = 2};
    if (of_engine)
        e5rt_mw_set_allocator(allocator.resize, allocator.user);
    else
        s.allocator = &allocator;
    segment_create(&t, &s, &err);
    if (steps)
        segment_train(&t, &s, 0, 2, &err);
    CHECK_OK(err);
    segment_destroy(&t);
    e5rt_mw_set_allocator(NULL, NULL);
    CHECK_INT(failing.live, 0);
    return failing.requests;
}

static void check_failure(bool of_engine, long at)
{
    failing_allocator failing = {.fail_at = at};
    const mw_allocator allocator = failing_allocator_of(&failing);
    mw_error err = {0};
    segment_trained t;
    segment_setting s = {.net = &segment_nets[2], .segments = 9, .dispatch_steps = 2};
    if (of_engine)
        e5rt_mw_set_allocator(allocator.resize, allocator.user);
    else
        s.allocator = &allocator;
    segment_create(&t, &s, &err);
    if (t.trainer == NULL && mw_graph_check(t.graph, NULL) == MW_OK)
        check_note(err.status == MW_ERROR_MEMORY || err.status == MW_ERROR_DEVICE, __FILE__, __LINE__,
                   "request %ld of %s: %d %s", at, of_engine ? "the engine" : "the library", err.status, err.message);
    check_note(t.trainer == NULL || !failing.failed, __FILE__, __LINE__, "request %ld failed unnoticed", at);
    segment_destroy(&t);
    e5rt_mw_set_allocator(NULL, NULL);
    check_note(failing.live == 0, __FILE__, __LINE__, "request %ld: %ld blocks are left", at, failing.live);
}

static void test_creation_survives_failures_of_memory(void)
{
    for (int of_engine = 0; of_engine < 2; of_engine++) {
        const long requests = count_requests(of_engine == 1, false);
        CHECK(requests > FAULTS && requests < FAULTS_MAX);
        const long step = getenv("MW_NIGHTLY") != NULL ? 1 : requests / FAULTS;
        for (long at = requests - 1; at >= 0; at -= step)
            check_failure(of_engine == 1, at);
    }
}

int main(void)
{
    RUN(test_deep_transformers_are_eight_programs_at_most);
    RUN(test_what_differs_between_layers_is_an_input);
    RUN(test_auto_leaves_short_steps_whole_and_cuts_long_ones);
    RUN(test_auto_stays_within_what_a_process_holds_by_longer_segments);
    RUN(test_more_operations_than_a_process_holds_are_refused_with_both_counts);
    RUN(test_numbers_that_are_no_count_are_refused);
    RUN(test_the_program_of_segments_reads_as_the_whole);
    RUN(test_kept_folders_have_the_segments_beside_the_whole);
    RUN(test_segments_are_taken_from_a_cache);
    RUN(test_evaluation_sees_what_segments_trained);
    RUN(test_creation_survives_failures_of_memory);
    return check_finish();
}
