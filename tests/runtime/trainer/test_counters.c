/* What crosses the host boundary, by the trainer's counters and by the memory behind the ports. */
#include "runtime/small.h"
#include "support/check.h"
#include "support/failing.h"

#include <e5rt/e5rt.h>
#include <stdlib.h>

static mw_trainer *create(mw_device device, const mw_allocator *allocator, mw_error *err)
{
    small_net net = small_create(NULL);
    mw_trainer_options options = mw_trainer_defaults(net.loss, mw_adam(0.01f));
    options.compile.device = device;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.allocator = allocator;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(net.graph);
    return trainer;
}

static void run_steps(mw_trainer *trainer, int count, mw_error *err)
{
    const small_data data = small_make_data();
    for (int step = 0; step < count; step++) {
        small_batch batch;
        small_fill_batch(&batch, &data, step % 5 * SMALL_N);
        mw_trainer_step(trainer, &batch.batch, NULL, err);
    }
}

static void test_no_state_crosses_in_a_hundred_steps(void)
{
    const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};
    for (int k = 0; k < 2; k++) {
        const size_t size = k == 0 ? 4 : 2;
        mw_error err = {0};
        mw_trainer *trainer = create(devices[k], NULL, &err);
        const mw_trainer_counters start = mw_trainer_get_info(trainer).counters;
        CHECK_INT(start.state_bytes_in, 3 * SMALL_PARAMETERS * size); /* seeded once: p, m, v */
        CHECK_INT(start.state_bytes_out, 0);
        CHECK_INT(start.feed_bytes, 0);
        run_steps(trainer, 100, &err);
        CHECK_OK(err);
        const mw_trainer_counters end = mw_trainer_get_info(trainer).counters;
        CHECK_INT(end.state_bytes_in, start.state_bytes_in);
        CHECK_INT(end.state_bytes_out, 0);
        CHECK_INT(end.steps, 100);
        CHECK_INT(end.refused_steps, 0);
        /* x, y (fp16 ports on the ANE) and Adam's two scalars, three in fp16; loss and ok */
        const size_t label = k == 0 ? 4 : 2;
        CHECK_INT(end.feed_bytes, 100 * (SMALL_N * SMALL_D * size + SMALL_N * label + (k == 0 ? 2 : 3) * size));
        CHECK_INT(end.result_bytes, 100 * 2 * size);
        mw_trainer_destroy(trainer);
    }
}

static void test_reads_and_writes_are_counted(void)
{
    mw_error err = {0};
    mw_trainer *trainer = create(MW_DEVICE_CPU, NULL, &err);
    const mw_trainer_counters start = mw_trainer_get_info(trainer).counters;
    float values[SMALL_C];
    mw_trainer_read(trainer, "fc2.bias", MW_F32, values, SMALL_C, &err);
    mw_trainer_read(trainer, "fc2.bias", MW_F32, values, SMALL_C, &err);
    mw_trainer_write(trainer, "fc2.bias", MW_F32, values, SMALL_C, &err);
    CHECK_OK(err);
    const mw_trainer_counters end = mw_trainer_get_info(trainer).counters;
    CHECK_INT(end.state_bytes_out - start.state_bytes_out, 2 * SMALL_C * 4);
    CHECK_INT(end.state_bytes_in - start.state_bytes_in, SMALL_C * 4);
    mw_trainer_destroy(trainer);
}

/* After the first step nothing is allocated, neither by the trainer nor by the engine. */
static void test_a_step_allocates_nothing(void)
{
    failing_allocator host = {.fail_at = -1}, engine = {.fail_at = -1};
    const mw_allocator host_allocator = failing_allocator_of(&host), engine_allocator = failing_allocator_of(&engine);
    mw_error err = {0};
    e5rt_mw_set_allocator(engine_allocator.resize, engine_allocator.user);
    mw_trainer *trainer = create(MW_DEVICE_CPU, &host_allocator, &err);
    run_steps(trainer, 1, &err);
    const long host_requests = host.requests, engine_requests = engine.requests;
    CHECK(host_requests > 0 && engine_requests > 0);
    run_steps(trainer, 20, &err);
    CHECK_OK(err);
    CHECK_INT(host.requests, host_requests);
    CHECK_INT(engine.requests, engine_requests);
    mw_trainer_destroy(trainer);
    e5rt_mw_set_allocator(NULL, NULL);
    CHECK_INT(host.live, 0);
}

int main(void)
{
    unsetenv("MW_E5RT_LIBRARY");
    RUN(test_no_state_crosses_in_a_hundred_steps);
    RUN(test_reads_and_writes_are_counted);
    RUN(test_a_step_allocates_nothing);
    return check_finish();
}
