/* Files that are written while, or after, they were read under the same name: what was read does not hang on the file,
 * and what is written is whole. */
#include "runtime/files.h"
#include "runtime/small.h"
#include "support/check.h"

#include <millwright/millwright.h>
#include <stdlib.h>
#include <unistd.h>

static void train(mw_trainer *trainer, int count)
{
    const small_data data = small_make_data();
    mw_error err = {0};
    for (int i = 0; i < count; i++) {
        small_batch batch;
        small_fill_batch(&batch, &data, i % 5 * SMALL_N);
        mw_trainer_step(trainer, &batch.batch, NULL, &err);
    }
    CHECK_OK(err);
}

static void test_a_checkpoint_is_saved_over_the_one_that_was_loaded(void)
{
    mw_error err = {0};
    mw_trainer *trainer = small_trainer(MW_DEVICE_CPU, mw_adam(0.01f), 1.0f, &err);
    mw_trainer *other = small_trainer(MW_DEVICE_CPU, mw_adam(0.01f), 1.0f, &err);
    CHECK_OK(err);
    REQUIRE(trainer != NULL && other != NULL);
    for (int round = 0; round < 3; round++) {
        train(trainer, 2);
        mw_trainer_save(trainer, scratch("run"), NULL, &err);
        mw_trainer_load(other, scratch("run"), NULL, &err);
        mw_trainer_save(other, scratch("run"), NULL, &err);
        mw_trainer_load(trainer, scratch("run"), NULL, &err);
        CHECK_OK(err);
        CHECK_INT(mw_trainer_get_info(trainer).steps, 2 * (round + 1));
        const small_snapshot a = small_take(trainer), b = small_take(other);
        small_check_same(&a, &b);
    }
    mw_trainer_destroy(trainer);
    mw_trainer_destroy(other);
}

enum { SIDE = 16, WEIGHTS = SIDE * SIDE };

/* y = x w, with a weight that is large enough for the weight file. */
static void write_model(const char *folder, mw_error *err)
{
    static float values[WEIGHTS];
    for (int i = 0; i < WEIGHTS; i++)
        values[i] = (float)(i % 13 - 6) / 8.0f;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(1, SIDE));
    mw_tensor *w = mw_name(mw_constant(graph, MW_F32, MW_SHAPE(SIDE, SIDE), values), "w");
    mw_output(mw_matmul(x, w, MW_TRANSPOSE_NONE), "y");
    mw_graph_write(graph, folder, NULL, err);
    mw_graph_destroy(graph);
}

static void run_model(const char *folder, float out[SIDE], mw_error *err)
{
    char path[1024];
    float x[SIDE];
    snprintf(path, sizeof path, "%s/model.mil", folder);
    for (int i = 0; i < SIDE; i++)
        x[i] = (float)i / 4.0f;
    mw_graph *graph = mw_graph_open_mil(path, NULL, err);
    mw_compile_options options = mw_compile_defaults();
    options.provider = MW_PROVIDER_ENGINE;
    options.device = MW_DEVICE_CPU;
    mw_program *program = mw_program_create(graph, &options, err);
    mw_program_write(program, "x", MW_F32, x, SIDE, err);
    mw_program_run(program, err);
    mw_program_read(program, "y", MW_F32, out, SIDE, err);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

/* A graph that was read, written where it came from; and a second reader that began before that. */
static void test_a_model_is_written_over_the_one_that_was_read(void)
{
    char folder[1024], path[1100];
    float before[SIDE], after[SIDE];
    mw_error err = {0};
    snprintf(folder, sizeof folder, "%s", scratch("model"));
    snprintf(path, sizeof path, "%s/model.mil", folder);
    write_model(folder, &err);
    run_model(folder, before, &err);
    mw_graph *first = mw_graph_open_mil(path, NULL, &err), *second = mw_graph_open_mil(path, NULL, &err);
    mw_graph_write(first, folder, NULL, &err);
    CHECK_OK(err);
    run_model(folder, after, &err);
    CHECK(memcmp(before, after, sizeof before) == 0);
    mw_graph_write(second, folder, NULL, &err); /* its weights do not hang on the file that is gone */
    run_model(folder, after, &err);
    CHECK_OK(err);
    CHECK(memcmp(before, after, sizeof before) == 0);
    mw_graph_destroy(first);
    mw_graph_destroy(second);
}

/* A file that is cut while a program made from it lives: a mapping would end the process (SIGBUS). */
static void test_a_weight_file_may_be_cut_while_its_graph_is_in_use(void)
{
    char folder[1024], path[1100], weights[1100];
    float y[SIDE] = {0};
    mw_error err = {0};
    snprintf(folder, sizeof folder, "%s", scratch("cut"));
    snprintf(path, sizeof path, "%s/model.mil", folder);
    snprintf(weights, sizeof weights, "%s/weights/weight.bin", folder);
    write_model(folder, &err);
    mw_graph *graph = mw_graph_open_mil(path, NULL, &err);
    CHECK_OK(err);
    CHECK(truncate(weights, 0) == 0);
    mw_graph_write(graph, scratch("whole"), NULL, &err);
    run_model(scratch("whole"), y, &err);
    CHECK_OK(err);
    CHECK(y[SIDE - 1] != 0);
    CHECK(mw_graph_open_mil(path, NULL, &err) == NULL); /* and anew it is refused */
    CHECK_INT(err.status, MW_ERROR_FORMAT);
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_a_checkpoint_is_saved_over_the_one_that_was_loaded);
    RUN(test_a_model_is_written_over_the_one_that_was_read);
    RUN(test_a_weight_file_may_be_cut_while_its_graph_is_in_use);
    return check_finish();
}
