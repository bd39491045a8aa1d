/* The optional rows e5rt_mw_*: plans and profiles of encoded operations, and what they refuse. */
#include "engine/run.h"
#include "support/check.h"

static const char text[] = RUN_TEXT("tensor<fp32, [64, 64]> x, tensor<fp32, [64, 64]> s",
                                    "        tensor<fp32, [64, 64]> a = matmul(transpose_x = bool(false), "
                                    "transpose_y = bool(false), x = x, y = s);\n"
                                    "        tensor<fp32, [64, 64]> b = mul(x = a, y = fp32(0.5));\n"
                                    "        tensor<fp32, [64, 64]> t = add(x = b, y = s);\n",
                                    "t");

enum { SIZE = 64 * 64 * 4 };

static bool open_text(run_program *r, uint64_t threads)
{
    return run_open(r, text, E5RT_CPU, threads) && run_bind(r, false, "x", SIZE) != NULL &&
           run_bind(r, false, "s", SIZE) != NULL && run_share(r, "t", "s") != NULL;
}

static const e5rt_mw_plan *plan_of(const run_program *r, void **handle)
{
    const e5rt_mw_plan *plan = NULL;
    CHECK_INT(e5rt_mw_plan_create(handle, r->operation), 0);
    CHECK_INT(e5rt_mw_plan_get_data(*handle, &plan), 0);
    return plan;
}

static void test_plan_before_encode_is_refused(void)
{
    run_program r;
    void *plan = &r;
    REQUIRE(open_text(&r, 1));
    CHECK_INT(e5rt_mw_plan_create(&plan, r.operation), E5RT_INVALID_OPERATION);
    CHECK(plan == NULL);
    CHECK_CONTAINS(e5rt_get_last_error_message(), "\"main\" is not on a stream");
    CHECK_INT(e5rt_mw_execution_stream_operation_set_profiling(r.operation, 3), E5RT_INVALID_OPERATION);
    run_close(&r);
}

static void test_wrong_arguments_are_refused(void)
{
    run_program r;
    void *plan = NULL;
    const e5rt_mw_plan *data = NULL;
    REQUIRE(open_text(&r, 1) && run_encode(&r));
    CHECK(e5rt_mw_plan_create(NULL, r.operation) != 0);
    CHECK(e5rt_mw_plan_create(&plan, NULL) != 0);
    CHECK(e5rt_mw_plan_create(&plan, r.stream) != 0);
    CHECK(e5rt_mw_plan_get_data(NULL, &data) != 0);
    CHECK(e5rt_mw_plan_get_data(r.operation, &data) != 0);
    CHECK_INT(e5rt_mw_plan_create(&plan, r.operation), 0);
    CHECK(e5rt_mw_plan_get_data(plan, NULL) != 0);
    CHECK(e5rt_mw_execution_stream_operation_set_profiling(plan, 1) != 0);
    CHECK_INT(e5rt_mw_execution_stream_operation_set_profiling(r.operation, UINT64_MAX), E5RT_INVALID_ARGUMENT);
    CHECK_CONTAINS(e5rt_get_last_error_message(), "at most");
    void *again = plan;
    CHECK_INT(e5rt_mw_plan_release(&plan), 0);
    CHECK(plan == NULL);
    CHECK(e5rt_mw_plan_get_data(again, &data) != 0);
    CHECK(e5rt_mw_plan_release(&again) != 0);
    run_close(&r);
}

/* The plan's strings belong to the library, which it keeps. */
static void test_a_plan_outlives_its_operation(void)
{
    run_program r;
    void *handle = NULL;
    REQUIRE(open_text(&r, 2) && run_encode(&r) && run_execute(&r));
    const e5rt_mw_plan *plan = plan_of(&r, &handle);
    run_close(&r);
    REQUIRE(plan != NULL);
    CHECK_INT(plan->version, E5RT_MW_PLAN_VERSION);
    CHECK_INT(plan->step_count, 2);
    CHECK_STR(plan->steps[0].operations[0].kind, "matmul");
    CHECK_INT(plan->steps[1].operation_count, 2);
    CHECK_STR(plan->steps[1].operations[1].name, "t");
    CHECK_CONTAINS(plan->summary, "CPU");
    e5rt_mw_plan_release(&handle);
}

static void test_a_profile_keeps_the_newest_runs(void)
{
    run_program r;
    void *handle = NULL;
    run_set("MW_ENGINE_WAKE", "0");
    REQUIRE(open_text(&r, 3) && run_encode(&r) && run_execute(&r));
    CHECK_INT(e5rt_mw_execution_stream_operation_set_profiling(r.operation, 4), 0);
    for (int i = 0; i < 10; i++)
        run_execute(&r);
    const e5rt_mw_plan *plan = plan_of(&r, &handle);
    REQUIRE(plan != NULL);
    CHECK_INT(plan->run_count, 4);
    CHECK_INT(plan->runs_profiled, 10);
    for (uint64_t i = 0; i < plan->run_count; i++) {
        const e5rt_mw_run *one = &plan->runs[i];
        CHECK_INT(one->number, 6 + i);
        CHECK(one->threads >= 1 && one->threads <= 3);
        CHECK(i == 0 || plan->runs[i - 1].span.end <= one->span.begin);
        for (uint64_t t = 0; t < plan->task_count; t++)
            CHECK(one->span.begin <= one->tasks[t].begin && one->tasks[t].begin <= one->tasks[t].end &&
                  one->tasks[t].end <= one->span.end);
    }
    e5rt_mw_plan_release(&handle);
    CHECK_INT(e5rt_mw_execution_stream_operation_set_profiling(r.operation, 0), 0);
    run_execute(&r);
    plan = plan_of(&r, &handle);
    REQUIRE(plan != NULL);
    CHECK_INT(plan->run_count, 0);
    e5rt_mw_plan_release(&handle);
    run_close(&r);
}

static void test_profiled_runs_give_the_same_bytes(void)
{
    run_program r[2];
    float *x[2], *s[2];
    for (int k = 0; k < 2; k++) {
        REQUIRE(run_open(&r[k], text, E5RT_CPU, 2));
        x[k] = run_bind(&r[k], false, "x", SIZE);
        s[k] = run_bind(&r[k], false, "s", SIZE);
        REQUIRE(x[k] != NULL && s[k] != NULL && run_share(&r[k], "t", "s") != NULL && run_encode(&r[k]));
        for (int i = 0; i < SIZE / 4; i++)
            x[k][i] = 0.001f * (float)(i % 77), s[k][i] = 0.01f * (float)(i % 91);
    }
    CHECK_INT(e5rt_mw_execution_stream_operation_set_profiling(r[1].operation, 2), 0);
    for (int i = 0; i < 3; i++)
        CHECK(run_execute(&r[0]) && run_execute(&r[1]));
    CHECK(memcmp(s[0], s[1], SIZE) == 0);
    run_close(&r[0]);
    run_close(&r[1]);
}

/* Encoding anew makes another command list: the plan is of that, and the profile is off. */
static void test_encoding_again_ends_the_profile(void)
{
    run_program r;
    void *handle = NULL;
    REQUIRE(open_text(&r, 1) && run_encode(&r));
    CHECK_INT(e5rt_mw_execution_stream_operation_set_profiling(r.operation, 4), 0);
    CHECK(run_execute(&r));
    CHECK_INT(e5rt_execution_stream_reset(r.stream), 0);
    CHECK(e5rt_mw_plan_create(&handle, r.operation) != 0);
    CHECK_INT(e5rt_execution_stream_operation_prepare_op_for_encode(r.operation), 0);
    CHECK(run_encode(&r) && run_execute(&r));
    const e5rt_mw_plan *plan = plan_of(&r, &handle);
    REQUIRE(plan != NULL);
    CHECK_INT(plan->runs_profiled, 0);
    e5rt_mw_plan_release(&handle);
    run_close(&r);
}

int main(void)
{
    RUN(test_plan_before_encode_is_refused);
    RUN(test_wrong_arguments_are_refused);
    RUN(test_a_plan_outlives_its_operation);
    RUN(test_a_profile_keeps_the_newest_runs);
    RUN(test_profiled_runs_give_the_same_bytes);
    RUN(test_encoding_again_ends_the_profile);
    return check_finish();
}
