/* What the core asks libmillwright_chip for, before and after mw_chip_register: netplists as models. */
#include "support/check.h"
#include "support/folder.h"

#include <millwright/chip_all.h>
#include <millwright/millwright.h>

#include <string.h>

/* y = 2 x + w, whose parameter becomes a constant of the file. */
static mw_model *make_model(mw_graph *graph, mw_error *err)
{
    mw_tensor *x = mw_input(graph, "x", MW_F16, MW_SHAPE(1, 4));
    mw_tensor *w = mw_parameter(graph, "w", MW_F16, MW_SHAPE(1, 4), mw_init_constant(1.0f));
    mw_output(mw_add(mw_add(x, x), w), "y");
    mw_model_options options = mw_model_defaults();
    options.read_only = true;
    return mw_model_create(graph, &options, err);
}

static void test_before_it_netplists_are_refused(void)
{
    mw_error err = {0};
    CHECK(mw_model_open("net.espresso.net", NULL, &err) == NULL);
    CHECK_INT(err.status, MW_ERROR_UNSUPPORTED);
    CHECK_CONTAINS(err.message, "mw_chip_register");
    CHECK(mw_model_open("net.espresso.net", NULL, NULL) == NULL);
    mw_error_clear(&err);
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_model *model = make_model(graph, &err);
    CHECK_OK(err);
    CHECK_INT(mw_model_write(model, "net.espresso.net", NULL, &err), MW_ERROR_UNSUPPORTED);
    CHECK_CONTAINS(err.message, "mw_chip_register");
    CHECK_INT(mw_model_write(model, "net.espresso.net", NULL, NULL), MW_ERROR_UNSUPPORTED);
    CHECK_INT(mw_model_write(model, "net.espresso.net",
                             &(mw_write_options){.struct_size = sizeof(mw_write_options), .check_only = true}, NULL),
              MW_ERROR_UNSUPPORTED);
    mw_model_destroy(model);
    mw_graph_destroy(graph);
}

static bool is_there(const char *path)
{
    FILE *file = fopen(path, "r");
    if (file != NULL)
        fclose(file);
    return file != NULL;
}

/* Checked first, which writes nothing; then written with its parameter's values, read and run. */
static void test_after_it_they_are_models(void)
{
    mw_error err = {0};
    mw_chip_register();
    mw_chip_register();
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_model *model = make_model(graph, &err);
    mw_model_write(model, "net.espresso.net",
                   &(mw_write_options){.struct_size = sizeof(mw_write_options), .check_only = true}, &err);
    if (strstr(err.message, "without libplist") != NULL) {
        mw_model_destroy(model);
        mw_graph_destroy(graph);
        SKIP("built without libplist");
    }
    CHECK(!is_there("net.espresso.net"));
    CHECK_INT(mw_model_write(model, "net.espresso.net", NULL, &err), MW_OK);
    CHECK_OK(err);
    mw_model_destroy(model);
    mw_graph_destroy(graph);
    model = mw_model_open("net.espresso.net", NULL, &err);
    CHECK_OK(err);
    mw_predictor *predictor = mw_predictor_create(model, &err);
    const float x[4] = {1, 2, 3, 4};
    float y[4] = {0};
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = x, .count = 4};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = 1};
    CHECK_INT(mw_predictor_predict(predictor, &batch, &(mw_result){"y", MW_F32, y, 4}, 1, &err), MW_OK);
    CHECK_OK(err);
    for (int i = 0; i < 4; i++)
        CHECK(y[i] == 2.0f * x[i] + 1.0f);
    mw_predictor_destroy(predictor);
    mw_model_destroy(model);
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_before_it_netplists_are_refused);
    RUN(test_after_it_they_are_models);
    folder_leave(folder);
    return check_finish();
}
