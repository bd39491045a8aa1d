/* Allocation n fails, for every n: nothing crashes, nothing leaks, and the failure is told. */
#include "graph_check.h"

#include "graph/ir/names.h"
#include "graph/transform/clone/clone.h"
#include "support/failing.h"

#define S            MW_SHAPE
#define MAX_REQUESTS 5000

/* Large constants so that the arena asks again and again. */
static const float numbers[16384];

static void build(mw_graph *g)
{
    mw_tensor *x = mw_input(g, "x", MW_F32, S(4, 8)), *parts[2];
    mw_tensor *h = mw_gelu(mw_dense(x, 8, "fc1"), MW_GELU_TANH);
    h = mw_add(h, mw_constant(g, MW_F32, S(8), numbers));
    h = mw_mul(h, mw_reshape(mw_reduce_mean(mw_constant(g, MW_F32, S(2048, 8), numbers), MW_AXES(0), false), S(8)));
    mw_split(h, 2, 1, parts);
    h = mw_name(mw_concat(parts, 2, 1), "joined");
    mw_parameter(g, "scale", MW_F32, S(8), mw_init_data(numbers));
    for (int i = 0; i < 64; i++)
        h = mw_mul_scalar(h, 1 + i);
    mw_output(mw_softmax(mw_dense(h, 2, "fc2"), -1), "p");
    mw__composite_attach(mw_graph_find(g, "p"),
                         &(const mw__composite){.name = "record", .inputs = &x, .input_count = 1});
}

static void test_building_survives_every_failed_allocation(void)
{
    long n = 0;
    for (; n < MAX_REQUESTS; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_graph *g = make_graph(MW_IOS18, &allocator);
        mw_status status = MW_ERROR_MEMORY;
        if (g != NULL) {
            build(g);
            status = mw_graph_check(g, NULL);
        }
        mw_graph_destroy(g);
        CHECK_INT(failing.live, 0);
        CHECK_INT(status, failing.failed ? MW_ERROR_MEMORY : MW_OK);
        if (!failing.failed)
            break;
    }
    CHECK(n > 10 && n < MAX_REQUESTS);
}

static mw_dtype to_half(void *user, const mw_tensor *value)
{
    (void)user;
    return mw_tensor_dtype(value) == MW_F32 ? MW_F16 : mw_tensor_dtype(value);
}

static mw_status clone_and_destroy(const mw_graph *from, const mw_allocator *allocator, mw__clone_dtype *dtype)
{
    mw_error err = {0};
    mw_graph *to = make_graph(MW_IOS18, allocator);
    if (to == NULL)
        return MW_ERROR_MEMORY;
    mw__clone clone;
    const mw__clone_options options = {.dtype = dtype, .keep_outputs = true};
    const mw_status status = mw__clone_run(&clone, from->current, to, &options, &err);
    CHECK_INT(err.status, status);
    mw__clone_deinit(&clone);
    mw_graph_destroy(to);
    return status;
}

static void test_cloning_survives_every_failed_allocation(void)
{
    mw_graph *from = mw_graph_create(NULL, NULL);
    build(from);
    for (int half = 0; half < 2; half++) {
        long n = 0;
        for (; n < MAX_REQUESTS; n++) {
            failing_allocator failing = {.fail_at = n};
            const mw_allocator allocator = failing_allocator_of(&failing);
            const mw_status status = clone_and_destroy(from, &allocator, half ? to_half : NULL);
            CHECK_INT(failing.live, 0);
            CHECK_INT(status, failing.failed ? MW_ERROR_MEMORY : MW_OK);
            if (!failing.failed)
                break;
        }
        CHECK(n > 10 && n < MAX_REQUESTS);
    }
    mw_graph_destroy(from);
}

static void test_naming_and_printing_survive_every_failed_allocation(void)
{
    for (long n = 0; n < MAX_REQUESTS; n++) {
        failing_allocator failing = {.fail_at = -1};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_graph *g = make_graph(MW_IOS18, &allocator);
        build(g);
        failing.fail_at = failing.requests + n;
        mw__names names;
        mw_error err = {0};
        const mw_status status = mw__names_assign(g->current, &names, &err);
        mw__names_deinit(&names);
        CHECK_INT(status, failing.failed ? MW_ERROR_MEMORY : MW_OK);
        err = (mw_error){0};
        const bool failed_before = failing.failed;
        char *text = mw_graph_print(g, &err);
        CHECK_INT(text == NULL, failing.failed && !failed_before);
        CHECK_INT(err.status, text == NULL ? MW_ERROR_MEMORY : MW_OK);
        mw_string_free(text);
        mw_graph_destroy(g);
        CHECK_INT(failing.live, 0);
        if (!failing.failed)
            return;
    }
    CHECK(false);
}

int main(void)
{
    RUN(test_building_survives_every_failed_allocation);
    RUN(test_cloning_survives_every_failed_allocation);
    RUN(test_naming_and_printing_survive_every_failed_allocation);
    return check_finish();
}
