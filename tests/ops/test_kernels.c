/* Every row of the operation table: the engine's result against the double-precision oracle, in fp32 and fp16, on one
 * thread and on three. */
#include "base/number/fp16.h"
#include "support/cases/op_cases.h"
#include "support/check.h"
#include "support/on_engine.h"

#include <millwright/millwright.h>
#include <stdlib.h>

/* The farthest a result may be from the exact one: half a unit in the last place of the result, with the case's factor
 * on the fp32 part. A single fp16 rounding follows the fp32 computation. */
static double tolerance(const op_case *c, mw_dtype dtype, double exact)
{
    double size = fabs(exact) > c->magnitude ? fabs(exact) : c->magnitude;
    double fp32 = c->ulps * ldexp(size, -24) + ldexp(1.0, -148);
    if (dtype == MW_F32)
        return fp32;
    double half_unit = fabs(exact) < ldexp(1.0, -14) ? ldexp(1.0, -25) : ldexp(fabs(exact), -11);
    return dtype == MW_F16 ? fp32 + half_unit : 0.0;
}

static double element(const void *data, mw_dtype dtype, size_t i)
{
    switch (dtype) {
    case MW_F32:
        return (double)((const float *)data)[i];
    case MW_F16:
        return (double)mw__fp16_to_float(((const uint16_t *)data)[i]);
    case MW_I32:
        return (double)((const int32_t *)data)[i];
    default:
        return (double)((const uint8_t *)data)[i];
    }
}

static void compare(const op_case *c, mw_program *program, const mw_tensor *y, const double *exact, const char *where)
{
    mw_error err = {0};
    const void *data = mw_program_view(program, "y", &err);
    if (!check_note(data != NULL, __FILE__, __LINE__, "%s (%s, %s): %s", c->name, c->detail, where, err.message))
        return;
    mw_dtype dtype = mw_tensor_dtype(y);
    for (int64_t i = 0; i < oracle_count(y); i++) {
        double got = element(data, dtype, (size_t)i), allowed = tolerance(c, dtype, exact[i]);
        if (!check_note(fabs(got - exact[i]) <= allowed, __FILE__, __LINE__,
                        "%s (%s, %s): element %lld is %.9g, not %.9g within %.3g", c->name, c->detail, where,
                        (long long)i, got, exact[i], allowed))
            return;
    }
}

static bool feed(mw_program *program, const op_instance *instance, mw_error *err)
{
    static const char *const names[OP_CASE_INPUTS] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < instance->count; i++)
        if (mw_program_write(program, names[i], MW_F64, instance->data[i], (size_t)oracle_count(instance->in[i]),
                             err) != MW_OK)
            return false;
    return true;
}

static void run_case(const op_case *c, const op_instance *instance, const mw_tensor *y, const double *exact,
                     int threads, mw_dtype real)
{
    char where[64];
    snprintf(where, sizeof where, "%s, %d threads", mw_dtype_name(real), threads);
    mw_error err = {0};
    mw_program *program = engine_compile(instance->graph, MW_DEVICE_CPU, threads, &err);
    bool good = program != NULL && feed(program, instance, &err) && mw_program_run(program, &err) == MW_OK;
    check_note(good, __FILE__, __LINE__, "%s (%s, %s): %s", c->name, c->detail, where, err.message);
    if (good)
        compare(c, program, y, exact, where);
    mw_program_destroy(program);
}

static void check_case(const op_case *c, mw_dtype real)
{
    op_instance instance;
    bool built = op_instance_init(&instance, c, real, 7);
    mw_error err = {0};
    mw_graph_check(instance.graph, &err);
    check_note(built, __FILE__, __LINE__, "%s (%s): %s", c->name, c->detail, err.message);
    oracle o;
    oracle_init(&o, instance.graph);
    op_instance_feed(&instance, &o);
    mw_tensor *y = built ? mw_output(instance.y, "y") : NULL;
    if (built && check_note(oracle_run(&o), __FILE__, __LINE__, "the oracle does not know %s", o.missing)) {
        run_case(c, &instance, y, oracle_get(&o, y), 1, real);
        run_case(c, &instance, y, oracle_get(&o, y), 3, real);
    }
    oracle_deinit(&o);
    op_instance_deinit(&instance);
}

static void test_every_case_in_fp32(void)
{
    const op_case *c;
    for (size_t i = 0; (c = op_case_at(i)) != NULL; i++)
        check_case(c, MW_F32);
}

static void test_every_case_in_fp16(void)
{
    const op_case *c;
    for (size_t i = 0; (c = op_case_at(i)) != NULL; i++)
        check_case(c, MW_F16);
}

static bool builds_row(const op_case *c, const mw__row *row)
{
    op_instance instance;
    bool found = false;
    if (op_instance_init(&instance, c, MW_F32, 1)) {
        const mw__block *body = instance.graph->current->body;
        for (size_t i = 0; i < body->op_count; i++)
            found = found || (body->ops[i]->row != NULL && strcmp(body->ops[i]->row->name, row->name) == 0);
    }
    op_instance_deinit(&instance);
    return found;
}

/* Older opset versions of a row share name, kernel and rule with the newest, which the cases build. */
static void test_every_row_has_a_case(void)
{
    for (size_t r = 0; r < MW__OP_COUNT; r++) {
        bool covered = false;
        size_t i = 0;
        for (const op_case *c; !covered && (c = op_case_at(i)) != NULL; i++)
            covered = strcmp(c->name, mw__rows[r].name) == 0 && builds_row(c, &mw__rows[r]);
        check_note(covered, __FILE__, __LINE__, "row %s has no case in tests/support/cases/cases_<family>.c",
                   mw__rows[r].name);
    }
}

int main(void)
{
    RUN(test_every_row_has_a_case);
    RUN(test_every_case_in_fp32);
    RUN(test_every_case_in_fp16);
    return check_finish();
}
