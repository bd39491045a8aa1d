/* The fault loop: allocation n fails, for every n until nothing fails, on the host's side and on the engine's. Each
 * failure must be an error with a status, leak nothing and leave what existed as it was. */
#include "runtime/small.h"
#include "support/check.h"
#include "support/evaluated.h"
#include "support/failing.h"

#include <e5rt/e5rt.h>
#include <stdlib.h>

enum { LIMIT = 20000 }; /* more requests than any of these needs: the loop must end before */

static mw_trainer *create_of(small_net net, mw_device device, const mw_allocator *allocator, mw_error *err)
{
    mw_trainer_options options = mw_trainer_defaults(net.loss, mw_adam(0.01f));
    options.metric = net.accuracy;
    options.prediction = net.logits;
    options.compile.device = device;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.allocator = allocator;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(net.graph);
    return trainer;
}

static mw_trainer *create(mw_device device, const mw_allocator *allocator, mw_error *err)
{
    return create_of(small_create(NULL), device, allocator, err);
}

static void check_refusal(const mw_error *err, long n)
{
    check_note(err->status == MW_ERROR_MEMORY && err->message[0] != '\0', __FILE__, __LINE__,
               "request %ld failed: status %d \"%s\"", n, (int)err->status, err->message);
}

/* Engine memory that a process keeps for good (plans of the team, the BLAS) exists before the loops. */
static void warm_up(void)
{
    const small_data data = small_make_data();
    mw_error err = {0};
    mw_trainer *trainer = create(MW_DEVICE_CPU, NULL, &err);
    small_batch batch;
    small_fill_batch(&batch, &data, 0);
    mw_trainer_step(trainer, &batch.batch, NULL, &err);
    CHECK_OK(err);
    mw_trainer_destroy(trainer);
}

static void test_create_survives_every_host_failure(void)
{
    const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};
    for (int k = 0; k < 2; k++) {
        long n = 0;
        for (bool done = false; !done && n < LIMIT; n++) {
            failing_allocator failing = {.fail_at = n, .and_after = n % 2 == 1};
            const mw_allocator allocator = failing_allocator_of(&failing);
            mw_error err = {0};
            mw_trainer *trainer = create(devices[k], &allocator, &err);
            done = !failing.failed;
            if (trainer == NULL)
                check_refusal(&err, n);
            else
                check_note(done, __FILE__, __LINE__, "request %ld failed unnoticed", n);
            mw_trainer_destroy(trainer);
            CHECK_INT(failing.live, 0);
        }
        CHECK(n > 10 && n < LIMIT);
    }
}

/* Building the graph and creating: states, their assignments and evaluation forms. */
static void test_a_model_with_states_survives_every_host_failure(void)
{
    long n = 0;
    for (bool done = false; !done && n < LIMIT; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        small_net net = small_create_stateful(&allocator);
        mw_trainer *trainer = net.loss != NULL ? create_of(net, MW_DEVICE_CPU, &allocator, &err) : NULL;
        done = !failing.failed;
        if (net.loss == NULL) {
            if (net.graph != NULL)
                CHECK_INT(mw_graph_check(net.graph, &err), MW_ERROR_MEMORY);
            mw_graph_destroy(net.graph);
        } else if (trainer == NULL) {
            check_refusal(&err, n);
        } else {
            check_note(done, __FILE__, __LINE__, "request %ld failed unnoticed", n);
        }
        mw_trainer_destroy(trainer);
        CHECK_INT(failing.live, 0);
    }
    CHECK(n > 10 && n < LIMIT);
}

static void test_create_survives_every_engine_failure(void)
{
    long n = 0;
    for (bool done = false; !done && n < LIMIT; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        e5rt_mw_set_allocator(allocator.resize, allocator.user);
        mw_trainer *trainer = create(MW_DEVICE_CPU, NULL, &err);
        done = !failing.failed;
        if (trainer == NULL)
            check_refusal(&err, n);
        else
            check_note(done, __FILE__, __LINE__, "request %ld failed unnoticed", n);
        mw_trainer_destroy(trainer);
        e5rt_mw_set_allocator(NULL, NULL);
        CHECK_INT(failing.live, 0);
    }
    CHECK(n > 10 && n < LIMIT);
}

/* The first step encodes, which plans memory: a failure there must leave the trainer usable. */
static void test_the_first_step_survives_every_engine_failure(void)
{
    const small_data data = small_make_data();
    long n = 0;
    for (bool done = false; !done && n < LIMIT; n++) {
        failing_allocator failing = {.fail_at = -1};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        e5rt_mw_set_allocator(allocator.resize, allocator.user);
        mw_trainer *trainer = create(MW_DEVICE_CPU, NULL, &err);
        CHECK_OK(err);
        small_batch batch;
        small_fill_batch(&batch, &data, 0);
        failing.fail_at = failing.requests + n;
        const mw_status status = mw_trainer_step(trainer, &batch.batch, NULL, &err);
        done = !failing.failed;
        if (status != MW_OK) {
            check_refusal(&err, n);
            CHECK_INT(mw_trainer_get_info(trainer).steps, 0);
            err = (mw_error){0};
            failing.fail_at = -1;
            mw_trainer_step(trainer, &batch.batch, NULL, &err);
            CHECK_OK(err);
        }
        CHECK_INT(mw_trainer_get_info(trainer).steps, 1);
        mw_trainer_destroy(trainer);
        e5rt_mw_set_allocator(NULL, NULL);
        CHECK_INT(failing.live, 0);
    }
    CHECK(n > 1 && n < LIMIT);
}

/* Evaluation and prediction compile at first use; after a failure they must work. */
static void test_evaluation_survives_every_host_failure(void)
{
    const small_data data = small_make_data();
    const mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(SMALL_D), .data = data.x},
                                 {.name = "y", .dtype = MW_I32, .shape = {0}, .data = data.y}};
    mw_error err = {0};
    mw_dataset *dataset = mw_dataset_create(columns, 2, 11, false, &err);
    CHECK_OK(err);
    long n = 0;
    for (bool done = false; !done && n < LIMIT; n++) {
        failing_allocator failing = {.fail_at = -1};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_trainer *trainer = create(MW_DEVICE_CPU, &allocator, &err);
        CHECK_OK(err);
        failing.fail_at = failing.requests + n;
        double loss = 0;
        float out[SMALL_N * SMALL_C];
        small_batch batch;
        small_fill_batch(&batch, &data, 0);
        mw_status status = evaluated(trainer, dataset, &loss, NULL, &err);
        if (status == MW_OK)
            status = mw_trainer_predict(trainer, &batch.batch, MW_F32, out, SMALL_N * SMALL_C, &err);
        done = !failing.failed;
        if (status != MW_OK) {
            check_refusal(&err, n);
            CHECK_INT(status, err.status);
            err = (mw_error){0};
            failing.fail_at = -1;
            evaluated(trainer, dataset, &loss, NULL, &err);
            CHECK_OK(err);
            CHECK(loss > 0);
        } else {
            check_note(done, __FILE__, __LINE__, "request %ld failed unnoticed", n);
        }
        mw_trainer_destroy(trainer);
        CHECK_INT(failing.live, 0);
    }
    CHECK(n > 10 && n < LIMIT);
    mw_dataset_destroy(dataset);
}

static void test_compile_survives_every_host_failure(void)
{
    long n = 0;
    small_net net = small_create(NULL);
    mw_output(net.logits, "logits");
    for (bool done = false; !done && n < LIMIT; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        mw_compile_options options = mw_compile_defaults();
        options.allocator = &allocator;
        options.device = MW_DEVICE_ANE; /* converts the parameters */
        options.provider = MW_PROVIDER_ENGINE;
        mw_program *program = mw_program_create(net.graph, &options, &err);
        done = !failing.failed;
        if (program == NULL)
            check_refusal(&err, n);
        else
            check_note(done, __FILE__, __LINE__, "request %ld failed unnoticed", n);
        mw_program_destroy(program);
        CHECK_INT(failing.live, 0);
    }
    CHECK(n > 10 && n < LIMIT);
    mw_graph_destroy(net.graph);
}

int main(void)
{
    unsetenv("MW_E5RT_LIBRARY");
    RUN(warm_up);
    RUN(test_compile_survives_every_host_failure);
    RUN(test_create_survives_every_host_failure);
    RUN(test_a_model_with_states_survives_every_host_failure);
    RUN(test_create_survives_every_engine_failure);
    RUN(test_the_first_step_survives_every_engine_failure);
    RUN(test_evaluation_survives_every_host_failure);
    return check_finish();
}
