/* The fault loop over the whole table: for every case, building it, its gradient in both forms, and a trainer (or, for
 * what has no gradient, a program) on both devices that runs once. */
#include "autograd/vjp/rules.h"
#include "faults.h"
#include "support/check.h"

#include <stdlib.h>

static size_t float_inputs(const op_instance *instance, mw_tensor **out)
{
    size_t count = 0;
    for (size_t i = 0; i < instance->count; i++)
        if (faults_is_float(instance->in[i]))
            out[count++] = instance->in[i];
    return count;
}

static mw_status differentiate(const void *c, const mw_allocator *allocator, bool chip, mw_error *err)
{
    op_instance instance;
    mw_tensor *x[OP_CASE_INPUTS];
    mw_graph *graph = faults_graph(allocator, chip, true, err);
    if (graph == NULL)
        return err->status;
    op_instance_init_in(&instance, graph, c, MW_F32, 11, false);
    const size_t count = float_inputs(&instance, x);
    if (!mw__row_has(mw__row_find(((const op_case *)c)->name, MW_IOS18, NULL), MW__TRAIT_LOWERED))
        faults_gradient(graph, instance.y, x, count, err);
    else if (mw_graph_check(graph, err) == MW_OK) /* which is how they get one */
        mw_graph_destroy(mw_graph_flatten(graph, err));
    op_instance_deinit(&instance);
    return err->status;
}

/* ---- trainers and programs ---- */

static mw_status train(const op_instance *instance, const mw_allocator *allocator, bool chip, mw_error *err)
{
    mw_feed feeds[OP_CASE_INPUTS];
    size_t count = 0;
    for (size_t i = 0; i < instance->count; i++)
        if (!faults_is_float(instance->in[i]))
            feeds[count++] = (mw_feed){.name = mw_tensor_name(instance->in[i]),
                                       .dtype = MW_F64,
                                       .data = instance->data[i],
                                       .count = (size_t)mw_shape_count(mw_tensor_shape(instance->in[i])),
                                       .scale = 1.0f};
    mw_tensor *loss = mw_reduce_mean(instance->y, MW_ALL_AXES, false);
    MW_TRY(mw_graph_check(instance->graph, err));
    return faults_train(mw_trainer_defaults(loss, mw_adam(1e-3f)), feeds, count, allocator, chip, err);
}

static mw_status compute(const op_instance *instance, const mw_allocator *allocator, bool chip, mw_error *err)
{
    const mw_compile_options options = faults_compile_options(allocator, chip);
    mw_output(instance->y, "y");
    MW_TRY(mw_graph_check(instance->graph, err));
    mw_program *program = mw_program_create(instance->graph, &options, err);
    for (size_t i = 0; program != NULL && i < instance->count && err->status == MW_OK; i++)
        mw_program_write(program, mw_tensor_name(instance->in[i]), MW_F64, instance->data[i],
                         (size_t)mw_shape_count(mw_tensor_shape(instance->in[i])), err);
    if (program != NULL && err->status == MW_OK)
        mw_program_run(program, err);
    mw_program_destroy(program);
    return err->status;
}

static bool has_gradient(const op_instance *instance)
{
    mw_tensor *x[OP_CASE_INPUTS];
    if (!faults_is_float(instance->y) || float_inputs(instance, x) == 0 || instance->y->op->row == NULL)
        return false;
    mw__vjp_rule *rule = mw__vjp_find(instance->y->op->row->id);
    return rule != NULL && rule != mw__vjp_zero;
}

static mw_status use(const void *c, const mw_allocator *allocator, bool chip, mw_error *err)
{
    op_instance instance;
    mw_graph *graph = faults_graph(allocator, false, false, err);
    if (graph == NULL)
        return err->status;
    if (!op_instance_init_in(&instance, graph, c, MW_F32, 11, true))
        mw_graph_check(graph, err);
    else if (has_gradient(&instance))
        train(&instance, allocator, chip, err);
    else
        compute(&instance, allocator, chip, err);
    op_instance_deinit(&instance);
    return err->status;
}

/* ---- all cases, or those of the operation that MW_TEST_OPERATION names ---- */

static void loop_over_cases(fault_run *run, const char *subject, long samples)
{
    const char *only = getenv("MW_TEST_OPERATION");
    const op_case *c;
    for (size_t i = 0; (c = op_case_at(i)) != NULL; i++) {
        char name[200];
        if (only != NULL && strcmp(only, c->name) != 0)
            continue;
        snprintf(name, sizeof name, "%s of %s (%s)", subject, c->name, c->detail);
        faults_loop(run, c, name, samples, i);
    }
}

static void test_every_gradient_survives_every_failed_allocation(void)
{
    loop_over_cases(differentiate, "gradient", 40);
}

static void test_every_step_survives_every_failed_allocation(void) { loop_over_cases(use, "step", 4); }

/* The engine recognizes these by writing their gradients into graphs of its own, so that few requests are special. */
static void test_every_idiom_survives_every_failed_allocation(void)
{
    static const char *const names[] = {"conv", "max_pool"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const op_case *c;
        size_t i = 0;
        while ((c = op_case_at(i)) != NULL && strcmp(c->name, names[k]) != 0)
            i++;
        REQUIRE(c != NULL);
        faults_loop(use, c, names[k], 100000, 0);
    }
}

int main(void)
{
    RUN(test_every_gradient_survives_every_failed_allocation);
    RUN(test_every_step_survives_every_failed_allocation);
    RUN(test_every_idiom_survives_every_failed_allocation);
    return check_finish();
}
