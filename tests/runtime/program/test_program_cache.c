/* Programs and trainers that keep what was compiled: the folder is used if it is asked for, by its content, and no bit
 * changes. */
#include "engine/cache/shared.h"
#include "support/check.h"
#include "support/folder.h"

#include <millwright/ane_e5rt.h>
#include <millwright/millwright.h>

#include <dirent.h>

/* Bundles below the folder. */
static int entries(const char *folder)
{
    int count = 0;
    DIR *opened = opendir(folder);
    for (const struct dirent *entry; opened != NULL && (entry = readdir(opened)) != NULL;) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        count += strncmp(entry->d_name, "millwright-", 11) == 0 ? folder_count(path) : 0;
    }
    if (opened != NULL)
        closedir(opened);
    return count;
}

static mw_program *compile(const char *cache, const char *keep, mw_device device, mw_error *err)
{
    mw_compile_options options = mw_compile_defaults();
    options.provider = MW_PROVIDER_ENGINE;
    options.device = device;
    options.threads = 1;
    options.cache_folder = cache;
    options.keep_folder = keep;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(4, 8));
    mw_output(mw_relu(mw_dense(x, 16, "fc")), "y");
    mw_program *program = mw_program_create(graph, &options, err);
    mw_graph_destroy(graph);
    return program;
}

static bool run(mw_program *program, float y[64], mw_error *err)
{
    float x[32];
    for (int i = 0; i < 32; i++)
        x[i] = (float)(i % 7) - 3.0f;
    mw_program_write(program, "x", MW_F32, x, 32, err);
    mw_program_run(program, err);
    return mw_program_read(program, "y", MW_F32, y, 64, err) == MW_OK;
}

static void test_a_program_is_compiled_once(void)
{
    static const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};
    mw_error err = {0};
    for (size_t d = 0; d < 2; d++) {
        float plain[64], cold[64], shared[64], stored[64];
        float *const results[] = {plain, cold, shared, stored};
        for (int i = 0; i < 4; i++) {
            mw_program *program = compile(i == 0 ? NULL : "cache", NULL, devices[d], &err);
            CHECK_OK(err);
            CHECK(program != NULL && run(program, results[i], &err));
            CHECK_OK(err);
            mw_program_destroy(program);
            if (i == 2)
                mw__cache_shared_drop();
            CHECK_INT(entries("cache"), i == 0 ? (int)d : (int)d + 1);
        }
        CHECK(memcmp(plain, cold, sizeof plain) == 0 && memcmp(plain, shared, sizeof plain) == 0 &&
              memcmp(plain, stored, sizeof plain) == 0);
    }
}

/* Two programs of one library have memory of their own. */
static void test_programs_that_share_are_apart(void)
{
    mw_error err = {0};
    float zeros[128] = {0}, y[64], z[64];
    mw_program *one = compile("cache", NULL, MW_DEVICE_CPU, &err), *two = compile("cache", NULL, MW_DEVICE_CPU, &err);
    CHECK_OK(err);
    REQUIRE(one != NULL && two != NULL);
    CHECK(run(two, y, &err));
    CHECK_INT(mw_program_write(one, "fc.weight", MW_F32, zeros, 128, &err), MW_OK);
    CHECK(run(one, z, &err) && run(two, z, &err));
    CHECK_OK(err);
    CHECK(memcmp(y, z, sizeof y) == 0);
    mw_program_destroy(one);
    CHECK(run(two, z, &err) && memcmp(y, z, sizeof y) == 0);
    mw_program_destroy(two);
}

static void test_nothing_is_kept_unless_it_is_asked_for(void)
{
    mw_error err = {0};
    mw_program *program = compile(NULL, "kept", MW_DEVICE_CPU, &err);
    CHECK_OK(err);
    CHECK_INT(folder_count("kept"), 1); /* the text; there are no constants */
    CHECK_INT(ane_e5rt_compile_check("kept/model.mil", NULL, 1, NULL), 0);
    CHECK_INT(folder_count("kept"), 1);
    mw_program_destroy(program);
}

static void test_the_abi_caches_where_it_is_told(void)
{
    mw_error err = {0};
    mw_program_destroy(compile(NULL, "kept", MW_DEVICE_CPU, &err));
    CHECK_INT(ane_e5rt_compile_check("kept/model.mil", "cache2", 1, NULL), 0);
    CHECK_INT(entries("cache2"), 1);
    CHECK_INT(ane_e5rt_compile_check("kept/model.mil", "cache2", 1, NULL), 0);
    CHECK_INT(entries("cache2"), 1);
}

static float train(const char *cache, mw_error *err)
{
    static const float x[32] = {1, 2, 3, 4}, y[8] = {1, 0, 1};
    char name[32];
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *in = mw_input(graph, "x", MW_F32, MW_SHAPE(8, 4)),
              *wanted = mw_input(graph, "y", MW_F32, MW_SHAPE(8, 1));
    mw_trainer_options options = mw_trainer_defaults(mw_mse(mw_dense(in, 1, "fc"), wanted), mw_adam(0.1f));
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.threads = 1;
    snprintf(name, sizeof name, "%s", cache != NULL ? cache : "");
    options.compile.cache_folder = cache != NULL ? name : NULL;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    memset(name, 'x', sizeof name - 1); /* the caller's string may go */
    mw_graph_destroy(graph);
    const mw_feed feeds[] = {{.name = "x", .dtype = MW_F32, .data = x, .count = 32, .scale = 1.0f},
                             {.name = "y", .dtype = MW_F32, .data = y, .count = 8, .scale = 1.0f}};
    const mw_batch batch = {.feeds = feeds, .feed_count = 2, .examples = 8};
    float loss = 0.0f;
    for (int i = 0; i < 5; i++)
        mw_trainer_step(trainer, &batch, &loss, err);
    mw_trainer_destroy(trainer);
    return loss;
}

static void test_a_trainer_is_compiled_once(void)
{
    mw_error err = {0};
    const float plain = train(NULL, &err), cold = train("cache3", &err);
    CHECK_OK(err);
    const int count = entries("cache3");
    CHECK(count >= 1);
    const float warm = train("cache3", &err);
    CHECK_OK(err);
    CHECK_INT(entries("cache3"), count);
    CHECK(plain == cold && plain == warm);
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_a_program_is_compiled_once);
    RUN(test_programs_that_share_are_apart);
    RUN(test_nothing_is_kept_unless_it_is_asked_for);
    RUN(test_the_abi_caches_where_it_is_told);
    RUN(test_a_trainer_is_compiled_once);
    mw__cache_shared_drop();
    folder_leave(folder);
    return check_finish();
}
