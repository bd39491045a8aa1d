/* The families' cases as one list, and instances of a case. The cases are in cases_<family>.c. */
#include "support/cases/op_cases.h"
#include "autograd/vjp/vjp.h"
#include "base/number/fp16.h"
#include "base/number/random.h"
#include "support/check.h"

#include <math.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>

static const op_case_list *const lists[] = {
#define FAMILY(name) &op_cases_##name,
#include "support/cases/families.def"
#undef FAMILY
};

const op_case *op_case_at(size_t index)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (index < lists[i]->count)
            return &lists[i]->rows[index];
        index -= lists[i]->count;
    }
    return NULL;
}

void op_cases_check_derivatives(const char *what, bool (*check)(const op_case *c))
{
    for (size_t r = 0; r < MW__OP_COUNT; r++) {
        size_t checked = 0;
        const op_case *c;
        if (mw__row_has(&mw__rows[r], MW__TRAIT_LOWERED) && mw__vjp_find((mw__op_id)r) == NULL)
            continue; /* branches, loops, lists: tests/autograd/vjp/test_control.c flattens them first */
        for (size_t i = 0; (c = op_case_at(i)) != NULL; i++)
            checked += strcmp(c->name, mw__rows[r].name) == 0 && check(c);
        check_note(checked > 0 || mw__vjp_find((mw__op_id)r) == NULL, __FILE__, __LINE__,
                   "the %s of %s is not checked by any case", what, mw__rows[r].name);
    }
}

/* ---- instances ---- */

static double draw(mw__random *random, const op_input *input, mw_dtype real)
{
    double u = (double)mw__random_uniform(random), value = input->low + u * (input->high - input->low);
    if (input->dtype != MW_F32)
        return floor(value);
    return real == MW_F16 ? (double)mw__fp16_to_float(mw__fp16_from_double(value)) : (double)(float)value;
}

/* The values as they are stored. */
static void *packed(const double *values, size_t count, mw_dtype dtype)
{
    unsigned char *data = malloc((count + 1) * sizeof(float));
    for (size_t i = 0; i < count; i++) {
        const float single = (float)values[i];
        const uint16_t half = mw__fp16_from_double(values[i]);
        if (dtype == MW_F16)
            memcpy(data + i * sizeof half, &half, sizeof half);
        else
            memcpy(data + i * sizeof single, &single, sizeof single);
    }
    return data;
}

static mw_tensor *add_input(mw_graph *graph, const char *name, mw_dtype dtype, mw_shape shape, const double *values,
                            bool trained)
{
    if (!trained || (dtype != MW_F16 && dtype != MW_F32))
        return mw_input(graph, name, dtype, shape);
    void *data = packed(values, (size_t)mw_shape_count(shape), dtype);
    mw_tensor *parameter = mw_parameter(graph, name, dtype, shape, mw_init_data(data));
    free(data);
    return parameter;
}

bool op_instance_init_in(op_instance *instance, mw_graph *graph, const op_case *c, mw_dtype real, uint64_t seed,
                         bool trained)
{
    static const char *const names[OP_CASE_INPUTS] = {"a", "b", "c", "d"};
    *instance = (op_instance){.graph = graph};
    mw__random random = {.seed = seed};
    for (size_t i = 0; i < OP_CASE_INPUTS && c->in[i].dtype != MW_DTYPE_NONE; i++) {
        const op_input *input = &c->in[i];
        mw_dtype dtype = input->dtype == MW_F32 ? real : input->dtype;
        int64_t count = mw_shape_count(input->shape);
        instance->data[i] = malloc((size_t)(count + 1) * sizeof(double));
        for (int64_t k = 0; k < count; k++)
            instance->data[i][k] = draw(&random, input, real);
        instance->in[i] = add_input(graph, names[i], dtype, input->shape, instance->data[i], trained);
        instance->count++;
    }
    instance->y = c->build(instance->in);
    return mw_graph_check(instance->graph, NULL) == MW_OK && instance->y != NULL;
}

bool op_instance_init(op_instance *instance, const op_case *c, mw_dtype real, uint64_t seed)
{
    return op_instance_init_in(instance, mw_graph_create(NULL, NULL), c, real, seed, false);
}

void op_instance_deinit(op_instance *instance)
{
    for (size_t i = 0; i < OP_CASE_INPUTS; i++)
        free(instance->data[i]);
    mw_graph_destroy(instance->graph);
}

void op_instance_feed(const op_instance *instance, oracle *o)
{
    for (size_t i = 0; i < instance->count; i++)
        oracle_set(o, instance->in[i], instance->data[i]);
}
