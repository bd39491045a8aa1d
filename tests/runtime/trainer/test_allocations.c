/* Training does not ask for memory: every request to the allocator is made before the first step. How much is asked for
 * until then grows with the network and no faster. */
#include "runtime/small.h"
#include "support/check.h"
#include "support/failing.h"

#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 1000 };

static mw_trainer *create(mw_device device, const mw_allocator *allocator, mw_error *err)
{
    small_net net = small_create(allocator);
    mw_trainer_options options = mw_trainer_defaults(net.loss, mw_adam(0.01f));
    options.metric = net.accuracy;
    options.compile.device = device;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.allocator = allocator;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(net.graph);
    return trainer;
}

static mw_dataset *wrap(const small_data *data, mw_error *err)
{
    const mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(SMALL_D), .data = data->x},
                                 {.name = "y", .dtype = MW_I32, .shape = mw_shape_scalar(), .data = data->y}};
    return mw_dataset_create(columns, 2, SMALL_EXAMPLES, false, err);
}

static mw_loader *serve(const mw_dataset *dataset, const mw_allocator *allocator, mw_error *err)
{
    mw_loader_options options = mw_loader_defaults(dataset, SMALL_N);
    options.allocator = allocator;
    return mw_loader_create(&options, err);
}

/* Epochs end in between: the loader shuffles anew without a request either. */
static void check_steps_allocate_nothing(mw_device device)
{
    failing_allocator counting = {.fail_at = -1};
    const mw_allocator allocator = failing_allocator_of(&counting);
    const small_data data = small_make_data();
    mw_error err = {0};
    mw_trainer *trainer = create(device, &allocator, &err);
    mw_dataset *dataset = wrap(&data, &err);
    mw_loader *loader = serve(dataset, &allocator, &err);
    CHECK_OK(err);
    REQUIRE(trainer != NULL && loader != NULL);
    const long before = counting.requests;
    CHECK(before > 10); /* else the allocator is not the one in use */
    while (mw_trainer_get_info(trainer).steps < STEPS && err.status == MW_OK) {
        const mw_batch *batch = mw_loader_next(loader, &err);
        if (batch != NULL)
            mw_trainer_step(trainer, batch, NULL, &err);
    }
    CHECK_OK(err);
    CHECK_INT(mw_trainer_get_info(trainer).steps, STEPS);
    CHECK_INT(counting.requests, before);
    mw_loader_destroy(loader);
    mw_dataset_destroy(dataset);
    mw_trainer_destroy(trainer);
    CHECK_INT(counting.live, 0);
}

static void test_steps_on_the_cpu_allocate_nothing(void) { check_steps_allocate_nothing(MW_DEVICE_CPU); }
static void test_steps_on_the_ane_allocate_nothing(void) { check_steps_allocate_nothing(MW_DEVICE_ANE); }

/* ---- what a deep network asks for until it can be trained ---- */

typedef struct meter {
    long requests;
    size_t bytes;
} meter;

static void *measured_resize(void *user, void *pointer, size_t size)
{
    meter *m = user;
    if (size == 0) {
        free(pointer);
        return NULL;
    }
    m->requests++;
    m->bytes += size;
    return realloc(pointer, size);
}

static meter measure_layers(int layers)
{
    meter m = {0};
    const mw_allocator allocator = {.resize = measured_resize, .user = &m};
    mw_graph_options graph_options = mw_graph_defaults();
    graph_options.allocator = &allocator;
    mw_graph *graph = mw_graph_create(&graph_options, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(4, 8)), *y = mw_input(graph, "y", MW_I32, MW_SHAPE(4));
    char name[32];
    for (int i = 0; i < layers; i++) {
        snprintf(name, sizeof name, "fc%d", i);
        x = mw_relu(mw_dense(x, 8, name));
    }
    mw_error err = {0};
    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(x, y), mw_adam(0.01f));
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.allocator = &allocator;
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    CHECK_OK(err);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    return m;
}

/* Twice the layers ask for twice as much more; arrays that double their size may overshoot by half. */
static void test_deep_networks_ask_for_memory_in_proportion(void)
{
    const meter few = measure_layers(25), more = measure_layers(50), most = measure_layers(100);
    CHECK(few.requests > 100);
    CHECK(most.requests - more.requests <= 3 * (more.requests - few.requests));
    CHECK(most.bytes - more.bytes <= 3 * (more.bytes - few.bytes));
}

int main(void)
{
    RUN(test_steps_on_the_cpu_allocate_nothing);
    RUN(test_steps_on_the_ane_allocate_nothing);
    RUN(test_deep_networks_ask_for_memory_in_proportion);
    return check_finish();
}
